"""The rows of ``runs.csv``, the record of a published set: each seed, what it reached and who made it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from dekm.markup import one_line
from dekm.results.record import Record
from dekm.results.seed import FAILED


def rows_of(
    seeds: Iterable[Record], deviations: Mapping[tuple[str, str], str], protocol: str
) -> pd.DataFrame:
    """One row per seed; a value that is not finite is empty, as it cannot be compared."""
    table = pd.DataFrame([row(seed, deviations) | {"protocol": protocol} for seed in seeds])
    return table.replace([np.inf, -np.inf], np.nan)


def row(seed: Record, deviations: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """What the seed is, its final metrics, and what made it, here or where it was taken from."""
    facts, maker, cell = seed.facts, seed.maker, (seed.facts["dataset"], seed.subject)
    identity = {"stage": seed.stage, "dataset": cell[0], "subject": cell[1]}
    identity |= {"label": seed.label, "in_table": seed.in_table, "seed": facts["seed"]}
    made = {"settings": json.dumps(facts["settings"]), "commit": maker.get("commit")}
    made |= {"data": facts["data"], "pretrained": facts.get("pretrained"), "key": facts["key"]}
    made |= {"machine": machine_text(maker), "created": maker.get("created")}
    made |= {name: listed(maker.get(name) or {}) for name in ("kernels", "versions")}
    made |= {"warnings": json.dumps([one_line(text) for text in seed.warnings]) if seed.warnings else ""}
    made |= {FAILED: one_line(seed.facts.get(FAILED) or "")}
    return identity | seed.metrics | made | {"finite": seed.is_finite, "deviation": deviations.get(cell, "")}


def machine_text(facts: Mapping[str, Any]) -> str:
    """The machine of a seed in one line, which the rows of a reference name."""
    threads, torch = facts.get("threads"), (facts.get("versions") or {}).get("torch")
    parts = [facts.get("device"), facts.get("platform")]
    parts += [threads and f"{threads} thread{'s' if threads > 1 else ''}", torch and f"PyTorch {torch}"]
    return ", ".join(filter(None, parts))


def listed(value: Mapping[str, object]) -> str:
    """Names and values in one line."""
    return ", ".join(f"{key} {part}" for key, part in value.items())
