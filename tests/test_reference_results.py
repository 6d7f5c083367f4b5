"""The tables of results/reference follow from its runs; its page and the README's picture from the tables."""

import re
from pathlib import Path

import pandas as pd
import pytest

from docs.images import ours_vs_paper

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
PAGE = (REFERENCE / "README.md").read_text(encoding="utf-8")
SETS = sorted(file.parent for file in REFERENCE.glob("*/table3.csv"))
VERDICTS = ["reproduced", "better", "worse", "undecided"]
KEYS = ["dataset", "method", "metric"]


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_the_means_are_those_of_the_runs(folder: Path) -> None:
    runs = pd.read_csv(folder / "runs.csv").query("stage == 'cluster'").rename(columns={"subject": "method"})
    values = runs.melt(["dataset", "method"], ["acc", "nmi"], "metric")
    expected = 100 * values.groupby(KEYS)["value"].mean()
    found = pd.read_csv(folder / "table3.csv").dropna(subset="mean").set_index(KEYS)["mean"]
    assert len(found)
    pd.testing.assert_series_equal(found, expected[found.index], check_names=False, rtol=1e-5)


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_every_run_has_its_history(folder: Path) -> None:
    for run in pd.read_csv(folder / "runs.csv").query("stage == 'cluster'").itertuples():
        history = pd.read_csv(folder / "history" / f"{run.dataset}-{run.subject}-s{run.seed}.csv")
        failed = isinstance(getattr(run, "failed", None), str)
        assert failed == pd.isna(run.acc)
        assert failed or history["acc"].iloc[-1] == pytest.approx(run.acc)


def test_the_picture_of_the_readme_is_drawn_from_the_reference_results() -> None:
    drawn = pd.read_csv(Path(ours_vs_paper.__file__).with_suffix(".csv"))
    pd.testing.assert_frame_equal(drawn, ours_vs_paper.accuracies(), check_dtype=False)


@pytest.mark.parametrize("page", ours_vs_paper.PAGES, ids=lambda page: page.parent.name)
def test_the_table_of_a_page_is_that_of_the_reference_results(page: Path) -> None:
    expected = ours_vs_paper.table_of_page(ours_vs_paper.PAGES[page])
    assert ours_vs_paper.TABLE.findall(page.read_text(encoding="utf-8")) == [expected]


@pytest.mark.parametrize(
    ("mean", "paper", "expected"),
    [
        ([12.34, 5], [1.5, None], "12.3/5.0 (1.50/–)"),
        ([12.34, 5], [None, None], "12.3/5.0"),
        ([None, 5], [None, None], "–/5.0"),
        ([None, None], [1, 2], "–"),
    ],
)
def test_a_cell_of_the_page(mean: list, paper: list, expected: str) -> None:
    assert ours_vs_paper.score(pd.DataFrame({"mean": mean, "paper": paper}, dtype=float)) == expected


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_page_counts_the_verdicts(verdict: str) -> None:
    found = pd.read_csv(REFERENCE / "paper" / "verdicts.csv")
    found = found[found["verdict"].isin(VERDICTS)]
    sentence = re.search(r"By \[the rule of the tables\].*?undecided\.", " ".join(PAGE.split()))[0]
    sound, doubtful = sentence.split("; of the ")
    for text, part in (
        (sound, found[found["paper_doubtful"] != "yes"]),
        (doubtful, found[found["paper_doubtful"] == "yes"]),
    ):
        assert int(re.search(r"(\d+) (?:scores that are not )?doubtful", text)[1]) == len(part)
        count = re.search(rf"(\d+|none) (?:of the .* paper )?(?:are |is )?{verdict}", text)[1]
        assert (0 if count == "none" else int(count)) == (part["verdict"] == verdict).sum()
