"""What the package knows of a dataset before it has seen it."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal

from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError


@dataclass(frozen=True)
class Source:
    """A set of raw files that is enough for a dataset, and the loader that reads it.

    Attributes
    ----------
    loader : "module:function", called with the folder of raw files and the options; returns (X, y)
    raw : the files that the loader reads
    """

    loader: str
    raw: tuple[RawFile, ...] = ()

    def options(self) -> set[str]:
        """Names of the loader's options."""
        parameters = inspect.signature(resolve_name(self.loader)).parameters.values()
        return {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}

    def is_there(self, raw_dir: Path) -> bool:
        """Whether every raw file is in its place."""
        return all((raw_dir / raw_file.path).is_file() for raw_file in self.raw)


@dataclass(frozen=True)
class Dataset:
    """A row of Table II, or a user's own data.

    Attributes
    ----------
    label : name in the paper
    kind : "images" (h, w, c), "text" (d,) or "table" (d,)
    n_samples, n_clusters, shape : what the loader must return; None where it is free
    loader : "module:function", called with the folder of raw files and the options; returns (X, y), where
        y is None for data without labels
    raw : the files that the loader reads; none for embedded data
    class_counts : samples of each class in sorted order; None where it is not known
    licence : terms under which the data may be used
    alternatives : other sources of the same data, in the order in which they are tried
    options : keyword arguments of the loader; a source whose loader lacks one of them is passed over
    restricted : whether the data may be used only by those who hold the licence
    """

    label: str
    kind: Literal["images", "text", "table"]
    n_samples: int | None
    n_clusters: int
    shape: tuple[int, ...] | None
    loader: str
    licence: str
    raw: tuple[RawFile, ...] = ()
    class_counts: tuple[int, ...] | None = None
    alternatives: tuple[Source, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    restricted: bool = False

    def sources(self) -> tuple[Source, ...]:
        """The sources whose loaders know all options, in the order in which they are tried."""
        every = (Source(self.loader, self.raw), *self.alternatives)
        able = tuple(source for source in every if source.options() >= set(self.options))
        if not able:
            known = sorted(set().union(*(source.options() for source in every)))
            raise InputError(f"{self.label}: options {sorted(self.options)} should be among {known}.")
        return able

    def source(self, raw_dir: Path) -> Source:
        """The first source whose raw files are all there."""
        sources = self.sources()
        for source in sources:
            if source.is_there(raw_dir):
                return source
        absent = next(file for file in sources[0].raw if not (raw_dir / file.path).is_file())
        raise InputError(
            f"{self.label}: {raw_dir / absent.path} is not there; 'python -m dekm missing' helps."
        )

    def with_options(self, options: Mapping[str, Any]) -> "Dataset":
        """The same dataset, loaded with other options."""
        dataset = replace(self, options={**self.options, **options})
        dataset.sources()
        return dataset

    def check_licence(self, held: bool) -> None:
        """Raise `InputError` if only holders of the licence may use the data and the user has not said so."""
        if self.restricted and not held:
            raise InputError(
                f"{self.label} needs a licence ({self.licence}): if you hold it, set licence_held: true in "
                "its block of the configuration, or pass --licence-held."
            )

    def load(self, raw_dir: Path) -> tuple[Any, Any]:
        """Read the raw files: X as array, sparse matrix or `Texts`, y as labels or None."""
        return resolve_name(self.source(raw_dir).loader)(raw_dir, **self.options)
