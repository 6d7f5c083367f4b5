"""The blocks of datasets in a configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dekm.datasets import DATASETS
from dekm.datasets.dataset import Dataset
from dekm.errors import InputError, unknown_name

# Keys of a dataset's block that are not options of its loader.
EXPERIMENT_KEYS = {"subsample", "pretraining", "methods", "licence_held"}


@dataclass(frozen=True)
class DatasetBlock:
    """A dataset of the configuration, or the part of one that a figure shows.

    `name` is the key of its folders in the results, `base` that of the dataset in the configuration; the
    settings are those of its block. Some of the classes are kept, or all.
    """

    name: str
    base: str
    row: Dataset
    settings: Mapping[str, Any]
    seeds: Sequence[int]
    n_classes: int | None = None

    @property
    def loader_options(self) -> dict[str, Any]:
        """Options of the loader, or the description of a user's own data."""
        return loader_options(self.settings)

    @property
    def is_own(self) -> bool:
        """Whether it is the user's own data."""
        return describes_own_data(self.settings)

    @property
    def modules(self) -> list[str]:
        """The modules whose code prepares it."""
        loaders = [self.row.loader, self.row.options.get("loader")]
        own = [loader.partition(":")[0] for loader in loaders if loader is not None]
        return ["dekm.datasets.preparation", *own]

    @property
    def subsample(self) -> int | None:
        """Number of samples to keep; None keeps all of them."""
        return self.settings.get("subsample")

    def part(self, name: str, n_classes: int, settings: Mapping[str, Mapping[str, Any]]) -> "DatasetBlock":
        """Some classes of this dataset under another name, with other settings and the first seed only."""
        merged = merge(self.settings, settings)
        return replace(self, name=name, n_classes=n_classes, settings=merged, seeds=self.seeds[:1])


def loader_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings of a dataset's block that are options of its loader."""
    return {key: value for key, value in settings.items() if key not in EXPERIMENT_KEYS}


def merge(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with changes; a block of settings is changed key by key."""
    changed = {
        key: merge(settings.get(key) or {}, value) if isinstance(value, Mapping) else value
        for key, value in changes.items()
    }
    return {**settings, **changed}


def describes_own_data(settings: Mapping[str, Any]) -> bool:
    """Whether the settings of a dataset are those of a user's own data."""
    return not {"path", "loader"}.isdisjoint(settings)


def find_dataset(name: str, options: Mapping[str, Any]) -> Dataset:
    """A row of `DATASETS` with these options, or the user's own data that they describe.

    `InputError` if the name is unknown and the options have no path, or an option is wrong.
    """
    if describes_own_data(options):
        if name in DATASETS:
            raise InputError(f"{name} is a dataset of this package; give your own data another name.")
        from dekm.datasets.user.own import own_dataset

        return own_dataset(name, options)
    if name not in DATASETS:
        raise InputError(unknown_dataset("", name))
    return DATASETS[name].with_options(options) if options else DATASETS[name]


def unknown_dataset(place: str, name: Any) -> str:
    """What is wrong with the name of a dataset that does not exist."""
    return unknown_name(place, name, list(DATASETS)) + " Your own data need a path or a loader."
