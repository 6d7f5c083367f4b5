import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from sklearn.exceptions import NotFittedError
from torch import nn

from dekm import DEC, DKM, Autoencoder, KMeans
from dekm.errors import InputError
from dekm.methods import METHODS
from dekm.methods.persistence import UnreadableError

every_method = pytest.mark.parametrize("name", METHODS)

READ_BACK = """
import sys
import numpy as np
from dekm.methods import METHODS

folder = sys.argv[1]
X = np.load(f"{folder}/X.npy")
for name, row in METHODS.items():
    np.save(f"{folder}/{name}.npy", row.load().load(f"{folder}/{name}.safetensors", device="cpu").predict(X))
"""


@every_method
@pytest.mark.parametrize("kind", ["blobs", "images"])
def test_learned_attributes_and_parameters_are_restored(name, kind, fitted, request, tmp_path):
    X, _ = request.getfixturevalue(kind)
    saved = fitted(name, kind)
    saved.save(tmp_path / "a.safetensors")
    loaded = type(saved).load(tmp_path / "a.safetensors", device="cpu")
    np.testing.assert_array_equal(loaded.predict(X), saved.labels_)
    np.testing.assert_array_equal(loaded.transform(X), saved.transform(X))
    for attribute in ("labels_", "cluster_centers_", "embedding_", "inertia_", "n_iter_", "sample_shape_"):
        np.testing.assert_array_equal(getattr(loaded, attribute), getattr(saved, attribute))
    np.testing.assert_equal(loaded.history_, saved.history_)
    given = saved.get_params(deep=False) | {"autoencoder": None}
    assert loaded.get_params(deep=False) | {"autoencoder": None} == given


class Keeping(KMeans):
    """A method of a user, which keeps a further learned attribute."""

    def fit(self, X, y=None, *, more=None):
        super().fit(X)
        self.more_ = more(self)
        return self


@pytest.mark.parametrize(
    "more",
    [
        lambda fitted: fitted.labels_,
        lambda fitted: fitted.cluster_centers_.T,
        lambda fitted: fitted.embedding_[::-1],
        lambda fitted: fitted.embedding_[::2, 1:],
        lambda fitted: np.broadcast_to(fitted.inertia_, (3, 2)),
        lambda fitted: fitted.embedding_.astype(">f4"),
        lambda fitted: np.array(2.5),
        lambda fitted: np.array(["a", "b"]),
    ],
    ids=["shared", "transposed", "reversed", "part", "read-only", "big-endian", "scalar", "text"],
)
def test_an_array_of_any_layout_is_saved(more, blobs, tmp_path):
    fitted = Keeping(3, random_state=0).fit(blobs.X, more=more)
    fitted.save(tmp_path / "model")
    loaded = Keeping.load(tmp_path / "model", device="cpu")
    np.testing.assert_array_equal(loaded.more_, fitted.more_)
    np.testing.assert_array_equal(loaded.labels_, fitted.labels_)


@pytest.mark.parametrize("value", [np.array([1j]), np.array(["2026"], "M8[Y]"), {"a": 1}])
def test_an_attribute_that_no_file_holds_is_one_error(value, blobs, tmp_path):
    fitted = Keeping(3, random_state=0).fit(blobs.X, more=lambda _: value)
    with pytest.raises(UnreadableError, match="model is not written"):
        fitted.save(tmp_path / "model")


class Tied(nn.Module):
    """A network of a user, two layers of which are one."""

    def __init__(self, shape, embedding_dim):
        super().__init__()
        tied = nn.Linear(embedding_dim, embedding_dim)
        self.encoder = nn.Sequential(nn.Linear(shape[0], embedding_dim), tied)
        self.decoder = nn.Sequential(tied, nn.Linear(embedding_dim, shape[0]))


def test_tied_weights_are_saved(blobs, tmp_path):
    fitted = Autoencoder(network=Tied, embedding_dim=3, n_epochs=1, random_state=0, device="cpu").fit(blobs.X)
    fitted.save(tmp_path / "model")
    loaded = Autoencoder.load(tmp_path / "model", network=Tied, device="cpu")
    np.testing.assert_array_equal(loaded.transform(blobs.X), fitted.transform(blobs.X))


def test_a_new_process_reads_every_method_back_to_identical_predictions(fitted, blobs, tmp_path):
    np.save(tmp_path / "X.npy", blobs.X)
    expected = {}
    for name in METHODS:
        estimator = fitted(name)
        estimator.save(tmp_path / f"{name}.safetensors")
        expected[name] = estimator.predict(blobs.X)
    subprocess.run([sys.executable, "-c", READ_BACK, str(tmp_path)], check=True)
    for name, labels in expected.items():
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy"), labels)


@every_method
def test_a_loaded_estimator_can_be_saved_and_fitted_again(name, fitted, blobs, tmp_path):
    saved = fitted(name)
    saved.save(tmp_path / "a.safetensors")
    loaded = type(saved).load(tmp_path / "a.safetensors", device="cpu")
    loaded.save(tmp_path / "b.safetensors")
    assert (tmp_path / "b.safetensors").stat().st_size > 0
    assert loaded.fit(blobs.X).labels_.shape == (300,)


