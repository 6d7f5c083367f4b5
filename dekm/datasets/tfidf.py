"""Text to sparse float32 tf-idf rows (n, d), and the embedded text dataset."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from scipy import sparse

from dekm.errors import InputError

N_TERMS = 2000
Scaling = Literal["unit", "paper"]


@dataclass(frozen=True)
class Terms:
    """What makes tf-idf rows of texts: the terms, in the order of the columns, and their idf (d,)."""

    names: list[str]
    idf: np.ndarray


@dataclass(frozen=True)
class Texts:
    """Documents, and the options of `tfidf` that are to make rows of them."""

    documents: list[str]
    stem: bool
    scaling: Scaling

    def fit(self) -> tuple[sparse.csr_matrix, Terms]:
        """The tf-idf of the most frequent terms, and these; the errors are those of `tfidf`."""
        vectorizer = _vectorizer(self.stem, max_features=N_TERMS)
        X = _fit_transform(vectorizer, self.documents)
        X.sort_indices()  # as those of `rows` are
        terms = Terms(vectorizer.get_feature_names_out().tolist(), vectorizer.idf_)
        return scale_rows(X, self.scaling), terms

    def rows(self, terms: Terms) -> sparse.csr_matrix:
        """The tf-idf of these terms, which may be those of other documents."""
        vectorizer = _vectorizer(self.stem, vocabulary=terms.names)
        vectorizer.idf_ = terms.idf
        return scale_rows(vectorizer.transform(self.documents), self.scaling)


def tfidf(
    documents: Iterable[str], *, n_terms: int = N_TERMS, stem: bool = False, scaling: Scaling = "unit"
) -> sparse.csr_matrix:
    """Tf-idf of the most frequent terms; a document without a term is a row of zeros.

    Parameters
    ----------
    n_terms : how many terms
    stem : count the stems of English words (Porter, 2001) as the paper describes, or the words as its
        authors' code does
    scaling : see `scale_rows`

    Raises
    ------
    InputError
        If an option is not one of these, or no document has a term.
    """
    return scale_rows(_fit_transform(_vectorizer(stem, max_features=n_terms), documents), scaling)


def scale_rows(X: sparse.csr_matrix, scaling: Scaling) -> sparse.csr_matrix:
    """Rows of unit length ("unit"), or with ||x||^2 / d = 1 as in the paper's text ("paper").

    A row of zeros stays one.
    """
    from sklearn.preprocessing import normalize

    if scaling not in ("unit", "paper"):
        raise InputError(f"scaling={scaling!r} should be 'unit' or 'paper'.")
    unit = normalize(X).astype(np.float32)
    return unit * np.float32(np.sqrt(X.shape[1])) if scaling == "paper" else unit


def stems(document: str) -> list[str]:
    """The stems of a document's words, in their order."""
    return [_stem()(word) for word in _words()(document)]


def _vectorizer(stem: bool, **terms: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not isinstance(stem, bool):
        raise InputError(f"stem={stem!r} should be true or false.")
    return TfidfVectorizer(norm=None, dtype=np.float32, analyzer=stems if stem else "word", **terms)


def _fit_transform(vectorizer: Any, documents: Iterable[str]) -> sparse.csr_matrix:
    try:
        return vectorizer.fit_transform(documents)
    except ValueError as error:
        raise InputError(f"The documents give no tf-idf rows: {error}.") from error


@cache
def _words() -> Callable[[str], list[str]]:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer().build_analyzer()


@cache
def _stem() -> Callable[[str], str]:
    import snowballstemmer

    return cache(snowballstemmer.stemmer("english").stemWord)
