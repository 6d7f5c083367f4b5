"""The configuration of an experiment, asked for one cell at a time, and the settings of the protocols."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

from dekm.datasets.dataset import Dataset
from dekm.experiment.blocks import DatasetBlock, find_dataset, loader_options, merge
from dekm.files import digest
from dekm.methods import DEFINITION, KNOWN, METHODS, Method, find_method

RESULTS = Path("results")
MOST_THREADS = 8  # of a job; more gain little
FIG1 = "fig1"
FIG1_N_CLASSES = 4
FIG5_METHODS = ("pca_k_means", "ae_k_means", "dec", "dekm")  # in the order of the panels
VECTOR_EMBEDDING_DIM = 10  # of vectors; of images it is the number of clusters
COMPONENTS = 50  # of an embedding that starts at PCA, or as many as there are
# The architectures of autoencoders and the parameters that each does not use; defaults of those that may be
# missing.
ARCHITECTURES = {"conv": {"hidden", "layerwise", "noise"}, "mlp": {"channels"}, "network": set[str]()}
DEFAULTS = {"scaling": "none", "layerwise": False, "noise": 0.2}
FIG1_SETTINGS: dict[str, dict[str, Any]] = {
    "pretraining": {"embedding_dim": 2},
    # The paper shows iterations 0, 1, 2 and 20.
    "methods": {"dekm": {"max_iter": 20, "tol": 0, "pretraining": {"embedding_dim": 2}}},
}
# What the paper says, with the authors' restarts of K-means, which it does not state; and what their code has
# instead: its last state, and that of June 2021, when the scores on images appeared (docs/deviations.md).
PAPER = {"tol": 0.001, "n_init": 100, "init_update": "fresh", "n_init_update": "2n_iter"}
RELEASED = PAPER | {"tol": 0.005}
JUNE2021 = RELEASED | {"n_init": 500, "n_init_update": 500, "reconstruction": True}
IN_ORDER = {"methods": {"dekm": {"shuffle": False}, "dekm_f": {"shuffle": False}}}
BATCHES_OF_32 = {
    "pretraining": {"batch_size": 32},
    "methods": {"dekm": {"batch_size": 32}, "dekm_f": {"batch_size": 32}},
}
PROTOCOLS: dict[str, dict[str, Any]] = {
    "paper": {
        "pretraining": {"init": "xavier", "embedding_dim": None},
        "methods": {"dekm": PAPER, "dekm_f": PAPER},
    },
    "released": {
        "pretraining": {"init": "released", "embedding_dim": 10},
        "methods": {"dekm": RELEASED, "dekm_f": RELEASED},
    },
    "june2021": {
        "pretraining": {"init": "released", "embedding_dim": None},
        "methods": {"dekm": JUNE2021, "dekm_f": JUNE2021},
        "datasets": {"mnist": IN_ORDER, "usps": IN_ORDER, "coil20": BATCHES_OF_32},
    },
}


@dataclass(frozen=True)
class Machine:
    """How and where the jobs run: keys of a configuration that belong to no result, with their defaults."""

    device: str = "auto"
    threads: int | str = "auto"
    raw_dir: str = "resources/raw"
    mirror: str | None = None
    container: str | None = None
    tracking: str | None = None
    fresh: bool = False
    keep_models: str = "all"

    def threads_of(self, n_jobs: int, n_cores: int) -> int:
        """CPU threads of one of several jobs; "auto" shares the cores, at most `MOST_THREADS` for each."""
        if isinstance(self.threads, int):
            return self.threads  # Snakemake reduces it to its number of cores
        return max(1, min(MOST_THREADS, n_cores // max(1, n_jobs)))


@dataclass(frozen=True)
class Experiment:
    """A valid configuration, as it was read."""

    config: Mapping[str, Any]

    @property
    def machine(self) -> Machine:
        """How and where the jobs run."""
        names = [field.name for field in fields(Machine)]
        given = {name: self.config[name] for name in names if name in self.config}
        paths = [name for name in ("raw_dir", "mirror", "container") if name in given]
        return Machine(**given | {name: self._path(name) for name in paths})

    @property
    def results(self) -> Path:
        """Folder of the results."""
        return RESULTS / self.config["name"]

    @property
    def seeds(self) -> list[int]:
        """One run of every cell per seed."""
        return self.config["seeds"]

    @property
    def methods(self) -> list[str]:
        """Keys of the methods."""
        return list(self.config["methods"])

    @property
    def reference(self) -> str | None:
        """Published set of results whose runs are shown beside those of the experiment."""
        return self._path("reference")

    @property
    def protocol(self) -> str:
        """Name of the protocol with a digest of what it says, which may change from version to version."""
        name = self.get("protocol", "paper")
        return f"{name}-{digest(PROTOCOLS[name])[:8]}"

    @property
    def pretrained(self) -> str | None:
        """Folder of results whose pretrained autoencoders are taken where they fit."""
        return self._path("pretrained")

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """The datasets of the tables by their keys, without those that are left out."""
        return {name: row for name, row in self._rows.items() if name not in self.left_out}

    @cached_property
    def left_out(self) -> dict[str, str]:
        """Why a dataset is left out: the user has not said that they hold its licence."""
        return {
            name: f"needs a licence ({row.licence})"
            for name, row in self._rows.items()
            if row.restricted and not self.settings_of(name).get("licence_held", False)
        }

    @property
    def figures(self) -> dict[str, str]:
        """The dataset of each figure that shows one, where that dataset is not left out."""
        shown = {name: block["dataset"] for name, block in self.get("figures", {}).items()}
        return {name: dataset for name, dataset in shown.items() if dataset in self.datasets}

    @property
    def methods_of_fig5(self) -> list[str]:
        """Keys of the methods that Figure 5 shows, in its order."""
        return [name for name in FIG5_METHODS if name in self.methods]

    @cached_property
    def blocks(self) -> dict[str, DatasetBlock]:
        """Every dataset of the configuration, and the part of one that Figure 1 shows."""
        blocks = {
            name: DatasetBlock(name, name, row, self.settings_of(name), self.seeds)
            for name, row in self._rows.items()
        }
        if FIG1 in self.figures:
            figure = self.config["figures"][FIG1]
            given = {"pretraining": figure.get("pretraining", {})}
            settings = merge({**given, "methods": {"dekm": given}}, FIG1_SETTINGS)
            n_classes = figure.get("n_classes", FIG1_N_CLASSES)
            blocks[FIG1] = blocks[self.figures[FIG1]].part(FIG1, n_classes, settings)
        return blocks

    def get(self, key: str, default: Any) -> Any:
        """The value of a top-level key that the configuration may lack."""
        return self.config.get(key, default)

    def _path(self, key: str) -> str | None:
        path = self.get(key, None)
        return path and os.path.expanduser(path)  # noqa: PTH111 (an address is no path)

    def settings_of(self, dataset: str) -> dict[str, Any]:
        """The settings in the block of a dataset."""
        return self.config["datasets"][dataset] or {}

    def pretraining(self, dataset: str, method: str) -> str | None:
        """Key of the autoencoders that a method starts from on a dataset; None if it starts from none.

        It is the architecture, with a digest of the settings if the method has others than the dataset.
        """
        settings = self.method_settings(dataset, method)
        architecture = self.method(method).architecture(self.blocks[dataset].row.kind, settings)
        if architecture is None:
            return None
        common = self._pretraining(dataset, architecture, {})
        settings = self._pretraining(dataset, architecture, self._own_pretraining(dataset, method))
        key = "network" if "network" in settings else architecture
        row = self.blocks[dataset].row
        most = prod(row.shape) if row.shape else None
        own, shared = (
            with_defaults(with_embedding_dim(given, key, row.kind, row.n_clusters, most), key)
            for given in (settings, common)
        )
        return key if own == shared else f"{key}-{digest([key, settings])[:8]}"

    def pretraining_settings(self, dataset: str, key: str) -> dict[str, Any]:
        """Settings of the autoencoders of a dataset with a key that `pretraining` returns."""
        if "-" not in key:
            return self._pretraining(dataset, key, {})
        method = next(name for name in [*self.methods, *KNOWN] if self.pretraining(dataset, name) == key)
        return self._pretraining(dataset, key.partition("-")[0], self._own_pretraining(dataset, method))

    def method_settings(self, dataset: str, method: str) -> dict[str, Any]:
        """Parameters of a method on a dataset; `InputError` if they would make it another method."""
        row = self.method(method)
        inherited = self._given(dataset, row.settings_of) | dict(row.params) if row.settings_of else {}
        return row.with_settings(inherited | self._given(dataset, method))

    def method(self, name: str) -> Method:
        """The method with this key; the configuration may define it."""
        return find_method(name, self.config["methods"])

    @property
    def own_methods(self) -> list[str]:
        """Keys of the methods that the configuration defines: outside estimators and variants."""
        return [name for name in self.methods if name not in METHODS]

    def _pretraining(self, dataset: str, architecture: str, own: Mapping[str, Any]) -> dict[str, Any]:
        """Settings of autoencoders: of the protocol, of all datasets, of this one and of one method."""
        given = {**self.get("pretraining", {}), **self.blocks[dataset].settings.get("pretraining", {}), **own}
        settings = self._protocol(dataset)["pretraining"] | given
        if given.get("network"):
            # A network of the user has none of these, and its own initial weights.
            unused = {"channels", "hidden", "layerwise", "noise"} | ({"init"} - given.keys())
        else:
            unused = {"network"} | ({"layerwise", "noise"} if architecture == "conv" else set())
        return {name: value for name, value in settings.items() if name not in unused}

    def _own_pretraining(self, dataset: str, method: str) -> dict[str, Any]:
        """The settings of the pretraining in the blocks of a method, and of the one whose variant it is."""
        row = self.method(method)
        blocks = [self._block(dataset, name) for name in (row.settings_of, method) if name]
        return {key: value for block in blocks for key, value in (block.get("pretraining") or {}).items()}

    def _given(self, dataset: str, method: str) -> dict[str, Any]:
        """The parameters in the blocks of one method."""
        block = self._block(dataset, method)
        return {name: value for name, value in block.items() if name not in (*DEFINITION, "pretraining")}

    def _block(self, dataset: str, method: str) -> dict[str, Any]:
        """The block of one method on a dataset: of the protocol, of all datasets and of this one."""
        block = self._protocol(dataset)["methods"].get(method, {})
        for methods in (self.config["methods"], self.blocks[dataset].settings.get("methods") or {}):
            block = merge(block, methods.get(method) or {})
        return block

    def _protocol(self, dataset: str) -> dict[str, Any]:
        protocol = PROTOCOLS[self.get("protocol", "paper")]
        return merge(protocol, protocol.get("datasets", {}).get(self.blocks[dataset].base, {}))

    @cached_property
    def _rows(self) -> dict[str, Dataset]:
        return {
            name: find_dataset(name, loader_options(self.settings_of(name)))
            for name in self.config["datasets"]
        }


def with_defaults(settings: Mapping[str, Any], architecture: str) -> dict[str, Any]:
    """The parameters that decide autoencoders of an architecture; equal ones make equal autoencoders."""
    known = {**DEFAULTS, **settings}
    unused = ARCHITECTURES[architecture] | (set() if known["layerwise"] else {"noise"})
    return {name: value for name, value in known.items() if name not in unused}


def with_embedding_dim(
    settings: Mapping[str, Any], architecture: str, kind: str, n_clusters: int, most: int | None = None
) -> dict[str, Any]:
    """Settings of an autoencoder with a dimension of the embedding, if they have none.

    It is k for images but in an MLP, else 10; and 50 for a network that starts at PCA, or `most`, the number
    of the principal components, if that is known and less.
    """
    dim = n_clusters if kind == "images" and architecture != "mlp" else VECTOR_EMBEDDING_DIM
    if settings.get("init") == "pca":
        dim = min(COMPONENTS, most or COMPONENTS)
    given = settings.get("embedding_dim")
    return {**settings, "embedding_dim": dim if given is None else given}
