"""The saved iterations of a run, the frames of Figure 1."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dekm.errors import InputError
from dekm.files.arrays import Form, read_arrays
from dekm.files.reading import damaged
from dekm.results.record import Record

SHOWN = (0, 1, 2, 20)
FORMS = {
    "n_iter": Form("iu", (1,)),
    "H": Form("f", (3,)),
    "labels": Form("iu", (2,)),
    "centers": Form("f", (3,)),
    "V": Form("f", (3,), required=False),
    "U": Form("f", (2,), required=False),
    "decoded": Form("f", (4,), required=False),
}


@dataclass(frozen=True)
class Frame:
    """One saved iteration of a run with a two-dimensional embedding."""

    n_iter: int  # number of updates of the representation
    H: np.ndarray  # embedding (n, 2)
    labels: np.ndarray  # cluster (n,) of each point, a row of `centers`
    centers: np.ndarray  # (k, 2)
    V: np.ndarray  # (2, 2), eigenvectors of S_w in rows, ascending; NaN for a method without them
    scores: dict[str, float]  # ACC and NMI in [0, 1], those of the history; empty without true labels


def read_frames(run: Record) -> tuple[list[Frame], np.ndarray | None]:
    """The saved iterations of a run, ascending, and the true labels (n,); None for data without labels.

    `InputError` if the embedding of the run does not have two dimensions.
    """
    arrays = read_iterations(run)
    if "V" not in arrays:
        raise InputError(f"{run.path} should be a run with embedding_dim=2, whose iterations can be drawn.")
    scores: dict[int, dict[str, float]] = {
        int(row["n_iter"]): {score: row[score] for score in ("acc", "nmi") if score in row}
        for row in run.history()
    }
    rows = zip(*(arrays[name] for name in ("n_iter", "H", "labels", "centers", "V")), strict=True)
    frames = [Frame(int(n), H, labels, U, V, scores.get(int(n), {})) for n, H, labels, U, V in rows]
    return frames, run.true_labels()


def read_iterations(run: Record) -> dict[str, np.ndarray]:
    """The arrays of the saved iterations of a run; none of a run that saved none."""
    if not run.file("iterations").is_file():
        return {}
    file = run.checked("iterations")
    arrays = read_arrays(file, FORMS, run.remedy)
    t, n = len(arrays["n_iter"]), len(run.labels())
    if arrays["labels"].shape != (t, n) or arrays["H"].shape != (t, n, 2):
        raise damaged(file, f"it should hold {t} iterations of {n} samples", run.remedy)
    return arrays


def nearest_frames(frames: Sequence[Frame]) -> list[Frame]:
    """Select the frames nearest to the iterations `SHOWN`, each once."""
    chosen = {min(frames, key=lambda frame: abs(frame.n_iter - n)).n_iter for n in SHOWN}
    return [frame for frame in frames if frame.n_iter in chosen]


def spread(frame: Frame) -> np.ndarray:
    """The last eigenvector (2,), with a length of two standard deviations within the clusters.

    It is the same for all clusters, since they share one scatter matrix; NaN without eigenvectors.
    """
    direction = frame.V[-1]
    deviations = (frame.H - frame.centers[frame.labels]) @ direction
    return 2 * np.sqrt((deviations**2).mean()) * direction
