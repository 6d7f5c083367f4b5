"""Folders of results written by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dekm.experiment.records import distances_and_margins, write_assignments
from dekm.files import write_json, write_manifest
from dekm.methods import METHODS
from dekm.results.data import SampleNames

MADE: dict[str, Any] = {
    "key": "x",
    "created": "2026-01-01T00:00:00.000+00:00",
    "settings": {},
    "versions": {"python": "3"},
    "commit": "c0ffee",
    "device": "cpu",
}
DATA: dict[str, Any] = {
    "kind": "vectors",
    "n_samples": 3,
    "n_clusters": 2,
    "shape": [2],
    "class_counts": [2, 1],
    "scaling": {"kind": "none", "offset": [], "scale": []},
    "options": {},
    "digest": "x",
}
LABELS = {name: row.label for name, row in METHODS.items()}


def write_facts(results: Path, dataset: str, label: str = "", **facts: Any) -> Path:
    """Facts of prepared data, without the data."""
    folder = results / "data" / dataset
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "facts.json").write_text(
        json.dumps(DATA | {"label": label or dataset, "digest": dataset} | facts)
    )
    return folder


def write_seed(
    results: Path, dataset: str, method: str, seed: int, metrics: Mapping[str, Any], **facts: Any
) -> Path:
    """The folder of a complete seed with these final metrics, and its manifest."""
    folder = results / "runs" / dataset / method / f"seed{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    known = {"dataset": dataset, "method": method, "label": LABELS.get(method, method), "seed": seed}
    known |= {"data": dataset, "id": f"{dataset}{method}{seed}", "in_table": method in LABELS}
    (folder / "facts.json").write_text(json.dumps(MADE | known | facts))
    (folder / "metrics.json").write_text(json.dumps({"seconds": 1.0} | dict(metrics)))
    write_manifest(folder)
    return folder


def write_summary(
    results: Path, dataset: str, method: str, seeds: Sequence[Mapping[str, Any]], **facts: Any
) -> Path:
    """A cell with these final metrics, seed 0 first; other files of its seeds stay."""
    for seed, metrics in enumerate(seeds):
        write_seed(results, dataset, method, seed, metrics, **facts)
    folder = results / "runs" / dataset / method
    counted = {
        str(seed): {"key": MADE["key"], "id": f"{dataset}{method}{seed}"} for seed in range(len(seeds))
    }
    write_json(folder / "summary.json", {"seeds": counted})
    return folder


def write_scores(
    results: Path, dataset: str, method: str, acc: Sequence[float], nmi: float = 0.5, pretrained: str = ""
) -> Path:
    """A cell with these ACC, one per seed, whose autoencoders have this key and the number of the seed."""
    cell = write_summary(results, dataset, method, [{"acc": value, "nmi": nmi} for value in acc])
    for seed, value in enumerate(acc) if pretrained else ():
        metrics = {"acc": value, "nmi": nmi}
        write_seed(results, dataset, method, seed, metrics, pretrained=f"{pretrained}{seed}")
    return cell


def write_run(
    results: Path,
    dataset: str,
    method: str,
    labels: np.ndarray,
    embedding: np.ndarray,
    history: pd.DataFrame,
    seed: int = 0,
    classes: Sequence[str] = (),
) -> Path:
    """A seed's folder with the files that figures read."""
    final = {name: history[name].iloc[-1] for name in ("acc", "nmi") if name in history}
    folder = write_seed(results, dataset, method, seed, final)
    history.to_csv(folder / "history.csv", index=False)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "embedding.npy", embedding)
    write_clusters(folder, labels, embedding, classes)
    write_manifest(folder)
    return folder


def write_clusters(folder: Path, labels: np.ndarray, H: np.ndarray, classes: Sequence[str] = ()) -> None:
    """The table of clusters of a run, whose centers are the means."""
    clusters, members = np.unique(labels, return_inverse=True)
    H = np.asarray(H, float).reshape(len(members), -1)
    centers = np.stack([H[members == i].mean(0) for i in range(len(clusters))])
    distances, margins = distances_and_margins(H, members, centers)
    n = len(members)
    samples = SampleNames(np.arange(n), None, np.array(classes) if len(classes) else None)
    write_assignments(folder / "clusters.csv", np.asarray(labels, int), samples, distances, margins)


def write_data(results: Path, dataset: str, X: np.ndarray, y: np.ndarray | None) -> Path:
    """Prepared data."""
    folder = write_facts(results, dataset)
    np.savez_compressed(folder / "data.npz", X=X, **({} if y is None else {"y": y}))
    return folder


def make_history(acc: Sequence[float], **columns: Sequence[float]) -> pd.DataFrame:
    """A history of these ACC."""
    n = len(acc)
    return pd.DataFrame(
        {
            "n_iter": np.arange(n),
            "loss": [np.nan, *np.linspace(1, 0.5, n - 1)],
            "changed": [np.nan, *np.linspace(0.5, 0.1, n - 1)],
            "inertia": np.linspace(9, 3, n),
            "acc": acc,
            "nmi": acc,
            "ari": acc,
        }
        | columns
    )
