from pathlib import Path

import pandas as pd
import pytest

from dekm.tables.cells import rename_paper, table3
from dekm.tables.rendering.markdown import to_markdown
from dekm.tables.scores import score_grid
from dekm.tables.verdicts import GROUPS, verdicts, verdicts_grid
from tests.helpers.handmade import write_facts, write_scores
from tests.helpers.loaded import read_results

PAPER_FILE = Path(__file__).parents[2] / "resources" / "paper" / "table3.csv"
QUIET, NOISY = [0.949, 0.95, 0.951], [0.85, 0.95, 1.0]


@pytest.fixture
def printed() -> pd.DataFrame:
    paper = pd.read_csv(PAPER_FILE)
    return paper[paper["dataset"] == "mnist"].query("method == 'dekm' and metric == 'acc'")


def judge(results: Path, seeds: list[float], paper: pd.DataFrame) -> pd.Series:
    write_facts(results, "mnist")
    write_scores(results, "mnist", "dekm", seeds)
    return verdicts(table3(read_results(results, ["mnist"], ["dekm"]), paper), paper).iloc[0]


@pytest.mark.parametrize(
    ("seeds", "number", "verdict"),
    [
        (QUIET, 96.0, "reproduced"),
        (QUIET, 93.5, "reproduced"),
        (QUIET, 98.0, "worse"),
        (QUIET, 92.0, "better"),
        (QUIET, 97.0, "undecided"),  # at the margin
        (NOISY, 93.3, "undecided"),  # noise makes no cell reproduced
        (NOISY, 90.0, "undecided"),
        ([0.95], 95.0, "one seed"),
        ([0.95, 0.95], 95.0, "reproduced"),
        (QUIET, float("nan"), "no number in the paper"),
    ],
)
def test_a_cell_is_reproduced_within_two_points(
    tmp_path: Path, printed: pd.DataFrame, seeds: list[float], number: float, verdict: str
) -> None:
    assert judge(tmp_path, seeds, printed.assign(value=number))["verdict"] == verdict


def test_the_papers_mean_has_an_error_too(tmp_path: Path, printed: pd.DataFrame) -> None:
    """It is that of as many of our runs as the paper's number is a mean of, at least one."""
    seeds, paper = [0.942, 0.95, 0.958], printed.assign(value=95.2)
    found = {
        n_runs: judge(tmp_path, seeds, paper.assign(n_runs=n_runs))["verdict"]
        for n_runs in (float("inf"), 3, float("nan"))
    }
    assert list(found.values()) == ["reproduced", "undecided", "undecided"]
    one, unknown = (judge(tmp_path, seeds, paper.assign(n_runs=n)) for n in (1, float("nan")))
    assert (one["low"], one["high"]) == (unknown["low"], unknown["high"])


def test_a_verdict_has_the_interval_of_the_difference(tmp_path: Path, printed: pd.DataFrame) -> None:
    judged = judge(tmp_path, QUIET, printed.assign(value=96.0))
    half = (
        4.303 * 0.1 * (1 / 3 + 1 / 3) ** 0.5
    )  # t of 2 degrees of freedom; the paper's mean has an error too
    assert (judged["low"], judged["high"]) == pytest.approx((-1 - half, -1 + half), abs=1e-3)


def test_every_cell_of_the_paper_has_a_verdict(tmp_path: Path) -> None:
    paper = pd.read_csv(PAPER_FILE)
    write_facts(tmp_path, "mnist")
    write_scores(tmp_path, "mnist", "dekm", QUIET)
    judged = verdicts(table3(read_results(tmp_path, ["mnist", "usps"], ["dekm"]), paper), paper)
    assert len(judged) == len(paper)
    counts = judged["verdict"].value_counts()
    assert counts["no number in the paper"] == 14
    assert counts["not run"] == 140 - 14 - 2


def test_cells_are_counted_by_groups_and_doubtful_ones_apart() -> None:
    paper = pd.read_csv(PAPER_FILE).assign(n_seeds=0, verdict="not run")
    rows = rename_paper(paper).assign(dataset_label=paper["dataset"])
    counts = {line[0].text: sum(int(cell.text) for cell in line[1:]) for line in verdicts_grid(rows).rows}
    doubtful = (rows["paper_doubtful"] == "yes").sum()
    assert doubtful == 15
    assert counts["Doubtful in the paper"] == doubtful
    assert counts["All methods"] == 140 - doubtful
    assert sum(counts[group] for group in GROUPS) == counts["All methods"]
    assert sum(counts[dataset] for dataset in paper["dataset"].unique()) == counts["All methods"]
    assert counts["DEKM"] == counts["DEKM_F"] == 14


def test_a_dataset_without_results_keeps_its_label(tmp_path: Path) -> None:
    paper = pd.read_csv(PAPER_FILE)
    write_scores(tmp_path, "mnist", "dekm", QUIET)
    cells = table3(read_results(tmp_path, ["mnist"], ["dekm"]), paper)
    judged = verdicts(cells, paper, {"news20": "20NEWS"})
    assert "| 20NEWS" in to_markdown(verdicts_grid(judged))


def test_a_subsample_is_not_the_papers_dataset(tmp_path: Path, printed: pd.DataFrame) -> None:
    judge(tmp_path, QUIET, printed)
    write_facts(tmp_path, "mnist", subsample=5000)
    cells = table3(read_results(tmp_path, ["mnist"], ["dekm"]), printed)
    assert verdicts(cells, printed)["verdict"].tolist() == ["other settings"]


def test_a_run_under_other_settings_is_not_the_papers(tmp_path: Path, printed: pd.DataFrame) -> None:
    judge(tmp_path, QUIET, printed)
    other = {("mnist", "dekm"): "lr 0.1 instead of 0.001"}
    cells = table3(read_results(tmp_path, ["mnist"], ["dekm"], deviations=other), printed)
    assert verdicts(cells, printed)["verdict"].tolist() == ["other settings"]
    note = "run under other settings than the paper's: lr 0.1 instead of 0.001"
    assert note in to_markdown(score_grid(cells))
