"""The pretrained autoencoders that the runs of a cell start from."""

from collections.abc import Mapping
from typing import Any

from dekm.errors import InputError
from dekm.experiment.estimators import Settings, effective_parameters
from dekm.methods.autoencoder import Autoencoder
from dekm.results.folders import Record, read_record
from dekm.results.result_set import ResultSet
from dekm.scaling import NO_SCALING


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


def load_start(folder: Record | None, device: str, network: str | None) -> Autoencoder | None:
    """The pretrained autoencoder in a seed's folder; None for a method that uses none."""
    if folder is None:
        return None
    file = folder.checked("autoencoder")
    autoencoder = Autoencoder.load(file, device=device, network=network)
    autoencoder.input_scaling_ = NO_SCALING  # the samples of a cell are scaled already
    kind = folder.subject.partition("-")[0]
    if network is None and autoencoder.architecture not in (kind, "auto"):
        raise InputError(f"{file} holds an autoencoder of another architecture. {folder.remedy}")
    return autoencoder


def describe_parameters(estimator: Any, settings: Settings, start: Record | None) -> dict[str, Any]:
    """All parameters of a run with their defaults, and those of the pretraining that it starts from."""
    described = {"parameters": effective_parameters(estimator, settings)}
    return described if start is None else described | {"pretraining": start.facts.get("parameters", {})}
