"""What an experiment consists of: its cells, written beside the results, and what each job is told."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

from dekm.experiment.blocks import DatasetBlock
from dekm.experiment.config import FIG1, Experiment
from dekm.files import write_json
from dekm.methods import STRATEGIES
from dekm.results.result_set import ResultSet


def write_plan(experiment: Experiment) -> None:
    """Write the cells of an experiment, their seeds, and what is left out, to its folder of results."""
    plan = {
        "written": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "cells": all_cells(experiment),
        "left_out": experiment.left_out,
        "protocol": experiment.protocol,
    }
    write_json(ResultSet(experiment.results).plan_file, plan)


def all_cells(experiment: Experiment) -> list[dict[str, Any]]:
    """The pretrainings and the runs of an experiment."""
    return [cell for block in experiment.blocks.values() for cell in cells_of(experiment, block)]


def cells_of(experiment: Experiment, block: DatasetBlock) -> Iterator[dict[str, Any]]:
    """The pretrainings and the runs on one dataset of an experiment."""
    if block.name in experiment.left_out:
        return
    methods = methods_on(experiment, block.name)
    pretrainings = [experiment.pretraining(block.name, method) for method in methods]
    for key in sorted({key for key in pretrainings if key}):
        yield cell("pretrain", block, key, key)
    for method in methods:
        yield cell("cluster", block, method, experiment.method(method).label)


def methods_on(experiment: Experiment, dataset: str) -> list[str]:
    """The methods that are run on a dataset: for the tables, or for a figure alone."""
    if dataset == FIG1:
        return ["dekm"]
    strategies = [*STRATEGIES] if experiment.figures.get("fig4") == dataset else []
    return [*experiment.methods, *strategies]


def cell(stage: str, block: DatasetBlock, subject: str, label: str) -> dict[str, Any]:
    """One cell of the plan."""
    known = {"stage": stage, "dataset": block.name, "subject": subject, "label": label}
    return known | {"seeds": list(block.seeds)}


def job_settings(experiment: Experiment, stage: str, dataset: str, subject: str = "") -> dict[str, Any]:
    """What a job is told of the configuration, as `python -m dekm` reads it by ``--settings``.

    The subject of the stages "pretrain" and "cluster" is the key of autoencoders, or of a method.
    """
    block = experiment.blocks[dataset]
    if stage == "pretrain":
        told = {"settings": experiment.pretraining_settings(dataset, subject)}
        return told | ({"pretrained": experiment.pretrained} if experiment.pretrained else {})
    if stage == "cluster":
        start = experiment.pretraining(dataset, subject)
        pretraining = experiment.pretraining_settings(dataset, start) if start else {}
        is_own = subject in experiment.own_methods
        return {
            "settings": experiment.method_settings(dataset, subject),
            "definition": experiment.method(subject).definition if is_own else None,
            "pretrained": start,
            "network": pretraining.get("network"),
        }
    loaded = {"settings": block.loader_options, "licence_held": block.row.restricted}
    part = {"subsample": block.subsample, "n_classes": block.n_classes}
    return loaded if stage == "download" else loaded | part
