import math

import numpy as np
import pytest
from scipy.io import savemat
from sklearn.feature_extraction.text import TfidfVectorizer

from dekm.datasets.paper import lyrl
from dekm.datasets.paper import reuters10k as reuters
from dekm.errors import InputError
from tests.helpers.upstream import (
    mat73,
    qrels,
    tokens,
    write,
)

PARTS = ("test_pt0", "test_pt1", "test_pt2", "test_pt3", "train")


def reuters_corpus(raw_dir):
    """Six documents in five parts; 11 has two of the topics, 12 none, 15 is the last of its part."""
    parts = {
        "test_pt0": [(10, ["oil price", "oil"]), (11, ["oil war"])],
        "test_pt1": [(12, ["goal goal"]), (13, ["war war peac"])],
        "test_pt2": [(14, ["stock price"])],
        "test_pt3": [(15, ["oil gdp gdp gdp"])],
        "train": [(9, ["war stock", "stock"])],
    }
    topics = [
        *[("CCAT", 10), ("C15", 10), ("CCAT", 11), ("GCAT", 11), ("GSPO", 12)],
        *[("GCAT", 13), ("MCAT", 14), ("ECAT", 15), ("GCAT", 9)],
    ]
    for part, documents in parts.items():
        write(raw_dir / f"rcv1/lyrl2004_tokens_{part}.dat.gz", tokens(documents))
    write(raw_dir / lyrl.QRELS, qrels(topics))


def test_the_first_documents_with_one_topic_are_the_set_of_dec_keras(tmp_path):
    reuters_corpus(tmp_path)
    X, y = reuters.rebuild(tmp_path, subset="dec_keras", n_samples=3, n_terms=4)
    # documents 10, 13, 14, 15, 9 count; terms by count: gdp 3, oil 3, stock 3, war 3, price 2, peac 1
    assert y.tolist() == [0, 1, 2]
    assert X.shape == (3, 4)
    assert [X[[row]].indices.tolist() for row in range(3)] == [[1], [3], [2]]


def test_the_permuted_documents_are_the_set_of_dec(tmp_path):
    reuters_corpus(tmp_path)
    order = np.random.RandomState(1234).permutation(5)[:4]
    _, y = reuters.rebuild(tmp_path, subset="dec", n_samples=4, n_terms=6)
    assert y.tolist() == np.array([0, 1, 2, 3, 1])[order].tolist()


def test_the_tfidf_of_reuters_uses_the_frequencies_of_all_documents(tmp_path):
    reuters_corpus(tmp_path)
    X, _ = reuters.rebuild(tmp_path, subset="dec_keras", n_samples=1, n_terms=6)
    oil = (1 + math.log(2)) * (1 + math.log(6 / 3))
    price = 1 + math.log(6 / 3)
    expected = np.zeros(6)
    expected[[1, 3]] = np.array([oil, price]) / math.hypot(oil, price)  # gdp oil peac price stock war
    np.testing.assert_allclose(X.toarray()[0], expected, rtol=1e-6)


def test_the_tfidf_of_reuters_is_that_of_scikit_learn_on_the_whole_corpus(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    corpus = [(i, [" ".join(rng.choice(words, 12))]) for i in range(50)]
    for part, documents in zip(PARTS, np.array_split(np.arange(50), 5), strict=True):
        content = tokens([corpus[i] for i in documents])
        write(tmp_path / f"rcv1/lyrl2004_tokens_{part}.dat.gz", content)
    write(tmp_path / lyrl.QRELS, qrels([(reuters.TOPICS[i % 4], i) for i in range(50)]))
    X, y = reuters.rebuild(tmp_path, subset="dec_keras", n_samples=20)
    expected = TfidfVectorizer(sublinear_tf=True).fit_transform([lines[0] for _, lines in corpus])[:20]
    np.testing.assert_allclose(X.toarray(), expected.toarray(), rtol=1e-5)
    assert y.tolist() == [i % 4 for i in range(20)]


def test_too_few_documents_for_the_set_are_an_error(tmp_path):
    reuters_corpus(tmp_path)
    with pytest.raises(InputError, match="hold 5 documents with one topic, fewer than 10000"):
        reuters.from_tokens(tmp_path)


@pytest.mark.parametrize("version", ["5", "5, compressed", "7.3"])
def test_reuters_is_the_same_from_each_version_of_a_matlab_file(tmp_path, version):
    rng = np.random.default_rng(0)
    values = rng.random((12, 7)) * (rng.random((12, 7)) < 0.5)
    values[3] = 0
    labels = (np.arange(12) % 4 + 1.0).reshape(-1, 1)
    file = tmp_path / "reuters10k/reuters10k.mat"
    file.parent.mkdir()
    if version == "7.3":
        mat73(file, X=values, Y=labels)
    else:
        savemat(file, {"X": values, "Y": labels}, do_compression="compressed" in version)
    X, y = reuters.from_mat(tmp_path)
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    np.testing.assert_allclose(X.toarray(), values / np.where(norms, norms, 1), rtol=1e-6)
    assert y.tolist() == [i % 4 for i in range(12)]