def test_a_loaded_deep_method_starts_from_the_same_pretrained_weights(make_method, blobs, tmp_path):
    saved = make_method("dec").fit(blobs.X)
    saved.save(tmp_path / "a.safetensors")
    loaded = DEC.load(tmp_path / "a.safetensors", device="cpu").set_params(max_iter=0).fit(blobs.X)
    np.testing.assert_array_equal(loaded.transform(blobs.X), saved.autoencoder_.transform(blobs.X))


def test_names_of_columns_are_restored(make_method, blobs, tmp_path):
    X = pd.DataFrame(blobs.X, columns=[f"c{i}" for i in range(10)])
    saved = make_method("dec").fit(X)
    saved.save(tmp_path / "a.safetensors")
    loaded = DEC.load(tmp_path / "a.safetensors", device="cpu")
    np.testing.assert_array_equal(loaded.predict(X), saved.labels_)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X.rename(columns={"c0": "other"}))


def test_an_estimator_that_is_not_fitted_cannot_be_saved(make_method, tmp_path):
    with pytest.raises(NotFittedError):
        make_method("dec").save(tmp_path / "a.safetensors")


def test_a_file_of_another_class_is_refused(make_method, blobs, tmp_path):
    path = tmp_path / "a.safetensors"
    make_method("dec").fit(blobs.X).save(path)
    for other in (DKM, Autoencoder):
        with pytest.raises(InputError, match=rf"should hold a dekm\.{other.__name__}; it holds dekm\.DEC\."):
            other.load(path)


def test_a_file_that_is_not_a_safetensors_file_is_refused(tmp_path):
    path = tmp_path / "a.safetensors"
    path.write_text("plain text")
    with pytest.raises(InputError, match=r"a\.safetensors is not a readable safetensors file"):
        DEC.load(path)


@pytest.fixture
def saved(fitted, tmp_path):
    """A saved DEC, as its file, its tensors and its metadata."""
    path = tmp_path / "a.safetensors"
    fitted("dec").save(path)
    with safe_open(path, "pt") as file:
        return path, {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


def test_weights_that_are_nan_are_refused(saved):
    path, tensors, metadata = saved
    tensors["cluster_centers_"][0, 0] = torch.nan
    save_file(tensors, path, metadata)
    with pytest.raises(InputError, match=r"a\.safetensors is damaged: cluster_centers_ has values that are"):
        DEC.load(path)


@pytest.mark.parametrize("change", ["missing", "shape", "facts", "text"])
def test_a_file_whose_parts_do_not_fit_is_one_line(saved, change):
    path, tensors, metadata = saved
    name = next(name for name in tensors if name.startswith("encoder_."))
    if change == "missing":
        del tensors[name]
    elif change == "shape":
        tensors[name] = torch.zeros(1)
    else:
        metadata["dekm.DEC"] = "{}" if change == "facts" else "text"
    save_file(tensors, path, metadata)
    with pytest.raises(InputError, match=r"a\.safetensors is not a readable dekm\.DEC: [^\n]*$"):
        DEC.load(path)


def test_a_model_has_the_mode_of_the_umask_and_stays_behind_its_link(make_method, blobs, tmp_path):
    link = tmp_path / "link.safetensors"
    link.symlink_to(tmp_path / "a.safetensors")
    before = os.umask(0o022)
    try:
        make_method("k_means").fit(blobs.X).save(link)
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert (tmp_path / "a.safetensors").stat().st_mode & 0o777 == 0o644


class WithHelper(KMeans):
    """A method with a learned attribute that its file cannot hold."""

    def fit(self, X, y=None):
        super().fit(X)
        self.helper_ = {"a": object()}
        return self


class WithFunction(KMeans):
    """A method with a parameter that its file cannot hold."""

    def __init__(self, n_clusters=8, *, n_init=20, random_state=None, device="cpu", metric=None):
        super().__init__(n_clusters, n_init=n_init, random_state=random_state, device=device)
        self.metric = metric


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: WithHelper(3, n_init=2, device="cpu"), "WithHelper would lose helper_"),
        (lambda: WithFunction(3, n_init=2, metric=len), "a file holds no builtin_function_or_method such as"),
    ],
)
def test_what_could_not_be_read_back_is_not_saved(make, reason, blobs, tmp_path):
    estimator = make().fit(blobs.X)
    with pytest.raises(InputError, match=rf"a\.safetensors is not written, because .*{reason}"):
        estimator.save(tmp_path / "a.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_weights_that_are_nan_are_not_saved(make_method, blobs, tmp_path):
    estimator = make_method("dec").fit(blobs.X)
    next(estimator.encoder_.parameters()).data[0] = torch.nan
    with pytest.raises(InputError, match=r"is not written, because .* has values that are NaN"):
        estimator.save(tmp_path / "a.safetensors")
    next(estimator.autoencoder_.module_.parameters()).data[0] = torch.inf
    with pytest.raises(InputError, match=r"is not written, because .* has values that are NaN or infinite"):
        estimator.autoencoder_.save(tmp_path / "a.safetensors")


def test_a_file_without_a_scaling_of_the_input_is_read(saved, blobs):
    path, tensors, metadata = saved
    facts = json.loads(metadata["dekm.DEC"])
    del facts["input_scaling"], facts["autoencoder"]["input_scaling"]
    metadata["dekm.DEC"] = json.dumps(facts)
    save_file(tensors, path, metadata)
    assert DEC.load(path, device="cpu").predict(blobs.X).shape == (300,)
