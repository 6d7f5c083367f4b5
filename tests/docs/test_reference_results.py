"""The page of the reference results is made from whatever results there are."""

from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("itables", reason="needs the packages of docs/requirements.txt")

from docs.extension import give_title, reference_chart, reference_results


@pytest.fixture
def reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reference results of one cell that was run and of one that was not."""
    folder = tmp_path / "paper"
    folder.mkdir()
    cell = {"dataset": "usps", "dataset_label": "USPS", "paper": 79.75, "sd": 0.5, "metric": "acc"}
    run = {"method": "dekm", "method_label": "DEKM", "mean": 79.25, "difference": -0.5}
    missing = {"method": "dec", "method_label": "DEC", "reason": "needs a licence"}
    pd.DataFrame([cell | run, cell | missing]).to_csv(folder / "table3.csv", index=False)
    pd.DataFrame(columns=["metric"]).to_csv(folder / "further.csv", index=False)
    seed = {"dataset": "usps", "subject": "dekm", "seconds": 60.2, "commit": "c0ffee"}
    seeds = [seed | {"seed": 0, "acc": 0.79}, seed | {"seed": 1, "acc": 0.795}]
    seeds.append(seed | {"seed": 2, "failed": "it diverged"})
    pd.DataFrame(seeds).to_csv(folder / "runs.csv", index=False)
    (folder / "README.md").write_text("# Results of paper\n")
    (folder / "models").mkdir()
    (folder / "models" / "usps-dekm-s0.md").write_text("# DEKM on USPS\n")
    monkeypatch.setattr(reference_results, "REFERENCE", tmp_path)
    return folder


def test_a_score_opens_its_seeds_times_commit_and_command(reference: Path) -> None:
    row, missing = reference_results.rows(reference)
    assert (row["paper (%)"], row["difference"]) == ("79.75", "-0.50")
    assert row["here (%)"] == "79.25"
    assert "<summary>2 seeds</summary>" in row["runs"]
    for part in ("0, 1", "79.00, 79.50", "60, 60", "c0ffee", "results/paper/runs/usps/dekm/summary.json"):
        assert part in row["runs"]
    assert missing["runs"] == "needs a licence"


def test_the_page_holds_the_table_and_loads_nothing(reference: Path) -> None:
    page = reference_results.page()
    assert "## paper" in page
    assert "Trained models: [usps-dekm-s0](../results/reference/paper/models/usps-dekm-s0.md)" in page
    assert "Tables: " not in page
    assert "paper/README <../results/reference/paper/README>" in page
    assert "https://cdn" not in page


def test_the_chart_has_a_mark_for_each_score_here_and_in_the_paper(reference: Path) -> None:
    drawn = reference_chart.chart(pd.read_csv(reference / "table3.csv"))
    dekm, dec = drawn.split(">DEC</text>")
    assert "<title>DEKM: 79.25</title>" in dekm
    assert "<title>DEKM in the paper: 79.75</title>" in dekm
    assert 'class="sd"' in dekm
    assert "<title>DEC in the paper: 79.75</title>" in dec
    assert "<circle" not in dec  # it was not run
    assert f'<circle class="own" cx="{reference_chart.place(79.25)}"' in dekm
    assert reference_chart.place(0) < reference_chart.place(79.25) < reference_chart.place(100)
    assert drawn in reference_results.page()


def test_no_chart_is_drawn_of_a_dataset_that_was_not_run() -> None:
    cells = pd.DataFrame({"dataset": "usps", "metric": "acc", "mean": [None], "paper": [79.75]})
    assert reference_chart.chart(cells) == ""


def test_a_page_of_a_set_without_heading_gets_one() -> None:
    table, card = ["| a |\n"], ["# DEKM on USPS\n"]
    give_title(None, "results/reference/paper/table3", table)
    give_title(None, "results/reference/paper/models/usps-dekm-s0", card)
    assert table == ["# paper: table3\n\n| a |\n"]
    assert card == ["# DEKM on USPS\n"]


def test_the_page_is_made_from_no_results_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_results, "REFERENCE", tmp_path)
    assert reference_results.page() == "There are no reference results yet.\n"
