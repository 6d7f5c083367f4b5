"""Reading a configuration, and what is wrong with it, one line per mistake."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from dekm.datasets import DATASETS
from dekm.errors import InputError, unknown_name
from dekm.experiment.blocks import find_dataset, loader_options, unknown_dataset
from dekm.experiment.config import Experiment
from dekm.experiment.own_code import find_misdefined, find_unusable, variant_settings
from dekm.experiment.protocols import FIG1
from dekm.experiment.schema import describe
from dekm.outside import use_folder

FROM_COMMAND_LINE = ("fresh", "seeds", "threads")
FIG5_METHODS = {"pca_k_means", "ae_k_means", "dec", "dekm"}


def read_experiment(config: Mapping[str, Any], schema_file: Path, modules: Path | None = None) -> Experiment:
    """Check a configuration against the schema and the tables of datasets and methods.

    Parameters
    ----------
    config : mapping
        The configuration as Snakemake read it.
    schema_file : Path
        The JSON schema of configurations, in YAML.
    modules : Path, optional
        Folder in which the modules that the configuration names are searched before ``sys.path``: that of the
        configuration file.

    Raises
    ------
    InputError
        With every mistake on a line of its own: where it is, what was given and what is right.
    """
    schema = yaml.safe_load(schema_file.read_text())
    config = dict(config) | {key: _parse(config[key]) for key in FROM_COMMAND_LINE if key in config}
    use_folder(modules)
    mistakes = list(find_mistakes(config, schema)) or list(find_unfit_data(config))
    experiment = Experiment(config)
    mistakes = mistakes or [*find_impossible(experiment), *find_contradictions(experiment)]
    mistakes = mistakes or list(find_unusable(experiment))
    if mistakes:
        raise InputError("the configuration has mistakes:\n" + "\n".join(f"  {line}" for line in mistakes))
    return experiment


def find_mistakes(config: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """Names and values that the schema does not allow, and datasets that do not exist."""
    yield from find_disallowed(config, schema)
    datasets = config.get("datasets")
    for name, block in datasets.items() if isinstance(datasets, Mapping) else ():
        own = isinstance(block, Mapping) and not {"path", "loader"}.isdisjoint(block)
        if name not in DATASETS and not own:
            yield unknown_dataset("datasets", name)
    yield from find_misdefined(config)
    for place, method, settings in variant_settings(config):
        block = schema["$defs"]["methods"]["properties"][method]
        yield from find_disallowed(settings, {**block, "$defs": schema["$defs"]}, place)


def find_disallowed(value: Any, schema: Mapping[str, Any], parent: str = "") -> Iterator[str]:
    """Names and values at a place of the configuration that a schema does not allow."""
    import jsonschema

    errors = jsonschema.Draft202012Validator(schema).iter_errors(value)
    for error in sorted(errors, key=lambda error: [str(part) for part in error.absolute_path]):
        place = ".".join([*([parent] if parent else []), *map(str, error.absolute_path)])
        if error.validator == "additionalProperties":
            valid = list(error.schema["properties"])
            yield from (unknown_name(place, key, valid) for key in error.instance if key not in valid)
        elif error.validator == "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            yield f"{place or 'the file'} lacks {', '.join(missing)}."
        elif "propertyNames" in error.absolute_schema_path:
            yield f"{place}: the name {error.instance!r} should be {describe(error.schema)}."
        else:
            yield f"{place}={error.instance!r} should be {describe(error.schema)}."


def find_unfit_data(config: Mapping[str, Any]) -> Iterator[str]:
    """Datasets that cannot be used as they are described."""
    for name, block in config["datasets"].items():
        try:
            find_dataset(name, loader_options(block or {}))
        except InputError as error:
            yield f"datasets: {error}"
        if name == FIG1:
            yield f"datasets.{name}: give it another name; this one is that of Figure 1."


def find_impossible(experiment: Experiment) -> Iterator[str]:
    """What does not exist or cannot be done, as far as is known before a job runs."""
    mirror = experiment.get("mirror", None)
    if mirror and "://" not in mirror and not Path(mirror).is_dir():
        yield f"mirror={mirror!r} should be an existing folder or a URL."
    for name, block in experiment.blocks.items():
        if block.subsample and block.row.n_samples and block.subsample > block.row.n_samples:
            yield f"datasets.{name}.subsample={block.subsample} should be <= {block.row.n_samples} samples."
    valid = list(experiment.config["datasets"])
    for figure, shown in experiment.get("figures", {}).items():
        if shown["dataset"] not in valid:
            yield f"figures.{figure}.dataset={shown['dataset']!r} should be one of {valid}."
    if "fig5" in experiment.figures and not FIG5_METHODS & set(experiment.methods):
        yield f"figures.fig5: the methods should have at least one of {', '.join(sorted(FIG5_METHODS))}."


def find_contradictions(experiment: Experiment) -> Iterator[str]:
    """Parameters that would make a method another one."""
    found: dict[str, None] = {}
    for name in experiment.blocks:
        for method in experiment.methods:
            try:
                experiment.method_settings(name, method)
            except InputError as error:
                found[f"methods.{method}: {error}"] = None
    yield from found


def _parse(value: Any) -> Any:
    """A value that the command line may have left as text."""
    if isinstance(value, list):
        return [_parse(item) for item in value]
    return yaml.safe_load(value) if isinstance(value, str) else value
