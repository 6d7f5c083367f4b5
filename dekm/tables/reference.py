"""Published runs of somebody else beside one's own, in the cells where both are the same experiment."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from dekm.results.data import read_facts
from dekm.results.published import read_published
from dekm.results.result_set import ResultSet
from dekm.results.seed import FAILED, describe_failure
from dekm.tables.loading import KEYS, LoadedResults, subsample_note

logger = logging.getLogger(__name__)

MARK = "@"  # in the key of a published row, method@set, which no key of a method has


def is_published(methods: pd.Series) -> pd.Series:
    """Mask of the rows of a reference, by their methods."""
    return methods.str.contains(MARK, regex=False)


def with_reference(
    found: LoadedResults, results: Path, reference: Path, order: Sequence[str] = ()
) -> LoadedResults:
    """Add the runs of a published set, as rows of their own below ours.

    A row is a method with a run on one of our datasets, those in `order` first. A cell counts where the
    digest of the data, the protocol and the seeds are ours, and names the machine; otherwise it has no runs,
    and its reason says what differs. `InputError` if the set cannot be read.
    """
    result_set, name = ResultSet(results), reference.resolve().name
    plan = result_set.plan
    datasets = dict(zip(found.cells["dataset"], found.cells["dataset_label"], strict=True))
    facts = {dataset: read_facts(result_set.data(dataset)) for dataset in datasets}
    seeds: dict[str, set[int]] = {dataset: set() for dataset in datasets}
    for cell in plan.get("cells", ()):
        if cell.get("stage") == "cluster" and cell.get("dataset") in seeds:
            seeds[cell["dataset"]].update(cell.get("seeds", ()))
    rows, runs = [], [found.runs]
    published = read_published(reference)
    shown = published[published["dataset"].isin(list(datasets))]
    if shown.empty:
        logger.warning("%s has no run on one of %s", reference, ", ".join(datasets))
    labels = dict(zip(shown["method"], shown["label"], strict=True))
    for method in sorted(labels, key=lambda name: order.index(name) if name in order else len(order)):
        for dataset, dataset_label in datasets.items():
            theirs = shown[(shown["dataset"] == dataset) & (shown["method"] == method)]
            digest = facts[dataset].get("digest", "")
            differs = _difference(theirs, digest, plan.get("protocol", ""), sorted(seeds[dataset]))
            keys = (
                dataset,
                dataset_label,
                f"{method}{MARK}{name}",
                f"{labels[method]} (published)",
            )
            rows.append((*keys, _reason(theirs, differs, facts[dataset], name)))
            if not differs:
                runs.append(
                    theirs[theirs[FAILED] == ""]
                    .drop(columns=KEYS, errors="ignore")
                    .assign(**dict(zip(KEYS, keys, strict=True)))
                )
    cells = pd.DataFrame(rows, columns=found.cells.columns)
    return replace(found, runs=pd.concat(runs), cells=pd.concat([found.cells, cells], ignore_index=True))


def _difference(theirs: pd.DataFrame, digest: str, protocol: str, seeds: Sequence[int]) -> str:
    """Why the published runs of a cell are no runs of our experiment; empty if they are."""
    if theirs.empty:
        return "no run is published"
    data, protocols = set(theirs["data"]), sorted(set(theirs["protocol"]))
    if data != {digest}:
        return f"other data: digest {', '.join(sorted(data))[:12]} instead of {digest[:12] or 'none'}"
    if protocols != [protocol] or not protocol:
        known = [name or "not known" for name in (*protocols, protocol)]
        return f"protocol {', '.join(known[:-1])} instead of {known[-1]}"
    if (found := sorted(theirs["seed"])) != seeds:
        both = [", ".join(map(str, part)) or "none" for part in (found, seeds)]
        return f"seeds {both[0]} instead of {both[1]}"
    return ""


def _reason(theirs: pd.DataFrame, differs: str, facts: Mapping[str, Any], name: str) -> str:
    if differs:
        return f"not comparable with {name}: {differs}" if len(theirs) else f"{differs} in {name}"
    machines = " and ".join(sorted(set(theirs["machine"]))) or "a machine that is not recorded"
    failures = map(describe_failure, theirs.to_dict("records"))
    notes = (subsample_note(facts), f"published in {name}, not run here: {machines}", *failures)
    return "; ".join(filter(None, notes))


def without_gaps(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells without published rows that lack a score which any of our methods has, for ranks."""
    known = cells[cells["mean"].notna()]
    columns = ["dataset", "metric"]
    ours = known[~is_published(known["method"])]
    n_needed = len(ours[columns].drop_duplicates())
    counts = known.merge(ours[columns].drop_duplicates(), on=columns)["method"].value_counts()
    kept = set(counts[counts >= n_needed].index)
    return cells[~is_published(cells["method"]) | cells["method"].isin(kept)]
