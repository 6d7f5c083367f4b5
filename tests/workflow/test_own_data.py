"""The page docs/own-data.md, followed to the letter."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from dekm.cli.outputs import SCHEMA
from dekm.experiment.checks import find_disallowed
from dekm.experiment.schema import read_schema

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "own-data.md").read_text()


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)[number]


def write_images(folder: Path, n: int) -> None:
    """Bright and dark noise of several sizes, in a folder for each."""
    rng = np.random.default_rng(0)
    for name, level in (("cats", 40), ("dogs", 200)):
        (folder / name).mkdir(parents=True)
        for i in range(n):
            pixels = np.clip(rng.normal(level, 25, (24 + i % 3, 30, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{i}.png")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory as the page wants it, with small networks."""
    write_images(tmp_path / "my-images", 30)
    config = yaml.safe_load(block("yaml"))
    assert list(find_disallowed(config, read_schema(SCHEMA))) == []
    config["seeds"] = [0]
    config["device"] = "cpu"
    config["threads"] = 1
    config["pretraining"] = {"n_epochs": 3, "channels": [4, 8, 8]}
    config["methods"]["dekm"] = {"max_iter": 2}
    for name in ("pca_k_means", "ae_k_means"):  # which would double the time, and are in other workflows
        del config["methods"][name]
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(config))
    return tmp_path


def run(folder: Path, command: str) -> str:
    command = command.replace("snakemake", f"snakemake -s {ROOT}/Snakefile --cores 2 --workflow-profile none")
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        ["bash", "-euc", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_page_leads_from_a_folder_of_images_to_clusters_of_new_ones(folder: Path) -> None:
    output = run(folder, block("sh", 0))
    assert "| K-means" in output
    assert "animals ACC" in output
    figures = folder / "results" / "mine" / "figures" / "runs" / "animals" / "dekm"
    assert (figures / "samples.png").is_file()

    write_images(folder / "new-images", 4)
    run(folder, block("sh", 1))
    with (folder / "clusters.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["sample"] for row in rows][:2] == ["new-images/cats/0.png", "new-images/cats/1.png"]
    clusters = [int(row["cluster"]) for row in rows]
    assert len(set(clusters[:4])) == len(set(clusters[4:])) == 1
    assert clusters[0] != clusters[4]


def test_unlabelled_vectors_start_at_pca_and_get_a_table_without_true_labels(folder: Path) -> None:
    config = yaml.safe_load((folder / "my.yaml").read_text())
    rng = np.random.default_rng(0)
    np.save(folder / "rows.npy", np.vstack([rng.normal(i, 0.1, (40, 5)) for i in range(3)]))
    start = {"init": "pca", "n_epochs": 0}
    config["datasets"] = {"rows": {"path": "rows.npy", "n_clusters": 3, "pretraining": start}}
    (folder / "my.yaml").write_text(yaml.safe_dump(config))
    output = run(folder, block("sh", 0))
    assert "Silhouette" in output
    assert "ACC" not in output.partition("| Method")[2]
    run(folder, "python -m dekm predict results/mine/runs/rows/dekm/seed0 --set path=rows.npy --out new.csv")
    seed = folder / "results/mine/runs/rows/dekm/seed0"
    assert np.load(seed / "embedding.npy").shape == (120, 5)  # as many components as columns
    labels = np.load(seed / "labels.npy")
    with (folder / "new.csv").open(newline="") as stream:
        assert [int(row["cluster"]) for row in csv.DictReader(stream)] == labels.tolist()


def test_a_folder_without_a_run_is_named(folder: Path) -> None:
    command = [sys.executable, "-m", "dekm", "predict", "nowhere", "--set", "path=x", "--out", "y.csv"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1
    assert "nowhere holds no run" in done.stderr


def test_a_change_of_the_users_files_prepares_them_again(folder: Path) -> None:
    labels = folder / "y.npy"
    np.save(folder / "rows.npy", np.random.default_rng(0).normal(size=(40, 5)))
    np.save(labels, np.arange(40) % 2)
    config = yaml.safe_load((folder / "my.yaml").read_text())
    config["datasets"]["rows"] = {"path": "rows.npy", "labels": "y.npy", "n_clusters": 2}
    (folder / "my.yaml").write_text(yaml.safe_dump(config))
    prepared = [f"results/mine/data/{name}/facts.json" for name in ("animals", "rows")]
    dry_run = f"snakemake {' '.join(prepared)} -n --quiet host --configfile my.yaml"
    run(folder, dry_run.replace("-n --quiet host", "--quiet all"))
    assert "Nothing to be done" in run(folder, dry_run)

    picture = folder / "my-images" / "cats" / "0.png"
    picture.write_bytes((folder / "my-images" / "dogs" / "0.png").read_bytes())
    assert re.search(r"prepare +1\b", run(folder, dry_run))
    np.save(labels, np.arange(40) % 2 == 0)
    assert re.search(r"prepare +2\b", run(folder, dry_run))
