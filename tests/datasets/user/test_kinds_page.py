"""Every block of docs/how-to/kinds-of-data.md, prepared from a file of its kind."""

import json
import re
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image
from scipy import sparse
from scipy.io import savemat

from dekm.cli import main
from dekm.experiment.prediction import write_predictions
from tests.helpers.own_data import prepare
from tests.helpers.upstream import idx

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "kinds-of-data.md"
BLOCKS = yaml.safe_load(re.search(r"```yaml\n(.*?)```", PAGE.read_text(), re.S).group(1))["datasets"]
Y = np.arange(6) % 2
NAMES = np.array(["cat", "dog"])[Y]
TEXTS = ["a red house", "the blue sea", "a red roof", "the sea today", "red walls", "blue waves"]
SHAPES = {
    "photos": (6, 32, 32, 3),
    "pixels": (6, 8, 8, 1),
    "channels_first": (6, 8, 8, 3),
    "scans": (6, 8, 8, 1),
    "matlab_images": (6, 8, 8, 1),
    "flat": (6, 8, 8, 1),
    "microscope": (6, 8, 8, 1),
    "embeddings": (6, 4),
    "components": (6, 2),
    "excel": (6, 3),
    "headless": (6, 2),
    "measurements": (6, 3),
    "anything": (6, 4),
}
UNLABELLED = {
    "channels_first",
    "matlab_images",
    "flat",
    "embeddings",
    "excel",
    "vectors",
    "sparse",
    "anything",
}


def load():
    """What the loader of the page returns."""
    return np.eye(6)[:, :4], None


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the page names."""
    root = tmp_path_factory.mktemp("own")
    folder, rng = root / "data", np.random.default_rng(0)
    X = rng.random((6, 4))
    for i, name in enumerate(NAMES):
        for kind in ("photos", "letters"):
            (folder / kind / name).mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 256, (8, 8, 3), np.uint8)
        Image.fromarray(pixels).save(folder / "photos" / name / f"{i}.png")
        (folder / "microscope" / name).mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 5000, (8, 8)).astype(np.uint16)).save(
            folder / "microscope" / name / f"{i}.tif"
        )
        (folder / "letters" / name / f"{i}.txt").write_text(TEXTS[i])
    images = rng.integers(0, 256, (6, 8, 8), np.uint8)
    np.save(folder / "pixels.npy", images)
    np.save(folder / "pixel_labels.npy", Y)
    savemat(folder / "matlab.mat", {"images": np.moveaxis(images, 0, -1)})
    np.save(folder / "flat.npy", images.reshape(6, -1))
    np.save(folder / "torch.npy", rng.integers(0, 256, (6, 3, 8, 8), np.uint8))
    (folder / "scans-idx3-ubyte.gz").write_bytes(idx(images))
    (folder / "scans-idx1-ubyte.gz").write_bytes(idx(Y))
    np.save(folder / "vectors.npy", X)
    sparse.save_npz(folder / "counts.npz", sparse.csr_matrix(X.round()))
    np.savez(folder / "arrays.npz", samples=X, classes=Y, weights=X[0])
    with h5py.File(folder / "cells.h5ad", "w") as file:
        file["X"] = (9 * X).round()
        file["obsm/X_pca"] = X[:, :2]
        file["obs/cell_type"] = [name.encode() for name in NAMES]
    table = pd.DataFrame(X[:, :3], columns=["height", "weight", "age"])
    table.assign(id=range(6), species=NAMES).to_csv(folder / "table.csv", index=False)
    X_list = pd.DataFrame({"id": [f"v{i}" for i in range(6)], "vector": list(X)})
    X_list.to_parquet(folder / "embeddings.parquet")
    excel = pd.DataFrame({"width": X[:, 0], "colour": np.array(["red", "blue"])[Y]})
    excel.to_csv(folder / "excel.csv", index=False, sep=";", decimal=",")
    (table[["height", "weight"]].assign(kind=NAMES)).to_csv(
        folder / "headless.csv", index=False, header=False
    )
    pd.DataFrame({"text": TEXTS, "stars": Y}).to_csv(folder / "reviews.csv", index=False)
    return root


@pytest.mark.parametrize("name", BLOCKS)
def test_every_block_of_the_page_is_read(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data)
    block = BLOCKS[name]
    if "loader" in block:
        block = block | {"loader": f"{__name__}:load"}
    X, y, _ = prepare(tmp_path, block)
    assert len(X.shape) in (2, 4)
    assert X.shape == SHAPES.get(name, X.shape)
    assert X.shape[0] == len(Y)
    assert (y is None) == (name in UNLABELLED)


def load_path(path=None):
    """The same for a run and for new data."""
    return load()


@pytest.mark.filterwarnings("ignore:The clusters")
@pytest.mark.usefixtures("restored_logging")
@pytest.mark.parametrize("name", BLOCKS)
def test_the_data_of_every_block_are_clustered_and_get_their_own_clusters_as_new_data(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data)
    block = BLOCKS[name]
    if "loader" in block:
        block = block | {"loader": f"{__name__}:load_path"}
    results = ["--results", str(tmp_path)]
    settings = [part for key, value in block.items() for part in ("--set", f"{key}={json.dumps(value)}")]
    assert main(["prepare", "mine", "--raw-dir", str(tmp_path), *results, *settings]) == 0
    assert main(["cluster", "mine", "k_means", *results, "--seeds", "0", "--device", "cpu"]) == 0
    run = tmp_path / "runs/mine/k_means/seed0"
    new = {key: block[key] for key in ("path", "loader") if key in block}
    write_predictions(run, new, tmp_path / "new.csv", device="cpu")
    columns = ["row", "sample", "cluster"]
    old, found = (pd.read_csv(file)[columns] for file in (run / "clusters.csv", tmp_path / "new.csv"))
    pd.testing.assert_frame_equal(found, old)
