"""The files of this folder, which are the blocks of docs/extending.md, in the real workflow."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.datasets import load_digits, load_wine

from dekm import Autoencoder
from dekm.experiment.estimators import build, fit
from dekm.experiment.history import History
from dekm.methods import DEFINITION, find_method

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text()
FILES = ("pull.py", "wine.py", "residual.py", "outside.yaml", "Snakefile", "bars.py", "hour.yaml")
LABELS = ("K-means", "DEKM, 100 steps", "DEKM, residual", "Pull", "AE+Ward")
PUBLISHED = ("K-means", "DEKM, residual", "DEKM, 100 steps", "Pull", "AE+Ward")  # ours, then by their keys


@pytest.mark.parametrize("name", FILES)
def test_a_block_of_the_page_is_the_file(name: str) -> None:
    assert f"```{'yaml' if name.endswith('yaml') else 'python'}\n{(FOLDER / name).read_text()}```\n" in PAGE


def commands() -> list[str]:
    return re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


class Folder:
    """A user's folder, in which a clone of the project lies."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name in FILES:
            shutil.copyfile(FOLDER / name, path / name)
        (path / "dekm").symlink_to(ROOT)

    def run(self, command: str, *, ok: bool = True) -> str:
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        environment.pop("PYTHONPATH", None)
        environment["PYTHONPATH"] = str(self.path / "dekm")
        done = subprocess.run(
            ["bash", "-euc", command],
            cwd=self.path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert (done.returncode == 0) is ok, done.stdout
        return done.stdout

    def planned(self) -> set[str]:
        """The jobs of a dry run that train."""
        output = self.run("snakemake -n all bars.png")
        return set(re.findall(r"(?:Cluster|Pretrain the) [^,]+", output))

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.path / name).read_text()
        assert old in text
        (self.path / name).write_text(text.replace(old, new))


def test_the_page_leads_to_a_table_with_a_method_a_network_a_loader_and_a_figure(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    check, run, predict, publish, hour = commands()
    assert "17 passed, 0 failed" in folder.run(check)
    folder.run(run.replace("--cores all", "--cores 2"))
    results = tmp_path / "results" / "outside"
    table = (results / "tables" / "table3.md").read_text()
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")]
    assert rows == ["Method", "-" * len(rows[1]), *LABELS]
    assert (tmp_path / "bars.png").stat().st_size > 0
    assert (results / "figures" / "runs" / "wine" / "pull" / "curves.png").is_file()
    history = (results / "runs" / "wine" / "pull" / "seed0" / "history.csv").read_text().splitlines()
    assert len(history) == 1 + 4
    assert sorted(path.name.partition("-")[0] for path in (results / "pretrained" / "wine").iterdir()) == [
        "mlp",
        "network",
    ]
    facts = json.loads((results / "runs" / "wine" / "pull" / "seed0" / "facts.json").read_text())
    assert (facts["label"], facts["settings"]) == ("Pull", {"weight": 0.5})

    X = load_wine().data
    np.savetxt(
        tmp_path / "new.csv", X, delimiter=",", header=",".join(load_wine().feature_names), comments=""
    )
    folder.run(predict)
    labels = np.load(results / "runs" / "wine" / "pull" / "seed0" / "labels.npy")
    clusters = pd.read_csv(tmp_path / "clusters.csv")["cluster"]
    np.testing.assert_array_equal(clusters, labels)
    without = re.sub(r"--define \S+", "", predict)
    assert "name the estimator by --define estimator=pull:Pull, if you trust it" in folder.run(
        without, ok=False
    )

    folder.run(publish)
    shown = folder.run(hour.replace("--cores all", "--cores 2"))
    rows = [line.split("|")[1].strip() for line in shown.splitlines() if line.startswith("| ")]
    assert rows[2:] == ["Pull harder", *(f"{label} (published)" for label in PUBLISHED)]
    assert "published in outside, not run here: cpu" in shown
    assert "Pull harder, DEKM, 100 steps (published), Pull (published), AE+Ward (published)" in shown
    taken = folder.path / "results" / "hour" / "pretrained" / "wine" / "mlp" / "seed0" / "facts.json"
    assert "origin" in json.loads(taken.read_text())
    assert [path.name for path in (folder.path / "results" / "hour" / "runs" / "wine").iterdir()] == [
        "harder"
    ]

    folder.edit("pull.py", '"""K-means on', '"""A docstring, K-means on')
    assert folder.planned() == set()
    folder.edit("outside.yaml", "label: Pull", "label: Pulled")
    folder.edit("residual.py", "nn.ReLU()", "nn.Tanh()")
    network = next(path.name for path in (results / "pretrained" / "wine").glob("network-*"))
    assert folder.planned() == {
        f"Pretrain the {network} autoencoders of wine",
        "Cluster wine with dekm_residual",
        "Cluster wine with pull",  # which keeps its seeds: a label decides no result
    }


def test_the_rows_of_clustpy_run_where_it_is_installed() -> None:
    pytest.importorskip("clustpy.centroid", reason="ClustPy is not installed")
    rows = yaml.safe_load(re.findall(r"```yaml\n(  sub_k_means.*?)```", PAGE, re.DOTALL)[0])
    X, _ = load_digits(return_X_y=True)
    start = Autoencoder(hidden=(16,), n_epochs=1, device="cpu", random_state=0).fit(X[:200])
    for name, row in rows.items():
        settings = {key: value for key, value in row.items() if key not in DEFINITION}
        estimator = build(find_method(name, rows), 10, settings, None, "cpu", 0)
        found = fit(estimator, X[:200], start if "autoencoder" in row else None, History())
        assert found.n_clusters_found == 10
