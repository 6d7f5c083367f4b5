"""Comparisons of two methods that a claim consists of, and the verdict on all of them together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dekm.tables.statistics.inference import LARGE_MARGIN, LEVEL, MARGIN, Difference, at_least

HOLDS, UNDECIDED, FAILS = "holds", "undecided", "does not hold"
ONE_SEED, OTHER, NOT_RUN = "one seed", "other settings", "not run"
INFINITY = float("inf")
# Percentage points between which the difference, left minus right, lies if the claim is true.
RELATIONS = {
    "above": (0.0, INFINITY),
    "far above": (LARGE_MARGIN, INFINITY),
    "slightly above": (0.0, LARGE_MARGIN),
    "similar": (-MARGIN, MARGIN),
    "not below": (-MARGIN, INFINITY),
}


@dataclass(frozen=True)
class Comparison:
    """Comparison of two methods on one dataset by one metric.

    Attributes
    ----------
    dataset, metric : str
        Keys of the dataset and the metric.
    left, right : str
        Keys of the methods.
    relation : str
        One of `RELATIONS`.
    difference : Difference
        `left` minus `right`, in percentage points.
    """

    dataset: str
    metric: str
    left: str
    right: str
    relation: str
    difference: Difference

    def __str__(self) -> str:
        """Methods, dataset and metric."""
        return f"{self.left} against {self.right} on {self.dataset}, {self.metric.upper()}"

    @property
    def cells(self) -> set[tuple[str, str]]:
        """Dataset and method of the two cells."""
        return {(self.dataset, self.left), (self.dataset, self.right)}

    @cached_property
    def p_holds(self) -> float:
        """p-value of the alternative that the relation is true."""
        return float(self.difference.p_inside(*RELATIONS[self.relation]))

    @cached_property
    def p_fails(self) -> float:
        """p-value of the alternative that the relation is false."""
        return float(self.difference.p_outside(*RELATIONS[self.relation]))

    @property
    def slack(self) -> float:
        """Distance of the estimate to the nearest bound of the relation; negative if it is beyond."""
        low, high = RELATIONS[self.relation]
        return float(min(self.difference.estimate - low, high - self.difference.estimate))

    @property
    def verdict(self) -> str:
        """Verdict on this comparison alone."""
        if not self.difference.is_testable:
            return ONE_SEED
        return verdict(self.p_holds, self.p_fails)


def verdict(p_holds: float, p_fails: float) -> str:
    """Verdict from two p-values at `LEVEL`.

    Parameters
    ----------
    p_holds, p_fails : float
        p-values of the alternatives that the statement is true, and that it is false.

    Returns
    -------
    str
        `HOLDS`, `FAILS` or `UNDECIDED`.
    """
    if p_holds <= LEVEL:
        return HOLDS
    return FAILS if p_fails <= LEVEL else UNDECIDED


def n_required(quantifier: str, n_datasets: int) -> int:
    """Number of datasets on which a claim must hold.

    Parameters
    ----------
    quantifier : {"all", "most"}
        Whether all of them, or more than half.
    n_datasets : int
        Number of datasets.

    Returns
    -------
    int
        Number of datasets.
    """
    return n_datasets if quantifier == "all" else n_datasets // 2 + 1


def joint_p_values(quantifier: str, found: Sequence[Comparison]) -> tuple[float, float]:
    """p-values of a claim, which allow for the number of its comparisons.

    The claim is true on a dataset if all comparisons are true there, and false by Bonferroni's correction.
    Datasets are independent. A comparison with one seed is evidence for neither.

    Parameters
    ----------
    quantifier : {"all", "most"}
        Whether the claim is about all datasets, or more than half of them.
    found : sequence of Comparison
        At least one comparison.

    Returns
    -------
    tuple of (float, float)
        p-values of the alternatives that the claim is true, and that it is false.
    """
    datasets = [
        [pair for pair in found if pair.dataset == dataset] for dataset in {pair.dataset for pair in found}
    ]
    true = [max(pair.p_holds for pair in pairs) for pairs in datasets]
    false = [min(len(pairs) * min(pair.p_fails for pair in pairs), 1.0) for pairs in datasets]
    n = n_required(quantifier, len(datasets))
    return at_least(n, true), at_least(len(datasets) - n + 1, false)
