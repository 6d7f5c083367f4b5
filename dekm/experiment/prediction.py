"""Clusters of new data, from the folder of a run."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets import prepared
from dekm.datasets.dataset import Dataset, Loaded
from dekm.datasets.scaling import unit_scaled
from dekm.datasets.tfidf import Texts
from dekm.datasets.user.own import feature_names, own_dataset
from dekm.errors import InputError
from dekm.experiment.assignments import center_distances, write_assignments
from dekm.methods import KNOWN, METHODS, Method, find_method
from dekm.methods.base import Clusterer
from dekm.results.data import SampleNames
from dekm.results.folders import SEED_FILES, SeedFolder

logger = logging.getLogger(__name__)

# Settings of the run's own data that do not describe new data: new data need no labels, and no file decides
# what code loads them;
LABEL_SETTINGS = {"labels", "label_column", "loader"}
# new texts may come from a folder instead of a table,
TABLE_SETTINGS = {"text_column"}
# and the terms of the run's own texts were made with these.
TERM_SETTINGS = {"stem", "scaling"}


def write_predictions(
    run: Path,
    settings: Mapping[str, Any],
    out: Path,
    *,
    definition: Mapping[str, Any] | None = None,
    network: str | None = None,
    device: str = "auto",
) -> None:
    """Write a CSV file with the cluster of each new sample, in the order of the data.

    New texts become tf-idf rows of the terms of the run's own texts; the columns of a new table are matched
    by their names.

    Parameters
    ----------
    run : Path
        Folder of a run, at its place in a folder of results.
    settings : mapping
        `path` of the new data, and what differs from the description of the run's own data.
    out : Path
        The CSV file, with the columns of a run's ``clusters.csv``.
    definition : mapping, optional
        `estimator`, the import path of the class, if the method of the run is outside of this package: no
        file of a run decides what is imported.
    network : str, optional
        Import path of the network of the autoencoder, if it is outside of this package.
    device : str
        "auto", "cpu", "cuda" or "cuda:N".

    Raises
    ------
    InputError
        If the folder holds no run, its texts left no terms, or the new data do not fit those of the run.
    """
    seed = SeedFolder(run)
    check_model(seed)
    dataset = describe_new_data(seed, settings)
    given = {} if network is None else {"network": network}
    estimator = (
        method_of_run(seed, definition or {}).load().load(seed.checked("model"), device=device, **given)
    )
    X, classes, files = load_new_data(seed, dataset)
    X = unit_scaled(X)
    clusters = estimator.predict(X)
    names = SampleNames(np.arange(len(clusters)), None if files is None else np.array(files), classes)
    write_assignments(out, clusters, names, *distances_of(estimator, X, clusters))


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


def method_of_run(seed: SeedFolder, definition: Mapping[str, Any]) -> Method:
    """The method that made a run.

    Raises
    ------
    InputError
        If it is outside of this package and `definition` does not name it.
    """
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


def describe_new_data(seed: SeedFolder, settings: Mapping[str, Any]) -> Dataset:
    """The new data as a dataset, described as the run's own data where the settings say nothing else."""
    for name in TERM_SETTINGS & settings.keys():
        raise InputError(
            f"{name}={settings[name]!r} should be left out: the setting of the run's own texts is used."
        )
    if "path" not in settings:
        raise InputError("the new data need --set path=...")
    ignored = LABEL_SETTINGS | (TABLE_SETTINGS if Path(settings["path"]).is_dir() else set())
    described = {name: value for name, value in seed.data_facts["options"].items() if name not in ignored}
    return own_dataset("new data", {"n_clusters": 1, **described, **settings})


def load_new_data(seed: SeedFolder, dataset: Dataset) -> Loaded:
    """New samples with the features of the run's own data, in the same order, and what they are called."""
    loaded = dataset.load(Path())
    X = loaded.X
    if isinstance(X, Texts):
        terms = prepared.load_terms(seed.data.arrays_file, seed.data.facts_file, seed.facts["data"])
        return loaded._replace(X=X.rows(terms))
    features, columns = seed.data_facts.get("features"), feature_names(dataset)
    if features and columns:
        found = find_columns(features, columns, Path(dataset.options["path"]))
        return loaded._replace(X=np.asarray(X)[:, found])
    return loaded


def find_columns(features: Sequence[str], names: Sequence[str], path: Path) -> list[int]:
    """Positions of the run's features among the columns of a new table; further columns are logged.

    Raises
    ------
    InputError
        If the new table lacks one.
    """
    missing = [name for name in features if name not in names]
    if missing:
        raise InputError(f"{path} lacks the columns {missing}; the run was made with {list(features)}.")
    others = [name for name in names if name not in features]
    if others:
        logger.warning("%s: columns %s are ignored: the run was made without them", path, others)
    return [names.index(name) for name in features]
