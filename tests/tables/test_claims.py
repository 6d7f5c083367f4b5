from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from dekm.tables.cells import averages, table3
from dekm.tables.claims import judge_claims
from dekm.tables.loading import read_results
from dekm.tables.ranks import critical_difference, friedman, mean_ranks, ranks_grid
from dekm.tables.rendering.markdown import to_markdown
from dekm.tables.verdicts import verdicts, verdicts_grid
from tests.helpers.handmade import write_facts, write_scores

PAPER = Path(__file__).parents[2] / "resources" / "paper"
DATASETS = ["mnist", "usps", "news20"]
METHODS = ["k_means", "ae_k_means", "dekm"]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """DEKM above K-means everywhere, above AE+K-means on two datasets of three."""
    for dataset, dekm, autoencoder in (("mnist", 0.95, 0.85), ("usps", 0.8, 0.75), ("news20", 0.4, 0.41)):
        write_facts(tmp_path, dataset)
        write_scores(tmp_path, dataset, "k_means", [0.2, 0.21])
        write_scores(tmp_path, dataset, "ae_k_means", [autoencoder, autoencoder + 0.001])
        write_scores(tmp_path, dataset, "dekm", [dekm, dekm + 0.001])
    return tmp_path


def judge(
    results: Path, relation: str, quantifier: str, right: str, on: str = "mnist usps news20"
) -> pd.Series:
    claim = {
        "claim": "c",
        "section": "s",
        "statement": "t",
        "relation": relation,
        "datasets": quantifier,
        "on": on,
        "metrics": "acc",
        "left": "dekm",
        "right": right,
    }
    found = read_results(results, DATASETS, METHODS)
    cells = averages(found, found.scores)
    return judge_claims(pd.DataFrame([claim]), cells, pd.read_csv(PAPER / "table3.csv")).iloc[0]


def test_a_claim_about_all_datasets_holds_if_every_comparison_holds(results: Path) -> None:
    judged = judge(results, "above", "all", "k_means")
    assert judged["verdict"] == judged["by_the_papers_numbers"] == "holds"
    assert (judged["n_hold"], judged["n_do_not_hold"], judged["n_not_run"]) == (3, 0, 0)
    assert judged["weakest"] == "dekm against k_means on news20, ACC"
    assert judged["weakest_difference"] == pytest.approx(19.55)


def test_one_dataset_refutes_a_claim_about_all_but_not_about_most(results: Path) -> None:
    assert judge(results, "above", "all", "ae_k_means")["verdict"] == "does not hold"
    assert judge(results, "above", "most", "ae_k_means")["verdict"] == "holds"


def test_a_difference_below_its_standard_error_is_within_noise(results: Path) -> None:
    write_scores(results, "mnist", "dekm", [0.82, 0.9])
    assert judge(results, "above", "all", "ae_k_means", "mnist")["verdict"] == "within noise"
    assert judge(results, "similar", "all", "ae_k_means", "mnist")["verdict"] == "holds"
    assert judge(results, "not below", "all", "ae_k_means", "mnist")["verdict"] == "holds"
    assert judge(results, "similar", "all", "k_means", "mnist")["verdict"] == "does not hold"


def test_comparisons_that_were_not_run_do_not_count(results: Path) -> None:
    judged = judge(results, "above", "all", "dcec ae_k_means", "mnist")
    assert (judged["verdict"], judged["n_not_run"]) == ("holds", 1)
    judged = judge(results, "above", "all", "dcec", "mnist")
    assert (judged["verdict"], judged["by_the_papers_numbers"]) == ("not run", "holds")


def test_the_papers_own_numbers_contradict_its_claim_on_20news() -> None:
    paper = pd.read_csv(PAPER / "table3.csv")
    cells = pd.DataFrame(columns=["dataset", "method", "metric", "mean", "sd", "n_seeds", "reason"])
    judged = judge_claims(pd.read_csv(PAPER / "claims.csv"), cells, paper).set_index("claim")
    assert judged.loc["news20_best", "by_the_papers_numbers"] == "does not hold"
    assert judged.loc["mnist_best", "by_the_papers_numbers"] == "holds"
    assert judged.loc["full_batch", "by_the_papers_numbers"] == "holds"
    assert (judged["verdict"] == "not run").all()


