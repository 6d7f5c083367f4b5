"""The claims of the paper's text, tested against our numbers and against the paper's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dekm.tables.cells import standard_error, within_noise
from dekm.tables.loading import is_subsample
from dekm.tables.rendering.grid import Cell, Grid

HOLDS, NOISE, FAILS, NOT_RUN = "holds", "within noise", "does not hold", "not run"
NOT_TESTABLE = "not testable"


class Mean(NamedTuple):
    """A mean over seeds.

    Attributes
    ----------
    mean : float
        Mean, in percent.
    sd : float
        Standard deviation over the seeds, in percentage points.
    n_seeds : int
        Number of seeds.
    """

    mean: float
    sd: float
    n_seeds: int


@dataclass(frozen=True)
class Comparison:
    """Comparison of two methods on one dataset by one metric.

    Attributes
    ----------
    dataset, metric : str
        Keys of the dataset and the metric.
    left, right : str
        Keys of the methods.
    difference : float
        Mean of `left` minus mean of `right`, in percentage points.
    verdict : str
        `HOLDS`, `NOISE` or `FAILS`.
    """

    dataset: str
    metric: str
    left: str
    right: str
    difference: float
    verdict: str

    def __str__(self) -> str:
        """Methods, dataset and metric."""
        return f"{self.left} against {self.right} on {self.dataset}, {self.metric.upper()}"


def judge_claims(claims: pd.DataFrame, cells: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Test each claim by our numbers and by the paper's.

    A subsample is not the paper's dataset: its cells count as not run.

    Parameters
    ----------
    claims : pandas.DataFrame
        Columns claim, section, statement, relation ("above", "similar", "not below"), datasets ("all" or
        "most" of those listed), on (dataset keys), metrics, left and right (method keys, of which all pairs
        are compared); lists are separated by spaces.
    cells : pandas.DataFrame
        Cells as `averages` returns them.
    paper : pandas.DataFrame
        The paper's numbers, as `table3` takes them.

    Returns
    -------
    pandas.DataFrame
        One row per claim: claim, section, statement, verdict, by_the_papers_numbers (the verdict by the
        paper's numbers), n_hold, n_within_noise, n_do_not_hold, n_not_run (numbers of comparisons), weakest
        (the comparison that supports the claim least) and weakest_difference (percentage points).
    """
    known = cells[cells["mean"].notna() & ~is_subsample(cells)]
    keys = zip(known["dataset"], known["method"], known["metric"], strict=True)
    means = zip(known["mean"], known["sd"], known["n_seeds"], strict=True)
    ours = {key: Mean(*mean) for key, mean in zip(keys, means, strict=True)}
    printed = paper[paper["value"].notna()]
    keys = zip(printed["dataset"], printed["method"], printed["metric"], strict=True)
    theirs = {key: Mean(value, 0.0, 1) for key, value in zip(keys, printed["value"], strict=True)}
    return pd.DataFrame([_judge(claim, ours, theirs) for _, claim in claims.iterrows()])


def _judge(claim: pd.Series, ours: Mapping[tuple, Mean], theirs: Mapping[tuple, Mean]) -> dict[str, Any]:
    found = list(_compare(claim, ours))
    by_paper = NOT_TESTABLE
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
    """The comparisons of a claim for which both methods have a mean."""
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
    """Verdict over the datasets that were run: all of them, or more than half, must hold."""
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
    """Table of the claims and their verdicts.

    Parameters
    ----------
    rows : pandas.DataFrame
        Claims as `judge_claims` returns them.

    Returns
    -------
    Grid
        One row per claim.
    """
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
        "Comparisons: numbers that hold / are within noise / do not hold / were not run. Within noise: the "
        "difference of the means is smaller than its standard error. A claim about all datasets holds if "
        "every comparison that was run holds. The paper reports no standard deviations, so its numbers can "
        "test only claims that one method is above another. Differences in percentage points."
    )
    return Grid("claims", "The paper's claims", [("", name) for name in header], lines, caption)
