"""Reading a configuration, and what is wrong with it, one line per mistake."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dekm.datasets import DATASETS
from dekm.datasets.user.own import most_samples
from dekm.errors import InputError, cut, find_secret, shown, unknown_name
from dekm.experiment.blocks import (
    DatasetBlock,
    describes_own_data,
    find_dataset,
    loader_options,
    unknown_dataset,
)
from dekm.experiment.config import FIG1, FIG5_METHODS, Experiment
from dekm.experiment.config_file import check_values
from dekm.experiment.own_code import find_misdefined, find_unusable, variant_settings
from dekm.experiment.schema import describe_schema, read_schema, read_texts, validator
from dekm.outside import use_folder
from dekm.results.published import read_published
from dekm.results.result_set import RESERVED


def read_experiment(config: Mapping[str, Any], schema_file: Path, modules: Path | None = None) -> Experiment:
    """Check a configuration against the schema and the tables of datasets and methods.

    Modules that it names are searched in the folder `modules`, that of its file, before ``sys.path``.
    `InputError` has every mistake on a line of its own: where it is, what was given and what is right.
    """
    check_values(config)
    schema = read_schema(schema_file)
    config = read_texts(config, schema)
    use_folder(modules)
    for mistakes in map(dict.fromkeys, _stages(config, schema)):  # each once
        if mistakes:
            raise InputError("\n  ".join(["the configuration has mistakes:", *mistakes]))
    return Experiment(config)


def _stages(config: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Iterable[str]]:
    """The mistakes of each stage of the checks, which relies on that those before it have found none."""
    yield find_mistakes(config, schema)
    yield find_unfit_data(config)
    experiment = Experiment(config)
    yield (*find_impossible(experiment), *find_contradictions(experiment))
    yield find_unusable(experiment)


def find_mistakes(config: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """Names and values that the schema does not allow, and datasets that do not exist."""
    yield from find_disallowed(config, schema)
    datasets = config.get("datasets")
    for name, block in datasets.items() if isinstance(datasets, Mapping) else ():
        own = isinstance(block, Mapping) and describes_own_data(block)
        if name not in DATASETS and not own:
            yield unknown_dataset("datasets", name)
    yield from find_misdefined(config)
    for place, method, settings in variant_settings(config):
        block = schema["$defs"]["methods"]["properties"][method]
        yield from find_disallowed(settings, {**block, "$defs": schema["$defs"]}, place)


def find_disallowed(value: Any, schema: Mapping[str, Any], parent: str = "") -> Iterator[str]:
    """Names and values at a place of the configuration that a schema does not allow."""
    errors = validator(schema).iter_errors(value)
    for error in sorted(errors, key=lambda error: [str(part) for part in error.absolute_path]):
        place = cut(".".join([*([parent] if parent else []), *map(str, error.absolute_path)]))
        yield from _describe_error(error, place)


def _describe_error(error: Any, place: str) -> Iterator[str]:
    if error.validator == "additionalProperties":
        valid = list(error.schema["properties"])
        yield from (unknown_name(place, key, valid) for key in error.instance if key not in valid)
    elif error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        yield f"{place or 'the file'} lacks {', '.join(missing)}."
    elif "propertyNames" in error.absolute_schema_path:
        right = describe_schema(error.schema, error.instance)
        yield f"{place}: the name {shown(error.instance)} should be {right}."
    else:
        right = describe_schema(error.schema, error.instance)
        quoted = ", in quotes" if right.startswith("text") and not isinstance(error.instance, str) else ""
        yield f"{place}={shown(error.instance)} should be {right}{quoted}."


def find_unfit_data(config: Mapping[str, Any]) -> Iterator[str]:
    """Datasets that cannot be used as they are described."""
    for name, block in config["datasets"].items():
        try:
            find_dataset(name, loader_options(block or {}))
        except InputError as error:
            yield f"datasets: {error}"
        except OSError as error:
            yield f"datasets.{name}: {shown(error.filename)}: {error.strerror}."
        if name.lower() == FIG1:
            yield f"datasets.{name}: give it another name; this one is that of Figure 1."
    if config["name"].lower() in RESERVED:
        yield f"name={config['name']!r} should be another name; this one is that of a folder in results/."


def find_impossible(experiment: Experiment) -> Iterator[str]:
    """What does not exist or cannot be done, as far as is known before a job runs."""
    mirror = experiment.machine.mirror
    for name, address in (("mirror", mirror), ("container", experiment.machine.container)):
        if problem := find_secret(name, address):
            yield problem
    if mirror and "://" not in mirror and not os.path.isdir(mirror):  # noqa: PTH112 (no error for a long name)
        yield f"mirror={shown(mirror)} should be an existing folder or a URL."
    published = experiment.pretrained
    if published and not os.path.isdir(os.path.join(published, "pretrained")):  # noqa: PTH112, PTH118 (as above)
        yield f"pretrained={shown(published)} should be a folder of results that has a folder 'pretrained'."
    if experiment.reference:
        yield from _find_unusable_reference(Path(experiment.reference), list(experiment.config["datasets"]))
    for name, block in experiment.blocks.items():
        yield from _find_impossible_sizes("figures.fig1" if name == FIG1 else f"datasets.{name}", block)
    valid = list(experiment.config["datasets"])
    for figure, settings in experiment.get("figures", {}).items():
        if settings["dataset"] not in valid:
            yield f"figures.{figure}.dataset={shown(settings['dataset'])} should be one of {valid}."
    for method in experiment.get("show", []):
        if method not in experiment.methods:
            yield f"show: {shown(method)} should be one of the methods {', '.join(experiment.methods)}."
    if "fig5" in experiment.figures and not experiment.methods_of_fig5:
        yield f"figures.fig5: the methods should have at least one of {', '.join(FIG5_METHODS)}."


def _find_unusable_reference(reference: Path, datasets: list[str]) -> Iterator[str]:
    try:
        published = set(read_published(reference)["dataset"])
    except (InputError, OSError) as error:
        yield f"reference: {error}"
        return
    if published.isdisjoint(datasets):
        yield f"reference={shown(str(reference))} should have a run on one of {', '.join(datasets)}."


def _find_impossible_sizes(place: str, block: DatasetBlock) -> Iterator[str]:
    row, size = block.row, block.subsample
    n_samples = most_samples(row) if row.n_samples is None else row.n_samples
    if n_samples is None:
        return
    if size and size > n_samples:
        yield f"{place}.subsample={size} should be <= {n_samples} samples."
    elif row.n_samples is None and row.n_clusters > (size or n_samples):
        number = f"subsample={size}" if size else f"n_samples={n_samples}"
        yield f"{place}: {number} should be >= n_clusters={row.n_clusters}."
    if block.n_classes and row.n_samples and block.n_classes > row.n_clusters:
        yield f"{place}.n_classes={block.n_classes} should be <= {row.n_clusters} classes."


def find_contradictions(experiment: Experiment) -> Iterator[str]:
    """Parameters that would make a method another one."""
    for name in experiment.blocks:
        for method in experiment.methods:
            try:
                experiment.method_settings(name, method)
            except InputError as error:
                yield f"methods.{method}: {error}"
