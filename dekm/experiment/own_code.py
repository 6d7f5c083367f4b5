"""Mistakes in what a configuration takes from outside of the package, and in variants of known methods."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from dekm.errors import InputError, shown, unknown_name
from dekm.experiment.blocks import DatasetBlock
from dekm.experiment.config import Experiment, with_embedding_dim
from dekm.methods import DEFINITION, METHODS, STRATEGIES
from dekm.outside import load_attribute

Blocks = Mapping[str, Any]

STARTS = ("pca", "umap", "spectral")  # words of `init` that not every network can follow

NEEDS = " A method of your own needs an estimator, and a variant of another one needs a method."


def find_misdefined(config: Mapping[str, Any]) -> Iterator[str]:
    """Blocks of methods that define nothing, and settings of methods that are not in the configuration."""
    blocks = _blocks(config.get("methods"))
    for name, block in blocks.items():
        if name in STRATEGIES:
            yield f"methods.{name}: give it another name; this one is a strategy of Figure 4."
        elif name not in METHODS:
            yield from _find_undefined(name, block, blocks)
    for dataset, settings in _blocks(config.get("datasets")).items():
        place = f"datasets.{dataset}.methods"
        for name, block in _blocks(settings.get("methods")).items():
            if name not in METHODS and name not in blocks:
                yield unknown_name(place, name, list(METHODS | blocks))
            elif name not in METHODS:
                for key in [key for key in DEFINITION if key in block]:
                    yield f"{place}.{name}.{key} should be in methods.{name}: it is the same on all datasets."


def _find_undefined(name: str, block: Blocks, blocks: Blocks) -> Iterator[str]:
    if "estimator" not in block and "method" not in block:
        yield unknown_name("methods", name, list(METHODS)) + NEEDS
    elif "estimator" in block and "method" in block:
        yield f"methods.{name}: estimator and method exclude each other."
    elif "method" in block:
        bases = [*METHODS, *(key for key, other in blocks.items() if "estimator" in other)]
        if block["method"] not in bases:
            yield unknown_name(f"methods.{name}.method", block["method"], bases)


def variant_settings(config: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Place, method of Table III and settings of each variant of such a method."""
    defined = _blocks(config.get("methods"))
    for place, blocks in _places(config).items():
        for name, block in blocks.items():
            base = defined.get(name, {}).get("method")
            if name not in METHODS and base in list(METHODS):
                given = {key: value for key, value in block.items() if key not in DEFINITION}
                yield f"{place}.{name}", base, given


def _places(config: Mapping[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """The blocks of methods, of all datasets and of each, by their places in the configuration."""
    places = {"methods": _blocks(config.get("methods"))}
    for dataset, settings in _blocks(config.get("datasets")).items():
        places[f"datasets.{dataset}.methods"] = _blocks(settings.get("methods"))
    return places


def find_unusable(experiment: Experiment) -> Iterator[str]:
    """What a configuration takes from outside of the package and cannot be imported or used."""
    for name in experiment.own_methods:
        for place, blocks in _places(experiment.config).items():
            if blocks.get(name, {}).get("pretraining") and not experiment.method(name).autoencoder:
                yield f"{place}.{name}.pretraining: set autoencoder too; the method starts from none."
    if find_spec("torch") is None:  # the jobs run in another environment
        return
    yield from _find_missing_packages(experiment)
    yield from _find_unusable_loaders(experiment)
    yield from _find_unusable_estimators(experiment)
    yield from _find_unusable_networks(experiment)
    yield from _find_unusable_starts(experiment)


def _find_missing_packages(experiment: Experiment) -> Iterator[str]:
    for name in experiment.methods:
        extra = experiment.method(name).extra
        if extra is not None and find_spec(extra) is None:
            from dekm.methods.coordinates import MISSING

            yield f"methods.{name}: {MISSING}"


def _find_unusable_loaders(experiment: Experiment) -> Iterator[str]:
    for name, row in experiment.datasets.items():
        loader = row.options.get("loader")
        try:
            if loader is not None and not callable(load_attribute(loader)):
                yield f"datasets.{name}: loader={shown(loader)} should be a function."
        except InputError as error:
            yield f"datasets.{name}: loader={error}"


def _find_unusable_estimators(experiment: Experiment) -> Iterator[str]:
    for name in experiment.own_methods:
        row = experiment.method(name)
        if row.is_ours:
            continue
        from dekm.experiment.estimators import check_estimator, check_settings

        try:
            check_estimator(row)
            for dataset in experiment.blocks:
                check_settings(row.load(), experiment.method_settings(dataset, name))
        except InputError as error:
            yield f"methods.{name}: {error}"


def _find_unusable_networks(experiment: Experiment) -> Iterator[str]:
    """Networks that cannot be imported, or that do not fit a dataset whose shape is known."""
    for block, method, _, settings in _pretrainings(experiment):
        if settings.get("network"):
            place = _place_of(experiment, block.name, method, "network")
            yield from (f"{place}: {text}" for text in _check_network(block, settings))


def _find_unusable_starts(experiment: Experiment) -> Iterator[str]:
    """Networks that should start at coordinates and have no such start for the samples of a dataset."""
    for block, method, key, settings in _pretrainings(experiment):
        place = _place_of(experiment, block.name, method, "init")
        if settings.get("init") == "umap" and find_spec("umap") is None:
            from dekm.methods.coordinates import MISSING

            yield f"{place}.init: {MISSING}"
        if settings.get("init") not in STARTS:
            continue
        from dekm.methods.autoencoder import Autoencoder

        is_conv = key.startswith("conv")
        complete = with_embedding_dim(settings, key, block.row.kind, block.row.n_clusters)
        try:
            Autoencoder(**complete).check_network((1, 1, 1) if is_conv else (1,))
        except InputError as error:
            remedy = f" For {block.name}: a variant of {method} with autoencoder: mlp." if is_conv else ""
            yield f"{place}: {error}{remedy}"


def _pretrainings(experiment: Experiment) -> Iterator[tuple[DatasetBlock, str, str, dict[str, Any]]]:
    """Each dataset and method that starts from an autoencoder, with the key and the settings of that."""
    for dataset, block in experiment.blocks.items():
        for method in experiment.methods:
            if key := experiment.pretraining(dataset, method):
                yield block, method, key, experiment.pretraining_settings(dataset, key)


def _place_of(experiment: Experiment, dataset: str, method: str, setting: str) -> str:
    """The block of the pretraining that has a setting of the autoencoder of a method on a dataset."""
    places = {
        f"methods.{method}": experiment.config["methods"][method],
        f"datasets.{dataset}": experiment.blocks[dataset].settings,
    }
    for place, block in places.items():
        if setting in _blocks(block).get("pretraining", {}):
            return f"{place}.pretraining"
    return "pretraining"


def _check_network(block: DatasetBlock, settings: Mapping[str, Any]) -> Iterator[str]:
    from dekm.nn.own_network import build_network

    try:
        load_attribute(settings["network"])
    except InputError as error:
        yield f"network={error}"
        return
    row = block.row
    e = with_embedding_dim(settings, "network", row.kind, row.n_clusters)["embedding_dim"]
    try:
        if row.shape is not None:
            build_network(settings["network"], row.shape, e)
    except InputError as error:
        yield f"{error} (Samples of {block.name}.)"


def _blocks(value: Any) -> dict[str, dict[str, Any]]:
    """The blocks in a block of the configuration; what is not a block counts as empty."""
    given = value if isinstance(value, Mapping) else {}
    return {name: dict(block) if isinstance(block, Mapping) else {} for name, block in given.items()}
