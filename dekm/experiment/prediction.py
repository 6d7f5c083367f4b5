"""Clusters of new data, from the folder of a run."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.labels import name_classes
from dekm.errors import InputError
from dekm.experiment.assignments import center_distances, write_assignments
from dekm.experiment.history import scores
from dekm.experiment.new_data import describe_new_data, load_new_data
from dekm.methods import KNOWN, METHODS, Method, find_method
from dekm.methods.base import Clusterer
from dekm.methods.persistence import Saved
from dekm.results.data import SampleNames
from dekm.results.folders import SEED_FILES, Record, SeedFolder, read_record
from dekm.scaling import InputScaling

TYPICAL = 0.999  # fraction of the training samples that lie within the distance of a typical sample


def write_predictions(
    run: Path,
    settings: Mapping[str, Any],
    out: Path,
    *,
    definition: Mapping[str, Any] | None = None,
    network: str | None = None,
    device: str = "auto",
) -> str:
    """Write a CSV file with the cluster of each new sample, in the order of the data; return a line on it.

    New samples are scaled as those of the run. New texts become tf-idf rows of the terms of the run's own
    texts; the columns of a new table are matched by their names. No file of a run decides what is imported.

    Parameters
    ----------
    run : Path
        Folder of a run, at its place in a folder of results.
    settings : mapping
        `path` of the new data, and what differs from the description of the run's own data; `loader` if a
        function outside of this package loaded them. With labels, such as `label_column`, the line has the
        scores.
    out : Path
        The CSV file, with the columns of a run's ``clusters.csv``.
    definition : mapping, optional
        `estimator`, the import path of the class, if the method of the run is outside of this package.
    network : str, optional
        Import path of the network of the autoencoder, if it is outside of this package.

    Raises
    ------
    InputError
        If the folder holds no run, its texts left no terms, or the new data do not fit those of the run.
    """
    check_model(SeedFolder(run))
    seed = read_record(run)
    dataset = describe_new_data(seed, settings)
    given = {} if network is None else {"network": network}
    estimator = (
        method_of_run(seed, definition or {}).load().load(seed.checked("model"), device=device, **given)
    )
    X, y, files, _ = load_new_data(seed, dataset)
    X = X if isinstance(estimator, Saved) else InputScaling.from_facts(seed.data_facts["scaling"])(X)
    with warnings.catch_warnings():  # the columns were matched by their names
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        clusters = estimator.predict(X)
        distances, margins = distances_of(estimator, X, clusters)
    classes = None if y is None else np.ma.filled(np.ma.asarray(y).astype(str), "")
    names = SampleNames(np.arange(len(clusters)), None if files is None else np.array(files), classes)
    write_assignments(out, clusters, names, distances, margins)
    text = f"{len(clusters)} samples, written to {out}; by cluster {sizes_of(clusters)}"
    if isinstance(estimator, Clusterer):
        far = int((distances > typical_distance(estimator)).sum())
        text += f"; {far} farther from every center than {TYPICAL:.1%} of the training samples"
    if dataset.kind == "text":
        unknown = int((abs(X).sum(axis=1) == 0).sum())
        text += f"; {unknown} empty or without a term of the run"
    return f"{text}{'' if y is None else scores_of(y, clusters)}."


def scores_of(y: np.ndarray, clusters: np.ndarray) -> str:
    """The scores of the samples that have a label, in percent."""
    codes, _ = name_classes(y)
    found = ", ".join(f"{name.upper()} {100 * value:.1f}" for name, value in scores(codes, clusters).items())
    return f"; {found} of {(codes >= 0).sum()} with a label"


def sizes_of(clusters: np.ndarray) -> str:
    """Number of samples of each cluster that has some."""
    found, counts = np.unique(clusters, return_counts=True)
    return ", ".join(f"{cluster}: {count}" for cluster, count in zip(found, counts, strict=True))


def typical_distance(estimator: Clusterer) -> float:
    """Distance to their centers within which almost all training samples lie."""
    distances = np.linalg.norm(estimator.embedding_ - estimator.cluster_centers_[estimator.labels_], axis=1)
    return float(np.quantile(distances, TYPICAL))


def distances_of(estimator: Any, X: Any, clusters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances and margins of new samples, see `center_distances`; NaN without centers in an embedding."""
    if isinstance(estimator, Clusterer):
        return center_distances(estimator.transform(X), clusters, estimator.cluster_centers_)
    unknown = np.full(len(clusters), np.nan)
    return unknown, unknown


def check_model(seed: SeedFolder) -> None:
    """Raise `InputError` if a folder holds no run, or a run whose model was not kept."""
    if seed.file("model").is_file():
        return
    if not seed.file("facts").is_file():
        raise InputError(
            f"{seed.path} holds no run with a model: it should be like results/own/runs/faces/dekm/seed0."
        )
    kept = [path.parent.name for path in sorted(seed.path.parent.glob(f"seed*/{SEED_FILES['model']}"))]
    remedy = f"{kept[0]} beside it has one." if kept else "Run it again with keep_models=all fresh=true."
    raise InputError(
        f"{seed.path} has no model: keep_models of its configuration, or its method, kept none. {remedy}"
    )


def method_of_run(seed: Record, definition: Mapping[str, Any]) -> Method:
    """The method that made a run; `InputError` if it is outside of this package and `definition` lacks it."""
    name, estimator = seed.facts["method"], seed.facts.get("estimator")
    if definition or name in KNOWN:
        return find_method(name, {name: definition})
    for row in METHODS.values():
        if row.estimator == estimator:  # a variant of it
            return row
    raise InputError(
        f"{seed.path} was made by {estimator}, which is outside of this package: name the estimator by "
        f"--define estimator={estimator}, if you trust it."
    )
