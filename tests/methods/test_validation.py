import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import BaseEstimator

from dekm.errors import InputError
from dekm.methods.validation import check_choice, check_integer, check_samples


@pytest.mark.parametrize("value", [0, 1.0, "5", None, True, float("inf"), "all"])
def test_what_is_no_integer_above_the_minimum_is_named(value):
    with pytest.raises(InputError, match=r"size=.* should be an integer >= 1 or 'auto'\."):
        check_integer("size", value, minimum=1, words=("auto",))


def test_an_integer_or_a_word_passes():
    check_integer("size", 1, minimum=1)
    check_integer("size", "auto", minimum=1, words=("auto",))


@pytest.mark.parametrize("value", [1, "no", None])
def test_a_choice_that_is_none_of_them_is_named(value):
    with pytest.raises(InputError, match=r"keep=.* should be True, False or 'images'\."):
        check_choice("keep", value, (True, False, "images"))


def test_restarts_follow_the_lloyd_iterations_of_the_fit_before(make_method):
    dekm = make_method("dekm", n_init_update="2n_iter")
    assert [dekm._n_init_update(n_iter) for n_iter in (0, 1, 7)] == [1, 2, 14]
    assert make_method("dekm", n_init_update=5)._n_init_update(7) == 5


def test_the_released_rule_of_restarts_fits(make_method, blobs):
    assert make_method("dekm", n_init_update="2n_iter", max_iter=3, tol=0.5).fit(blobs.X).labels_.shape == (
        300,
    )


class Estimator(BaseEstimator):
    """Something to validate samples for."""


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


def test_samples_mapped_from_a_file_stay_there(tmp_path):
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
def test_memory_order_does_not_matter(X):
    samples = check(X)
    assert samples.is_contiguous()
    np.testing.assert_array_equal(samples.numpy(), X)


@pytest.mark.parametrize("shape", [(4,), (2, 3, 4, 5, 6)])
def test_a_wrong_number_of_axes_is_named(shape):
    with pytest.raises(
        InputError, match=r"X of shape \(.*\) should be \(n, d\), \(n, h, w\) or \(n, h, w, c\)"
    ):
        check(np.zeros(shape))


def test_a_single_sample_is_told_how_to_reshape():
    with pytest.raises(InputError, match=r"a single sample X\.reshape\(1, -1\)"):
        check(np.zeros(4))


def test_another_sample_shape_than_the_fitted_one_is_named():
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
def test_what_is_not_finite_numbers_is_a_mistake_of_the_user(X):
    with pytest.raises(InputError):
        check(X)
