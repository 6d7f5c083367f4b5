"""Symptoms that users of deep clustering libraries report, each a test."""

import itertools
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from torch.utils.data import DataLoader

from dekm import DEKM, Autoencoder
from dekm.datasets import DATASETS, preparation
from dekm.datasets.user.own import own_dataset
from dekm.errors import InputError
from dekm.experiment.jobs import cluster_cell, pretrain_cell
from dekm.files import read_json
from dekm.methods import METHODS
from dekm.metrics import accuracy, silhouette
from dekm.tables import write_table3
from tests.helpers.handmade import write_facts, write_scores
from tests.helpers.prepared_files import files

ROOT = Path(__file__).parent.parent
DEEP = [name for name, row in METHODS.items() if row.autoencoder]

PREPARE_AND_CLUSTER = """
import sys
from dekm.cli import main

for command in (
    "prepare digits --results results --raw-dir raw --subsample 100",
    "cluster digits k_means --results results --seeds 0 --device cpu --set n_init=2",
):
    assert main(command.split()) == 0
print(*(module.__file__ for name, module in sys.modules.items() if name.startswith("dekm")), sep="\\n")
"""

every_method = pytest.mark.parametrize("name", METHODS)
deep_method = pytest.mark.parametrize("name", DEEP)
UNTRAINED = ("ae_k_means", "n2d")
trained_method = pytest.mark.parametrize("name", [name for name in DEEP if name not in UNTRAINED])
# The labels of the others are those of a model or a subspace of their own, also before the first step.
centered_method = pytest.mark.parametrize(
    "name", [name for name in DEEP if name not in (*UNTRAINED, "edesc", "vade", "acedec")]
)


def best_share(y, labels, n_names):
    """ACC from its definition: the largest share that a renaming of the clusters makes equal to `y`."""
    return max(np.mean(np.array(names)[labels] == y) for names in itertools.permutations(range(n_names)))


def small_dekm(n_clusters):
    """The settings that the pages for users recommend, with small networks."""
    small = {"hidden": (64, 32), "channels": (8, 16, 32), "batch_size": 32, "n_epochs": 50, "device": "cpu"}
    params = {"max_iter": 20, "tol": 0.02, "n_init": 5, "n_init_update": 3, "device": "cpu"}
    return DEKM(n_clusters, autoencoder=Autoencoder(**small), random_state=0, **params)


