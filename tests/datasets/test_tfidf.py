import numpy as np
import pytest
from scipy import sparse

from dekm.datasets.paper.topics import topics
from dekm.datasets.tfidf import tfidf


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


def test_tfidf_by_hand():
    X = tfidf(["aa aa bb", "aa cc"], n_terms=3).toarray()
    rare = np.log(3 / 2) + 1
    expected = np.array([[2, rare, 0], [1, 0, rare]])
    np.testing.assert_allclose(X, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)


def test_only_the_most_frequent_terms_are_kept():
    X = tfidf(["aa bb bb", "bb cc cc", "cc bb"], n_terms=2)
    assert X.shape == (3, 2)
    assert (X.toarray()[0] == [1, 0]).all()


def test_a_document_without_a_term_is_a_row_of_zeros():
    X = tfidf(["bb bb", "zz", "bb"], n_terms=1).toarray()
    assert X[1].tolist() == [0]
    assert np.isfinite(X).all()
