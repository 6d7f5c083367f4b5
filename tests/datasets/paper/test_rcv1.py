import numpy as np
import pytest
from scipy import sparse

from dekm.datasets.paper import rcv1
from dekm.errors import InputError
from tests.helpers.upstream import (
    rcv1_corpus,
    write,
    write_rcv1_cache,
    write_rcv1_rows,
    write_rcv1_vectors,
)


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
    with pytest.raises(InputError, match="row 2 does not have exactly one"):
        rcv1.from_scikit_learn(tmp_path)
    with pytest.raises(InputError, match="document 2288 does not have exactly one"):
        rcv1.from_vectors(tmp_path)


def test_an_rcv1_row_beyond_the_corpus_is_an_error(tmp_path):
    corpus = rcv1_corpus()
    write_rcv1_rows(tmp_path, [1], [40])
    write_rcv1_cache(tmp_path, *corpus)
    write_rcv1_vectors(tmp_path, *corpus)
    for load in (rcv1.from_vectors, rcv1.from_scikit_learn):
        with pytest.raises(InputError, match="40 documents; row 40 does not exist"):
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
