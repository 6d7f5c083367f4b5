"""The configuration of an experiment: checked as a whole, then asked for one cell at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dekm.datasets import DATASETS
from dekm.datasets.dataset import Dataset
from dekm.errors import InputError, unknown_name
from dekm.methods import STRATEGIES, find_method

RESULTS = Path("results")
EXPERIMENT_KEYS = {"subsample", "pretraining", "methods", "licence_held"}
FIG1 = "fig1"
FIG1_PARAMETERS = {"max_iter": 20, "tol": 0}  # the paper shows iterations 0, 1, 2 and 20
# What the paper says, and what the authors' code does instead (docs/deviations.md).
PROTOCOLS: dict[str, dict[str, Any]] = {
    "paper": {
        "pretraining": {"init": "xavier", "embedding_dim": None},
        "dekm": {"tol": 0.001, "n_init_update": 20},
    },
    "released": {
        "pretraining": {"init": "released", "embedding_dim": 10},
        "dekm": {"tol": 0.005, "n_init_update": "2n_iter"},
    },
}
OF_PROTOCOL = {"dekm", "dekm_f", *STRATEGIES}  # the methods whose parameters it decides


@dataclass(frozen=True)
class Experiment:
    """A valid configuration.

    Attributes
    ----------
    config : the configuration as it was read
    """

    config: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the experiment; its results go to ``results/<name>``."""
        return self.config["name"]

    @property
    def results(self) -> Path:
        """Folder of the results."""
        return RESULTS / self.name

    @property
    def seeds(self) -> list[int]:
        """One run of every cell per seed."""
        return self.config["seeds"]

    @property
    def methods(self) -> list[str]:
        """Keys of the methods."""
        return list(self.config["methods"])

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """The datasets by their keys, without those that are left out."""
        return {name: row for name, row in self._rows.items() if name not in self.left_out}

    @cached_property
    def left_out(self) -> dict[str, str]:
        """Why a dataset is left out: the user has not said that they hold its licence."""
        reasons = {}
        for name, row in self._rows.items():
            if row.restricted and not self._overrides(name).get("licence_held", False):
                reasons[name] = f"needs a licence ({row.licence})"
        return reasons

    def options(self, dataset: str) -> dict[str, Any]:
        """Options of a dataset's loader, or the block that describes a user's own data."""
        return {key: value for key, value in self._overrides(dataset).items() if key not in EXPERIMENT_KEYS}

    @property
    def figures(self) -> dict[str, str]:
        """The dataset of each figure that shows one, where that dataset is not left out."""
        shown = {name: block["dataset"] for name, block in self.option("figures", {}).items()}
        return {name: dataset for name, dataset in shown.items() if dataset in self.datasets}

    def row(self, dataset: str) -> Dataset:
        """A dataset of the tables, or the one that Figure 1 is drawn on."""
        return self.datasets[self.figures["fig1"] if dataset == FIG1 else dataset]

    def n_classes(self, dataset: str) -> int | None:
        """Number of classes to keep; None is all of them."""
        return self.config["figures"]["fig1"].get("n_classes", 4) if dataset == FIG1 else None

    def option(self, name: str, default: Any) -> Any:
        """A top-level key that may be missing."""
        return self.config.get(name, default)

    def subsample(self, dataset: str) -> int | None:
        """Number of samples to keep; None is all of them."""
        return self._overrides(dataset).get("subsample")

    def pretraining(self, dataset: str, architecture: str) -> dict[str, Any]:
        """Settings of the autoencoders of a dataset; `pretraining` is one of the fully connected ones."""
        overrides = self._overrides(dataset).get("pretraining", {})
        settings = self._protocol["pretraining"] | self.option("pretraining", {}) | overrides
        return {
            name: value for name, value in settings.items() if name != "pretraining" or architecture == "mlp"
        }

    def parameters(self, dataset: str, method: str) -> dict[str, Any]:
        """Parameters of a method on a dataset."""
        of = "dekm" if method in STRATEGIES else method
        overrides = self._overrides(dataset).get("methods", {})
        decided = self._protocol["dekm"] if method in OF_PROTOCOL else {}
        given = decided | (self.config["methods"].get(of) or {}) | (overrides.get(of) or {})
        row = find_method(method)
        if method in STRATEGIES:
            given = {name: value for name, value in given.items() if name not in row.params}
        return row.with_settings(given)

    def architecture(self, dataset: str, method: str) -> str | None:
        """The pretrained autoencoder that a method starts from on a dataset."""
        return find_method(method).architecture(self.row(dataset).kind)

    def method_module(self, method: str) -> str:
        """The module that defines a method's estimator."""
        return find_method(method).module

    @property
    def _protocol(self) -> dict[str, Any]:
        return PROTOCOLS[self.option("protocol", "paper")]

    @cached_property
    def _rows(self) -> dict[str, Dataset]:
        return {name: find_dataset(name, self.options(name)) for name in self.config["datasets"]}

    def _overrides(self, dataset: str) -> dict[str, Any]:
        if dataset != FIG1:
            return self.config["datasets"][dataset] or {}
        base = self._overrides(self.figures["fig1"])
        pretraining = base.get("pretraining", {}) | {"embedding_dim": 2}
        dekm = (base.get("methods", {}).get("dekm") or {}) | FIG1_PARAMETERS
        return base | {"pretraining": pretraining, "methods": {"dekm": dekm}}


def find_dataset(name: str, options: Mapping[str, Any]) -> Dataset:
    """A row of Table II with these options, or the user's own data that they describe.

    Raises
    ------
    InputError
        If the name is not known and the options have no path, or an option is wrong.
    """
    if "path" in options:
        if name in DATASETS:
            raise InputError(f"{name} is a dataset of the paper; give your own data another name.")
        from dekm.datasets.user.own import own_dataset

        return own_dataset(name, options)
    if name not in DATASETS:
        raise InputError(unknown_dataset("", name))
    return DATASETS[name].with_options(options) if options else DATASETS[name]


def unknown_dataset(place: str, name: Any) -> str:
    """What is wrong with the name of a dataset that does not exist."""
    return unknown_name(place, name, list(DATASETS)) + " Your own data need a path."
