import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from dekm.cli import main
from dekm.errors import InputError
from dekm.figures import FIGURES, cost, write_figure
from dekm.figures.classes import align, are_short, class_names, free_position, scatter_classes, shortened
from dekm.figures.curves import draw_curves
from dekm.figures.embedding import draw_embedding, group_clusters
from dekm.figures.fig1_frames import nearest_frames, read_frames, spread
from dekm.figures.fig5_embeddings import project, subset
from dekm.figures.runs import draw_confusion, draw_samples
from dekm.figures.style import colour, marker, new_figure, save, style
from dekm.files import write_manifest
from dekm.results.record import read_record
from tests.helpers.handmade import make_history, write_data, write_facts, write_run, write_summary

STRATEGIES = [f"strategy_{i}" for i in range(1, 6)]


def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{name}.csv")


def write_iterations(run: Path, n_iters: Sequence[int]) -> None:
    """Two clusters separated along x with spread along y; one label is wrong until iteration 2."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 20)
    H = np.stack([10.0 * labels, rng.normal(size=40)], axis=1).astype(np.float32)
    t = len(n_iters)
    every = np.tile(labels, (t, 1)).astype(np.int32)
    every[np.asarray(n_iters) < 2, 0] = 1
    arrays = {
        "n_iter": np.asarray(n_iters),
        "H": np.tile(H, (t, 1, 1)),
        "labels": every,
        "centers": np.tile(np.array([[0, 0], [10, 0]], np.float32), (t, 1, 1)),
        "V": np.tile(np.eye(2, dtype=np.float32), (t, 1, 1)),
    }
    np.savez_compressed(run / "iterations.npz", **arrays)
    write_manifest(run)


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """A run on 40 images 4x4 of two classes, beside its data."""

    def make(
        method: str = "dekm", seed: int = 0, with_truth: bool = True, acc: Sequence[float] = (0.6, 0.7, 0.8)
    ) -> Path:
        y = np.repeat([3, 7], 20)
        if not (tmp_path / "data" / "digits").exists():
            X = (np.random.default_rng(0).random((40, 4, 4, 1)) * 255).astype(np.uint8)
            write_data(tmp_path, "digits", X, y if with_truth else None)
        labels = np.repeat([1, 0], 20)
        labels[0] = 0
        H = np.stack([10.0 * labels, np.arange(40) / 100, np.zeros(40)], axis=1).astype(np.float32)
        history, classes = make_history(acc), y.astype(str) if with_truth else ()
        if not with_truth:
            history = history.drop(columns=["acc", "nmi", "ari"])
        return write_run(tmp_path, "digits", method, labels, H, history, seed, classes)

    return make


def test_figure_1_shows_the_nearest_saved_iterations_with_their_scores(
    make_run: Callable[..., Path], tmp_path: Path
) -> None:
    scores = np.linspace(0.5, 0.9, 33)  # not those of the labels and the classes
    run = make_run(acc=scores)
    write_iterations(run, [0, 1, 2, 3, 16, 32])
    write_figure("fig1", [run], tmp_path / "out")
    table = read(tmp_path / "out", "fig1").set_index("n_iter")
    assert table.index[table["shown"]].tolist() == [0, 1, 2, 16]
    assert table["acc"].tolist() == pytest.approx(scores[table.index])
    points = read(tmp_path / "out", "fig1_points")
    assert len(points) == 4 * 40
    assert set(points["class"]) == {3, 7}
    with Image.open(tmp_path / "out" / "fig1.gif") as animation:
        assert animation.n_frames == 6


def test_the_arrow_of_figure_1_has_two_standard_deviations_within_the_clusters(
    make_run: Callable[..., Path], tmp_path: Path
) -> None:
    run = make_run(with_truth=False)
    write_iterations(run, [0, 1, 2])
    frames, y = read_frames(read_record(run))
    assert y is None
    within = frames[2].H - frames[2].centers[frames[2].labels]
    assert spread(frames[2]) == pytest.approx([0, 2 * np.sqrt((within[:, 1] ** 2).mean())])
    write_figure("fig1", [run], tmp_path / "out")
    table = read(tmp_path / "out", "fig1")
    assert "acc" not in table
    assert table["dy"].iloc[2] == pytest.approx(spread(frames[2])[1], rel=1e-4)


def test_a_run_of_one_iteration_has_one_panel(make_run: Callable[..., Path], tmp_path: Path) -> None:
    run = make_run()
    write_iterations(run, [0])
    assert [frame.n_iter for frame in nearest_frames(read_frames(read_record(run))[0])] == [0]
    write_figure("fig1", [run], tmp_path / "out")


def test_a_run_without_saved_iterations_raises(make_run: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="should be a run with embedding_dim=2"):
        write_figure("fig1", [make_run()], tmp_path / "out")


def test_damaged_files_are_named_in_the_error(make_run: Callable[..., Path], tmp_path: Path) -> None:
    run = make_run()
    for damaged in (b"", b"PK\x03\x04 not a zip file"):
        (run / "iterations.npz").write_bytes(damaged)
        write_manifest(run)
        with pytest.raises(InputError, match=r"iterations\.npz is not a readable file of NumPy arrays"):
            write_figure("fig1", [run], tmp_path / "out")
    (run / "labels.npy").write_bytes(b"")
    write_manifest(run)
    with pytest.raises(InputError, match=r"labels\.npy is not a readable file of one NumPy array"):
        write_figure("runs", [run], tmp_path / "out")


def test_figure_2_shows_the_papers_numbers_and_the_corrected_ones(tmp_path: Path) -> None:
    write_figure("fig2", [], tmp_path)
    table = read(tmp_path, "fig2_entropies")
    assert table["paper_bits"].tolist() == [5.992, 1.419, 0.033, 0.033]
    assert table["papers_formula_nats"].round(3).tolist() == [5.991, 1.419, 0.033, 0.726]
    assert table["corrected_nats"].round(3).tolist() == [4.605, 2.838, 1.452, 2.145]
    assert table["corrected_bits"][1] == pytest.approx(2.83788 / math.log(2), abs=1e-4)
    points = read(tmp_path, "fig2")
    assert points.groupby("panel").size().tolist() == [400, 400, 400]
    assert points.query("panel == 'a'")[["x", "y"]].stack().between(0, 10).all()
    spread = points.query("panel == 'c'").iloc[:200][["x", "y"]].std()
    assert spread.tolist() == pytest.approx([0.5, 0.5], rel=0.15)


def test_figure_3_cycles_through_the_classes_and_skips_text(
    make_run: Callable[..., Path], tmp_path: Path
) -> None:
    make_run()
    text = write_data(tmp_path, "topics", np.zeros((5, 3), np.float32), None)
    write_figure("fig3", [tmp_path / "data" / "digits", text], tmp_path / "out")
    table = read(tmp_path / "out", "fig3")
    assert set(table["dataset"]) == {"digits"}
    assert table["class"].tolist() == [3, 7] * 6
    assert table["sample"].is_unique
    with pytest.raises(InputError, match="at least one folder of images"):
        write_figure("fig3", [text], tmp_path / "out")


@pytest.mark.parametrize("label", [r"$\foo$", "a_{b}^$"])
def test_a_label_is_text_and_no_mathematics(
    label: str, make_run: Callable[..., Path], tmp_path: Path
) -> None:
    make_run()
    write_facts(tmp_path, "digits", label)
    write_figure("fig3", [tmp_path / "data" / "digits"], tmp_path / "out")
    columns = ["metric", "method", "method_label", "mean_rank", "n_datasets"]
    ranks = pd.DataFrame([["acc", "a", label, 1.0, 1], ["acc", "b", "B", 2.0, 1]], columns=columns)
    ranks = ranks.assign(iman_davenport_p=np.nan, critical_difference=np.nan, separable=False)
    ranks.to_csv(tmp_path / "ranks.csv", index=False)
    write_figure("ranks", [tmp_path / "ranks.csv"], tmp_path / "out")


def write_strategies(results: Path) -> list[Path]:
    """Five cells of two seeds; the second seed of the first strategy stops early."""
    write_facts(results, "digits")
    nothing = np.zeros(1)
    for i, strategy in enumerate(STRATEGIES):
        for seed, acc in enumerate(([0.5, 0.6, 0.7], [0.5, 0.8] if i == 0 else [0.5, 0.6, 0.9])):
            write_run(results, "digits", strategy, nothing, nothing, make_history(acc), seed)
        write_summary(results, "digits", strategy, [{}, {}])
    return [results / "runs" / "digits" / strategy for strategy in STRATEGIES]


def test_figure_4_is_the_mean_and_spread_over_seeds(tmp_path: Path) -> None:
    write_figure("fig4", write_strategies(tmp_path), tmp_path / "out")
    table = read(tmp_path / "out", "fig4")
    first = table.query("strategy.str.startswith('1') and metric == 'acc'")
    assert first["mean"].tolist() == pytest.approx([50, 70, 75])
    assert first["sd"].tolist() == pytest.approx([0, 200**0.5, 50**0.5], abs=1e-3)
    final = read(tmp_path / "out", "fig4_final").query("metric == 'acc'")
    assert final["mean"].tolist() == pytest.approx([75, 80, 80, 80, 80])
    assert set(final["n_seeds"]) == {2}


def test_figure_4_needs_five_cells(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="4 inputs should be 5"):
        write_figure("fig4", write_strategies(tmp_path)[:4], tmp_path / "out")
    with pytest.raises(InputError, match=r"holds no summary\.json"):
        write_figure("fig4", [tmp_path / "nowhere"] * 5, tmp_path / "out")


def test_figure_5_maps_the_same_samples_of_every_run(make_run: Callable[..., Path], tmp_path: Path) -> None:
    write_figure("fig5", [make_run("pca_k_means"), make_run("dekm")], tmp_path / "out")
    table = read(tmp_path / "out", "fig5")
    first, second = (table[table["panel"] == panel] for panel in ("pca_k_means", "dekm"))
    assert first["sample"].tolist() == second["sample"].tolist() == list(range(40))
    assert first[["x", "y"]].to_numpy() == pytest.approx(second[["x", "y"]].to_numpy())
    assert set(table["class"]) == {3, 7}


def test_a_map_separates_the_clusters() -> None:
    labels = np.repeat([0, 1], 50)
    H = np.random.default_rng(0).normal(size=(100, 5)) + 30 * labels[:, None]
    points = project(H)
    np.testing.assert_array_equal(points, project(H))
    centers = np.stack([points[labels == i].mean(0) for i in (0, 1)])
    distances = np.linalg.norm(points[:, None] - centers, axis=2)
    np.testing.assert_array_equal(distances.argmin(1), labels)


def test_a_subset_is_deterministic_and_has_the_maximum_size() -> None:
    chosen = subset(500, 100)
    assert len(np.unique(chosen)) == 100
    np.testing.assert_array_equal(chosen, subset(500, 100))
    np.testing.assert_array_equal(subset(5), np.arange(5))


def test_figure_5_refuses_runs_on_different_data(make_run: Callable[..., Path], tmp_path: Path) -> None:
    other = write_run(tmp_path, "topics", "dekm", np.zeros(3), np.zeros((3, 2)), make_history([0.5]))
    with pytest.raises(InputError, match="should be on the same data"):
        write_figure("fig5", [make_run(), other], tmp_path / "out")


def test_a_run_is_drawn_with_aligned_clusters_and_its_samples(
    make_run: Callable[..., Path], tmp_path: Path
) -> None:
    write_figure("runs", [make_run()], tmp_path / "out")
    confusion = read(tmp_path / "out", "confusion")
    assert confusion.columns.tolist() == ["class", "cluster_1", "cluster_0"]
    assert confusion.to_numpy().tolist() == [[3, 19, 1], [7, 0, 20]]
    purity = read(tmp_path / "out", "purity")
    assert purity.columns.tolist() == ["cluster", "n_samples", "main_class", "purity"]
    assert purity.to_numpy().tolist() == [[1, 19, 3, 100], [0, 21, 7, pytest.approx(100 * 20 / 21)]]
    assert read(tmp_path / "out", "curves")["acc"].tolist() == [0.6, 0.7, 0.8]
    samples = read(tmp_path / "out", "samples")
    assert samples.groupby(["cluster", "kind"]).size().tolist() == [8, 8, 8, 8]
    ambiguous = samples.query("cluster == 1 and kind == 'ambiguous'")["sample"].iloc[0]
    nearest_one = samples.query("cluster == 1 and kind == 'typical'")["sample"].iloc[0]
    assert ambiguous in (1, 19)
    assert nearest_one == 10
    assert {file.suffix for file in (tmp_path / "out").glob("samples.*")} == {".csv", ".pdf", ".png"}


def test_samples_without_a_label_match_no_cluster_with_a_class() -> None:
    """Most samples have no label; cluster 2 has none with a label; class b is in no cluster of its own."""
    y = np.array(["", "", "", "c", "", "", "a", "a", "b", "", ""])
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
    counts, names, classes = align(y, labels)
    assert (counts.tolist(), names) == ([[2, 0, 0], [1, 0, 0], [0, 1, 0]], ["a", "b", "c"])
    assert list(classes.items()) == [(1, 0), (0, 2), (2, 3)]
    numbers, names = class_names(y)
    assert names == ["a", "b", "c", "no label"]
    assert numbers.tolist() == [3, 3, 3, 2, 3, 3, 0, 0, 1, 3, 3]
    groups, names = group_clusters(labels, y)  # a cluster has the number, and so the colour, of its class
    assert (groups[[0, 5, 9]].tolist(), names) == ([2, 0, 3], ["1", "", "0", "2"])


@pytest.mark.parametrize("figure", ["runs", "fig1"])
def test_a_run_whose_labels_are_partly_missing_is_drawn(
    make_run: Callable[..., Path], tmp_path: Path, figure: str
) -> None:
    run = make_run()
    y = np.where(np.arange(40) % 3 == 0, np.repeat(["a", "b"], 20), "")
    write_data(tmp_path, "digits", np.zeros((40, 4, 4, 1), np.uint8), y)
    write_iterations(run, [0, 1, 2])
    write_figure(figure, [run], tmp_path / "out")
    if figure == "runs":
        confusion = read(tmp_path / "out", "confusion")
        assert confusion["class"].tolist() == ["a", "b"]
        assert confusion.iloc[:, 1:].to_numpy().sum() == 14


def test_a_run_without_true_labels_has_no_confusion(make_run: Callable[..., Path], tmp_path: Path) -> None:
    run = make_run(with_truth=False)
    make_history([0, 0, 0]).drop(columns=["acc", "nmi", "ari"]).to_csv(run / "history.csv", index=False)
    write_manifest(run)
    write_figure("runs", [run], tmp_path / "out")
    assert {file.stem for file in (tmp_path / "out").iterdir()} == {"curves", "embedding", "samples"}


def test_the_curves_show_the_measures_that_need_no_labels() -> None:
    measures = {
        "smallest": [5, 4, 1],
        "largest": [9, 12, 30],
        "effective_rank": [3.0, 2.0, 1.0],
        "inertia_fraction": [0.5, 0.4, 0.1],
        "ari_first": [1.0, 0.9, -0.1],
    }
    axes = draw_curves(make_history([0.6, 0.7, 0.8], **measures), "DEKM").axes
    shown = [[line.get_ydata().tolist() for line in panel.lines] for panel in axes[3:]]
    assert shown == [
        [measures["largest"], measures["smallest"]],
        [measures["effective_rank"]],
        [measures["inertia_fraction"], measures["ari_first"]],
    ]
    assert axes[5].get_ylim()[0] < -0.1
    assert len(draw_curves(make_history([0.6, 0.7, 0.8]), "of an earlier version").axes) == 3


def test_a_run_without_iterations_has_no_curves(make_run: Callable[..., Path], tmp_path: Path) -> None:
    run = make_run()
    make_history([0.8]).to_csv(run / "history.csv", index=False)
    write_manifest(run)
    write_figure("runs", [run], tmp_path / "out")
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert "curves.csv" in names
    assert "curves.png" not in names
    assert read(tmp_path / "out", "embedding").columns.tolist() == ["x", "y", "sample", "cluster", "class"]


def test_ranks_are_drawn_without_a_critical_difference(tmp_path: Path) -> None:
    columns = ["metric", "method", "method_label", "mean_rank", "n_datasets"]
    rows = [["acc", "a", "A", 1.0, 1], ["acc", "b", "B", 2.0, 1]]
    frame = pd.DataFrame(rows, columns=columns)
    frame = frame.assign(iman_davenport_p=np.nan, critical_difference=np.nan, separable=False)
    tested = frame.assign(iman_davenport_p=0.01, critical_difference=0.4)
    sets = {"none": frame[:0], "some": frame, "wide": tested, "separable": tested.assign(separable=True)}
    for name, ranks in sets.items():
        ranks.to_csv(tmp_path / "ranks.csv", index=False)
        write_figure("ranks", [tmp_path / "ranks.csv"], tmp_path / name)
        drawn = {file.name for file in (tmp_path / name).glob("*")}
        assert drawn == (set() if name == "none" else {"ranks.pdf", "ranks.png"})


def test_cost_has_a_point_for_each_method_with_scores_and_seconds(tmp_path: Path) -> None:
    keys = ["dataset", "dataset_label", "method", "method_label", "metric", "mean", "sd"]
    cells = [("a", "A", name, name.upper()) for name in ("x", "y", "z")]
    scores = [(*cell, metric, 50.0 + i, 1.0) for metric in ("acc", "nmi") for i, cell in enumerate(cells)]
    scores[1] = (*cells[1], "acc", 70.0, np.nan)  # of one seed
    further = [(*cells[0], "seconds", 0.5, 0.1), (*cells[1], "seconds", 200.0, 9.0), (*cells[0], "ari", 1, 1)]
    for name, rows in (("table3", scores), ("further", further)):
        pd.DataFrame(rows, columns=keys).to_csv(tmp_path / f"{name}.csv", index=False)
    tables = [tmp_path / "table3.csv", tmp_path / "further.csv"]
    write_figure("cost", tables, tmp_path / "out")
    points = read(tmp_path / "out", "cost").set_index("method")
    assert points.index.tolist() == ["x", "y"]  # z has no seconds
    assert points[["acc", "acc_sd", "seconds"]].to_numpy().tolist() == [[50, 1, 0.5], [70, 0, 200]]
    with pytest.raises(InputError, match="1 inputs should be 2"):
        write_figure("cost", tables[:1], tmp_path / "out")
    pd.DataFrame(further, columns=keys).to_csv(tables[0], index=False)
    write_figure("cost", tables, tmp_path / "unlabelled")
    assert not (tmp_path / "unlabelled").exists()


def test_methods_of_one_label_have_marks_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    points = pd.DataFrame(
        {"dataset": "a", "dataset_label": "A", "method": ["x", "y"], "method_label": "DEKM"}
    )
    figure = cost.draw(points.assign(acc=[50.0, 60.0], acc_sd=1.0, seconds=[1.0, 2.0]))
    marks = [line.get_marker() for line in figure.axes[0].lines if line.get_marker() not in ("None", "")]
    assert len(set(marks)) == 2


@pytest.mark.parametrize("values", [(-1.0, 1.0), (0.0, 3.0)])
def test_images_of_any_range_are_drawn_from_black_to_white(values: tuple[float, float]) -> None:
    images = np.linspace(*values, 32, dtype=np.float32).reshape(2, 4, 4, 1)
    shown = pd.DataFrame({"cluster": [0, 1], "kind": "typical", "sample": [0, 1], "place": 1})
    drawn = [np.asarray(image.get_array()) for image in draw_samples(images, shown, "").axes[0].images]
    assert (drawn[0].min(), drawn[1].max()) == (0, 255)
    assert len(np.unique(drawn)) == 32


def test_files_are_identical_for_identical_data(make_run: Callable[..., Path], tmp_path: Path) -> None:
    run = make_run()
    write_iterations(run, [0, 1, 2])
    written = []
    for name in ("one", "two"):
        for figure, inputs in (("fig1", [run]), ("fig2", []), ("runs", [run])):
            write_figure(figure, inputs, tmp_path / name)
        written.append({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()})
    assert written[0] == written[1]
    pdf = written[0]["fig2.pdf"]
    assert b"CreationDate" not in pdf
    assert b"/FontFile2" in pdf


def test_fifty_classes_differ_in_colour_or_marker() -> None:
    assert len({(colour(i), marker(i)) for i in range(50)}) == 50


@pytest.mark.usefixtures("restored_logging")
def test_the_command_draws_a_figure_and_reports_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    assert main(["figure", "fig2", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "fig2.pdf").stat().st_size > 0
    assert main(["figure", "runs", str(tmp_path), "--out", str(tmp_path)]) == 1
    assert "should be the folder of a complete run; it holds no facts.json" in capsys.readouterr().err
    assert set(FIGURES) == {"fig1", "fig2", "fig3", "fig4", "fig5", "ranks", "cost", "choose_k", "runs"}


def test_names_of_overlapping_classes_keep_their_distance():
    line, gap = np.array([[x, 0.0] for x in range(11)]), np.array([[2.0, 2.0]])
    assert free_position(line, np.empty((0, 2)), gap[:0]).tolist() == [5, 0]
    assert free_position(line, np.array([[5.0, 0.0]]), gap).tolist() in ([3, 0], [7, 0])
    assert free_position(line, np.array([[5.0, 2.0]]), gap).tolist() == [5, 0]
    assert free_position(line, line, np.repeat(gap, 11, 0)).tolist() == [5, 0]


@pytest.mark.parametrize("length", [3, 12])
def test_names_on_a_map_do_not_overlap(length: int) -> None:
    rng = np.random.default_rng(0)
    points, classes = rng.normal(size=(600, 2)), np.repeat(np.arange(6), 100)
    names = [str(i) * length for i in range(6)]
    assert are_short(names)
    figure = draw_embedding(points, {"class": (classes, names)}, "")
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == 6
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_long_names_are_in_a_legend_below_the_panels() -> None:
    points, classes = np.random.default_rng(0).normal(size=(60, 2)), np.repeat(np.arange(6), 10)
    names = [f"a class of vegetables with number {i} and a long name" for i in range(6)]
    figure = draw_embedding(points, {"class": (classes, names)}, "")
    figure.canvas.draw()
    assert list(figure.axes[0].texts) == []
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert not box.overlaps(figure.axes[0].get_window_extent())
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_long_names_lose_their_middle() -> None:
    assert shortened("short", 6) == "short"
    assert shortened("abcdefghijkl", 9) == "abcdef…kl"
    assert len(shortened("x" * 100, 20)) == 20


@pytest.mark.filterwarnings("error::UserWarning")
def test_a_confusion_matrix_of_long_names_has_room_for_its_cells(tmp_path: Path) -> None:
    names = [f"{i} is a class with a long name that does not end" for i in range(3)]
    figure = draw_confusion(np.eye(3, dtype=int), names, [0, 1, 2], [100.0] * 3, "title")
    save(figure, tmp_path, "confusion")
    assert figure.axes[0].get_window_extent().width > 0.3 * figure.bbox.width


def test_clusters_have_the_colours_of_their_classes() -> None:
    y = np.array(["a"] * 3 + ["b"] * 3 + ["c"] * 2)
    labels = np.array([7, 7, 7, 5, 5, 9, 2, 2])
    groups, names = group_clusters(labels, y)
    assert groups.tolist() == [0, 0, 0, 1, 1, 3, 2, 2]
    assert names == ["7", "5", "2", "9"]
    assert group_clusters(labels, None)[1] == ["2", "5", "7", "9"]


def test_no_class_covers_another() -> None:
    with style():
        axes = new_figure(2, 2).subplots()
        scatter_classes(axes, np.zeros((90, 2)), np.arange(90) % 3, 20)
    (drawn,) = axes.collections
    colours = [tuple(c) for c in drawn.get_facecolors()]
    halves = [{c: part.count(c) for c in set(colours)} for part in (colours[:45], colours[45:])]
    assert all(min(half.values()) > 5 for half in halves)
    markers = {c: {len(drawn.get_paths()[i]) for i in range(90) if colours[i] == c} for c in set(colours)}
    assert all(len(shapes) == 1 for shapes in markers.values())
    assert len(set(map(tuple, markers.values()))) > 1
