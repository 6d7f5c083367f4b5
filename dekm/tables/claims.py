"""The claims of the paper's text, each judged by our numbers and by the paper's own."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dekm.tables.cells import of_subsamples
from dekm.tables.grid import Cell, Grid
from dekm.tables.noise import standard_error, within_noise

HOLDS, NOISE, FAILS, NOT_RUN = "holds", "within noise", "does not hold", "not run"
NO_NUMBERS = "cannot be told"


class Mean(NamedTuple):
    """A mean over seeds, in points."""

    mean: float
    sd: float
    n_seeds: int


@dataclass(frozen=True)
class Comparison:
    """One pair of methods on one dataset, by one metric."""

    dataset: str
    metric: str
    left: str
    right: str
    difference: float
    verdict: str

    def __str__(self) -> str:
        """Where it is."""
        return f"{self.left} against {self.right} on {self.dataset}, {self.metric.upper()}"


def judge_claims(claims: pd.DataFrame, cells: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """One row per claim: verdict by our numbers, by the paper's, and the comparison that counts most.

    A subsample is not the paper's dataset: its cells count as not run.

    Parameters
    ----------
    claims : columns claim, section, statement, relation ("above", "similar", "not below"), datasets
        ("all" or "most" of those listed), on (dataset keys), metrics, left, right (method keys, all
        pairs); lists are separated by spaces
    cells : as `averages` returns them
    paper : as `table3` takes it
    """
    known = cells[cells["mean"].notna() & ~of_subsamples(cells)]
    keys = zip(known["dataset"], known["method"], known["metric"], strict=True)
    means = zip(known["mean"], known["sd"], known["n_seeds"], strict=True)
    ours = {key: Mean(*mean) for key, mean in zip(keys, means, strict=True)}
    printed = paper[paper["value"].notna()]
    keys = zip(printed["dataset"], printed["method"], printed["metric"], strict=True)
    theirs = {key: Mean(value, 0.0, 1) for key, value in zip(keys, printed["value"], strict=True)}
    return pd.DataFrame([_judge(claim, ours, theirs) for _, claim in claims.iterrows()])


def _judge(claim: pd.Series, ours: Mapping[tuple, Mean], theirs: Mapping[tuple, Mean]) -> dict[str, Any]:
    found = list(_compare(claim, ours))
    by_paper = NO_NUMBERS
    if claim["relation"] == "above" and (printed := list(_compare(claim, theirs))):
        by_paper = _verdict(claim["datasets"], printed)
    n_wanted = np.prod([len(str(claim[name]).split()) for name in ("on", "metrics", "left", "right")])
    counts = {name: sum(pair.verdict == name for pair in found) for name in (HOLDS, NOISE, FAILS)}
    sign = -1 if claim["relation"] == "similar" else 1
    weakest = min(
        found, key=lambda pair: sign * (abs(pair.difference) if sign < 0 else pair.difference), default=None
    )
    return {
        "claim": claim["claim"],
        "section": claim["section"],
        "statement": claim["statement"],
        "verdict": _verdict(claim["datasets"], found),
        "by_the_papers_numbers": by_paper,
        "n_hold": counts[HOLDS],
        "n_within_noise": counts[NOISE],
        "n_do_not_hold": counts[FAILS],
        "n_not_run": int(n_wanted) - len(found),
        "weakest": "" if weakest is None else str(weakest),
        "weakest_difference": np.nan if weakest is None else weakest.difference,
    }


def _compare(claim: pd.Series, means: Mapping[tuple, Mean]) -> Iterable[Comparison]:
    """All comparisons of a claim of which both sides are known."""
    lists = [str(claim[name]).split() for name in ("on", "metrics", "left", "right")]
    for dataset, metric, left, right in product(*lists):
        a, b = means.get((dataset, left, metric)), means.get((dataset, right, metric))
        if a is None or b is None:
            continue
        difference = a.mean - b.mean
        near = bool(within_noise(difference, standard_error(a.sd, a.n_seeds, b.sd, b.n_seeds)))
        verdict = _relation(claim["relation"], difference, near)
        yield Comparison(dataset, metric, left, right, difference, verdict)


def _relation(relation: str, difference: float, near: bool) -> str:
    if relation == "similar":
        return HOLDS if near else FAILS
    if near:
        return HOLDS if relation == "not below" else NOISE
    return HOLDS if difference > 0 else FAILS


def _verdict(quantifier: str, found: list[Comparison]) -> str:
    """Of the datasets that were run, all or more than half must hold."""
    by_dataset = [
        _weakest(pair.verdict for pair in found if pair.dataset == dataset)
        for dataset in dict.fromkeys(pair.dataset for pair in found)
    ]
    if not by_dataset:
        return NOT_RUN
    if quantifier == "all":
        return _weakest(by_dataset)
    half = len(by_dataset) / 2
    if by_dataset.count(HOLDS) > half:
        return HOLDS
    return NOISE if by_dataset.count(FAILS) < half else FAILS


def _weakest(verdicts: Iterable[str]) -> str:
    return max(verdicts, key=(HOLDS, NOISE, FAILS).index)


def _weakest_text(row: pd.Series) -> str:
    if not row["weakest"]:
        return "–"
    return f"{row['weakest_difference']:+.2f}: {row['weakest']}".replace("-", "−", 1)


def claims_grid(rows: pd.DataFrame) -> Grid:
    """The claims with their verdicts."""
    lines = [
        [
            Cell(row["claim"]),
            Cell(row["statement"]),
            Cell(row["verdict"]),
            Cell(row["by_the_papers_numbers"]),
            Cell(f"{row['n_hold']} / {row['n_within_noise']} / {row['n_do_not_hold']} / {row['n_not_run']}"),
            Cell(_weakest_text(row)),
        ]
        for _, row in rows.iterrows()
    ]
    header = ("Claim", "Statement", "By our numbers", "By the paper's", "Comparisons", "Weakest comparison")
    caption = (
        "Comparisons that hold / are within noise / do not hold / were not run. Within noise: the means are "
        "closer than the standard error of their difference. A claim about all holds if every comparison "
        "that was run does. The paper's numbers have no noise, so they cannot tell what is alike. "
        "Differences in points."
    )
    return Grid("claims", "The paper's claims, judged", [("", name) for name in header], lines, caption)
