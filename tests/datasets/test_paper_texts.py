import gzip
import math

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from sklearn.feature_extraction.text import TfidfVectorizer

from dekm.datasets.paper import lyrl, news20, rcv1
from dekm.datasets.paper import reuters10k as reuters
from dekm.datasets.tfidf import stems, tfidf
from dekm.errors import InputError
from tests.helpers.upstream import (
    mat73,
    posts,
    qrels,
    rcv1_corpus,
    tokens,
    write,
    write_rcv1_cache,
    write_rcv1_rows,
    write_rcv1_vectors,
)

PARTS = ("test_pt0", "test_pt1", "test_pt2", "test_pt3", "train")


def test_an_empty_document_is_a_row_of_zeros_in_both_scalings():
    for scaling in ("unit", "paper"):
        X = tfidf(["cat dog", "", "dog"], scaling=scaling)
        assert np.isfinite(X.data).all()
        assert X[1].nnz == 0


def test_rows_have_unit_length_or_the_length_of_the_papers_text():
    documents = ["cat dog cat", "dog fox", "owl"]
    squares = {
        scaling: tfidf(documents, scaling=scaling).power(2).sum(axis=1) for scaling in ("unit", "paper")
    }
    np.testing.assert_allclose(squares["unit"], 1, rtol=1e-6)
    np.testing.assert_allclose(squares["paper"] / 4, 1, rtol=1e-6)


def test_stemming_counts_words_of_one_stem_together():
    assert stems("Running runs, a runner's connections") == ["run", "run", "runner", "connect"]
    documents = ["connected cats", "connection cat"]
    assert tfidf(documents).shape == (2, 4)
    assert tfidf(documents, stem=True).shape == (2, 2)


@pytest.mark.parametrize("option", [{"stem": "yes"}, {"scaling": "max"}])
def test_a_text_option_of_another_value_is_an_error_that_names_it(option):
    with pytest.raises(InputError, match=next(iter(option))):
        tfidf(["cat"], **option)


def test_documents_without_any_word_are_an_error():
    with pytest.raises(InputError, match="no tf-idf rows"):
        tfidf(["", "!"])


def test_posts_come_in_the_byte_order_of_their_paths_with_the_group_as_label(tmp_path):
    members = {
        "20news-bydate-train/sci.med/9": b"doctor caf\xe9",
        "20news-bydate-test/sci.med/10": b"nurse",
        "20news-bydate-test/alt.atheism/2": b"church church",
    }
    file = posts(tmp_path / news20.ARCHIVE, members)
    X, y = news20.news20(tmp_path)
    assert y.tolist() == [0, 1, 1]
    terms = sorted(["church", "nurse", "doctor", "café"])
    assert [sorted(terms[i] for i in X[[row]].indices) for row in range(3)] == [
        ["church"],
        ["nurse"],
        ["café", "doctor"],
    ]
    assert b"".join(news20.content(file)) == b"church churchnursedoctor caf\xe9"


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
    with pytest.raises(InputError, match="hold 5 documents with one topic, not 10000"):
        reuters.from_tokens(tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b".W\n", "line 1 should be"),
        (b".I x\n.W\noil\n", "line 1 should be '.I NUMBER'"),
        (b".I 1\noil\n", "line 2 should be"),
        (b".I 1\n.W\noil\n.I 2\n", "ends without"),
        (b"", "ends without"),
    ],
)
def test_a_token_file_of_another_form_is_an_error_that_names_the_line(tmp_path, text, reason):
    file = write(tmp_path / "tokens.dat.gz", gzip.compress(text))
    with pytest.raises(InputError, match=reason):
        list(lyrl.read_tokens([file]))


def test_a_topic_line_of_another_form_is_an_error_that_names_the_line(tmp_path):
    file = write(tmp_path / "qrels.gz", gzip.compress(b"CCAT 1 1\nCCAT one 1\n"))
    with pytest.raises(InputError, match="line 2"):
        lyrl.read_topics(file, ("CCAT",))


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


def test_a_matlab_file_without_the_variables_is_an_error(tmp_path):
    savemat(tmp_path / "a.mat", {"Z": np.ones(3)})
    with pytest.raises(InputError, match=r"variables \['Z'\]; X and Y are needed"):
        reuters.read_mat(tmp_path / "a.mat")
    mat73(tmp_path / "b.mat", Z=np.ones(3))
    with pytest.raises(InputError, match="has no 'X'"):
        reuters.read_mat(tmp_path / "b.mat")


def test_rcv1_is_the_same_from_vector_files_and_from_scikit_learns_cache(tmp_path):
    corpus = rcv1_corpus()
    write_rcv1_rows(tmp_path, [30, 2, 17, 5, 39], [0, 11])
    write_rcv1_cache(tmp_path, *corpus)
    write_rcv1_vectors(tmp_path, *corpus)
    X, y = rcv1.from_vectors(tmp_path)
    X_cache, y_cache = rcv1.from_scikit_learn(tmp_path)
    assert X.shape == (7, 2000)
    np.testing.assert_array_equal(X.toarray(), X_cache.toarray())
    assert y.tolist() == y_cache.tolist() == [2, 2, 1, 1, 3, 0, 3]


def test_the_columns_of_rcv1_are_those_with_the_largest_sums_in_their_order():
    X = sparse.csr_matrix([[1.0, 5, 0, 2], [1, 0, 3, 2]])
    assert rcv1.top_columns(X, 2).toarray().tolist() == [[5, 2], [0, 2]]
    assert rcv1.top_columns(X, 3).toarray().tolist() == [[5, 0, 2], [0, 3, 2]]


def test_an_rcv1_document_without_exactly_one_topic_is_an_error(tmp_path):
    X, topics, documents = rcv1_corpus()
    topics[2, 1] = topics[2, 3] = 1
    write_rcv1_rows(tmp_path, [1, 2], [3])
    write_rcv1_cache(tmp_path, X, topics, documents)
    write_rcv1_vectors(tmp_path, X, topics, documents)
    with pytest.raises(InputError, match="row 2 has not exactly one"):
        rcv1.from_scikit_learn(tmp_path)
    with pytest.raises(InputError, match="document 2288 has not exactly one"):
        rcv1.from_vectors(tmp_path)


def test_an_rcv1_row_beyond_the_corpus_is_an_error(tmp_path):
    corpus = rcv1_corpus()
    write_rcv1_rows(tmp_path, [1], [40])
    write_rcv1_cache(tmp_path, *corpus)
    write_rcv1_vectors(tmp_path, *corpus)
    for load in (rcv1.from_vectors, rcv1.from_scikit_learn):
        with pytest.raises(InputError, match="40 documents; row 40"):
            load(tmp_path)


def test_an_rcv1_index_that_lists_no_numbers_is_an_error_that_names_the_line(tmp_path):
    write_rcv1_rows(tmp_path, [1, "<html>"], [2])
    with pytest.raises(InputError, match="line 2"):
        rcv1.read_rows(tmp_path)


def test_a_damaged_cache_of_scikit_learn_is_one_error(tmp_path):
    write_rcv1_rows(tmp_path, [1], [2])
    write_rcv1_cache(tmp_path, *rcv1_corpus())
    for damaged in (b"", b"<html>no pickle</html>"):
        write(tmp_path / "rcv1/RCV1/samples_py3.pkl", damaged)
        with pytest.raises(InputError, match="not a readable cache"):
            rcv1.from_scikit_learn(tmp_path)