def test_the_claims_name_known_cells() -> None:
    paper, claims = pd.read_csv(PAPER / "table3.csv"), pd.read_csv(PAPER / "claims.csv")
    methods = set(paper["method"]) | {f"strategy_{i}" for i in range(1, 6)}
    assert set(" ".join(claims["on"]).split()) <= set(paper["dataset"])
    assert set(" ".join(claims["left"] + " " + claims["right"]).split()) <= methods
    assert set(claims["relation"]) <= {"above", "similar", "not below"}
    assert claims["claim"].is_unique


def paper_cells(value: float) -> pd.DataFrame:
    return pd.DataFrame(
        {"dataset": ["mnist"], "method": ["dekm"], "metric": ["acc"], "value": [value], "quoted": ["no"]}
    )


@pytest.mark.parametrize(
    ("seeds", "paper", "verdict"),
    [
        ((0.95, 0.95), 96.0, "reproduced"),
        ((0.95, 0.95), 96.5, "worse"),
        ((0.95, 0.95), 93.5, "better"),
        ((0.93, 0.97), 90.0, "reproduced"),
        ((0.95, 0.95), float("nan"), "no number in the paper"),
    ],
)
def test_a_cell_is_reproduced_within_one_point_or_two_standard_deviations(
    tmp_path: Path, seeds: tuple[float, float], paper: float, verdict: str
) -> None:
    write_facts(tmp_path, "mnist")
    write_scores(tmp_path, "mnist", "dekm", seeds)
    printed = paper_cells(paper)
    cells = table3(read_results(tmp_path, ["mnist"], ["dekm"]), printed)
    assert verdicts(cells, printed)["verdict"].tolist() == [verdict]


def test_every_cell_of_the_paper_has_a_verdict(results: Path) -> None:
    paper = pd.read_csv(PAPER / "table3.csv")
    judged = verdicts(table3(read_results(results, DATASETS, METHODS), paper), paper)
    assert len(judged) == len(paper)
    counts = judged["verdict"].value_counts()
    assert counts["no number in the paper"] == 14
    assert counts["not run"] == 140 - 14 - 3 * 3 * 2
    assert "| all" in to_markdown(verdicts_grid(judged))


def test_mean_ranks_are_over_datasets_with_all_methods(results: Path) -> None:
    write_scores(results, "usps", "dcec", [0.9])
    cells = table3(read_results(results, DATASETS, [*METHODS, "dcec"]), pd.read_csv(PAPER / "table3.csv"))
    ranks = mean_ranks(cells).query("metric == 'acc'")
    assert set(ranks["n_datasets"]) == {1}
    cells = cells[cells["method"] != "dcec"]
    ranks = mean_ranks(cells).query("metric == 'acc'").set_index("method")
    assert ranks["mean_rank"].round(3).to_dict() == {"dekm": 1.333, "ae_k_means": 1.667, "k_means": 3.0}
    assert set(ranks["n_datasets"]) == {3}


def test_the_critical_difference_agrees_with_demsar() -> None:
    # Demšar (2006), Table 5: q = 2.343 for three classifiers
    assert critical_difference(3, 10) == pytest.approx(2.343 * (12 / 60) ** 0.5, abs=1e-3)
    values = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.9], [0.6, 0.5, 0.4]]
    expected = stats.friedmanchisquare(*zip(*values, strict=True)).pvalue
    assert friedman(pd.DataFrame(values).to_numpy()) == pytest.approx(expected)


def test_too_few_datasets_are_ranked_but_not_tested(tmp_path: Path) -> None:
    write_facts(tmp_path, "mnist")
    for method, acc in zip(METHODS, (0.5, 0.7, 0.9), strict=True):
        write_scores(tmp_path, "mnist", method, [acc])
    cells = table3(read_results(tmp_path, ["mnist"], METHODS), pd.read_csv(PAPER / "table3.csv"))
    ranks = mean_ranks(cells)
    assert ranks["critical_difference"].isna().all()
    assert "Too few datasets or methods" in to_markdown(ranks_grid(ranks))


def test_a_subsample_does_not_count_for_a_claim(results: Path) -> None:
    write_facts(results, "mnist", subsample=5000)
    judged = judge(results, "above", "all", "k_means")
    assert (judged["n_hold"], judged["n_not_run"]) == (2, 1)
    assert judge(results, "above", "all", "k_means", on="mnist")["verdict"] == "not run"
