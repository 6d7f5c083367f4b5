"""Mistakes in the methods that a configuration defines: outside estimators, and variants of known methods."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from dekm.errors import InputError, unknown_name
from dekm.experiment.config import Experiment
from dekm.methods import DEFINITION, METHODS, STRATEGIES

Blocks = Mapping[str, Any]

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
    places = {"methods": defined}
    for dataset, settings in _blocks(config.get("datasets")).items():
        places[f"datasets.{dataset}.methods"] = _blocks(settings.get("methods"))
    for place, blocks in places.items():
        for name, block in blocks.items():
            base = defined.get(name, {}).get("method")
            if name not in METHODS and base in list(METHODS):
                given = {key: value for key, value in block.items() if key not in DEFINITION}
                yield f"{place}.{name}", base, given


def find_unusable(experiment: Experiment) -> Iterator[str]:
    """Outside estimators that cannot be imported or used, and settings that they do not have."""
    names = [name for name in experiment.own_methods if not experiment.method(name).is_ours]
    if not names or find_spec("torch") is None:  # the jobs run in another environment
        return
    from dekm.experiment.estimators import check_estimator, check_settings

    for name in names:
        row = experiment.method(name)
        try:
            check_estimator(row)
            for dataset in experiment.blocks:
                check_settings(row.load(), experiment.method_settings(dataset, name))
        except InputError as error:
            yield f"methods.{name}: {error}"


def _blocks(value: Any) -> dict[str, dict[str, Any]]:
    """The blocks in a block of the configuration; what is not a block counts as empty."""
    given = value if isinstance(value, Mapping) else {}
    return {name: dict(block) if isinstance(block, Mapping) else {} for name, block in given.items()}
