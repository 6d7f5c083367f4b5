import warnings

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

import dekm
from dekm.clustering.kmeans import kmeans
from dekm.errors import InputError
from dekm.methods.samples import check_samples
from dekm.methods.validation import Choice, Integer, Integers, Number
from tests.helpers.methods import ESTIMATORS

NOT_CONSTRAINED = {"autoencoder", "device", "network", "random_state", "on_iteration", "progress"}


@pytest.mark.parametrize("value", [0, 1.0, "5", None, True, float("inf"), "all"])
def test_a_value_that_is_not_an_integer_above_the_minimum_is_refused(value):
    with pytest.raises(InputError, match=r"size=.* should be an integer >= 1 or 'auto'\."):
        Integer(1, words=("auto",)).check("size", value)


def test_an_integer_or_a_word_passes():
    Integer(1).check("size", 1)
    Integer(1).check("size", np.int64(1))
    Integer(1, words=("auto",)).check("size", "auto")


@pytest.mark.parametrize("value", [1, "no", None])
def test_a_value_that_is_not_among_the_choices_is_refused(value):
    with pytest.raises(InputError, match=r"keep=.* should be True, False or 'images'\."):
        Choice((True, False, "images")).check("keep", value)


@pytest.mark.parametrize(
    ("constraint", "valid", "invalid", "message"),
    [
        (Number(0), [1e-9, 5, np.float32(2)], [0, -1, True, "1", None, np.inf, np.nan], "> 0"),
        (Number(0, inclusive=True), [0, 0.0, 7], [-1e-9, False, np.nan], ">= 0"),
        (Number(0, maximum=1), [0.1, 0.9], [0, 1, 1.5, -0.1, True], "between 0 and 1"),
    ],
)
def test_a_value_that_is_not_a_number_within_the_limits_is_refused(constraint, valid, invalid, message):
    for value in valid:
        constraint.check("weight", value)
    for value in invalid:
        with pytest.raises(InputError, match=rf"weight=.* should be a number {message}\."):
            constraint.check("weight", value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (5, r"widths=5 should be a list of integers >= 1\."),
        ((1, 2, 3), r"widths=\(1, 2, 3\) should be 2 integers >= 1\."),
        ([4, 0], r"widths\[1\]=0 should be an integer >= 1\."),
        ([True, 4], r"widths\[0\]=True should be an integer >= 1\."),
    ],
)
def test_a_value_that_is_not_a_list_of_integers_is_refused(value, message):
    Integers(1, length=2).check("widths", np.array([3, 4]))
    with pytest.raises(InputError, match=message):
        Integers(1, length=2).check("widths", value)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_of_an_estimator_has_a_constraint_that_its_default_fulfils(name):
    estimator = getattr(dekm, name)()
    parameters = estimator.get_params(deep=False)
    assert set(estimator.parameter_constraints) == set(parameters) - NOT_CONSTRAINED
    for parameter, constraint in estimator.parameter_constraints.items():
        constraint.check(parameter, parameters[parameter])


@pytest.mark.parametrize(("n_init_update", "n_inits"), [("2n_iter", [9, 1, 2, 14]), (5, [9, 5, 5, 5])])
def test_the_number_of_initializations_is_twice_the_lloyd_iterations_before(
    n_init_update, n_inits, make_method, noise, monkeypatch
):
    asked = []

    def partition(H, n_clusters, *, n_init, random_state):
        asked.append(n_init)
        n_iter = [0, 1, 7, 3][len(asked) - 1]
        return kmeans(H, n_clusters, n_init=1, random_state=random_state)._replace(n_iter=n_iter)

    monkeypatch.setattr("dekm.methods.dekm.kmeans", partition)
    dekm = make_method("dekm", n_init=9, n_init_update=n_init_update, init_update="fresh", max_iter=3, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        dekm.fit(noise)
    assert asked == n_inits


def test_the_released_number_of_initializations_runs(make_method, blobs):
    assert make_method("dekm", n_init_update="2n_iter", max_iter=3, tol=0.5).fit(blobs.X).labels_.shape == (
        300,
    )


class Estimator(BaseEstimator):
    """An estimator that samples are validated for."""


def check(X):
    return check_samples(Estimator(), X, reset=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool])
