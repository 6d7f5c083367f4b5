"""Folders of results written by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dekm.methods import METHODS

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
    "options": {},
    "digest": "x",
}
LABELS = {name: row.label for name, row in METHODS.items()}


def write_facts(results: Path, dataset: str, label: str = "", **facts: Any) -> Path:
    """Facts of prepared data, without the data."""
    folder = results / "data" / dataset
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "facts.json").write_text(json.dumps(DATA | {"label": label or dataset} | facts))
    return folder


def write_summary(results: Path, dataset: str, method: str, seeds: Sequence[Mapping[str, Any]]) -> Path:
    """A cell with these final metrics, seed 0 first."""
    folder = results / "runs" / dataset / method
    folder.mkdir(parents=True, exist_ok=True)
    runs = {str(seed): {"key": "x"} | dict(run) for seed, run in enumerate(seeds)}
    summary = {"dataset": dataset, "method": method, "label": LABELS.get(method, method)}
    summary |= {"in_table": method in LABELS, "seeds": runs}
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def write_scores(
    results: Path, dataset: str, method: str, acc: Sequence[float], nmi: float = 0.5, pretrained: str = ""
) -> Path:
    """A cell with these ACC, one per seed, whose autoencoders have this key and the number of the seed."""
    cell = write_summary(results, dataset, method, [{"acc": value, "nmi": nmi} for value in acc])
    facts = MADE | {"dataset": dataset, "method": method, "data": dataset, "id": "x"}
    for seed in range(len(acc)) if pretrained else ():
        (cell / f"seed{seed}").mkdir(exist_ok=True)
        known = facts | {"seed": seed, "pretrained": f"{pretrained}{seed}"}
        (cell / f"seed{seed}" / "facts.json").write_text(json.dumps(known))
    return cell


def write_run(
    results: Path,
    dataset: str,
    method: str,
    labels: np.ndarray,
    embedding: np.ndarray,
    history: pd.DataFrame,
    seed: int = 0,
) -> Path:
    """A seed's folder with the files that figures read."""
    folder = results / "runs" / dataset / method / f"seed{seed}"
    folder.mkdir(parents=True)
    label = LABELS.get(method, method)
    facts = {"dataset": dataset, "method": method, "label": label, "seed": seed, "data": dataset}
    (folder / "facts.json").write_text(json.dumps(MADE | facts | {"id": f"{dataset}{method}{seed}"}))
    final = {name: history[name].iloc[-1] for name in ("acc", "nmi") if name in history}
    final["seconds"] = 1.0
    (folder / "metrics.json").write_text(json.dumps(final))
    history.to_csv(folder / "history.csv", index=False)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "embedding.npy", embedding)
    return folder


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
