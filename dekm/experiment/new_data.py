"""New data for the model of a run, described and loaded as the run's own data were."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets import prepared
from dekm.datasets.dataset import Dataset, Loaded
from dekm.datasets.tfidf import Texts
from dekm.datasets.user.formats import format_of
from dekm.datasets.user.own import feature_names, find_path, own_dataset
from dekm.errors import InputError, shown
from dekm.results.folders import Record

logger = logging.getLogger(__name__)

# Settings of the run's own data that do not describe new data: new data need no labels, their columns are
# found by their names, and no file decides what code loads them.
LABEL_SETTINGS = {"labels", "label_column", "label_array", "ignore_columns", "loader", "path"}
# The samples of the run's own data were made with these.
RUN_SETTINGS = {"stem", "scaling"}
KINDS = {"images": "images", "text": "texts", "table": "rows of numbers"}


def describe_new_data(seed: Record, settings: Mapping[str, Any]) -> Dataset:
    """The new data as a dataset, described as the run's own data where the settings say nothing else.

    Raises
    ------
    InputError
        If the data are of another kind than those of the run, or a setting is wrong.
    """
    for name in RUN_SETTINGS & settings.keys():
        raise InputError(
            f"{name}={shown(settings[name])} should be left out: the setting of the run's own data is used."
        )
    if "path" not in settings:
        raise InputError("the new data need --set path=...")
    facts = seed.data_facts
    defaults = {name: value for name, value in facts["options"].items() if name not in LABEL_SETTINGS}
    path = find_path(settings["path"])
    if format_of(path) != format_of(Path(facts["options"].get("path", ""))):
        defaults.pop("array", None)  # files of another format have other names
    if facts["kind"] == "images":
        defaults.pop("channels", None)
        if path.is_dir():
            defaults["channels"] = facts["shape"][-1]
    dataset = own_dataset("new data", {"n_clusters": 1, **settings}, defaults)
    if dataset.kind != facts["kind"]:
        hint = "; name their column in text_column" if facts["kind"] == "text" else ""
        raise InputError(
            f"path={shown(str(settings['path']))} holds {KINDS[dataset.kind]}, but the run was made with "
            f"{KINDS[facts['kind']]}{hint}."
        )
    return dataset


def load_new_data(seed: Record, dataset: Dataset) -> Loaded:
    """New samples with the features of the run's own data, in the same order, and what they are called."""
    features, columns = seed.data_facts.get("features"), feature_names(dataset)
    if features and columns:
        check_columns(features, columns, Path(dataset.options["path"]))
        others = [name for name in columns if name not in features]
        ignored = [*dataset.options.get("ignore_columns", ()), *others]
        dataset = dataset.with_options({"ignore_columns": ignored})
    loaded = dataset.load(Path())
    X = loaded.X
    if isinstance(X, Texts):
        terms = prepared.load_terms(seed.data.arrays_file, seed.data.facts_file, seed.facts["data"])
        return loaded._replace(X=X.rows(terms))
    if features and columns:
        kept = [name for name in columns if name in features]
        return loaded._replace(X=np.asarray(X)[:, [kept.index(name) for name in features]])
    return loaded


def check_columns(features: Sequence[str], names: Sequence[str], path: Path) -> None:
    """Log the columns of a new table that are no features of the run.

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
