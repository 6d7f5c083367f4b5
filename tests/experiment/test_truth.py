"""The true labels are out of reach of a method: nothing that it is handed leads to them."""

import functools
import types
from collections import deque

import numpy as np
import pytest
import torch

from dekm import Clusterer, DeepClusterer, Iteration
from dekm.clustering.kmeans import kmeans
from dekm.datasets import DATASETS, preparation
from dekm.experiment import checkpoints
from dekm.experiment.history import History, Scorer
from dekm.experiment.jobs import cluster_cell, pretrain_cell
from dekm.files import read_json
from dekm.nn.checkpoint import NO_CHECKPOINT, Checkpoint, State
from tests.helpers.prepared_files import files

CONTAINERS = (list, tuple, set, frozenset, deque)
FOUND: list[object] = []  # what the spies found in all jobs of a test


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A small dataset and its pretrained autoencoder; every epoch and iteration has a checkpoint."""
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    preparation.prepare(
        DATASETS["digits"], tmp_path / "raw", **files(tmp_path / "data/digits"), subsample=100
    )
    pretrain_cell(
        tmp_path, "digits", "mlp", [0], {"hidden": (16, 8), "n_epochs": 1, "batch_size": 32}, device="cpu"
    )
    FOUND.clear()
    return tmp_path


def referents(value):
    """What an object refers to by its attributes, as a container, or as a function or method."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, CONTAINERS):
        return list(value)
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    found = [value.base] if isinstance(value, np.ndarray) else []
    if isinstance(value, types.FunctionType):
        found += [value.__defaults__, value.__kwdefaults__]
        found += [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
    slots = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ())]
    found += [getattr(value, name) for name in slots if isinstance(name, str) and hasattr(value, name)]
    return [*found, getattr(value, "__dict__", None)]


def reachable(*roots):
    """All objects that attributes, containers and closures lead to; no modules, classes or frames."""
    pending, seen = list(roots), {}
    while pending:
        value = pending.pop()
        if id(value) in seen or isinstance(value, types.ModuleType | type):
            continue
        seen[id(value)] = value
        pending += referents(value)
    return list(seen.values())


class Spy(DeepClusterer):
    """K-means on the embedding; it keeps all that it can reach after each report."""

    def __init__(self, n_clusters=2, *, autoencoder=None, device="auto", random_state=None):
        self.n_clusters = n_clusters
        self.autoencoder = autoencoder
        self.device = device
        self.random_state = random_state

    def fit(self, X, y=None, *, checkpoint=NO_CHECKPOINT):
        random_state, _ = self.start_fit()
        samples = self.load_samples(X, reset=True)
        self.encoder_ = self.pretrained_network(samples, random_state).encoder
        H = self.embed(samples)
        checkpoint.load()
        for n_iter in range(3):
            partition = kmeans(H, self.n_clusters, n_init=1, random_state=random_state)
            self.report(Iteration(n_iter, H, *partition[:3]))
            checkpoint.save(lambda: State({"weights": H}, {"n": 1}))
            FOUND.extend(reachable(self, checkpoint, X))
        return self.finish_fit(H, partition, n_iter)


def test_nothing_that_a_method_is_handed_leads_to_the_true_labels_or_to_a_score(results):
    with np.load(results / "data/digits/data.npz") as data:
        y = data["y"]
    row = {"estimator": f"{__name__}:Spy", "autoencoder": "mlp", "label": "Spy"}
    cluster_cell(results, "digits", "spy", [0], {}, definition=row, device="cpu")
    score = read_json(results / "runs/digits/spy/seed0/metrics.json")["acc"]
    assert any(isinstance(value, History) for value in FOUND)
    assert any(isinstance(value, Checkpoint) for value in FOUND)
    assert len(FOUND) > 300
    tensors = [value.detach().numpy() for value in FOUND if isinstance(value, torch.Tensor)]
    arrays = tensors + [value for value in FOUND if isinstance(value, np.ndarray)]
    assert len(arrays) > 20
    assert not any(array.shape == y.shape and np.array_equal(array, y) for array in arrays)
    assert not any(isinstance(value, Scorer) for value in FOUND)
    assert not any(isinstance(value, str) and value in ("acc", "nmi", "ari", "y") for value in FOUND)
    assert not any(isinstance(value, float) and value == score for value in FOUND)


def test_the_walk_finds_labels_behind_attributes_closures_and_views(results):
    y = np.arange(5)

    class Holder:
        __slots__ = ("hidden",)

    holder = Holder()
    holder.hidden = [functools.partial(max, key={"y": y})]
    for root in (holder, lambda: y, Scorer(y, History()).scores, y[1:], {1: (y,)}):
        assert any(value is y for value in reachable(root)), root


class Taker(Clusterer):
    """A method that takes the true labels from its hook, if there are any."""

    def __init__(self, n_clusters=2, *, device="auto", random_state=None):
        self.n_clusters = n_clusters
        self.device = device
        self.random_state = random_state

    def fit(self, X, y=None):
        self.start_fit()
        H = self.embed(self.load_samples(X, reset=True))
        truth = self.on_iteration.y
        return self.finish_fit(H, truth, 0)

    def embed(self, samples):
        return samples.flatten(1)


def test_a_method_that_reads_the_labels_of_its_hook_fails_in_the_workflow(results):
    row = {"estimator": f"{__name__}:Taker", "label": "Taker"}
    with pytest.raises(AttributeError, match="'History' object has no attribute 'y'"):
        cluster_cell(results, "digits", "taker", [0], {}, definition=row, device="cpu")
