from pathlib import Path

import pandas as pd
import pytest

from dekm.tables import write_table3
from dekm.tables.cells import table3
from dekm.tables.loading import Labels
from dekm.tables.rendering.markdown import to_markdown
from dekm.tables.scores import score_grid
from dekm.tables.table2 import table2
from tests.helpers.handmade import write_facts, write_scores, write_seed, write_summary
from tests.helpers.loaded import read_results

PAPER_FILE = Path(__file__).parents[2] / "resources" / "paper" / "table3.csv"
METHODS = ["k_means", "dekm"]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """One complete cell on MNIST."""
    write_facts(tmp_path, "mnist", "MNIST")
    write_scores(tmp_path, "mnist", "k_means", [0.5, 0.52])
    return tmp_path


def text(results: Path, *datasets: str, left_out: dict[str, str] | None = None) -> str:
    found = read_results(results, datasets or ["mnist"], METHODS, left_out=left_out)
    return to_markdown(score_grid(table3(found, pd.read_csv(PAPER_FILE))))


def test_a_cell_without_summary_is_a_dash_with_a_footnote(results: Path) -> None:
    assert "| dekm    | – [95.75] (1)" in text(results)
    assert text(results).endswith("\n1. not run\n")


def test_an_empty_cell_has_the_label_of_its_method_elsewhere_or_the_given_one(results: Path) -> None:
    found = read_results(results, ["mnist"], METHODS, labels=Labels(methods={"dekm": "DEKM"}))
    assert found.cells["method_label"].tolist() == ["K-means", "DEKM"]
    write_scores(results, "digits", "dekm", [0.5])
    assert "| DEKM    | – [95.75]" in text(results, "mnist", "digits")


def test_a_failed_cell_shows_the_last_line_of_its_log(results: Path) -> None:
    log = results / "logs" / "cluster" / "mnist" / "dekm.log"
    log.parent.mkdir(parents=True)
    log.write_text("12:00:00 DEKM on mnist\n\ntorch.OutOfMemoryError: CUDA out of memory\n")
    assert text(results).endswith("\n1. failed: torch.OutOfMemoryError: CUDA out of memory\n")


def test_a_running_cell_is_not_reported_as_failed(results: Path) -> None:
    log = results / "logs" / "cluster" / "mnist" / "dekm.log"
    log.parent.mkdir(parents=True)
    log.write_text("12:00:00 iteration 3: acc=0.9\n")
    assert text(results).endswith("\n1. not run\n")


def test_a_dataset_whose_preparation_failed_shows_that_error(results: Path) -> None:
    log = results / "logs" / "prepare" / "usps.log"
    log.parent.mkdir(parents=True)
    log.write_text("dekm: error: usps.h5 is no HDF5 file.\n")
    assert "1. failed: dekm: error: usps.h5 is no HDF5 file." in text(results, "mnist", "usps")


def test_a_skipped_dataset_shows_the_reason(results: Path) -> None:
    table = text(results, "mnist", "frgc", left_out={"frgc": "needs a licence"})
    assert "1. skipped: needs a licence" in table
    assert table.count("– [12.63 (2)] (1)") == 1


@pytest.mark.parametrize(
    "content", ["", '{"label": "DE', "[]", "{}", '{"seeds": {"0": 1}}', '{"seeds": {"x": "k"}}']
)
def test_a_damaged_summary_is_a_named_gap(results: Path, content: str) -> None:
    cell = results / "runs" / "mnist" / "dekm"
    cell.mkdir()
    (cell / "summary.json").write_text(content)
    note = text(results).rpartition("\n1. ")[2]
    assert note.startswith(str(cell / "summary.json"))
    assert "Run 'python -m dekm cluster mnist dekm' again" in note
    for dataset in ("mnist", "mine"):
        (results / "runs" / "mnist").rename(results / "runs" / dataset)
        write_table3(results, [dataset], METHODS, PAPER_FILE, results / "tables")
        assert f"/{dataset}/dekm/summary.json" in (results / "tables" / "table3.md").read_text()
        (results / "runs" / dataset).rename(results / "runs" / "mnist")


@pytest.mark.parametrize("content", ["", "[]", '{"label": 1}'])
def test_damaged_facts_are_a_named_gap_of_table_2(tmp_path: Path, content: str) -> None:
    file = write_facts(tmp_path, "mnist") / "facts.json"
    file.write_text(content)
    paper = pd.DataFrame(columns=["dataset", "label", "n_samples", "n_clusters", "shape"])
    (row,) = table2(tmp_path, ["mnist"], paper).to_dict("records")
    assert str(row["reason"]).startswith(str(file))
    assert pd.isna(row["n_samples"])


def test_a_cell_with_fewer_seeds_is_marked(results: Path) -> None:
    write_scores(results, "mnist", "dekm", [0.9])
    assert "**90.00** [95.75, −5.75] (1)" in text(results)
    assert "1. 1 of 2 seeds: the others failed or were not run" in text(results)
    assert "over 1 or 2 seeds" in text(results)


def test_a_seed_whose_fit_failed_is_named_with_the_reason(results: Path) -> None:
    write_scores(results, "mnist", "dekm", [0.9, 0.9])
    write_seed(results, "mnist", "dekm", 1, {}, failed="The training diverged", warnings=["It warned."])
    assert "1. 1 of 2 seeds; seed 1 failed: The training diverged; 1 of 2 seeds warn, seed 1" in text(results)


def test_a_seed_with_a_score_that_is_not_finite_does_not_count(results: Path) -> None:
    runs = [{"acc": 0.9, "nmi": 0.9, "inertia": 1.0}, {"acc": 0.1, "nmi": 0.0, "inertia": float("nan")}]
    write_summary(results, "mnist", "dekm", runs)
    assert "**90.00** [95.75, −5.75] (1)" in text(results)


def test_data_without_labels_show_metrics_that_need_no_labels(results: Path) -> None:
    write_facts(results, "mine", class_counts=None)
    for method, silhouette in (("k_means", 0.25), ("dekm", -0.5)):
        run = {"silhouette": silhouette, "n_clusters_found": 3, "n_iter": 2, "seconds": 1.0}
        write_summary(results, "mine", method, [run, run])
    header, _, first, second, *_ = text(results, "mine").splitlines()
    assert [name.strip() for name in header.split("|")[2:-1]] == [
        "mine Silhouette",
        "mine Clusters found",
    ]
    assert [value.strip() for value in first.split("|")[2:-1]] == ["0.250 ± 0.000 (1)", "3 ± 0 (1)"]
    assert "**" not in first + second
    assert "Datasets without true labels show the silhouette" in text(results, "mine")
    assert "percent" not in text(results, "mine")


def test_empty_clusters_are_named(results: Path) -> None:
    write_facts(results, "mine", n_clusters=5)
    seeds = [{"acc": 0.5, "nmi": 0.5, "n_clusters_found": found} for found in (5, 4, 3)]
    write_summary(results, "mine", "dekm", seeds)
    assert "only 3 to 4 of 5 clusters hold samples in 2 of 3 seeds" in text(results, "mine")


def test_all_files_are_written_when_nothing_was_run(tmp_path: Path) -> None:
    write_table3(tmp_path, ["mnist", "digits"], METHODS, PAPER_FILE, tmp_path / "tables")
    table = pd.read_csv(tmp_path / "tables" / "table3.csv")
    assert (table["reason"] == "not run").all()
    assert table["mean"].isna().all()
    assert "no seeds" in (tmp_path / "tables" / "table3.md").read_text()
    assert "1. not run" in (tmp_path / "tables" / "table3.md").read_text()
