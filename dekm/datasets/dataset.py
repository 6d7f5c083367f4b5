"""What the package knows of a dataset before it has seen it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from dekm.datasets.download import RawFile


@dataclass(frozen=True)
class Dataset:
    """A row of Table II.

    Attributes
    ----------
    label : name in the paper
    kind : "images" (h, w, c) or "text" (d,)
    n_samples, n_clusters, shape : what the loader must return; None where it is free
    loader : "module:function", called with the folder of raw files; returns (X, y)
    raw : the files that the loader reads; none for embedded data
    class_counts : samples of each class in sorted order; None where it is not known
    licence : terms under which the data may be used
    """

    label: str
    kind: Literal["images", "text"]
    n_samples: int
    n_clusters: int
    shape: tuple[int, ...]
    loader: str
    licence: str
    raw: tuple[RawFile, ...] = ()
    class_counts: tuple[int, ...] | None = None

    def load(self, raw_dir: Path) -> tuple[Any, Any]:
        """Read the raw files: X as array or sparse matrix, y as labels."""
        module, _, name = self.loader.partition(":")
        load: Callable[[Path], tuple[Any, Any]] = getattr(import_module(module), name)
        return load(raw_dir)
