"""The iterations that a run keeps: clusters and a map of the embedding, for Figure 1 and its page."""

from pathlib import Path

import numpy as np
import torch

from dekm.files.arrays import write_arrays
from dekm.methods.iteration import RANK_DIMS, Iteration

MAX_FRAMES = 60
FIRST_FRAMES = 20  # the first iterations, which Figure 1 shows, are all kept while there is room
MAX_POSITIONS = 1_500_000  # samples times frames: 21 iterations of 70,000 samples are 4 MB in the file
MIN_FRAMES = 4
KEPT_BITS = np.uint32(0xFFFFF000)  # of a float32 coordinate of a map: a relative error below 0.0005

Frame = dict[str, np.ndarray]


class Frames:
    """The kept iterations of a run: all of the first, and every `stride`-th of the others.

    A frame has ``n_iter``, ``labels``, the map ``H`` (n, 2) and the ``centers`` (k, 2) in it. The map is a
    two-dimensional embedding itself, with its eigenvectors ``V``. Any other one is shown by its first two
    principal components, rotated onto those of the frame before; an embedding of more than `RANK_DIMS`
    dimensions by none.
    """

    def __init__(self) -> None:
        self.kept: list[Frame] = []
        self.stride = 1

    def add(self, iteration: Iteration) -> None:
        """Keep an iteration, and drop others if the frames have become too many."""
        if iteration.H.shape[1] > RANK_DIMS:
            return
        H, U = iteration.H.cpu().numpy(), iteration.centers.cpu().numpy()
        labels = iteration.labels.cpu().numpy().astype(np.int32)
        frame = {"n_iter": np.array(iteration.n_iter), "labels": labels}
        if H.shape[1] == 2:
            V = iteration.H.new_full((2, 2), torch.nan) if iteration.V is None else iteration.V
            frame |= {"H": H.copy(), "centers": U.copy(), "V": V.cpu().numpy().copy()}
        else:
            before = self.kept[-1]["H"] if self.kept else None
            frame |= dict(zip(("H", "centers"), principal_map(H, U, before), strict=True))
        most = int(np.clip(MAX_POSITIONS // len(H), MIN_FRAMES, MAX_FRAMES))
        self._drop(most)
        while len(self.kept) >= most:
            self.stride *= 2
            self._drop(most)
        self.kept.append(frame)

    def _drop(self, most: int) -> None:
        first = min(FIRST_FRAMES, most // 2)
        self.kept = [
            frame for frame in self.kept if frame["n_iter"] <= first or not frame["n_iter"] % self.stride
        ]

    def save(self, file: Path, centers: np.ndarray, decoded: np.ndarray | None) -> None:
        """Write the frames, stacked, with the final centers (k, e) as ``U`` and their decoded images."""
        if self.kept:
            arrays = {name: np.stack([frame[name] for frame in self.kept]) for name in self.kept[0]}
            arrays["U"] = centers
            write_arrays(file, arrays if decoded is None else arrays | {"decoded": decoded})

    def tensors(self) -> dict[str, torch.Tensor]:
        """What a checkpoint keeps of the frames, beside `stride`."""
        return {
            f"frame.{i}.{name}": torch.from_numpy(value)
            for i, frame in enumerate(self.kept)
            for name, value in frame.items()
        }

    def restore(self, tensors: dict[str, torch.Tensor], stride: int) -> None:
        """Take over the frames of an interrupted run."""
        frames: dict[int, Frame] = {}
        for key, value in tensors.items():
            if key.startswith("frame."):
                _, i, name = key.split(".")
                frames.setdefault(int(i), {})[name] = value.numpy()
        self.kept, self.stride = [frames[i] for i in sorted(frames)], stride


def principal_map(H: np.ndarray, U: np.ndarray, before: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Positions of samples (n, e) and of centers (k, e) on two principal components, float32.

    They are rotated, and reflected where that is nearer, onto the positions `before` (Schönemann, 1966), so
    that a map moves only as far as its embedding does.
    """
    mean = H.mean(0, dtype=np.float64)
    centered = H - mean
    basis = np.zeros((H.shape[1], 2))
    found = np.linalg.eigh(centered.T @ centered)[1][:, ::-1][:, :2]
    basis[:, : found.shape[1]] = found
    largest = basis[np.abs(basis).argmax(0), range(2)]
    basis *= np.where(largest < 0, -1, 1)  # the sign of an eigenvector is arbitrary
    P = centered @ basis
    if before is not None:
        left, _, right = np.linalg.svd(P.T @ (before - before.mean(0, dtype=np.float64)))
        basis = basis @ left @ right
        P = centered @ basis
    rounded = (values.astype(np.float32).view(np.uint32) & KEPT_BITS for values in (P, (U - mean) @ basis))
    positions, centers = (values.view(np.float32) for values in rounded)
    return positions, centers
