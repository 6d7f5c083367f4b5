"""Which methods of a table start from the same pretrained autoencoders."""

from collections.abc import Mapping

import pandas as pd


def starts_caption(runs: pd.DataFrame) -> str:
    """Sentence on the groups of methods that start from the same autoencoders wherever both were run.

    Empty if no run started from one.
    """
    groups: list[tuple[list[str], dict[tuple[str, int], str]]] = []
    started = runs[runs["pretrained"] != ""]
    for label, rows in started.groupby("method_label", sort=False):
        places = zip(rows["dataset"], rows["seed"], strict=True)
        keys = dict(zip(places, rows["pretrained"], strict=True))
        same = next((group for group in groups if _agree(keys, group[1])), ([], {}))
        groups += [] if same in groups else [same]
        same[0].append(str(label))
        same[1].update(keys)
    lists = "; ".join(", ".join(labels) for labels, _ in groups)
    return f"Groups of methods that start from the same pretrained autoencoders: {lists}." if lists else ""


def _agree(a: Mapping[tuple[str, int], str], b: Mapping[tuple[str, int], str]) -> bool:
    common = a.keys() & b.keys()
    return bool(common) and all(a[run] == b[run] for run in common)
