"""The forms and values of samples that every method accepts, and those it refuses."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from dekm import KMeans
from dekm.methods import METHODS
from tests.helpers.methods import every_method

# Equal samples may be in different clusters only where the clusters are those of a graph of neighbours.
of_values = pytest.mark.parametrize(
    "name", [name for name in METHODS if name not in ("spectral", "umap_gmm", "n2d")]
)

ROOT = Path(__file__).parents[2]


# All methods read samples by the same function: one that trains a network on them, and one that does not.
@pytest.mark.parametrize("name", ["dekm", "umap_gmm"])
@pytest.mark.parametrize("form", ["float64", "fortran", "strided", "sparse", "frame", "list", "mapped"])
def test_the_form_of_X_does_not_change_the_labels(name, form, make_method, fitted, blobs, tmp_path):
    np.save(tmp_path / "X.npy", blobs.X)
    X = {
        "float64": blobs.X.astype(np.float64),
        "fortran": np.asfortranarray(blobs.X),
        "strided": np.repeat(blobs.X, 2, axis=1)[:, ::2],
        "sparse": sparse.csr_matrix(blobs.X),
        "frame": pd.DataFrame(blobs.X, columns=[f"c{i}" for i in range(10)]),
        "list": blobs.X.tolist(),
        "mapped": np.load(tmp_path / "X.npy", mmap_mode="r"),
    }[form]
    estimator = make_method(name).fit(X)
    np.testing.assert_array_equal(estimator.labels_, fitted(name).labels_)
    np.testing.assert_array_equal(estimator.predict(X), estimator.labels_)


@every_method
def test_a_sparse_table_from_a_csv_file_is_clustered(name, make_method, fitted, blobs, tmp_path):
    pd.DataFrame(blobs.X).to_csv(tmp_path / "own.csv", index=False)
    X = sparse.csr_matrix(pd.read_csv(tmp_path / "own.csv"))
    np.testing.assert_array_equal(make_method(name).fit(X).labels_, fitted(name).labels_)


@every_method
def test_grey_images_need_no_channel_axis(name, make_method, fitted, images):
    without_axis = make_method(name).fit(images.X[..., 0])
    np.testing.assert_array_equal(without_axis.labels_, fitted(name, "images").labels_)
    np.testing.assert_array_equal(without_axis.predict(images.X[..., 0]), without_axis.labels_)


@pytest.mark.filterwarnings("ignore:Only .* clusters hold samples")
@every_method
def test_color_images_of_odd_sides_are_clustered(name, make_method):
    rng = np.random.default_rng(0)
    X = 0.9 * rng.random((3, 17, 23, 3))[np.arange(257) % 3] + 0.1 * rng.random((257, 17, 23, 3))
    estimator = make_method(name).fit(X)
    assert estimator.labels_.shape == (257,)
    assert estimator.predict(X[:5]).tolist() == estimator.labels_[:5].tolist()


@every_method
def test_samples_of_another_shape_are_refused(name, fitted, blobs, images):
    estimator = fitted(name)
    with pytest.raises(ValueError, match="9"):
        estimator.predict(blobs.X[:, :9])
    with pytest.raises(ValueError, match="8"):
        estimator.predict(images.X)


@every_method
def test_columns_and_rows_of_zeros_give_no_nan(name, make_method, blobs):
    X = blobs.X.copy()
    X[:, :3] = 0
    X[7] = 0
    estimator = make_method(name).fit(X)
    assert np.isfinite(estimator.embedding_).all()
    assert np.isfinite(estimator.cluster_centers_).all()


@of_values
def test_fewer_distinct_samples_than_clusters_give_a_warning_and_labels_in_range(name, make_method):
    X = 3 * np.repeat(np.eye(3), 20, axis=0)
    estimator = make_method(name, n_clusters=6)
    with pytest.warns(ConvergenceWarning, match="3"):
        estimator.fit(X)
    assert len(np.unique(estimator.labels_)) <= 3
    assert set(estimator.labels_) <= set(range(6))
    assert estimator.predict(X[:1]).shape == (1,)


@every_method
def test_a_reversed_axis_of_length_one_is_read(name, make_method, images):
    X = images.X[..., ::-1]
    estimator = make_method(name).fit(X)
    np.testing.assert_array_equal(estimator.predict(X), estimator.labels_)
    assert estimator.transform(X[:1][::-1]).shape[0] == 1


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_reversed_axis_is_read(axis, images):
    X = np.flip(images.X, axis)
    estimator = KMeans(3, n_init=2, random_state=0, device="cpu").fit(X)
    np.testing.assert_array_equal(estimator.embedding_, X.reshape(len(X), -1))


def test_lost_digits_are_told(tmp_path):
    script = tmp_path / "script.py"  # a process of its own: the checks of types here add frames to the stack
    script.write_text(
        "import numpy as np\nfrom dekm import KMeans\n"
        "X = 1.7e12 + np.arange(60.0).reshape(20, 3) * 100\n"
        'KMeans(2, n_init=1, random_state=0, device="cpu").fit(X)\n'
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert f"{script}:4: UserWarning: X has columns with an offset that is large" in done.stderr


def test_sixteen_bits_of_an_image_are_scaled_by_their_range(images):
    X = (images.X * 40_000 + 3_000).astype(np.uint16)
    estimator = KMeans(3, n_init=2, random_state=0, device="cpu").fit(X)
    assert (estimator.embedding_.min(), estimator.embedding_.max()) == (0, 1)
    np.testing.assert_array_equal(estimator.predict(X), estimator.labels_)
