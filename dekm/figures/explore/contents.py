"""What a page shows of a run: of each sample its clusters, positions, neighbours and main features."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.neighbors import NearestNeighbors

from dekm.figures.classes import align, class_names, class_numbers, has_label
from dekm.figures.embedding import principal_components
from dekm.figures.explore.features import largest_features
from dekm.figures.fig1_frames import read_iterations
from dekm.figures.fig5_embeddings import project
from dekm.figures.sources import describe_run
from dekm.figures.style import COLOURS
from dekm.results.data import length_of_common_folder
from dekm.results.record import Record

MAX_SAMPLES = 70_000  # of a page; its file then has about 20 MB
MIN_TSNE, MAX_TSNE = 10, 5_000  # samples of which there is a t-SNE map, which takes seconds
N_NEIGHBOURS = 10
N_CENTERS = 12
GRID = 65_535  # steps of a coordinate on a map


@dataclass(frozen=True)
class Contents:
    """What a page shows."""

    run: Record
    chosen: np.ndarray  # positions (m,) of the shown samples in the prepared data, ascending
    arrays: dict[str, np.ndarray]  # what the page reads of each shown sample
    n_iter: list[int]  # the shown iterations
    names: list[str]  # of the features in `arrays`
    decoded: np.ndarray | None  # the decoded centers (k, h, w, c)
    is_plane: bool  # whether the map is the embedding itself, which has two dimensions


def gather(run: Record) -> Contents:
    """Read a run, and compute what its page shows."""
    labels, H, y = run.labels(), run.embedding(), run.true_labels()
    clusters, members = np.unique(labels, return_inverse=True)
    chosen = stratified_part(members, run.typical()["sample"].to_numpy(int))
    table, saved = run.clusters().iloc[chosen], read_iterations(run)
    points = H[chosen].astype(np.float64)
    arrays = {
        "rows": table["row"].to_numpy(np.int64),
        "distance": table["distance"].to_numpy(np.float32),
        "margin": table["margin"].to_numpy(np.float32),
    }
    if y is not None:
        arrays["class"] = class_numbers(y)[0][chosen]
    if saved:
        arrays |= {
            "clusters": match(saved["labels"], members)[:, chosen],
            "map": to_grid(saved["H"][:, chosen]),
        }
    else:
        arrays |= {"clusters": members[chosen][None], "map": to_grid(principal_components(H)[chosen][None])}
    if MIN_TSNE <= len(chosen) <= MAX_TSNE and H.shape[1] > 1 and np.ptp(points, axis=0).any():
        arrays["tsne"] = to_grid(project(points)[None])
    U = saved.get("U", np.stack([H[members == i].mean(0) for i in range(len(clusters))]))
    U = U if len(U) == len(clusters) else U[clusters]
    arrays["center_distances"], arrays["centers"] = nearest(points, U, N_CENTERS)
    _, arrays["neighbours"] = nearest(points, None, N_NEIGHBOURS)
    features, names = largest_features(run.data, chosen)
    n_iter = saved["n_iter"].tolist() if saved else [int(run.metrics.get("n_iter") or 0)]
    decoded = saved.get("decoded")
    decoded = decoded if decoded is None or len(decoded) == len(clusters) else decoded[clusters]
    return Contents(run, chosen, arrays | features, n_iter, names, decoded, is_plane="V" in saved)


def stratified_part(members: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """All samples, or a part of `MAX_SAMPLES` with the same fraction of each cluster, and the wanted ones."""
    if len(members) <= MAX_SAMPLES:
        return np.arange(len(members))
    order = np.random.default_rng(0).permutation(len(members))
    order = order[np.argsort(members[order], kind="stable")]
    places = np.linspace(0, len(order) - 1, MAX_SAMPLES).astype(int)
    return np.union1d(order[places], wanted)


def match(partitions: np.ndarray, final: np.ndarray) -> np.ndarray:
    """Partitions (t, n) with each cluster numbered as that of the next one that it shares most samples with.

    K-means numbers its clusters differently in every iteration, so equal numbers mean nothing. The last
    partition is matched to `final`, by the Hungarian algorithm; clusters that are empty there get further
    numbers.
    """
    k = int(max(partitions.max(), final.max())) + 1
    matched, following = np.empty_like(partitions), final
    for i in reversed(range(len(partitions))):
        counts = np.zeros((k, k), int)
        np.add.at(counts, (partitions[i], following), 1)
        following = matched[i] = linear_sum_assignment(counts, maximize=True)[1][partitions[i]]
    return matched


def to_grid(positions: np.ndarray) -> np.ndarray:
    """Positions (t, n, 2) in steps of a common square, uint16."""
    low, high = positions.min((0, 1)).astype(float), positions.max((0, 1)).astype(float)
    side = max(1.06 * (high - low).max(), 1e-12)
    steps = (positions - (low + high) / 2) / side + 0.5
    return np.round(steps * GRID).astype(np.uint16)


def nearest(points: np.ndarray, others: np.ndarray | None, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances to the nearest others, float32, and their indices; without others, among the points."""
    available = len(points) - 1 if others is None else len(others)
    search = NearestNeighbors(n_neighbors=max(1, min(count, available))).fit(
        points if others is None else others
    )
    distances, indices = search.kneighbors(None if others is None else points)
    return distances.astype(np.float32), indices


