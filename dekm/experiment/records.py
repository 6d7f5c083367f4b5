"""The files that a pretraining and a run leave in the folder of their seed, and the table of clusters."""

import csv
import io
import logging
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dekm import metrics
from dekm.experiment.estimators import Fit
from dekm.experiment.history import Scorer, labelled, scores
from dekm.files import write_array, write_csv, write_json, write_text
from dekm.markup import csv_cell
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.persistence import Saved, UnreadableError
from dekm.results.data import SampleNames
from dekm.results.seed import SeedFolder
from dekm.scaling import InputScaling

logger = logging.getLogger(__name__)
COLUMNS = ("row", "sample", "class", "cluster", "distance", "margin")


def write_pretraining(folder: SeedFolder, autoencoder: Autoencoder, seconds: float) -> None:
    """Write the weights, the loss of each epoch and the metrics of a pretraining."""
    autoencoder.save(folder.file("autoencoder"))
    losses = [{"epoch": i + 1, "loss": loss} for i, loss in enumerate(autoencoder.loss_curve_)]
    write_csv(folder.file("loss"), losses)
    last = losses[-1]["loss"] if losses else None
    final = {"loss": last, "seconds": seconds, "peak_memory": peak_memory()}
    write_json(folder.file("metrics"), final)


def write_estimator(
    folder: SeedFolder, estimator: Any, scaling: InputScaling, features: Sequence[str] | None = None
) -> None:
    """Write the fitted estimator of a run with the rule that scaled its samples and the names of columns.

    One that has no `save`, or could not be read back, leaves no model; an error of writing fails the run.
    """
    if isinstance(estimator, Saved):
        estimator.set_input_scaling(scaling)
        if features is not None:
            estimator.feature_names_in_ = np.array(features, dtype=object)
    if not hasattr(estimator, "save"):
        return
    try:
        estimator.save(folder.file("model"))
    except UnreadableError as error:
        logger.warning("%s The run goes on without a model.", error)


def write_run(folder: SeedFolder, fit: Fit, X: Any, scorer: Scorer, samples: SampleNames) -> None:
    """Write the labels of a run and its embedding of `X`, its history and its metrics.

    `samples` tells what the samples are called in the table of clusters.
    """
    write_csv(folder.file("history"), scorer.rows(fit.history))
    write_array(folder.file("labels"), fit.labels)
    write_array(folder.file("embedding"), fit.embedding)
    write_clusters(folder, fit, samples)
    scorer.history.frames.save(folder.file("iterations"), fit.centers, fit.decoded)
    write_json(folder.file("metrics"), final_metrics(fit, X, scorer.y))


def write_failure(folder: SeedFolder, scorer: Scorer) -> None:
    """Write what is known of a run whose fit has failed: its history so far, and its costs."""
    history = scorer.history
    write_csv(folder.file("history"), scorer.rows(history.points))
    write_json(folder.file("metrics"), {"seconds": history.seconds(), "peak_memory": peak_memory()})


def write_clusters(folder: SeedFolder, fit: Fit, samples: SampleNames) -> None:
    """Write the table of clusters; a sample of no cluster has neither distance nor margin."""
    distances, margins = distances_and_margins(fit.embedding, fit.members, fit.centers)
    for values in (distances, margins):
        values[fit.labels < 0] = np.nan
    write_assignments(folder.file("clusters"), fit.labels, samples, distances, margins)


def final_metrics(fit: Fit, X: Any, y: np.ndarray | None) -> dict[str, float | None]:
    """The content of a run's ``metrics.json``; without true labels it has no scores."""
    sizes = np.unique(fit.labels[fit.labels >= 0], return_counts=True)[1]
    more = {} if y is None else {"f1": metrics.macro_f1(*labelled(y, fit.labels))}
    return (
        scores(y, fit.labels)
        | more
        | {
            "silhouette": metrics.silhouette(X, fit.labels),
            "davies_bouldin": metrics.davies_bouldin(X, fit.labels),
            "silhouette_embedding": metrics.silhouette(fit.embedding, fit.labels),
            "davies_bouldin_embedding": metrics.davies_bouldin(fit.embedding, fit.labels),
            "inertia": fit.inertia,
            "n_clusters_found": len(sizes),
            "smallest": int(sizes.min(initial=len(fit.labels))),
            "largest": int(sizes.max(initial=0)),
            "n_iter": fit.n_iter,
            "seconds": fit.history[-1]["seconds"],
            "peak_memory": peak_memory(),
        }
    )


def peak_memory() -> float | None:
    """Largest resident memory of this process so far, in MiB; None where it cannot be measured.

    Linux tells it of the program alone: its `getrusage` counts that of the program that started it too.
    """
    status = Path("/proc/self/status")
    text = status.read_text(encoding="utf-8") if status.is_file() else ""
    if found := re.search(r"VmHWM:\s+(\d+) kB", text):
        return round(int(found[1]) / 1024, 1)
    try:
        import resource
    except ImportError:  # Windows
        return None
    per_mib = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss is in bytes, or in KiB
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / per_mib, 1)


def write_assignments(
    file: Path, labels: np.ndarray, samples: SampleNames, distances: np.ndarray, margins: np.ndarray
) -> None:
    """Write a CSV file with the columns `COLUMNS` of n samples; NaN becomes an empty field.

    A sample without a file has its row in both columns. Distances and margins are those of
    `distances_and_margins`.
    """
    names = samples.rows if samples.files is None else samples.files
    classes = [""] * len(labels) if samples.classes is None else samples.classes.tolist()
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows(
        zip(
            samples.rows.tolist(),
            map(csv_cell, map(str, names.tolist())),
            map(csv_cell, map(str, classes)),
            labels.tolist(),
            map(_field, distances.tolist()),
            map(_field, margins.tolist()),
            strict=True,
        )
    )
    write_text(file, text.getvalue())


def _field(value: float) -> str:
    return "" if value != value else f"{value:.6g}"


def distances_and_margins(
    H: np.ndarray, members: np.ndarray, centers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How far samples (n, e) are from the centers of their clusters, and how clearly they belong to them.

    `members` (n,) has the row of `centers` (k, e) of each sample. Returns two float32 arrays (n,): the
    Euclidean distance a to the own center, and the margin (b - a) / max(a, b) in [-1, 1], where b is the
    distance to the nearest other center: the simplified silhouette of Hruschka, Campello and de Castro
    (2004). Near 0 a sample is between two clusters, below 0 nearer to another center. NaN if there is only
    one center.
    """
    points = torch.as_tensor(H, dtype=torch.float32), torch.as_tensor(centers, dtype=torch.float32)
    D = torch.cdist(*points, compute_mode="donot_use_mm_for_euclid_dist").numpy()
    own = np.arange(len(D)), members
    distances = D[own].copy()
    D[own] = np.nan
    others = np.fmin.reduce(D, axis=1) if D.shape[1] > 1 else np.full(len(D), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        margins = (others - distances) / np.maximum(others, distances)
    return distances, margins.astype(np.float32)
