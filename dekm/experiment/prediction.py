"""Clusters for new data from the folder of a run."""

import csv
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dekm.datasets import prepared
from dekm.datasets.scaling import unit_scaled
from dekm.datasets.tfidf import Texts
from dekm.datasets.user.folders import IMAGE_SUFFIXES, TEXT_SUFFIXES, list_files
from dekm.datasets.user.own import feature_names, own_dataset
from dekm.errors import InputError
from dekm.methods import find_method
from dekm.results.folders import SeedFolder

logger = logging.getLogger(__name__)

OF_LABELS = {"labels", "label_column"}
OF_TABLES = {"text_column"}
OF_TERMS = {"stem", "scaling"}


def write_predictions(run: Path, settings: Mapping[str, Any], out: Path, *, device: str = "auto") -> None:
    """Write a CSV file with the cluster of each new sample, in the order of the data.

    New texts become tf-idf rows of the terms of the run's own texts; columns of a new table are found by
    their names, wherever they are in it.

    Parameters
    ----------
    run : folder of a run, in its place in a folder of results
    settings : `path` of the new data, and what differs from the description of the run's own data
    out : the CSV file; its columns are sample (the file of an image or text, else the number of the row) and
        cluster

    Raises
    ------
    InputError
        If the folder holds no run, its texts left no terms, or the new data do not fit those of the run.
    """
    seed = SeedFolder(run)
    if not seed.file("model").is_file():
        raise InputError(f"{run} holds no run: it should be like results/own/runs/faces/dekm/seed0.")
    data = seed.data.facts
    for name in OF_TERMS & settings.keys():
        raise InputError(f"{name}={settings[name]!r} should be left out: it is that of the run's own texts.")
    if "path" not in settings:
        raise InputError("the new data need --set path=...")
    path = Path(settings["path"])
    of_the_run_only = OF_LABELS | (OF_TABLES if path.is_dir() else set())
    described = {name: value for name, value in data["options"].items() if name not in of_the_run_only}
    dataset = own_dataset("new data", {"n_clusters": 1, **described, **settings})
    X, _ = dataset.load(Path())
    if isinstance(X, Texts):
        X = X.rows(prepared.load_terms(seed.data.path, seed.facts["data"]))
    elif data.get("features") and (columns := feature_names(dataset)):
        X = X[:, positions(data["features"], columns, path)]
    estimator = find_method(seed.facts["method"]).load().load(seed.file("model"), device=device)
    clusters = estimator.predict(unit_scaled(X))
    suffixes = TEXT_SUFFIXES if dataset.kind == "text" else IMAGE_SUFFIXES
    names = list_files(path, suffixes)[0] if path.is_dir() else range(len(clusters))
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["sample", "cluster"])
        writer.writerows(zip(names, clusters.tolist(), strict=True))


def positions(features: Sequence[str], names: Sequence[str], path: Path) -> list[int]:
    """Where the features of the run are among the columns of a new table; other columns are logged.

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
        logger.warning("%s: columns %s are ignored, which the run was not made with", path, others)
    return [names.index(name) for name in features]
