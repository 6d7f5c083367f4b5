"""Clusters for new data from the folder of a run."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.folders import IMAGE_SUFFIXES, list_files
from dekm.datasets.own import own_dataset
from dekm.errors import InputError
from dekm.methods import find_method
from dekm.provenance import read_json

OF_LABELS = {"labels", "label_column"}


def write_predictions(run: Path, settings: Mapping[str, Any], out: Path, *, device: str = "auto") -> None:
    """Write a CSV file with the cluster of each new sample, in the order of the data.

    Parameters
    ----------
    run : folder of a run, in its place in a folder of results
    settings : `path` of the new data, and what differs from the description of the run's own data
    out : the CSV file; its columns are sample (the file of an image, else the number of the row) and cluster

    Raises
    ------
    InputError
        If the folder holds no run, the data are texts, or the new data do not fit those of the run.
    """
    if not (run / "model.safetensors").is_file():
        raise InputError(f"{run} holds no run: it should be like results/own/runs/faces/dekm/seed0.")
    facts = read_json(run / "facts.json")
    data = read_json(run.parents[3] / "data" / facts["dataset"] / "facts.json")
    if data["kind"] == "text":
        raise InputError("new texts cannot be given a cluster: a run does not keep the terms of its texts.")
    if "path" not in settings:
        raise InputError("the new data need --set path=...")
    described = {name: value for name, value in data["options"].items() if name not in OF_LABELS}
    dataset = own_dataset("new data", {"n_clusters": 1, **described, **settings})
    X, _ = dataset.load(Path())
    samples = X.astype(np.float32) / np.float32(255) if X.dtype == np.uint8 else X
    estimator = find_method(facts["method"]).load().load(run / "model.safetensors", device=device)
    clusters = estimator.predict(samples)
    path = Path(settings["path"])
    names = list_files(path, IMAGE_SUFFIXES)[0] if path.is_dir() else range(len(clusters))
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["sample", "cluster"])
        writer.writerows(zip(names, clusters.tolist(), strict=True))
