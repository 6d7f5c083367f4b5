"""Clusters of new data, from the folder of a run."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets import prepared
from dekm.datasets.dataset import Dataset, Loaded
from dekm.datasets.labels import name_classes
from dekm.datasets.tfidf import Texts
from dekm.datasets.user.formats import TABLES, format_of
from dekm.datasets.user.own import find_path, own_dataset
from dekm.datasets.user.table_files import open_table
from dekm.datasets.user.text_tables import Form
from dekm.errors import InputError, shown
from dekm.experiment.history import scores
from dekm.experiment.records import distances_and_margins, write_assignments
from dekm.methods import KNOWN, METHODS, Method, find_method
from dekm.methods.base import Clusterer
from dekm.methods.persistence import Saved
from dekm.results.data import SampleNames
from dekm.results.record import Record, read_record
from dekm.results.seed import SEED_FILES, SeedFolder
from dekm.scaling import InputScaling

# Settings of the run's own data that do not describe new data: new data need no labels, their columns are
# found by their names, and no file decides what code loads them.
LABEL_SETTINGS = {"labels", "label_column", "label_array", "ignore_columns", "loader", "path"}
# What is known of files of one format only.
FORMAT_SETTINGS = {"array", "samples", "channels", "image_shape", "separator", "decimal", "header"}
# The samples of the run's own data were made with these.
RUN_SETTINGS = {"stem", "scaling", "stop_words", "categories", "features"}
KINDS = {"images": "images", "text": "texts", "table": "rows of numbers"}
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
    """`distances_and_margins` of new samples; NaN without centers in an embedding."""
    if isinstance(estimator, Clusterer):
        return distances_and_margins(estimator.transform(X), clusters, estimator.cluster_centers_)
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
    reason = seed.failure or "keep_models of its configuration, or its method, kept none"
    raise InputError(f"{seed.path} has no model: {reason}. {remedy}")


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


def describe_new_data(seed: Record, settings: Mapping[str, Any]) -> Dataset:
    """The new data as a dataset, described as the run's own data where the settings say nothing else.

    `InputError` if the data are of another kind than those of the run, a setting is wrong, or the run's own
    data were loaded by a function outside of this package that the settings do not name.
    """
    for name in RUN_SETTINGS & settings.keys():
        raise InputError(
            f"{name}={shown(settings[name])} should be left out: the setting of the run's own data is used."
        )
    facts = seed.data_facts
    loader = facts["options"].get("loader")
    if loader is not None and "loader" not in settings:
        raise InputError(
            f"the data of the run were made by {loader}, which is outside of this package: name it by --set "
            f"loader={loader}, if you trust it; it is called with the path of the new data."
        )
    if "path" not in settings and "loader" not in settings:
        raise InputError("the new data need --set path=...")
    defaults = (
        {"kind": facts["kind"]} if "loader" in settings else _defaults(facts, find_path(settings["path"]))
    )
    dataset = own_dataset("new data", {"n_clusters": 1, **settings}, defaults)
    if dataset.kind != facts["kind"]:
        hint = "; name their column in text_column" if facts["kind"] == "text" else ""
        raise InputError(
            f"path={shown(str(settings['path']))} holds {KINDS[dataset.kind]}, but the run was made with "
            f"{KINDS[facts['kind']]}{hint}."
        )
    if facts["kind"] == "table" and facts.get("features"):
        return dataset.with_options({"features": facts["features"]})
    return dataset


def _defaults(facts: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Settings of the run's own data that hold for new data at a path too."""
    defaults = {name: value for name, value in facts["options"].items() if name not in LABEL_SETTINGS}
    if format_of(path) != format_of(Path(facts["options"].get("path", ""))):
        defaults = {name: value for name, value in defaults.items() if name not in FORMAT_SETTINGS}
    if facts["kind"] == "images" and path.is_dir():
        defaults["channels"] = facts["shape"][-1]
    if "name_column" in defaults and format_of(path) in TABLES and path.is_file():
        table = open_table(path, Form(defaults.get("separator"), header=defaults.get("header")))
        if defaults["name_column"] not in table.names:
            del defaults["name_column"]
    return defaults


def load_new_data(seed: Record, dataset: Dataset) -> Loaded:
    """New samples with the features of the run's own data, in the same order, and what they are called."""
    loaded = dataset.load(Path())
    if isinstance(loaded.X, Texts):
        terms = prepared.load_terms(seed.data.arrays_file, seed.data.facts_file, seed.facts["data"])
        return loaded._replace(X=loaded.X.rows(terms))
    return loaded
