"""The pretrained autoencoders that the runs of a cell start from, made here or taken from other results."""

import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dekm.errors import InputError
from dekm.experiment.estimators import Settings, effective_parameters
from dekm.methods.autoencoder import Autoencoder
from dekm.results.record import Record, read_record
from dekm.results.result_set import ResultSet
from dekm.scaling import NO_SCALING

logger = logging.getLogger(__name__)


def pretrained_seed(
    results: ResultSet, data: Mapping[str, Any], dataset: str, architecture: str | None, seed: int
) -> Record | None:
    """The pretrained autoencoder that a cell starts from; None for a method that uses none.

    `InputError` if it does not exist, or was pretrained on other data.
    """
    if architecture is None:
        return None
    place = results.pretraining(dataset, architecture).seed(seed)
    command = f"run 'python -m dekm pretrain {dataset} {architecture}' first."
    if not place.file("facts").is_file():
        raise InputError(f"{place.path} does not exist: {command}")
    folder = read_record(place.path)
    if folder.facts["data"] != data["digest"]:
        raise InputError(f"{folder.path} was pretrained on other data than those prepared now: {command}")
    return folder


def find_published(results: Path, data: str, parameters: Mapping[str, Any], seed: int) -> Record | None:
    """The autoencoder of a seed in another folder of results, with these data and all these parameters.

    None if it has none, and then the log says what is missing or differs.
    """
    differ = []
    for record in _pretrained_on(results, data, seed):
        names = _differing(record.facts.get("parameters", {}), parameters)
        if not names:
            return record
        differ.append(f"{record.path.parent.name} ({', '.join(names)})")
    reason = f"those there differ: {'; '.join(differ)}" if differ else "there is none of these data and seed"
    logger.info("seed %s is not in %s: %s", seed, results, reason)
    return None


def _pretrained_on(results: Path, data: str, seed: int) -> Iterator[Record]:
    """The autoencoders of a seed that were pretrained on data with a digest."""
    for cell in ResultSet(results).cells("pretrain"):
        if cell.seed(seed).file("facts").is_file():
            record = read_record(cell.seed(seed).path)
            if record.facts["data"] == data:
                yield record


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The parameters of autoencoders with another value; one that is not given has its default."""
    # JSON, from which the facts are read, has lists where Python has tuples.
    first, second = (
        json.loads(json.dumps(effective_parameters(Autoencoder, known))) for known in (one, other)
    )
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]


def origin(record: Record | None) -> dict[str, dict[str, Any]]:
    """The facts of the first training of an autoencoder that was taken from elsewhere, perhaps by copies."""
    if record is None:
        return {}
    names = ("id", "commit", "device", "platform", "threads", "kernels", "versions", "created")
    return {"origin": {name: record.maker.get(name) for name in names}}


def take_published(record: Record, device: str) -> Autoencoder:
    """A published autoencoder; `InputError` if it is not the one that its facts describe."""
    file = record.checked("autoencoder")
    autoencoder = Autoencoder.load(file, device=device)
    if names := _differing(autoencoder.get_params(), record.facts["parameters"]):
        raise InputError(f"{file} should be what its facts.json says; it has another {', '.join(names)}.")
    return autoencoder


def load_start(folder: Record | None, device: str, network: str | None) -> Autoencoder | None:
    """The pretrained autoencoder in a seed's folder; None for a method that uses none."""
    if folder is None:
        return None
    file = folder.checked("autoencoder")
    autoencoder = Autoencoder.load(file, device=device, network=network)
    autoencoder.set_input_scaling(NO_SCALING)  # the samples of a cell are scaled already
    kind = folder.subject.partition("-")[0]
    if network is None and autoencoder.architecture not in (kind, "auto"):
        raise InputError(f"{file} holds an autoencoder of another architecture. {folder.remedy}")
    return autoencoder


def describe_parameters(estimator: Any, settings: Settings, start: Record | None) -> dict[str, Any]:
    """All parameters of a run with their defaults, and those of the pretraining that it starts from."""
    described = {"parameters": effective_parameters(estimator, settings)}
    return described if start is None else described | {"pretraining": start.facts.get("parameters", {})}
