"""Preparation of a dataset: it is loaded, checked, reduced to a part if asked, and stored."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.dataset import Dataset
from dekm.datasets.labels import name_classes
from dekm.datasets.prepared import samples_digest
from dekm.datasets.subsets import Labels, Samples, count_classes, rows_of_classes, stratified_rows
from dekm.datasets.tfidf import Terms, Texts
from dekm.datasets.validation import check, check_n_samples
from dekm.errors import InputError
from dekm.files.samples import StoredSamples, write_samples
from dekm.files.writing import write_json
from dekm.scaling import (
    NO_SCALING,
    InputScaling,
    learn_column_scaling,
    learn_image_scaling,
    looks_like_counts,
    loses_digits,
)

logger = logging.getLogger(__name__)
PACKAGE = logging.getLogger("dekm")

FEW_STOP_WORDS = 20
MANY = 20  # features, above which not all are listed
COUNTS_ADVICE = (
    "%s: whole numbers, most of them 0, look like raw counts of single cells, in which the depth of "
    "sequencing dominates: scaling: counts scales each cell to 10,000 counts and takes log(1 + x); the "
    "principal components of an .h5ad file, array: obsm/X_pca, are often better still"
)


def prepare(
    dataset: Dataset,
    raw_dir: Path,
    *,
    data: Path,
    facts: Path,
    subsample: int | None = None,
    n_classes: int | None = None,
) -> dict[str, Any]:
    """Load a dataset, check it against its row, and write it to a file of data and a file of facts.

    The terms of a user's own texts, the names of the samples and the rows that a subsample keeps are stored
    with the data; the digest does not include them. `subsample` is the size of a stratified subsample to
    keep, `n_classes` the number of randomly drawn classes to keep of it.

    Returns the facts, whose `n_classes` is None if the classes were not restricted, with the warnings.
    `InputError` if the data cannot be loaded or differ from the row, or `subsample` or `n_classes` is out of
    range.
    """
    with noted_warnings() as warned:
        stored, known = _prepare(dataset, raw_dir, subsample, n_classes)
    known["warnings"] = [text.removeprefix(f"{dataset.label}: ") for text in warned]
    write_samples(data, stored)
    write_json(facts, known)
    return known


def samples_of(dataset: Dataset, raw_dir: Path, subsample: int | None = None) -> Samples:
    """The samples of a dataset as `load` reads them after a `prepare` of today; nothing is written.

    `InputError` as of `prepare`.
    """
    stored, known = _prepare(dataset, raw_dir, subsample, n_classes=None)
    return InputScaling.from_facts(known["scaling"])(stored.X)


@contextmanager
def noted_warnings() -> Iterator[list[str]]:
    """The warnings that the package logs within the block."""
    texts: list[str] = []
    noting = logging.Handler(logging.WARNING)
    noting.emit = lambda record: texts.append(record.getMessage())  # type: ignore[method-assign]
    PACKAGE.addHandler(noting)
    try:
        yield texts
    finally:
        PACKAGE.removeHandler(noting)


def _prepare(
    dataset: Dataset, raw_dir: Path, subsample: int | None, n_classes: int | None
) -> tuple[StoredSamples, dict[str, Any]]:
    """What is stored of a dataset, and its facts."""
    X, y, names, features = dataset.load(raw_dir)
    terms = None
    if isinstance(X, Texts):
        texts, (X, terms) = X, X.fit()
        tell_of_texts(dataset.label, texts, X, terms)
    tell_of_features(dataset.label, features)
    y, class_names = (None, None) if y is None else name_classes(y)
    check(dataset, X, y)
    rows = kept_rows(X.shape[0], y, subsample, n_classes)
    label, n_clusters = dataset.label, dataset.n_clusters
    if rows is not None:
        X, y = X[rows], None if y is None else y[rows]
        names = names and [names[row] for row in rows]
    if n_classes is not None:
        kept = [str(i if class_names is None else class_names[i]) for i in np.unique(y)]
        label, n_clusters = f"{label}, classes {', '.join(kept)}", n_classes
    check_n_samples(label, X.shape[0], n_clusters)
    tell_of_labels(label, y)
    scaling = scaling_of(dataset, X)
    X = as_stored(dataset, X, scaling)
    known = {
        "label": label,
        "kind": dataset.kind,
        "n_samples": X.shape[0],
        "n_clusters": n_clusters,
        "shape": list(X.shape[1:]),
        "class_counts": None if y is None else list(count_classes(y[y >= 0])),
        "class_names": class_names,
        "subsample": subsample,
        "n_classes": n_classes,
        "options": dict(dataset.options),
        "features": None if dataset.kind == "text" else features,
        "scaling": scaling.facts(),
        "raw": [raw_file.path for raw_file in dataset.raw_set(raw_dir).raw],
        "digest": samples_digest(X, y, scaling),
    }
    words = features if dataset.kind == "text" else None
    words, idf = (words, None) if terms is None else (terms.names, terms.idf)
    named = None if names is None else np.array(names)
    return StoredSamples(X, y, words, idf, rows, named), known


def tell_of_features(label: str, features: list[str] | None) -> None:
    """Log the names of the features, the first of them if they are many."""
    if features is not None:
        first = features if len(features) <= MANY else [*features[: MANY // 2], "...", features[-1]]
        logger.info("%s: %d features: %s", label, len(features), ", ".join(first))


def tell_of_labels(label: str, y: Labels) -> None:
    """Log how many samples have a label, if some have none."""
    if y is not None and (y < 0).any():
        logger.warning(
            "%s: %d of %d samples have a label, and only they are scored", label, (y >= 0).sum(), len(y)
        )


def kept_rows(n_samples: int, y: Labels, subsample: int | None, n_classes: int | None) -> np.ndarray | None:
    """Rows of the loaded data that are kept, ascending; None for all. `InputError` as of `prepare`."""
    rows = None if subsample is None else stratified_rows(n_samples, y, subsample)
    if n_classes is None:
        return rows
    of_classes = rows_of_classes(y if rows is None or y is None else y[rows], n_classes)
    return of_classes if rows is None else rows[of_classes]


def scaling_of(dataset: Dataset, X: Samples) -> InputScaling:
    """The rule that scales the samples of a dataset, learned from those that are kept; it is logged."""
    if dataset.kind == "table":
        try:
            scaling = learn_column_scaling(X, dataset.scaling)
        except InputError as error:
            raise InputError(f"{dataset.label}: {error}") from error
        logger.info("%s: scaling of the columns: %s", dataset.label, scaling.kind)
        if dataset.scaling == "auto" and looks_like_counts(X):
            logger.warning(COUNTS_ADVICE, dataset.label)
        return scaling
    if dataset.kind != "images":
        return NO_SCALING
    scaling = learn_image_scaling(X)
    if scaling.kind == "range":
        logger.warning(
            "%s: the images have values from %g to %g, which are scaled to [0, 1]",
            dataset.label,
            scaling.low,
            scaling.high,
        )
    elif scaling.high > 1 or scaling.low < 0:
        logger.warning(
            "%s: the images have values from %g to %g, which are not scaled; the methods are made for [0, 1]",
            dataset.label,
            scaling.low,
            scaling.high,
        )
    return scaling


def as_stored(dataset: Dataset, X: Samples, scaling: InputScaling) -> Samples:
    """Samples as they are stored: in float32, unless they are scaled before they are rounded.

    `InputError` if values that are not scaled are beyond float32.
    """
    if X.dtype != np.float64 or scaling.scale or scaling.kind == "range":
        return X
    with np.errstate(over="ignore"):
        rounded = X.astype(np.float32)
    remedy = "scaling: minmax or standard keeps them"
    if not np.isfinite(rounded).all():
        raise InputError(f"{dataset.label}: values up to {abs(X).max():g} are beyond float32; {remedy}.")
    if loses_digits(X):
        logger.warning("%s: float32 rounds differences between the values away; %s", dataset.label, remedy)
    return rounded


def tell_of_texts(label: str, texts: Texts, X: Samples, terms: Terms) -> None:
    """Log how many texts have no term, are copies of others, and whether stop words are among the terms."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    n_texts = len(texts.documents)
    without = int((X.getnnz(axis=1) == 0).sum())
    if without:
        logger.warning(
            "%s: %d of %d texts are empty or have none of the terms; they get a cluster all the same",
            label, without, n_texts,
        )  # fmt: skip
    stripped = [text.strip() for text in texts.documents if text.strip()]
    copies = len(stripped) - len(set(stripped))
    if copies:
        logger.warning("%s: %d of %d texts are copies of others", label, copies, n_texts)
    stop_words = sorted(ENGLISH_STOP_WORDS.intersection(terms.names), key=terms.names.index)
    if len(stop_words) >= FEW_STOP_WORDS:
        logger.warning(
            "%s: %d of the %d terms are English stop words, such as %s; stop_words: english leaves them out",
            label, len(stop_words), len(terms.names), ", ".join(stop_words[:3]),
        )  # fmt: skip
