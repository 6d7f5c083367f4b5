import json
from pathlib import Path

import pandas as pd
import pytest

from dekm.datasets import DATASETS
from dekm.methods import METHODS
from dekm.tables import read_cells, table3, to_latex, to_markdown, write_table3

PAPER_FILE = Path(__file__).parent.parent / "resources" / "paper" / "table3.csv"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Runs written by hand: two datasets, two methods, two seeds."""
    for dataset, label in (("mnist", "MNIST"), ("digits", "digits")):
        folder = tmp_path / "data" / dataset
        folder.mkdir(parents=True)
        (folder / "facts.json").write_text(json.dumps({"label": label}))
        for method, acc in (("k_means", 0.5), ("dekm_f", 0.9)):
            folder = tmp_path / "runs" / dataset / method
            folder.mkdir(parents=True)
            seeds = {
                str(i): {"key": "x", "acc": acc + shift, "nmi": 0.25} for i, shift in enumerate((0, 0.02))
            }
            summary = {"label": METHODS[method].label, "seeds": seeds}
            (folder / "summary.json").write_text(json.dumps(summary))
    return tmp_path


def cells(results: Path) -> pd.DataFrame:
    return table3(read_cells(results, ["mnist", "digits"], ["k_means", "dekm_f"]), pd.read_csv(PAPER_FILE))


def test_a_cell_is_the_mean_and_standard_deviation_of_its_seeds(results: Path) -> None:
    cell = cells(results).query("dataset == 'mnist' and method == 'k_means' and metric == 'acc'").iloc[0]
    assert cell["mean"] == pytest.approx(51)
    assert cell["sd"] == pytest.approx(2**0.5)
    assert cell["n_seeds"] == 2
    assert cell["paper"] == 53.40


def test_a_dataset_that_the_paper_lacks_has_no_number_of_the_paper(results: Path) -> None:
    assert cells(results).query("dataset == 'digits'")["paper"].isna().all()


def test_markdown_shows_ours_and_the_papers_in_the_given_order(results: Path) -> None:
    header, _, first, second, *_ = to_markdown(cells(results)).splitlines()
    assert [column.strip() for column in header.strip("|").split("|")] == [
        "Method",
        "MNIST ACC",
        "MNIST NMI",
        "digits ACC",
        "digits NMI",
    ]
    assert "51.00 ± 1.41 [53.40]" in first
    assert first.strip("| ").startswith("K-means")
    assert second.strip("| ").startswith("DEKM_F")
    assert "25.00 ± 0.00 [90.54]" in second


def test_the_papers_stars_and_dashes_stay_with_its_numbers(results: Path) -> None:
    table = cells(results)
    table.loc[0, ["paper", "paper_quoted"]] = [84.0, "yes"]
    table.loc[1, ["paper", "paper_quoted"]] = [float("nan"), "no"]
    text = to_markdown(table)
    assert "[84.00*]" in text
    assert "[–]" in text
    assert "[84.00$^*$]" in to_latex(table)


def test_one_seed_has_no_standard_deviation(results: Path) -> None:
    for file in results.glob("runs/*/*/summary.json"):
        summary = json.loads(file.read_text())
        summary["seeds"].pop("1")
        file.write_text(json.dumps(summary))
    text = to_markdown(cells(results))
    assert "50.00 [53.40]" in text
    assert "over 1 seed." in text


def test_latex_has_the_two_level_header_and_escapes_names(results: Path) -> None:
    text = to_latex(cells(results))
    assert r" & \multicolumn{2}{c}{MNIST} & \multicolumn{2}{c}{digits} \\" in text
    assert r"Method & ACC & NMI & ACC & NMI \\" in text
    assert r"DEKM\_F & $91.00 \pm 1.41$ [94.23]" in text
    assert text.count(r"\\") == 4


def test_three_files_are_written(results: Path) -> None:
    write_table3(results, ["mnist"], ["k_means", "dekm_f"], PAPER_FILE, results / "tables")
    assert {file.name for file in (results / "tables").iterdir()} == {"table3.csv", "table3.md", "table3.tex"}
    assert len(pd.read_csv(results / "tables" / "table3.csv")) == 4


def test_the_papers_table_is_whole() -> None:
    paper = pd.read_csv(PAPER_FILE)
    assert len(paper) == 10 * 7 * 2
    assert set(METHODS) <= set(paper["method"])
    assert set(DATASETS) - {"digits", "topics"} <= set(paper["dataset"])
    assert paper["value"].isna().sum() == 2 * 7
    best = (
        paper.query("metric == 'acc'").set_index(["dataset", "method"])["value"].groupby("dataset").idxmax()
    )
    assert [method for _, method in best[["mnist", "usps", "coil20", "news20"]]] == [
        "dekm",
        "dekm",
        "dcn",
        "dkm",
    ]
