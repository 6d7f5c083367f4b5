"""What is known of a dataset before it is loaded: its row of Table II, its loader and its raw files."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal, NamedTuple

from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError


@dataclass(frozen=True)
class RawSet:
    """A set of raw files that is sufficient for a dataset, and its loader.

    `loader` is the import path "module:function" of a function of the folder of raw files and the options
    that returns ``(X, y)``; `raw` are the files that it reads.
    """

    loader: str
    raw: tuple[RawFile, ...] = ()

    def options(self) -> set[str]:
        """Names of the keyword-only arguments of the loader."""
        parameters = inspect.signature(resolve_name(self.loader)).parameters.values()
        return {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}

    def exists(self, raw_dir: Path) -> bool:
        """Whether all raw files exist in the folder `raw_dir`; they are not verified."""
        return all((raw_dir / raw_file.path).is_file() for raw_file in self.raw)


Kind = Literal["images", "text", "table"]


class Loaded(NamedTuple):
    """What a loader returns."""

    X: Any
    y: Any  # true labels (n,), numbers or strings; None for unlabelled data
    names: list[str] | None = None  # file or name of each sample
    features: list[str] | None = None  # name of each column of a table, or term of texts


@dataclass(frozen=True)
class Dataset:
    """A row of Table II, or a user's own data.

    Attributes
    ----------
    label : str
        Name in the paper.
    kind : {"images", "text", "table"}
        Images have samples of shape (h, w, c); text and tables, of shape (d,).
    n_samples : int or None
        Number of samples n; None if any number is valid.
    n_clusters : int
        Number of clusters k.
    shape : tuple of int or None
        Shape of a sample; None if any shape is valid.
    loader : str
        Import path "module:function" of the loader, a function of the folder of raw files and the options
        that returns the fields of `Loaded`, at least ``(X, y)``.
    licence : str
        Terms of use.
    raw : tuple of RawFile
        The files that the loader reads; empty for embedded data.
    class_counts : tuple of int or None
        Number of samples of each class, in sorted order of the classes; None if unknown.
    alternatives : tuple of RawSet
        Other raw sets for the same data, in the order in which they are tried.
    options : Mapping of str to Any
        Keyword arguments of the loader. A raw set is used only if its loader accepts all of them.
    restricted : bool
        Whether only holders of the licence may use the data.
    scaling : {"auto", "standard", "minmax", "counts", "none"}
        How the columns of a table are scaled, see `dekm.scaling.learn_column_scaling`.
    """

    label: str
    kind: Kind
    n_samples: int | None
    n_clusters: int
    shape: tuple[int, ...] | None
    loader: str
    licence: str
    raw: tuple[RawFile, ...] = ()
    class_counts: tuple[int, ...] | None = None
    alternatives: tuple[RawSet, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    restricted: bool = False
    scaling: str = "none"

    def raw_sets(self) -> tuple[RawSet, ...]:
        """Raw sets whose loaders accept all options, in the order of trial; `InputError` if there is none."""
        candidates = (RawSet(self.loader, self.raw), *self.alternatives)
        usable = tuple(raw_set for raw_set in candidates if raw_set.options() >= set(self.options))
        if not usable:
            known = sorted(set().union(*(raw_set.options() for raw_set in candidates)))
            wrong = sorted(self.options.keys() - set(known)) or sorted(self.options)
            raise InputError(f"{self.label}: options {wrong} should be among {known}.")
        return usable

    def raw_set(self, raw_dir: Path) -> RawSet:
        """First raw set whose files all exist; `InputError` if every raw set lacks a file."""
        raw_sets = self.raw_sets()
        for raw_set in raw_sets:
            if raw_set.exists(raw_dir):
                return raw_set
        absent = next(file for file in raw_sets[0].raw if not (raw_dir / file.path).is_file())
        raise InputError(
            f"{self.label}: {raw_dir / absent.path} does not exist: run 'python -m dekm download' first "
            "('python -m dekm missing' lists what a dataset lacks)."
        )

    def with_options(self, options: Mapping[str, Any]) -> "Dataset":
        """Copy of the dataset with further loader options; `InputError` if no loader accepts all options."""
        dataset = replace(self, options={**self.options, **options})
        dataset.raw_sets()
        return dataset

    def check_licence(self, held: bool) -> None:
        """Raise `InputError` if the data are restricted and the user does not hold the licence."""
        if self.restricted and not held:
            raise InputError(
                f"{self.label} needs a licence ({self.licence}): if you hold it, set licence_held: true in "
                "its block of the configuration, or pass --licence-held."
            )

    def load(self, raw_dir: Path) -> Loaded:
        """Load the dataset from its raw files; `InputError` if some are missing or cannot be read."""
        return Loaded(*resolve_name(self.raw_set(raw_dir).loader)(raw_dir, **self.options))