def describe(contents: Contents) -> dict[str, Any]:
    """What the page tells of the run and its clusters, as JSON can hold it."""
    run, labels, y = contents.run, contents.run.labels(), contents.run.true_labels()
    names, classes, unlabelled = run.data.samples().files, None, None
    files = None if names is None else names[contents.chosen].tolist()
    if y is not None:
        classes = class_names(y)[1]
        unlabelled = None if has_label(y).all() else len(classes) - 1
    return {
        "title": describe_run(run),
        "n_samples": len(labels),
        "scores": {name: run.metrics.get(name) for name in ("acc", "nmi", "ari", "silhouette_embedding")},
        "commit": run.facts.get("commit"),
        "warnings": [*run.warnings, *run.data.warnings],
        "n_iter": contents.n_iter,
        "is_plane": contents.is_plane,
        "history": history_rows(run, contents.n_iter),
        "files": files,
        "folder": length_of_common_folder(files or [""]),
        "classes": classes,
        "unlabelled": unlabelled,
        "clusters": cluster_rows(run, contents.chosen),
        "features": contents.names,
        "colours": [*COLOURS],
    }


def history_rows(run: Record, n_iter: Sequence[int]) -> list[dict[str, float | None]]:
    """Scores and changes of the shown iterations."""
    rows = {int(row["n_iter"]): row for row in run.history()}
    shown = ("acc", "nmi", "changed")
    return [{name: finite(rows.get(n, {}).get(name)) for name in shown} for n in n_iter]


def finite(value: float | None) -> float | None:
    """A number that JSON can hold."""
    return None if value is None or not math.isfinite(value) else float(value)


def cluster_rows(run: Record, chosen: np.ndarray) -> list[dict[str, Any]]:
    """Size, main class, purity and typical samples of each cluster; it has the colour of its class."""
    labels, y, typical = run.labels(), run.true_labels(), run.typical()
    colours = align(labels if y is None else y, labels)[2]
    names = [] if y is None else class_numbers(y)[1].astype(str).tolist()
    classes = {name: i for i, name in enumerate(names) if name}
    typical = typical[typical["kind"] == "typical"]
    return [
        {
            "name": str(row["cluster"]),
            "size": row["n_samples"],
            "main": classes.get(row["main_class"]),
            "purity": finite(row["purity"]),
            "colour": colours[row["cluster"]],
            "typical": np.searchsorted(
                chosen, typical["sample"][typical["cluster"] == row["cluster"]]
            ).tolist(),
        }
        for row in run.composition().to_dict("records")
    ]
