import numpy as np
import pytest
from scipy import sparse

from dekm.datasets import DATASETS, preparation
from dekm.datasets.paper.topics import THEMES, topics
from dekm.results.data import PreparedData


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    return topics(tmp_path_factory.mktemp("raw"))


def test_topics_are_2000_documents_of_4_topics_and_2000_terms(drawn):
    X, y, *_ = drawn
    assert sparse.issparse(X)
    assert (X.shape, X.dtype) == ((2000, 2000), np.float32)
    assert y.shape == (2000,)
    topic, counts = np.unique(y, return_counts=True)
    assert topic.tolist() == ["astronomy", "cooking", "music", "sport"]
    assert counts.min() > 400


def test_rows_of_topics_have_unit_length_and_no_nan(drawn):
    X = drawn.X
    assert np.isfinite(X.data).all()
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(1)), 1, rtol=1e-5)


def test_topics_are_the_same_each_time(drawn, tmp_path):
    X, y, *_ = topics(tmp_path)
    assert (drawn[0] != X).nnz == 0
    np.testing.assert_array_equal(y, drawn[1])


def test_documents_of_a_topic_are_closer_than_those_of_others(drawn):
    X, y, *_ = drawn
    means = np.stack([np.asarray(X[y == topic].mean(0)).ravel() for topic in THEMES])
    similarity = means @ means.T
    assert (similarity.diagonal()[:, None] > similarity + 1e-9)[~np.eye(4, dtype=bool)].all()


def test_the_words_that_set_a_topic_apart_are_those_of_its_theme(drawn):
    X, y, _, terms = drawn
    assert len(set(terms)) == X.shape[1]
    for topic, theme in THEMES.items():
        excess = np.asarray(X[y == topic].mean(0) - X[y != topic].mean(0)).ravel()
        first = [terms[i] for i in np.argsort(-excess)[:20]]
        assert set(first) <= set(theme.split())


def test_prepared_topics_show_their_words(tmp_path):
    preparation.prepare(
        DATASETS["topics"], tmp_path, data=tmp_path / "data.npz", facts=tmp_path / "facts.json"
    )
    vectors = PreparedData(tmp_path).vectors()
    assert vectors is not None
    assert {"star", "recipe", "melody", "goal"} <= set(vectors.names)
    assert PreparedData(tmp_path).facts["features"] is None
