"""Tf-idf of documents as sparse float32 rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from scipy import sparse

from dekm.errors import InputError, shown

N_TERMS = 2000
Scaling = Literal["unit", "paper"]


@dataclass(frozen=True)
class Terms:
    """The terms of the columns of a tf-idf matrix, and their inverse document frequencies (d,)."""

    names: list[str]
    idf: np.ndarray


@dataclass(frozen=True)
class Texts:
    """Documents with the options of their tf-idf."""

    documents: list[str]
    stem: bool  # whether to count word stems instead of words, see `tfidf`
    scaling: Scaling  # length of the rows, see `scale_rows`
    stop_words: str | None = None  # stop words to leave out, "english" or none

    def fit(self) -> tuple[sparse.csr_matrix, Terms]:
        """Tf-idf of the most frequent terms of these documents, float32 csr_matrix (n, d), and the terms.

        Raises `InputError` if an option is invalid or no document has a term.
        """
        vectorizer = _vectorizer(self.stem, self.stop_words, max_features=N_TERMS)
        X = _fit_transform(vectorizer, self.documents)
        X.sort_indices()  # as in `rows`, so that equal documents give equal bytes
        terms = Terms(vectorizer.get_feature_names_out().tolist(), vectorizer.idf_)
        return scale_rows(X, self.scaling), terms

    def rows(self, terms: Terms) -> sparse.csr_matrix:
        """Tf-idf (n, d) of given terms, for example of the documents of a run; other terms are ignored."""
        vectorizer = _vectorizer(self.stem, vocabulary=terms.names)
        vectorizer.idf_ = terms.idf
        return scale_rows(vectorizer.transform(self.documents), self.scaling)


def tfidf(
    documents: Iterable[str], *, n_terms: int = N_TERMS, stem: bool = False, scaling: Scaling = "unit"
) -> tuple[sparse.csr_matrix, list[str]]:
    """Tf-idf (n, d) of the most frequent terms, float32, and the terms.

    A document without any of the terms is a row of zeros.

    True for `stem` counts the stems of English words [1]_, as the paper describes; False counts the words, as
    the authors' code does. `InputError` if an option is invalid or no document has a term.

    References
    ----------
    .. [1] Porter, M. F. (2001). Snowball: A language for stemming algorithms.
    """
    vectorizer = _vectorizer(stem, max_features=n_terms)
    X = scale_rows(_fit_transform(vectorizer, documents), scaling)
    return X, vectorizer.get_feature_names_out().tolist()


def scale_rows(X: sparse.csr_matrix, scaling: Scaling) -> sparse.csr_matrix:
    """Scale the rows of a matrix (n, d) to the same length, as float32; a row of zeros stays one.

    "unit" gives rows of unit Euclidean length, as in the authors' code; "paper" gives rows with ||x||^2 / d =
    1, as in the text of the paper. Raises `InputError` for any other scaling.
    """
    from sklearn.preprocessing import normalize

    if scaling not in ("unit", "paper"):
        raise InputError(f"scaling={shown(scaling)} should be 'unit' or 'paper'.")
    unit = normalize(X).astype(np.float32)
    return unit * np.float32(np.sqrt(X.shape[1])) if scaling == "paper" else unit


def _vectorizer(stem: bool, stop_words: str | None = None, **terms: Any) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    if not isinstance(stem, bool):
        raise InputError(f"stem={shown(stem)} should be true or false.")
    if stop_words not in (None, "english"):
        raise InputError(f"stop_words={shown(stop_words)} should be 'english', or left out.")
    if stem:
        import snowballstemmer

        words = CountVectorizer(stop_words=stop_words).build_analyzer()
        stem_of = cache(snowballstemmer.stemmer("english").stemWord)
        terms["analyzer"] = lambda document: [stem_of(word) for word in words(document)]
        stop_words = None  # they are left out before
    return TfidfVectorizer(norm=None, dtype=np.float32, stop_words=stop_words, **terms)


def _fit_transform(vectorizer: Any, documents: Iterable[str]) -> sparse.csr_matrix:
    try:
        return vectorizer.fit_transform(documents)
    except ValueError as error:
        raise InputError(f"The tf-idf of the documents cannot be computed: {error}.") from error
