"""Reading a configuration, and what is wrong with it, one line per mistake."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from dekm.datasets import DATASETS
from dekm.errors import InputError, unknown_name
from dekm.experiment.config import FIG1, Experiment, find_dataset, unknown_dataset

FROM_COMMAND_LINE = ("fresh", "seeds", "threads")
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
            yield from (unknown_name(place, key, valid) for key in error.instance if key not in valid)
        elif error.validator == "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            yield f"{place or 'the file'}: {', '.join(missing)} should be there."
        else:
            yield f"{place}: {error.message}."
    datasets = config.get("datasets")
    for name, block in datasets.items() if isinstance(datasets, Mapping) else ():
        own = isinstance(block, Mapping) and "path" in block
        if name not in DATASETS and not own:
            yield unknown_dataset("datasets", name)


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
