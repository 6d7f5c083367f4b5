"""Shape checks of every annotation of the package, and the small data that the tests share."""

import functools
import logging
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Self

import jaxtyping
import numpy as np
import pytest
import torch
from beartype import BeartypeConf, FrozenDict, beartype
from jaxtyping import install_import_hook

# A method's Self cannot be checked where functions are decorated one by one.
check_types = beartype(conf=BeartypeConf(hint_overrides=FrozenDict({Self: Any}), is_pep484_tower=True))
TENSOR_MODULES = ("clustering", "nn", "methods")
install_import_hook([f"dekm.{name}" for name in TENSOR_MODULES], f"{__name__}.check_types")
# The checks take a third of a small fit, so they are made in the tests of these modules, but not where
# scikit-learn's own checks call them hundreds of times more.
CHECKED = tuple(f"tests/{name}/" for name in TENSOR_MODULES)
UNCHECKED = ("tests/methods/test_sklearn.py",)

# The rules of the workflow run `python`: this one.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

# The runs of the tests belong on no server of who runs them.
os.environ.pop("MLFLOW_TRACKING_URI", None)

# For tiny networks a second thread costs more than it gives; commands that the tests start are told so too.
torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")


# A file belongs to one process of `make test`, so that what its tests share is made once. These take longest;
# they are started first, in this order, so that the processes end together.
SLOW = (
    "cluster/",
    "workflow/test_workflow.py",
    "outside/",
    "workflow/test_reruns.py",
    "nn/test_emulated_gpu.py",
    "workflow/",
    "test_benchmarks.py",
    "test_package.py",
    "faults/",
    "figures/",
    "methods/test_sklearn.py",
    "test_",
    "experiment/",
    "methods/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def turn(item: pytest.Item) -> int:
        name = item.nodeid.removeprefix("tests/")
        return next((i for i, slow in enumerate(SLOW) if name.startswith(slow)), len(SLOW))

    items.sort(key=turn)


@pytest.fixture(autouse=True)
def checked_annotations(request: pytest.FixtureRequest) -> None:
    """Check the annotations of the package in the tests of the modules that have tensors."""
    name = request.node.nodeid
    is_checked = name.startswith(CHECKED) and not name.startswith(UNCHECKED)
    jaxtyping.config.update("jaxtyping_disable", not is_checked)


@pytest.fixture(scope="session", autouse=True)
def compiled_umap() -> Iterator[None]:
    """Numba keeps its machine code of UMAP, which takes every process seconds to make, for the next one."""
    from dekm.methods import coordinates
    from tests.helpers import compiled_umap

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coordinates, "load_umap", compiled_umap.load)
        yield


class Samples(NamedTuple):
    """Samples and their true labels."""

    X: np.ndarray
    y: np.ndarray


@pytest.fixture(scope="session")
def make_blobs() -> Callable[..., Samples]:
    """Isotropic Gaussian blobs of unit variance."""

    def make(n: int, k: int, d: int, seed: int = 0, spread: float = 4.0) -> Samples:
        rng = np.random.default_rng(seed)
        y = np.arange(n) % k
        X = rng.normal(scale=spread, size=(k, d))[y] + rng.normal(size=(n, d))
        return Samples(X.astype(np.float32), y)

    return make


@pytest.fixture(scope="session")
def blobs(make_blobs: Callable[..., Samples]) -> Samples:
    """300 points of 3 clusters in 10 dimensions."""
    return make_blobs(300, 3, 10)


@pytest.fixture(scope="session")
def noise() -> np.ndarray:
    """200 points without clusters in 10 dimensions."""
    return np.random.default_rng(3).normal(size=(200, 10)).astype(np.float32)


@pytest.fixture(scope="session")
def images() -> Samples:
    """60 images 8x8x1: 3 patterns with noise."""
    rng = np.random.default_rng(4)
    y = np.arange(60) % 3
    X = 0.9 * rng.random((3, 8, 8, 1))[y] + 0.1 * rng.random((60, 8, 8, 1))
    return Samples(X.astype(np.float32), y)


@pytest.fixture(scope="session")
def tiny() -> Callable[..., Any]:
    """An unfitted autoencoder with tiny networks."""
    from dekm import Autoencoder

    def make(embedding_dim: int = 3, **params: Any) -> Any:
        small = {"hidden": (32, 16), "channels": (4, 8, 8), "n_epochs": 3, "device": "cpu", "random_state": 0}
        return Autoencoder(embedding_dim=embedding_dim, **small | params)

    return make


@pytest.fixture(scope="session")
def make_method(tiny: Callable[..., Any]) -> Callable[..., Any]:
    """A row of METHODS as an estimator that fits in a blink."""
    from dekm.methods import METHODS

    def make(name: str, n_clusters: int = 3, **params: Any) -> Any:
        row = METHODS[name]
        small = {
            "autoencoder": tiny(random_state=None),
            "n_init": 2,
            "n_init_update": 2,
            "max_iter": 2,
            "update_interval": 2,
            "n_batches": 10,
            "epochs_per_iter": 1,
            "tol": 1.0,
            "n_epochs": 30,
            "device": "cpu",
            "random_state": 0,
        }
        if name == "vade":  # the embedding of a network that is hardly trained is small
            small["lr"] = 1e-5
        estimator = row.load()
        known = {key: value for key, value in small.items() if key in estimator._get_param_names()}
        return estimator(n_clusters, **known | dict(row.params) | params)

    return make


@pytest.fixture(scope="session")
def fitted(make_method: Callable[..., Any], blobs: Samples, images: Samples) -> Callable[..., Any]:
    """A row of METHODS, fitted once to blobs or images; no test changes it."""

    @functools.cache
    def fit(name: str, kind: str = "blobs") -> Any:
        return make_method(name).fit({"blobs": blobs, "images": images}[kind].X)

    return fit


@pytest.fixture
def restored_logging() -> Iterator[None]:
    """Undo what the command line does to the logging of warnings."""
    yield
    logging.captureWarnings(False)


@pytest.fixture(scope="session")
def made_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of an empty MLflow store."""
    from dekm.tracking.database import DATABASE, open_store

    folder = tmp_path_factory.mktemp("store")
    open_store(folder)
    return folder / DATABASE


@pytest.fixture
def copied_databases(made_database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New stores in this process get a copy of one database, since MLflow takes seconds to make one."""
    from dekm.files.atomic import atomic_file
    from dekm.tracking.database import artifacts_uri

    def create(database: Path) -> None:
        with atomic_file(database) as temporary:
            shutil.copyfile(made_database, temporary)
            with closing(sqlite3.connect(temporary)) as connection:
                place = artifacts_uri(database.parent, "default")
                connection.execute("UPDATE experiments SET artifact_location = ?", (place,))
                connection.commit()

    monkeypatch.setattr("dekm.tracking.database._create", create)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the tiny workflow, made once for all workers; a test copies what it changes."""
    from dekm.files import locked
    from tests.helpers.workspace import Workspace

    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "finished"
    with locked(folder):
        if not folder.with_suffix(".done").exists():
            folder.mkdir(exist_ok=True)
            Workspace(folder).run()
            folder.with_suffix(".done").touch()
    return folder


@pytest.fixture
def workspace(finished: Path, tmp_path: Path) -> Any:
    """A copy of the finished run."""
    from tests.helpers.workspace import Workspace

    return Workspace.copied(finished, tmp_path / "copy")
