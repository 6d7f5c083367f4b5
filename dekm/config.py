"""The configuration of an experiment: checked as a whole, then asked for one cell at a time."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from dekm.datasets import DATASETS
from dekm.datasets.dataset import Dataset
from dekm.errors import InputError
from dekm.methods import STRATEGIES, find_method

RESULTS = Path("results")
EXPERIMENT_KEYS = {"subsample", "pretraining", "methods", "licence_held"}
FROM_COMMAND_LINE = ("fresh", "seeds", "threads")
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
RULES = {
    FIG1,
    "figures",
    "figures_of_run",
    "figure_embeddings",
    "figure_entropy",
    "figure_iterations",
    "figure_ranks",
    "figure_samples",
    "figure_strategies",
    "report",
    "all",
    "everything",
    "download",
    "prepare",
    "pretrain",
    "cluster",
    "table",
    "table2",
    "table_of_dataset",
    "track",
    "track_dataset",
}


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


def read_experiment(config: Mapping[str, Any], schema_file: Path) -> Experiment:
    """Check a configuration against the schema and the tables of datasets and methods.

    Raises
    ------
    InputError
        With every mistake on a line of its own: where it is, what was given and what is right.
    """
    schema = yaml.safe_load(schema_file.read_text())
    config = dict(config) | {key: _parsed(config[key]) for key in FROM_COMMAND_LINE if key in config}
    mistakes = list(find_mistakes(config, schema))
    if not mistakes:
        experiment = Experiment(config)
        mistakes = list(find_unfit_data(experiment))
    if mistakes:
        raise InputError("the configuration has mistakes:\n" + "\n".join(f"  {line}" for line in mistakes))
    return experiment


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
        from dekm.datasets.own import own_dataset

        return own_dataset(name, options)
    if name not in DATASETS:
        raise InputError(_unknown_dataset("", name))
    return DATASETS[name].with_options(options) if options else DATASETS[name]


def find_unfit_data(experiment: Experiment) -> Iterator[str]:
    """One line per dataset that cannot be used as it is described."""
    for name in experiment.config["datasets"]:
        try:
            find_dataset(name, experiment.options(name))
        except InputError as error:
            yield f"datasets: {error}"
        if name in RULES:
            yield f"datasets.{name}: give it another name; this one is a target of the workflow."
    yield from _misplaced(experiment)
    yield from _renamed(experiment)
    valid = list(experiment.config["datasets"])
    for figure, block in experiment.option("figures", {}).items():
        if block["dataset"] not in valid:
            yield f"figures.{figure}.dataset: {block['dataset']!r} should be one of {valid}."


def find_mistakes(config: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """One line per mistake."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema)
    for error in sorted(
        validator.iter_errors(config), key=lambda error: [str(p) for p in error.absolute_path]
    ):
        place = ".".join(map(str, error.absolute_path))
        if error.validator == "additionalProperties":
            valid = list(error.schema["properties"])
            yield from (_unknown(place, key, valid) for key in error.instance if key not in valid)
        elif error.validator == "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            yield f"{place or 'the file'}: {', '.join(missing)} should be there."
        else:
            yield f"{place}: {error.message}."
    datasets = config.get("datasets")
    for name, block in datasets.items() if isinstance(datasets, Mapping) else ():
        own = isinstance(block, Mapping) and "path" in block
        if name not in DATASETS and not own:
            yield _unknown_dataset("datasets", name)


def _misplaced(experiment: Experiment) -> Iterator[str]:
    """What cannot be found or cannot be done, as far as can be told before a job runs."""
    mirror = experiment.option("mirror", None)
    if mirror and "://" not in mirror and not Path(mirror).is_dir():
        yield f"mirror: {mirror!r} is neither a folder nor a URL."
    for name, row in experiment.datasets.items():
        subsample = experiment.subsample(name)
        if subsample and row.n_samples and subsample > row.n_samples:
            yield f"datasets.{name}.subsample: {subsample} is more than its {row.n_samples} samples."
    shown = {"pca_k_means", "ae_k_means", "dec", "dekm"}
    if "fig5" in experiment.figures and not shown & set(experiment.methods):
        yield f"figures.fig5: the methods should have at least one of {', '.join(sorted(shown))}."


def _renamed(experiment: Experiment) -> Iterator[str]:
    """Parameters that would make a method another one."""
    found: dict[str, None] = {}
    for name in experiment.config["datasets"]:
        for method in experiment.methods:
            try:
                experiment.parameters(name, method)
            except InputError as error:
                found[f"methods.{method}: {error}"] = None
    yield from found


def _parsed(value: Any) -> Any:
    """A value that the command line may have left as text."""
    if isinstance(value, list):
        return [_parsed(item) for item in value]
    return yaml.safe_load(value) if isinstance(value, str) else value


def _unknown_dataset(place: str, name: Any) -> str:
    return _unknown(place, name, list(DATASETS)) + " Your own data need a path."


def _unknown(place: str, key: Any, valid: list[str]) -> str:
    where = f"{place}.{key}" if place else str(key)
    close = difflib.get_close_matches(str(key), valid, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{where}: unknown name; {hint}Valid names: {', '.join(valid)}."
