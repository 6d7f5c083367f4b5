import base64
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from dekm.files import write_manifest
from dekm.markup import to_csv
from dekm.results.comparison import Comparison
from dekm.results.data import length_of_common_folder
from dekm.results.result_set import ResultSet
from dekm.results.runs import read_runs
from dekm.tables import write_table3
from dekm.tables.clusters import clusters, clusters_grid, shown_runs
from dekm.tables.partitions import partitions, partitions_grid
from dekm.tables.rendering.html import to_html
from dekm.tables.rendering.markdown import to_markdown
from tests.helpers.handmade import make_history, write_facts, write_run, write_summary
from tests.helpers.loaded import read_results

PAPER_FILE = Path(__file__).parents[2] / "resources" / "paper" / "table3.csv"
LABELS = np.array([0, 0, 0, 1, 1, 1])
X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [10.0, 5.0], [11.0, 5.0], [12.0, 5.0]])


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two methods with two seeds on a table of a user without labels."""
    folder = write_facts(tmp_path, "mine", class_counts=None, features=["height", "weight"], n_samples=6)
    np.savez(folder / "data.npz", X=X)
    for method, silhouette in (("k_means", 0.5), ("dekm", 0.25)):
        for seed, labels in enumerate((LABELS, 1 - LABELS)):
            run = write_run(tmp_path, "mine", method, labels, X, make_history([0.5]), seed)
            rows = [f"{i},{i},,{labels[i]},{i % 3},{0.1 * i:.1f}" for i in range(6)]
            (run / "clusters.csv").write_text(
                "\n".join(["row,sample,class,cluster,distance,margin", *rows, ""])
            )
            write_manifest(run)
        measures = {"silhouette": silhouette, "davies_bouldin": 1.0, "n_clusters_found": 2, "seconds": 1.0}
        write_summary(tmp_path, "mine", method, [measures, measures | {"silhouette": silhouette + 0.1}])
    return tmp_path


def test_the_measures_of_all_seeds_are_averaged(results: Path) -> None:
    compared = {"mine": Comparison({"k_means": [0.5, 0.1]}, [])}
    rows = partitions(read_results(results, ["mine"], ["k_means", "dekm"]), compared)
    assert rows["method"].tolist() == ["k_means", "dekm"]
    assert rows["silhouette"].tolist() == pytest.approx([0.55, 0.3])
    assert rows["pooled"].tolist() == pytest.approx([0.3, np.nan], nan_ok=True)
    cell = partitions_grid(rows).rows[0][2]
    assert (cell.text, cell.sd) == ("+0.30", "0.28")
    assert rows["stability"].tolist() == [1.0, 1.0]
    assert rows["largest"].isna().all()


def test_one_seed_has_no_stability(results: Path) -> None:
    write_summary(results, "mine", "dekm", [{"silhouette": 0.5}])
    rows = partitions(read_results(results, ["mine"], ["k_means", "dekm"]), {"mine": Comparison({}, [])})
    assert rows["stability"].tolist() == pytest.approx([1.0, np.nan], nan_ok=True)


def test_k_means_and_dekm_are_shown_side_by_side_without_labels(results: Path) -> None:
    runs = read_runs(ResultSet(results))
    shown = shown_runs(runs, "mine", ["dekm", "k_means"])
    assert [(run.subject, run.facts["seed"]) for run in shown] == [("k_means", 0), ("dekm", 0)]
    rows = clusters(shown[0])
    assert rows["n_samples"].tolist() == [3, 3]
    assert rows["typical"].tolist() == ["0; 1; 2", "3; 4; 5"]
    assert rows["features"].tolist() == ["height -1.0; weight +0.0", "height +1.0; weight +0.0"]
    assert shown_runs(runs, "yours", ["dekm"]) == []


def test_the_chosen_methods_are_shown_and_the_best_row_comes_first_with_labels(results: Path) -> None:
    methods = ["k_means", "pca_k_means", "dkm", "dekm"]
    for method, acc in (("k_means", 0.5), ("pca_k_means", 0.6), ("dkm", 0.9), ("dekm", 0.8)):
        write_run(results, "yours", method, LABELS, X, make_history([acc]), 0)
        write_summary(results, "yours", method, [{"acc": acc, "seconds": 1.0}])
    runs = read_runs(ResultSet(results))

    def subjects(show: list[str]) -> list[str]:
        return [run.subject for run in shown_runs(runs, "yours", methods, show)]

    assert subjects([]) == ["dkm", "k_means", "dekm"]
    assert subjects(["pca_k_means", "dekm"]) == ["pca_k_means", "dekm"]
    assert [run.subject for run in shown_runs(runs, "yours", ["pca_k_means"], ["dekm"])] == ["pca_k_means"]


def test_images_are_shown_in_place_of_their_names_and_lead_to_the_page_of_the_run(results: Path) -> None:
    folder = write_facts(results, "mine", class_counts=None, n_samples=6, shape=[4, 4, 1])
    np.savez(folder / "data.npz", X=np.linspace(0, 1, 96, dtype=np.float32).reshape(6, 4, 4, 1))
    run = read_runs(ResultSet(results)).cells["mine", "k_means"][0]
    grid = clusters_grid(clusters(run), run, "../explore/mine_k_means.html")
    page = to_html("page", [grid])
    assert page.count('<img src="data:image/png;base64,') == 12
    assert '<a href="../explore/mine_k_means.html#5"><img' in page
    assert "0; 1; 2" in to_markdown(grid)
    pictures = [sample.picture for row in grid.rows for cell in row for sample in cell.samples]
    assert len(set(pictures)) == 6
    content = Image.open(io.BytesIO(base64.b64decode(pictures[0].partition(",")[2])))
    assert np.asarray(content).tolist() == (np.arange(16).reshape(4, 4) * 255 / 95).round().tolist()


def test_the_purity_of_every_cluster_is_shown_where_classes_are_known(results: Path) -> None:
    [run] = shown_runs(read_runs(ResultSet(results)), "mine", ["k_means"])
    unlabelled = clusters_grid(clusters(run), run)
    assert ("", "Purity (%)") not in unlabelled.columns
    assert "Purity" not in unlabelled.caption

    table = pd.read_csv(run.file("clusters"))
    table["class"] = ["a", "a", "b", "b", "b", None]
    table.to_csv(run.file("clusters"), index=False)
    write_manifest(run.path)
    rows = clusters(run)
    assert rows["main_class"].tolist() == ["a", "b"]
    assert rows["purity"].tolist() == pytest.approx([200 / 3, 100])
    grid = clusters_grid(rows, run)
    shown = dict(zip(grid.columns, zip(*grid.rows, strict=True), strict=True))
    assert [cell.text for cell in shown["", "Purity (%)"]] == ["66.7", "100.0"]
    assert grid.caption.startswith("Purity: ")


@pytest.mark.parametrize("names", [["/r/python", *"abcde"], ["", *"abcde"], ["@user", *"abcde"]])
def test_any_names_of_samples_and_classes_are_shown_as_they_are(results: Path, names: list[str]) -> None:
    [run] = shown_runs(read_runs(ResultSet(results)), "mine", ["k_means"])
    table = pd.read_csv(run.file("clusters"))
    frame = table.assign(sample=names, **{"class": ["@home"] * 3 + ["-work"] * 3})
    run.file("clusters").write_text(to_csv(frame), encoding="utf-8")
    write_manifest(run.path)
    assert run.clusters()["sample"].tolist() == names
    assert set(clusters(run)["main_class"]) == {"@home", "-work"}


def test_file_names_are_shown_without_their_common_folder() -> None:
    assert length_of_common_folder(["a/b/x.png", "a/c/y.png"]) == len("a/")
    assert length_of_common_folder(["a/x.png", "a/y.png"]) == len("a/")
    for names in (["3", "17"], ["/r/python", "s1", ""], ["http://a.org/1", "https://b.org/0"]):
        assert length_of_common_folder(names) == 0


def test_own_data_have_a_page_of_their_own(results: Path) -> None:
    folder = results / "figures" / "runs" / "mine" / "k_means"
    folder.mkdir(parents=True)
    (folder / "embedding.png").write_bytes(b"picture")
    shown = ResultSet(results).page_of_run("mine", "k_means")
    shown.parent.mkdir()
    shown.touch()
    write_table3(results, ["mine"], ["k_means", "dekm"], PAPER_FILE, results / "tables")
    names = {file.name for file in (results / "tables").iterdir()}
    assert {
        "partitions.csv",
        "clusters_mine_k_means.md",
        "clusters_mine_dekm.md",
        "ranks.csv",
        "table3.html",
    } <= names
    assert not names & {"claims.csv", "verdicts.csv", "origins.csv"}
    page = (results / "tables" / "table3.html").read_text()
    assert "mine: the methods cannot be compared without labels. No embedding tells the partitions" in page
    assert page.count('<img src="data:image/png;base64,') == 1
    assert '<a href="../explore/mine_k_means.html">K-means on mine</a>' in page
    assert "mine_dekm.html" not in page
    for absent in ("Table III", "paper", "in percent", "Mean rank"):
        assert absent not in page.partition("</style>")[2]
