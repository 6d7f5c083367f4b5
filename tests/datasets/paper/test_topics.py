import numpy as np
import pytest
from scipy import sparse

from dekm.datasets.paper.topics import topics


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    return topics(tmp_path_factory.mktemp("raw"))


def test_topics_are_2000_documents_of_4_topics_and_2000_terms(drawn):
    X, y = drawn
    assert sparse.issparse(X)
    assert (X.shape, X.dtype) == ((2000, 2000), np.float32)
    assert (y.shape, y.dtype) == ((2000,), np.int64)
    assert set(y) == {0, 1, 2, 3}
    assert np.bincount(y).min() > 400


def test_rows_of_topics_have_unit_length_and_no_nan(drawn):
    X, _ = drawn
    assert np.isfinite(X.data).all()
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(1)), 1, rtol=1e-5)


def test_topics_are_the_same_each_time(drawn, tmp_path):
    X, y = topics(tmp_path)
    assert (drawn[0] != X).nnz == 0
    np.testing.assert_array_equal(y, drawn[1])


def test_documents_of_a_topic_are_closer_than_those_of_others(drawn):
    X, y = drawn
    means = np.stack([np.asarray(X[y == topic].mean(0)).ravel() for topic in range(4)])
    similarity = means @ means.T
    assert (similarity.diagonal()[:, None] > similarity + 1e-9)[~np.eye(4, dtype=bool)].all()
