"""In what the runs of a folder of results differ from the experiments of the paper."""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dekm.errors import shown
from dekm.experiment.config import ARCHITECTURES, PROTOCOLS, Experiment, with_embedding_dim
from dekm.experiment.config_file import read_config_file
from dekm.methods import KNOWN
from dekm.results.result_set import ResultSet
from dekm.results.runs import read_cell

logger = logging.getLogger(__name__)

MOST_NAMED = 4  # parameters in a footnote


def find_deviations(
    results: Path, datasets: Sequence[str], methods: Sequence[str], config: Path
) -> dict[tuple[str, str], str]:
    """In what each cell differs from a configuration of the paper's experiments: "lr 0.1 instead of 0.001".

    Every protocol of the configuration is one of the paper's or of the authors' code, so a cell differs only
    if it differs from each of them. Cells without a run, or of no experiment of the paper, are left out.
    """
    if not config.is_file():
        logger.warning("%s does not exist: settings that differ from the paper's are not named", config)
        return {}
    read = read_config_file(config)
    papers = [Experiment({**read, "protocol": name}) for name in PROTOCOLS]
    found = {}
    for dataset in (name for name in datasets if name in read["datasets"]):
        for method in (name for name in methods if name in KNOWN and KNOWN[name].of_paper):
            facts = facts_of_first_seed(ResultSet(results), dataset, method)
            if "parameters" in facts:
                lists = [differences(paper, dataset, method, facts) for paper in papers]
                found[dataset, method] = describe_differences(min(lists, key=len))
    return {cell: text for cell, text in found.items() if text}


def facts_of_first_seed(results: ResultSet, dataset: str, method: str) -> Mapping[str, Any]:
    """What made the first seed that a cell counts; empty if there is none. The tables name damaged ones."""
    cell = results.cell(dataset, method)
    records, _ = read_cell(cell) if cell.summary_file.exists() else ([], [])
    return records[0].facts if records else {}


def differences(paper: Experiment, dataset: str, method: str, facts: Mapping[str, Any]) -> list[str]:
    """The parameters of a run and of its pretraining that differ from those of an experiment."""
    from dekm.experiment.estimators import effective_parameters  # here: it imports PyTorch

    row = paper.method(method)
    expected = effective_parameters(row.load(), paper.method_settings(dataset, method))
    found = list(_compare(facts["parameters"], expected))
    key = paper.pretraining(dataset, method)
    if key is None:
        return found
    pretraining = pretraining_of(paper, dataset, key)
    return found + list(_compare(facts.get("pretraining", {}), pretraining, "pretraining "))


def pretraining_of(paper: Experiment, dataset: str, key: str) -> dict[str, Any]:
    """All parameters of the pretraining of an experiment that its architecture uses."""
    from dekm.experiment.estimators import effective_parameters
    from dekm.methods.autoencoder import Autoencoder

    architecture = key.partition("-")[0]
    row, settings = paper.blocks[dataset].row, paper.pretraining_settings(dataset, key)
    settings = with_embedding_dim(settings, architecture, row.kind, row.n_clusters)
    expected = effective_parameters(Autoencoder, {"architecture": architecture, **settings})
    return {name: value for name, value in expected.items() if name not in ARCHITECTURES[architecture]}


def _compare(found: Mapping[str, Any], expected: Mapping[str, Any], place: str = "") -> list[str]:
    plain = json.loads(json.dumps(expected))  # tuples become lists, as in the facts
    return [
        f"{place}{name} {shown(found[name])} instead of {shown(value)}"
        for name, value in plain.items()
        if name in found and found[name] != value
    ]


def describe_differences(differences: Sequence[str]) -> str:
    """The differences as one text, the first of many."""
    more = len(differences) - MOST_NAMED
    return ", ".join(differences[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
