"""What an experiment consists of, written beside its results so that `dekm status` knows what is missing."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

from dekm.experiment.blocks import DatasetBlock
from dekm.experiment.config import Experiment
from dekm.experiment.protocols import FIG1
from dekm.files import write_json
from dekm.methods import STRATEGIES
from dekm.results.result_set import ResultSet


def write_plan(experiment: Experiment) -> None:
    """Write the cells of an experiment, their seeds, and what is left out, to its folder of results."""
    cells = [cell for block in experiment.blocks.values() for cell in cells_of(experiment, block)]
    plan = {
        "written": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "cells": cells,
        "left_out": experiment.left_out,
    }
    write_json(ResultSet(experiment.results).plan_file, plan)


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
