"""Comparisons of two methods that a claim consists of, and the verdict on all of them together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dekm.tables.statistics.inference import LARGE_MARGIN, LEVEL, MARGIN, Difference, at_least

HOLDS, UNDECIDED, BY_MARGIN, FAILS = "holds", "undecided", "not by our margin", "does not hold"
ONE_SEED, OTHER, NOT_RUN = "one seed", "other settings", "not run"
INFINITY = float("inf")


@dataclass(frozen=True)
class Relation:
    """Percentage points between which the difference of two methods lies, left minus right, if it is true.

    `low` and `high` are bounds by our margins, which the paper does not define; beyond `least` and `most` the
    relation is false by any reading of the paper's words.
    """

    low: float
    high: float
    least: float
    most: float


RELATIONS = {
    "above": Relation(0.0, INFINITY, 0.0, INFINITY),
    "far above": Relation(LARGE_MARGIN, INFINITY, 0.0, INFINITY),
    "slightly above": Relation(0.0, LARGE_MARGIN, 0.0, INFINITY),
    "similar": Relation(-MARGIN, MARGIN, -LARGE_MARGIN, LARGE_MARGIN),
    "not below": Relation(-MARGIN, INFINITY, -LARGE_MARGIN, INFINITY),
}


@dataclass(frozen=True)
class Comparison:
    """Comparison of two methods on one dataset by one metric."""

    dataset: str
    metric: str
    left: str
    right: str
    relation: str  # one of `RELATIONS`
    difference: Difference  # `left` minus `right`, in percentage points

    def __str__(self) -> str:
        """Methods, dataset and metric."""
        return f"{self.left} against {self.right} on {self.dataset}, {self.metric.upper()}"

    @property
    def cells(self) -> set[tuple[str, str]]:
        """Dataset and method of the two cells."""
        return {(self.dataset, self.left), (self.dataset, self.right)}

    @cached_property
    def p_values(self) -> "PValues":
        """p-values of the relation."""
        relation = RELATIONS[self.relation]
        return PValues(
            float(self.difference.p_inside(relation.low, relation.high)),
            float(self.difference.p_outside(relation.low, relation.high)),
            float(self.difference.p_outside(relation.least, relation.most)),
        )

    @property
    def slack(self) -> float:
        """Distance of the estimate to the nearest bound of the relation; negative if it is beyond."""
        relation = RELATIONS[self.relation]
        return float(min(self.difference.estimate - relation.low, relation.high - self.difference.estimate))

    @property
    def verdict(self) -> str:
        """Verdict on this comparison alone."""
        return self.p_values.verdict if self.difference.is_testable else ONE_SEED


class PValues(NamedTuple):
    """p-values of a statement."""

    holds: float  # of the alternative that it is true by our margins
    misses: float  # that it is false by our margins
    fails: float  # that it is false by any reading

    @property
    def verdict(self) -> str:
        """`HOLDS`, `FAILS`, `BY_MARGIN` or `UNDECIDED`, at `LEVEL`."""
        passed = {HOLDS: self.holds, FAILS: self.fails, BY_MARGIN: self.misses}
        return next((name for name, p in passed.items() if p <= LEVEL), UNDECIDED)


def n_required(quantifier: str, n_datasets: int) -> int:
    """Number of datasets on which a claim must hold: all of them, or for "most" more than half."""
    return n_datasets if quantifier == "all" else n_datasets // 2 + 1


def joint_p_values(quantifier: str, tested: Sequence[Comparison]) -> PValues:
    """p-values of a claim about "all" or "most" datasets, which allow for the number of its comparisons.

    The claim is true on a dataset if all comparisons are true there, and false by Bonferroni's correction.
    Datasets are independent. At least one comparison; all are testable, as others would only weaken the
    tests.
    """
    found = {pair.dataset: [other for other in tested if other.dataset == pair.dataset] for pair in tested}
    n = n_required(quantifier, len(found))
    true = [max(pair.p_values.holds for pair in pairs) for pairs in found.values()]
    false = (
        [min(len(pairs) * min(pair.p_values[i] for pair in pairs), 1.0) for pairs in found.values()]
        for i in (1, 2)
    )
    return PValues(at_least(n, true), *(at_least(len(found) - n + 1, p) for p in false))
