"""What the page of a run holds."""

import base64
import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dekm.cli import main
from dekm.errors import InputError
from dekm.figures.explore import TEMPLATE, contents, features, write_page
from dekm.figures.explore.contents import gather, match, nearest, stratified_part, to_grid
from dekm.figures.explore.pictures import MAX_PIXELS, MAX_SIDE, Pictures, sheet, strip
from dekm.files import write_manifest
from dekm.files.manifest import content_digest
from dekm.results.record import read_record
from dekm.results.result_set import ResultSet
from docs.images import page_of_run
from tests.helpers.handmade import make_history, write_data, write_facts, write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two clusters of 20 samples along a line, with names in place of labels 0 and 1."""
    y = np.repeat(["b <i>", "a"], 20)
    folder = write_facts(tmp_path, "mine", n_samples=40, features=["x", "y", "z"])
    X = np.arange(120, dtype=np.float32).reshape(40, 3)
    np.savez_compressed(folder / "data.npz", X=X, y=y)
    H = np.stack([np.repeat([0.0, 9.0], 20), np.tile(np.arange(20), 2), np.zeros(40)], axis=1)
    labels = np.repeat([0, 1], 20)
    return write_run(tmp_path, "mine", "dekm", labels, H, make_history([0.5, 1.0]), classes=y.tolist())


def add_iterations(run: Path, **changes: Any) -> None:
    """Two iterations; the first one has the other numbers of clusters, and one sample elsewhere."""
    first, H = np.repeat([1, 0], 20), np.load(run / "embedding.npy")
    first[0] = 0
    arrays = {
        "n_iter": np.arange(2),
        "labels": np.stack([first, np.repeat([0, 1], 20)]).astype(np.int32),
        "H": np.stack([H[:, :2] / 2, H[:, :2]]).astype(np.float32),
        "centers": np.zeros((2, 2, 2), np.float32),
        "U": np.stack([H[:20].mean(0), H[20:].mean(0)]).astype(np.float32),
    }
    np.savez_compressed(run / "iterations.npz", **arrays | changes)
    write_manifest(run)


def read(page: Path, name: str) -> Any:
    """One of the JSON elements of a page."""
    found = re.search(
        f'<script type="application/json" id="{name}">(.*?)</script>',
        page.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert found is not None
    return json.loads(found[1])


def unpack(page: Path, name: str) -> np.ndarray:
    array = read(page, "arrays")[name]
    return np.frombuffer(gzip.decompress(base64.b64decode(array["values"])), array["type"])


def test_a_page_has_the_clusters_of_every_iteration_numbered_alike(run: Path, tmp_path: Path) -> None:
    add_iterations(run)
    write_page(run, tmp_path / "page.html")
    clusters = unpack(tmp_path / "page.html", "clusters").reshape(2, 40)
    expected = np.repeat([0, 1], 20)
    np.testing.assert_array_equal(clusters[1], expected)
    np.testing.assert_array_equal(np.flatnonzero(clusters[0] != expected), [0])
    meta = read(tmp_path / "page.html", "meta")
    assert meta["n_iter"] == [0, 1]
    assert [row["acc"] for row in meta["history"]] == [0.5, 1.0]
    assert [(row["size"], meta["classes"][row["main"]], row["purity"]) for row in meta["clusters"]] == [
        (20, "b <i>", 100),
        (20, "a", 100),
    ]
    assert [meta["classes"][row["colour"]] for row in meta["clusters"]] == ["b <i>", "a"]


def test_a_page_has_the_warnings_of_the_fit_and_of_the_preparation(run: Path, tmp_path: Path) -> None:
    facts = run / "facts.json"
    facts.write_text(json.dumps(json.loads(facts.read_text()) | {"warnings": ["It has collapsed."]}))
    write_manifest(run)
    data = tmp_path / "data" / "mine" / "facts.json"
    data.write_text(json.dumps(json.loads(data.read_text()) | {"warnings": ["1 of 40 is <a> copy"]}))
    write_page(run, tmp_path / "page.html")
    assert read(tmp_path / "page.html", "meta")["warnings"] == ["It has collapsed.", "1 of 40 is <a> copy"]


def test_the_picture_of_a_page_in_the_documentation_is_of_this_template() -> None:
    taken = json.loads(page_of_run.PICTURE.with_suffix(".json").read_text())
    remedy = "make demo, then python docs/images/page_of_run.py takes it again"
    assert taken["template"] == content_digest(TEMPLATE), remedy
    with Image.open(page_of_run.PICTURE) as picture:
        assert picture.size == (page_of_run.SIZE["width"], page_of_run.SIZE["height"])


def test_a_map_of_two_dimensions_is_called_the_embedding(run: Path, tmp_path: Path) -> None:
    for changes in ({}, {"V": np.tile(np.eye(2, dtype=np.float32), (2, 1, 1))}):
        add_iterations(run, **changes)
        write_page(run, tmp_path / "page.html")
        assert read(tmp_path / "page.html", "meta")["is_plane"] is bool(changes)


def test_names_cannot_end_the_element_that_holds_them(run: Path, tmp_path: Path) -> None:
    write_page(run, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "b <i>" not in text
    assert "b \\u003ci>" in text
    assert "{{" not in text.replace("`${", "")


def test_a_run_of_an_earlier_version_has_a_page_of_its_end(run: Path, tmp_path: Path) -> None:
    write_page(run, tmp_path / "page.html")
    assert len(read(tmp_path / "page.html", "meta")["n_iter"]) == 1
    assert unpack(tmp_path / "page.html", "map").shape == (80,)


def test_damaged_iterations_are_an_error_that_names_them(run: Path, tmp_path: Path) -> None:
    add_iterations(run, labels=np.zeros((2, 39), np.int32))
    with pytest.raises(
        InputError, match=r"iterations\.npz is damaged: it should hold 2 iterations of 40 samples"
    ):
        write_page(run, tmp_path / "page.html")


def test_a_table_of_clusters_of_other_samples_is_an_error_of_the_run(run: Path, tmp_path: Path) -> None:
    table = (run / "clusters.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (run / "clusters.csv").write_text("".join(table[:-3]), encoding="utf-8")
    write_manifest(run)
    with pytest.raises(
        InputError, match=r"seed0 is not a readable run: .* Run 'python -m dekm cluster mine dekm'"
    ):
        write_page(run, tmp_path / "page.html")


def test_many_samples_are_shown_in_part_with_the_typical_ones(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "MAX_SAMPLES", 10)
    found = gather(read_record(run))
    typical = read_record(run).typical()["sample"]
    assert set(typical) <= set(found.chosen.tolist())
    assert len(found.arrays["rows"]) == len(found.chosen) < 40
    members = np.repeat([0, 1, 2], [600, 300, 100])
    part = stratified_part(members, np.array([999]))
    assert np.bincount(members[part])[:2].tolist() == [6, 3]
    assert 999 in part
    np.testing.assert_array_equal(part, np.unique(part))


def test_partitions_are_matched_to_the_next_one() -> None:
    final = np.array([0, 0, 1, 1, 2, 2])
    before = np.array([2, 2, 0, 0, 1, 0])
    earlier = np.array([3, 3, 1, 1, 0, 1])  # a cluster that the others lack
    matched = match(np.stack([earlier, before, final]), final)
    np.testing.assert_array_equal(matched[1], [0, 0, 1, 1, 2, 1])
    np.testing.assert_array_equal(matched[0], [0, 0, 1, 1, 2, 1])


def test_neighbours_are_the_nearest_other_samples() -> None:
    points = np.array([[0.0], [1.0], [3.0], [7.0]])
    distances, indices = nearest(points, None, 2)
    assert indices.tolist() == [[1, 2], [0, 2], [1, 0], [2, 1]]
    assert distances.tolist() == [[1, 3], [1, 2], [2, 3], [4, 6]]
    assert nearest(points[:2], None, 10)[1].tolist() == [[1], [0]]


def test_positions_keep_their_proportions() -> None:
    grid = to_grid(np.array([[[0.0, 0.0], [4.0, 2.0]]])).astype(int)
    width, height = grid[0, 1] - grid[0, 0]
    assert width == pytest.approx(2 * height, abs=1)
    assert to_grid(np.zeros((1, 3, 2))).shape == (1, 3, 2)


@pytest.mark.parametrize(("side", "channels", "kind"), [(8, 1, "image/png"), (200, 3, "image/jpeg")])
def test_images_are_one_sheet_of_limited_size(side: int, channels: int, kind: str) -> None:
    pictures = sheet(np.ones((7, side, side // 2, channels), np.float32), np.arange(5))
    assert pictures.address.startswith(f"data:{kind};")
    assert pictures.grid is not None
    assert pictures.grid["h"] == min(side, MAX_SIDE)
    assert pictures.grid["w"] == pictures.grid["h"] // 2
    assert pictures.grid["columns"] == 3
    assert MAX_SIDE**2 * 5 < MAX_PIXELS
    assert sheet(None, np.arange(5)).grid is strip(None, None).grid is None


@pytest.mark.parametrize(
    "H",
    [np.zeros((40, 3)), np.arange(40.0)[:, None]],
    ids=["a collapsed embedding", "an embedding of one dimension"],
)
def test_a_degenerate_embedding_has_a_page_without_t_sne(tmp_path: Path, H: np.ndarray) -> None:
    write_data(tmp_path, "mine", np.zeros((40, 4, 4, 1), np.uint8), None)
    labels = np.repeat([-1, 0, 2], [5, 15, 20])  # -1 is that of no cluster
    run = write_run(tmp_path, "mine", "dekm", labels, H, make_history([0.5]))
    write_page(run, tmp_path / "page.html")
    assert "tsne" not in read(tmp_path / "page.html", "arrays")
    names = [row["name"] for row in read(tmp_path / "page.html", "meta")["clusters"]]
    assert names == ["-1", "0", "2"]


def test_the_features_of_a_sample_are_the_columns_farthest_from_their_means(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = read_record(run).data
    vectors = data.vectors()
    assert vectors is not None
    X = vectors.X.copy()
    X[7] = X.mean(0) + X.std(0) * [0, -5, 1]
    monkeypatch.setattr(type(data), "vectors", lambda self: vectors._replace(X=X))
    monkeypatch.setattr(features, "BLOCK", 3)
    found, names = features.largest_features(data, np.arange(2, 12))
    assert [names[i] for i in found["feature"][5]] == ["y", "z", "x"]
    assert found["value"][5].tolist() == pytest.approx(X[7, [1, 2, 0]].tolist())
    assert found["deviation"][5, 0] < -3


def pixels_of(pictures: Pictures) -> np.ndarray:
    assert pictures.address is not None
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(pictures.address.partition(",")[2]))))


def test_images_of_any_range_are_shown_from_black_to_white() -> None:
    images = np.linspace(-5, 300, 12, dtype=np.float32).reshape(3, 2, 2, 1)
    pixels = pixels_of(sheet(images, np.arange(3)))
    assert pixels[0, 0] == 0
    assert pixels[2:, :2].max() == 255
    assert len(np.unique(pixels)) >= 12
    center = pixels_of(strip(images[:1], images))
    np.testing.assert_array_equal(center, pixels[:2, :2])


def test_the_command_writes_the_page_to_its_place(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", str(run)]) == 0
    page = tmp_path / "explore" / "mine_dekm.html"
    assert capsys.readouterr().out == f"{page}\n"
    assert ResultSet(tmp_path).pages() == {"minedekm0": page}
    assert main(["explore", str(run), "--out", str(tmp_path / "other.html")]) == 0
    assert (tmp_path / "other.html").read_bytes() == page.read_bytes()


def test_a_page_shows_images_and_decoded_centers(tmp_path: Path) -> None:
    X = (np.random.default_rng(0).random((40, 4, 4, 1)) * 255).astype(np.uint8)
    write_data(tmp_path, "pictures", X, None)
    H = np.stack([np.repeat([0.0, 9.0], 20), np.tile(np.arange(20), 2), np.zeros(40)], axis=1)
    run = write_run(tmp_path, "pictures", "dekm", np.repeat([0, 1], 20), H, make_history([0.5, 1.0]))
    add_iterations(run, decoded=np.ones((2, 4, 4, 1), np.float32))
    write_page(run, tmp_path / "page.html")
    assert set(filter(None, read(tmp_path / "page.html", "images").values())) != set()
    meta = read(tmp_path / "page.html", "meta")
    assert meta["sheet"] == {"h": 4, "w": 4, "columns": 7}
    assert meta["decoded"]["columns"] == 2
    assert meta["classes"] is None
