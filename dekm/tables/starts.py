"""Which methods of a table start from the same pretrained autoencoders."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from dekm.results.result_set import ResultSet
from dekm.tables.loading import first_seed


def starts_caption(results: Path, cells: pd.DataFrame) -> str:
    """Sentence on the methods that share their autoencoders.

    Parameters
    ----------
    results : Path
        Folder of results.
    cells : pandas.DataFrame
        Cells as `table3` returns them.

    Returns
    -------
    str
        Groups of methods that start from the same autoencoders on every dataset that both were run on; empty
        if no run started from one.
    """
    groups: list[tuple[list[str], dict[str, str]]] = []
    for (method, label), rows in cells.groupby(["method", "method_label"], sort=False):
        if keys := _keys(ResultSet(results), str(method), list(rows["dataset"].unique())):
            same = next((group for group in groups if _agree(keys, group[1])), ([], {}))
            groups += [] if same in groups else [same]
            same[0].append(str(label))
            same[1].update(keys)
    lists = "; ".join(", ".join(labels) for labels, _ in groups)
    return f"Groups of methods that start from the same pretrained autoencoders: {lists}." if lists else ""


def _agree(a: Mapping[str, str], b: Mapping[str, str]) -> bool:
    common = a.keys() & b.keys()
    return bool(common) and all(a[dataset] == b[dataset] for dataset in common)


def _keys(results: ResultSet, method: str, datasets: list[str]) -> dict[str, str]:
    """Key of the autoencoder from which a method's first seed starts, for each dataset with one."""
    keys: dict[str, str] = {}
    for dataset in datasets:
        seed = first_seed(results.cell(dataset, method))
        if seed is not None and seed.has_facts() and (key := seed.facts.get("pretrained")):
            keys[dataset] = key
    return keys
