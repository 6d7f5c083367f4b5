"""The claims of the paper's text, tested against our numbers and compared with the paper's."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from dekm.tables.cells import Score, by_cell, difference, runs_of
from dekm.tables.comparisons import (
    BY_MARGIN,
    FAILS,
    HOLDS,
    NOT_RUN,
    ONE_SEED,
    OTHER,
    RELATIONS,
    UNDECIDED,
    Comparison,
    PValues,
    joint_p_values,
    n_required,
)
from dekm.tables.loading import SCORES, LoadedResults, is_other
from dekm.tables.rendering.grid import Cell, Grid
from dekm.tables.statistics.inference import LARGE_MARGIN, LEVEL, MARGIN

Values = Mapping[tuple, Mapping[int, Score]]
COUNTS = {
    HOLDS: "n_hold",
    UNDECIDED: "n_undecided",
    BY_MARGIN: "n_not_by_our_margin",
    FAILS: "n_do_not_hold",
    ONE_SEED: "n_one_seed",
    OTHER: "n_other_settings",
    NOT_RUN: "n_not_run",
}


def judge_claims(claims: pd.DataFrame, results: LoadedResults, paper: pd.DataFrame) -> pd.DataFrame:
    """Test each claim with our runs, and compare it with the paper's numbers.

    Comparisons with a cell on a subsample or under other settings are not the paper's, and not tested.

    `claims` has the columns claim, section, statement, relation (one of `RELATIONS`), datasets ("all" or
    "most" of those listed), on (dataset keys), metrics, left and right (method keys, of which all pairs are
    compared); lists are separated by spaces. `paper` is as `table3` takes it.

    One row per claim: claim, section, statement, relation, verdict, p_holds, p_misses and p_fails (as
    `PValues` defines them, given the datasets and methods that were tested), n_datasets_tested, n_datasets,
    by_the_papers_numbers (without a test), the numbers of comparisons (`COUNTS`), and of the comparison that
    supports the claim least: weakest, weakest_difference, weakest_low and weakest_high (95 % confidence
    interval), in percentage points.
    """
    others = results.cells[is_other(results.cells)]
    excluded = set(zip(others["dataset"], others["method"], strict=True))
    values = by_cell(runs_of(results, SCORES))
    known = paper[paper["value"].notna()]
    keys = zip(known["dataset"], known["method"], known["metric"], strict=True)
    printed = dict(zip(keys, known["value"], strict=True))
    return pd.DataFrame([_judge(claim, values, excluded, printed) for _, claim in claims.iterrows()])


def _judge(
    claim: pd.Series,
    runs: Values,
    excluded: Collection[tuple[str, str]],
    printed: Mapping[tuple, Any],
) -> dict[str, Any]:
    everything = list(_compare(claim, runs))
    found = [pair for pair in everything if not pair.cells & set(excluded)]
    verdicts = [pair.verdict for pair in found]
    verdicts += [OTHER] * (len(everything) - len(found))
    verdicts += [NOT_RUN] * (prod(map(len, _lists(claim))) - len(everything))
    tested = [pair for pair in found if pair.difference.is_testable]
    joint = joint_p_values(claim["datasets"], tested) if tested else None
    return {
        "claim": claim["claim"],
        "section": claim["section"],
        "statement": claim["statement"],
        "relation": claim["relation"],
        "verdict": joint.verdict if joint else _untested(verdicts),
        **{f"p_{name}": getattr(joint, name, np.nan) for name in PValues._fields},
        "n_datasets_tested": len({pair.dataset for pair in tested}),
        "n_datasets": len(_lists(claim)[0]),
        "by_the_papers_numbers": _by_printed_numbers(claim, printed),
        **{column: verdicts.count(name) for name, column in COUNTS.items()},
        **_weakest(found),
    }


def _lists(claim: pd.Series) -> list[list[str]]:
    return [str(claim[name]).split() for name in ("on", "metrics", "left", "right")]


def _compare(claim: pd.Series, runs: Values) -> Iterable[Comparison]:
    """The comparisons of a claim for which both methods were run."""
    for dataset, metric, left, right in product(*_lists(claim)):
        a, b = runs.get((dataset, left, metric)), runs.get((dataset, right, metric))
        if a is not None and b is not None:
            yield Comparison(dataset, metric, left, right, claim["relation"], difference(a, b))


def _untested(verdicts: Collection[str]) -> str:
    """Why a claim has no comparison that can be tested."""
    return next((name for name in (ONE_SEED, OTHER) if name in verdicts), NOT_RUN)


def _by_printed_numbers(claim: pd.Series, printed: Mapping[tuple, float]) -> str:
    """Whether the paper's numbers satisfy a claim, without a test; empty if it has none."""
    relation = RELATIONS[claim["relation"]]
    found: dict[str, list[float]] = {}
    for dataset, metric, left, right in product(*_lists(claim)):
        a, b = printed.get((dataset, left, metric)), printed.get((dataset, right, metric))
        if a is not None and b is not None:
            found.setdefault(dataset, []).append(a - b)
    if not found:
        return ""
    needed = n_required(claim["datasets"], len(found))
    for low, high, name in ((relation.low, relation.high, HOLDS), (relation.least, relation.most, BY_MARGIN)):
        if sum(all(low < gap < high for gap in gaps) for gaps in found.values()) >= needed:
            return name
    return FAILS


