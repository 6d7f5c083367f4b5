from pathlib import Path

import pytest

from dekm.tables import write_table3
from dekm.tables.scores import starts_caption
from tests.helpers.handmade import write_summary
from tests.helpers.loaded import read_results

PAPER_FILE = Path(__file__).parents[2] / "resources" / "paper" / "table3.csv"
METHODS = ["k_means", "ae_k_means", "dkm", "dekm"]
STARTS = {"k_means": "", "ae_k_means": "shared", "dkm": "own", "dekm": "shared"}


def write_start(results: Path, dataset: str, method: str, key: str) -> None:
    write_summary(results, dataset, method, [{"acc": 0.9, "nmi": 0.5}], pretrained=key)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """DKM has autoencoders of its own on MNIST, and DEKM was not run on USPS."""
    for dataset, methods in (("mnist", METHODS), ("usps", METHODS[:3])):
        for method in methods:
            write_start(tmp_path, dataset, method, STARTS[method] and f"{STARTS[method]}-{dataset}")
    return tmp_path


def caption(results: Path) -> str:
    return starts_caption(read_results(results, ["mnist", "usps"], METHODS).runs)


def test_methods_that_share_their_autoencoders_are_named(results: Path) -> None:
    expected = "Groups of methods that start from the same pretrained autoencoders: AE+K-means, DEKM; DKM."
    assert caption(results) == expected
    write_table3(results, ["mnist", "usps"], METHODS, PAPER_FILE, results / "tables")
    assert expected in (results / "tables" / "table3.md").read_text()


def test_a_method_that_shares_some_of_its_autoencoders_is_a_group_of_its_own(results: Path) -> None:
    write_start(results, "usps", "dkm", "shared-usps")
    assert caption(results).endswith("AE+K-means, DEKM; DKM.")


def test_runs_without_autoencoders_need_no_sentence(tmp_path: Path) -> None:
    assert caption(tmp_path) == ""
