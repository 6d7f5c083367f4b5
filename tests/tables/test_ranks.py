from pathlib import Path

import pandas as pd
import pytest

from dekm.tables.cells import table3
from dekm.tables.ranks import mean_ranks, ranks_grid
from dekm.tables.rendering.markdown import to_markdown
from tests.helpers.handmade import write_facts, write_scores
from tests.helpers.loaded import read_results

PAPER = pd.read_csv(Path(__file__).parents[2] / "resources" / "paper" / "table3.csv")
DATASETS = ["mnist", "usps", "news20"]
METHODS = ["k_means", "ae_k_means", "dekm"]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """DEKM first on two datasets of three."""
    for dataset, dekm in (("mnist", 0.9), ("usps", 0.9), ("news20", 0.8)):
        write_facts(tmp_path, dataset)
        for method, acc in zip(METHODS, (0.2, 0.85, dekm), strict=True):
            write_scores(tmp_path, dataset, method, [acc])
    return tmp_path


def ranks_of(results: Path, datasets: list[str] = DATASETS, methods: list[str] = METHODS) -> pd.DataFrame:
    return mean_ranks(table3(read_results(results, datasets, methods), PAPER)).query("metric == 'acc'")


def test_mean_ranks_are_over_datasets_with_all_methods(results: Path) -> None:
    ranks = ranks_of(results).set_index("method")
    assert ranks["mean_rank"].round(3).to_dict() == {"dekm": 1.333, "ae_k_means": 1.667, "k_means": 3.0}
    assert set(ranks["n_datasets"]) == {3}
    write_scores(results, "usps", "dcec", [0.9])
    assert set(ranks_of(results, methods=[*METHODS, "dcec"])["n_datasets"]) == {1}


def test_a_subsample_is_not_ranked(results: Path) -> None:
    write_facts(results, "news20", subsample=5000)
    ranks = ranks_of(results).set_index("method")
    assert ranks["mean_rank"].to_dict() == {"dekm": 1.0, "ae_k_means": 2.0, "k_means": 3.0}
    assert set(ranks["n_datasets"]) == {2}


def test_too_few_datasets_are_ranked_but_not_tested(results: Path) -> None:
    ranks = ranks_of(results, ["mnist"])
    assert ranks["critical_difference"].isna().all()
    assert "Too few datasets or methods" in to_markdown(ranks_grid(ranks))


def test_a_critical_difference_that_tells_nothing_apart_says_so(results: Path) -> None:
    ranks = ranks_of(results)
    assert not ranks["separable"].any()
    assert "1.91 ranks of at most 2: too few datasets to tell methods apart" in to_markdown(ranks_grid(ranks))
