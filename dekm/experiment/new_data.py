"""New data for the model of a run, described and loaded as the run's own data were."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dekm.datasets import prepared
from dekm.datasets.dataset import Dataset, Loaded
from dekm.datasets.tfidf import Texts
from dekm.datasets.user.formats import TABLES, format_of
from dekm.datasets.user.own import find_path, own_dataset
from dekm.datasets.user.table_files import Form, open_table
from dekm.errors import InputError, shown
from dekm.results.folders import Record

# Settings of the run's own data that do not describe new data: new data need no labels, their columns are
# found by their names, and no file decides what code loads them.
LABEL_SETTINGS = {"labels", "label_column", "label_array", "ignore_columns", "loader", "path"}
# What is known of files of one format only.
FORMAT_SETTINGS = {"array", "samples", "channels", "image_shape", "separator", "decimal", "header"}
# The samples of the run's own data were made with these.
RUN_SETTINGS = {"stem", "scaling", "stop_words", "categories", "features"}
KINDS = {"images": "images", "text": "texts", "table": "rows of numbers"}


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
