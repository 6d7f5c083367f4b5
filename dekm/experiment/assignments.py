"""The table of clusters, one row per sample: of a run, ``clusters.csv``, and of new data."""

import csv
import io
from pathlib import Path

import numpy as np
import torch

from dekm.files import write_text
from dekm.markup import csv_cell
from dekm.results.data import SampleNames

COLUMNS = ("row", "sample", "class", "cluster", "distance", "margin")


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