def test_any_numeric_type_becomes_float32(dtype):
    samples = check(np.array([[0, 1], [1, 0]], dtype=dtype))
    assert samples.dtype == torch.float32
    assert samples.tolist() == [[0, 1], [1, 0]]


def test_lists_and_sparse_matrices_are_the_same_samples():
    dense = [[0.0, 1.5], [2.0, 0.0]]
    for X in (dense, sparse.csr_matrix(dense), sparse.csc_array(dense), sparse.coo_matrix(dense)):
        assert check(X).tolist() == dense


def test_samples_mapped_from_a_file_are_not_copied(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((5, 3), dtype=np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert check(mapped).data_ptr() == mapped.ctypes.data


def test_grey_images_get_a_channel_axis():
    assert check(np.zeros((5, 8, 6))).shape == (5, 8, 6, 1)
    assert check(np.zeros((5, 8, 6, 3))).shape == (5, 8, 6, 3)


@pytest.mark.parametrize(
    "X",
    [
        np.asfortranarray(np.arange(12.0).reshape(4, 3)),
        np.arange(24.0).reshape(4, 6)[:, ::2],
        np.arange(12.0).reshape(3, 4).T,
    ],
)
def test_the_memory_order_of_the_samples_does_not_matter(X):
    samples = check(X)
    assert samples.is_contiguous()
    np.testing.assert_array_equal(samples.numpy(), X)


@pytest.mark.parametrize("shape", [(4,), (2, 3, 4, 5, 6)])
def test_a_wrong_number_of_axes_is_refused(shape):
    with pytest.raises(
        InputError, match=r"X of shape \(.*\) should be \(n, d\), \(n, h, w\) or \(n, h, w, c\)"
    ):
        check(np.zeros(shape))


def test_the_error_for_a_single_sample_tells_how_to_reshape_it():
    with pytest.raises(InputError, match=r"a single sample X\.reshape\(1, -1\)"):
        check(np.zeros(4))


def test_samples_of_another_shape_than_the_fitted_ones_are_refused():
    estimator = Estimator()
    check_samples(estimator, np.zeros((5, 8, 6, 3)), reset=True)
    assert estimator.sample_shape_ == (8, 6, 3)
    with pytest.raises(
        InputError, match=r"X has samples of shape \(8, 6, 1\), but Estimator was fitted on .*\(8, 6, 3\)"
    ):
        check_samples(estimator, np.zeros((5, 8, 6)), reset=False)


def test_another_number_of_features_is_refused():
    estimator = Estimator()
    check_samples(estimator, np.zeros((5, 4)), reset=True)
    with pytest.raises(
        InputError, match=r"X has samples of shape \(3,\), but Estimator was fitted on .*\(4,\)"
    ):
        check_samples(estimator, np.zeros((5, 3)), reset=False)


@pytest.mark.parametrize(
    "X", [np.full((3, 2), np.nan), np.full((3, 2), np.inf), np.zeros((0, 2)), np.array([["a", "b"]])]
)
def test_samples_that_are_not_finite_numbers_are_refused(X):
    with pytest.raises(InputError):
        check(X)


@pytest.mark.parametrize("name", ["dekm", "dec"])
def test_a_fit_with_tol_0_says_what_ended_it(name, make_method, noise):
    with pytest.warns(
        ConvergenceWarning, match=r"still changed at max_iter=2, where tol=0 ends the fit\. Inc"
    ):
        make_method(name, n_clusters=8, tol=0, max_iter=2).fit(noise)


def test_a_fit_with_tol_0_converges_if_no_label_changes(make_method, blobs):
    estimator = make_method("dekm", tol=0, max_iter=2, lr=0).fit(blobs.X)
    assert estimator.history_[-1]["changed"] == 0