def run_in(folder, *arguments):
    """Standard output and error of a Python command that starts and first imports in `folder`."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.filterwarnings("ignore:The graph of 10 nearest samples")
@every_method
@pytest.mark.parametrize("n_clusters", [3, 5])
def test_more_or_fewer_clusters_than_classes_are_scored(name, n_clusters, make_method, make_blobs):
    X, y = make_blobs(200, 4, 10)
    labels = make_method(name, n_clusters=n_clusters).fit(X).labels_
    assert accuracy(y, labels) == best_share(y, labels, max(4, n_clusters))


def test_continuous_true_values_do_not_set_the_number_of_clusters(make_blobs, tmp_path):
    np.savez(tmp_path / "own.npz", X=make_blobs(60, 3, 5).X, y=np.random.default_rng(0).random(60))
    own = own_dataset("own", {"path": str(tmp_path / "own.npz"), "n_clusters": 3})
    preparation.prepare(own, tmp_path / "raw", **files(tmp_path / "data/own"))
    cluster_cell(tmp_path, "own", "k_means", [0], {"n_init": 2}, device="cpu")
    found = read_json(tmp_path / "runs/own/k_means/seed0/metrics.json")
    assert found["n_clusters_found"] == 3
    assert found["acc"] == 3 / 60


def test_a_scan_over_the_number_of_clusters_finds_it_without_labels(make_method, make_blobs):
    X = make_blobs(200, 4, 5).X
    found = {k: make_method("k_means", n_clusters=k, n_init=5).fit(X).labels_ for k in range(2, 8)}
    scan = {k: silhouette(X, labels) for k, labels in found.items()}
    assert max(scan, key=scan.get) == 4
    assert all(-1 <= value <= 1 for value in scan.values())
    assert silhouette(sparse.csr_matrix(X), found[4]) == pytest.approx(scan[4], rel=1e-5)
    assert silhouette(X, np.zeros(200)) is None
    assert silhouette(X, np.arange(200)) is None


@pytest.mark.filterwarnings("ignore:The clusters (separate|are others)")
@deep_method
@pytest.mark.parametrize(("e", "k"), [(3, 5), (7, 2)])
def test_the_size_of_the_embedding_is_not_mixed_up_with_the_number_of_clusters(
    name, e, k, make_method, tiny, blobs
):
    autoencoder = tiny(embedding_dim=e, random_state=None)
    estimator = make_method(name, n_clusters=k, autoencoder=autoencoder).fit(blobs.X)
    e = k if name == "n2d" else e  # UMAP embeds the autoencoder's embedding in k dimensions
    assert estimator.embedding_.shape == (300, e)
    assert estimator.cluster_centers_.shape == (k, e)
    assert set(estimator.labels_) <= set(range(k))


@trained_method
def test_the_loss_is_not_zero_all_the_time(name, fitted):
    history = fitted(name).history_
    assert len(history) > 1
    assert all(row["loss"] > 0 for row in history[1:])


@pytest.mark.parametrize(("name", "weight"), [("idec", "gamma"), ("dcn", "lam"), ("dkm", "lam")])
def test_the_reported_loss_is_not_the_reconstruction_loss_alone(name, weight, make_method, blobs):
    alone, half, whole = (
        make_method(name, max_iter=1, lr=0.0, **{weight: value}).fit(blobs.X).history_[1]["loss"]
        for value in (0.0, 0.5, 1.0)
    )
    assert whole > alone
    assert whole - alone == pytest.approx(2 * (half - alone), rel=1e-3)


def test_one_set_of_settings_does_for_blobs_digits_and_a_csv_file(make_blobs, tmp_path):
    X, y = make_blobs(300, 3, 10)
    assert accuracy(y, small_dekm(3).fit(X).labels_) > 0.95

    X, y = make_blobs(200, 4, 6, seed=1)
    pd.DataFrame(X).to_csv(tmp_path / "own.csv", index=False)
    assert accuracy(y, small_dekm(4).fit(pd.read_csv(tmp_path / "own.csv")).labels_) > 0.95

    digits = load_digits()
    labels = small_dekm(10).fit(digits.images[:300] / 16).labels_
    assert accuracy(digits.target[:300], labels) > 0.6


@every_method
def test_batches_without_labels_are_clustered_as_one_tensor(name, make_method, fitted, blobs):
    batches = DataLoader(torch.from_numpy(blobs.X), batch_size=64)
    estimator = make_method(name).fit(torch.cat(list(batches)))
    np.testing.assert_array_equal(estimator.labels_, fitted(name).labels_)
    with pytest.raises(InputError, match="DataLoader"):
        estimator.fit(batches)


@every_method
def test_a_seed_takes_effect_whatever_was_drawn_before(name, make_method, fitted, blobs):
    first = fitted(name)
    random.random(), np.random.random(3), torch.rand(3)  # noqa: NPY002
    second = make_method(name).fit(blobs.X)
    for attribute in ("labels_", "cluster_centers_", "embedding_"):
        np.testing.assert_array_equal(getattr(first, attribute), getattr(second, attribute))


@pytest.mark.filterwarnings(
    "ignore:The (pretrained )?embedding ha[sd] collapsed", "ignore:The clusters (separate|are others)"
)
@deep_method
def test_runs_without_a_seed_are_not_all_the_same(name, make_method, blobs):
    first, second = (make_method(name, random_state=None).fit(blobs.X).embedding_ for _ in range(2))
    assert not np.array_equal(first, second)


@centered_method
def test_what_a_method_gains_over_its_autoencoder_is_seen_in_its_history(name, make_method, tiny, blobs):
    autoencoder = FrozenEstimator(tiny().fit(blobs.X))
    seen = []
    estimator = make_method(name, autoencoder=autoencoder, on_iteration=seen.append).fit(blobs.X)
    before = make_method("ae_k_means", autoencoder=autoencoder).fit(blobs.X)
    np.testing.assert_array_equal(seen[0].labels, before.labels_)
    assert estimator.history_[0]["inertia"] == pytest.approx(before.inertia_, rel=1e-5)


@every_method
def test_another_initial_clustering_is_refused_and_not_ignored(name, blobs):
    with pytest.raises(TypeError, match="init"):
        METHODS[name].load()(3, init=blobs.X[:3])


def test_a_run_tells_which_pretraining_it_started_from(tmp_path):
    preparation.prepare(
        DATASETS["digits"], tmp_path / "raw", **files(tmp_path / "data/digits"), subsample=100
    )
    keys = set()
    for n_epochs in (1, 2):
        settings = {"hidden": (8,), "n_epochs": n_epochs}
        pretrain_cell(tmp_path, "digits", "mlp", [0], settings, device="cpu")
        cluster_cell(tmp_path, "digits", "dcn", [0], {"n_init": 1, "max_iter": 0}, device="cpu")
        start = read_json(tmp_path / "pretrained/digits/mlp/seed0/facts.json")
        assert read_json(tmp_path / "runs/digits/dcn/seed0/facts.json")["pretrained"] == start["key"]
        assert start["settings"]["n_epochs"] == n_epochs
        keys.add(start["key"])
    assert len(keys) == 2


def test_a_table_tells_over_how_many_seeds_its_numbers_are(tmp_path):
    write_facts(tmp_path, "usps")
    write_scores(tmp_path, "usps", "dekm", [0.5, 0.6, 0.7])
    write_table3(tmp_path, ["usps"], ["dekm"], ROOT / "resources/paper/table3.csv", tmp_path / "tables")
    for end in ("md", "html", "tex"):
        assert "over 3 seeds" in (tmp_path / "tables" / f"table3.{end}").read_text()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_a_fresh_clone_holds_every_file_that_a_run_needs(tmp_path):
    listed = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / name)
    plan = run_in(tmp_path, "-m", "snakemake", "-n", "--cores", "1", "--configfile", "config/demo.yaml")
    assert "everything" in plan
    output = run_in(tmp_path, "-c", PREPARE_AND_CLUSTER)
    assert "acc=" in output
    modules = [Path(line) for line in output.splitlines() if line.endswith(".py")]
    assert tmp_path / "dekm/clustering/kmeans.py" in modules
    assert all(module.is_relative_to(tmp_path) for module in modules)  # not those of an editable install
