"""Preparation of a dataset: it is loaded, checked, reduced to a part if asked, and stored."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.dataset import Dataset
from dekm.datasets.labels import name_classes
from dekm.datasets.prepared import content_digest, save
from dekm.datasets.subsets import Labels, Samples, count_classes, rows_of_classes, stratified_rows
from dekm.datasets.tfidf import Texts
from dekm.datasets.user.own import feature_names
from dekm.datasets.validation import check
from dekm.files.writing import write_json
from dekm.scaling import NO_SCALING, InputScaling, learn_column_scaling, learn_image_scaling

logger = logging.getLogger(__name__)


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

    The terms of a user's own texts, the files of the samples and the rows that a subsample keeps are stored
    with the data; the digest does not include them.

    Parameters
    ----------
    dataset : Dataset
        The dataset to prepare.
    raw_dir : Path
        Folder of the raw files.
    data : Path
        ``.npz`` file to write the samples and labels to.
    facts : Path
        JSON file to write the facts to.
    subsample : int, optional
        Size of a stratified subsample to keep.
    n_classes : int, optional
        Number of randomly drawn classes to keep, after the subsample.

    Returns
    -------
    dict of str to Any
        The facts; `n_classes` in them is None if the classes were not restricted.

    Raises
    ------
    InputError
        If the data cannot be loaded or differ from the row, or if `subsample` or `n_classes` is out of range.
    """
    X, y, names = dataset.load(raw_dir)
    terms = None
    if isinstance(X, Texts):
        X, terms = X.fit()
    check(dataset, X, y)
    y, class_names = (None, None) if y is None else name_classes(y)
    rows = kept_rows(X.shape[0], y, subsample, n_classes)
    label, n_clusters = dataset.label, dataset.n_clusters
    if rows is not None:
        X, y = X[rows], None if y is None else y[rows]
        names = names and [names[row] for row in rows]
    if n_classes is not None:
        kept = [str(i if class_names is None else class_names[i]) for i in np.unique(y)]
        label, n_clusters = f"{label}, classes {', '.join(kept)}", n_classes
    scaling = learn_scaling(dataset, X)
    known = {
        "label": label,
        "kind": dataset.kind,
        "n_samples": X.shape[0],
        "n_clusters": n_clusters,
        "shape": list(X.shape[1:]),
        "class_counts": None if y is None else list(count_classes(y)),
        "class_names": class_names,
        "subsample": subsample,
        "n_classes": n_classes,
        "options": dict(dataset.options),
        "features": feature_names(dataset),
        "scaling": scaling.facts(),
        "raw": [raw_file.path for raw_file in dataset.raw_set(raw_dir).raw],
        "digest": content_digest(X, y, scaling),
    }
    save(X, y, data, terms, rows, names)
    write_json(facts, known)
    return known


def kept_rows(n_samples: int, y: Labels, subsample: int | None, n_classes: int | None) -> np.ndarray | None:
    """Rows of the loaded data that are kept, ascending; None for all.

    Raises
    ------
    InputError
        As `prepare`.
    """
    rows = None if subsample is None else stratified_rows(n_samples, y, subsample)
    if n_classes is None:
        return rows
    of_classes = rows_of_classes(y if rows is None or y is None else y[rows], n_classes)
    return of_classes if rows is None else rows[of_classes]


def learn_scaling(dataset: Dataset, X: Samples) -> InputScaling:
    """The rule that scales the samples of a dataset, learned from those that are kept."""
    if dataset.kind == "table":
        scaling = learn_column_scaling(X, dataset.scaling)
        logger.info("%s: scaling of the columns: %s", dataset.label, scaling.kind)
        return scaling
    if dataset.kind != "images":
        return NO_SCALING
    scaling = learn_image_scaling(X)
    if scaling.high > 1 or scaling.low < 0:
        logger.warning(
            "%s: the images have values from %g to %g, which are not scaled; the methods are made for [0, 1]",
            dataset.label,
            scaling.low,
            scaling.high,
        )
    return scaling
