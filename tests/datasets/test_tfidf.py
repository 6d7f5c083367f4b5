import numpy as np
import pytest

from dekm.datasets.tfidf import tfidf
from dekm.errors import InputError


def test_an_empty_document_is_a_row_of_zeros_in_both_scalings():
    for scaling in ("unit", "paper"):
        X = tfidf(["cat dog", "", "dog"], scaling=scaling)[0]
        assert np.isfinite(X.data).all()
        assert X[1].nnz == 0


def test_rows_have_unit_length_or_the_length_of_the_papers_text():
    documents = ["cat dog cat", "dog fox", "owl"]
    squares = {
        scaling: tfidf(documents, scaling=scaling)[0].power(2).sum(axis=1) for scaling in ("unit", "paper")
    }
    np.testing.assert_allclose(squares["unit"], 1, rtol=1e-6)
    np.testing.assert_allclose(squares["paper"] / 4, 1, rtol=1e-6)


def test_stemming_counts_words_of_one_stem_together():
    assert list(tfidf(["Running runs, a runner's connections"], stem=True)[1]) == ["connect", "run", "runner"]
    documents = ["connected cats", "connection cat"]
    assert tfidf(documents)[0].shape == (2, 4)
    assert tfidf(documents, stem=True)[0].shape == (2, 2)


@pytest.mark.parametrize("option", [{"stem": "yes"}, {"scaling": "max"}])
def test_a_text_option_of_another_value_is_an_error_that_names_it(option):
    with pytest.raises(InputError, match=next(iter(option))):
        tfidf(["cat"], **option)


def test_documents_without_any_word_are_an_error():
    with pytest.raises(InputError, match="tf-idf of the documents cannot be computed"):
        tfidf(["", "!"])


def test_tfidf_by_hand():
    X = tfidf(["aa aa bb", "aa cc"], n_terms=3)[0].toarray()
    rare = np.log(3 / 2) + 1
    expected = np.array([[2, rare, 0], [1, 0, rare]])
    np.testing.assert_allclose(X, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)


def test_only_the_most_frequent_terms_are_kept():
    X = tfidf(["aa bb bb", "bb cc cc", "cc bb"], n_terms=2)[0]
    assert X.shape == (3, 2)
    assert (X.toarray()[0] == [1, 0]).all()


def test_a_document_without_a_term_is_a_row_of_zeros():
    X = tfidf(["bb bb", "zz", "bb"], n_terms=1)[0].toarray()
    assert X[1].tolist() == [0]
    assert np.isfinite(X).all()