def _weakest(found: Sequence[Comparison]) -> dict[str, Any]:
    if not found:
        return dict.fromkeys(("weakest_difference", "weakest_low", "weakest_high"), np.nan) | {"weakest": ""}
    weakest = min(found, key=lambda pair: pair.slack)
    low, high = weakest.difference.interval()
    return {
        "weakest": str(weakest),
        "weakest_difference": weakest.difference.estimate,
        "weakest_low": low,
        "weakest_high": high,
    }


def claims_grid(rows: pd.DataFrame) -> Grid:
    """Table of the claims and their verdicts, one row per claim of `judge_claims`."""
    lines = [
        [
            Cell(row["statement"]),
            Cell(row["verdict"]),
            Cell(row["by_the_papers_numbers"] or "–"),
            Cell(f"{row['n_datasets_tested']} of {row['n_datasets']}"),
            *(Cell(str(row[column])) for column in COUNTS.values()),
            Cell(_weakest_text(row)),
        ]
        for _, row in rows.iterrows()
    ]
    header = [
        ("", name) for name in ("Statement", "By our runs", "By the paper's numbers", "Datasets tested")
    ]
    counted = ("Hold", "Undecided", "Not by our margin", "Fail", "One seed", "Other settings", "Not run")
    header += [("Comparisons", name) for name in counted]
    caption = (
        "By our runs: t tests of the differences of methods, paired where both start from the same "
        "autoencoders; a verdict allows for the number of its comparisons and is wrong with a probability of "
        f"at most {LEVEL:.0%}; it is about the datasets and methods that were tested, those with two seeds "
        "or more. A claim about all datasets holds if every comparison holds, one about most if it holds on "
        "more than half. The paper does not define its margins; ours, in percentage points: similar and "
        f"competitive {MARGIN:g}, large {LARGE_MARGIN:g}, slightly less than {LARGE_MARGIN:g}. Does not "
        "hold: false by any margin (below instead of far or slightly above; similar or competitive but "
        f"{LARGE_MARGIN:g} points apart). Not by our margin: false by ours, perhaps not by another. "
        "Comparisons are counted by separate tests; the weakest is shown with its 95 % confidence interval. "
        "By the paper's numbers: its numbers as they are printed, without a test, as it reports no standard "
        "deviations."
    )
    columns = [*header, ("", "Weakest comparison")]
    return Grid("claims", "The paper's claims", columns, lines, caption)


def _weakest_text(row: pd.Series) -> str:
    if not row["weakest"]:
        return "–"
    interval = ""
    if np.isfinite(row["weakest_low"]):
        interval = f" [{row['weakest_low']:+.2f}, {row['weakest_high']:+.2f}]"
    return f"{row['weakest_difference']:+.2f}{interval}: ".replace("-", "−") + str(row["weakest"])
