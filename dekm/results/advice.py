"""What the comparison of methods without true labels says in words, and how far it can be trusted."""

from collections.abc import Mapping, Sequence

from dekm.results.comparison import SIMPLE, Comparison
from dekm.results.record import Record
from dekm.results.runs import Runs, mean_accuracy

NEAR = 0.2  # standard deviations; a smaller difference between two methods tells nothing
# The row of pooled silhouettes in docs/how-to/choose-a-method.md, which benchmarks/partitions.py makes.
TRUST = (
    "How far to trust this: on seven datasets with known classes the first method named had 2.2 points of "
    "ACC less than the best one on average, and at most 7.5."
)


def advice(runs: Runs, dataset: str, comparison: Comparison) -> str:
    """What `compare` found of the runs on a dataset.

    True labels have no part in it; where there are some, it is added what they say.

    Returns
    -------
    str
        One line; empty without runs.
    """
    cells = runs.of_dataset(dataset)
    labels = {method: records[0].label for method, records in cells.items()}
    if not cells:
        return ""
    if len(cells) == 1:
        return f"{dataset}: only {labels.popitem()[1]} has been run, so there is nothing to compare."
    means = comparison.means()
    if not means:
        return " ".join([f"{dataset}: the methods cannot be compared without labels.", *comparison.left_out])
    best = [method for method, mean in means.items() if mean >= max(means.values()) - NEAR]
    shown = ", ".join(f"{labels[method]} {mean:+.2f}" for method, mean in means.items())
    named = _best([labels[method] for method in best], len(means), simple=best[0] in SIMPLE)
    return " ".join(
        [
            f"{dataset}: {named}",
            f"Pooled silhouettes: {shown}.",
            *comparison.left_out,
            TRUST,
            *_by_labels(cells, best),
        ]
    )


def _best(labels: Sequence[str], n_methods: int, *, simple: bool) -> str:
    """Which methods separate the samples best, and whether it can be decided between them."""
    if len(labels) == n_methods:
        return f"without labels it cannot be told which of {_listed(labels)} is best."
    if len(labels) > 1:
        return (
            f"{_listed(labels)} separate the samples best in the embeddings of all runs; which of them is "
            "best cannot be told without labels."
        )
    note = ", a simple method," if simple else ""
    return f"{labels[0]}{note} separates the samples best in the embeddings of all runs."


def _by_labels(cells: Mapping[str, Sequence[Record]], best: Sequence[str]) -> list[str]:
    """What the true labels say; nothing without any."""
    acc = mean_accuracy(cells)
    if not set(best) <= set(acc):
        return []
    first, named = (max(among, key=lambda method: acc[method]) for among in (acc, best))
    said = f"By the true labels {cells[first][0].label} has the best ACC, {100 * acc[first]:.1f}"
    return [f"{said}." if first in best else f"{said}; {cells[named][0].label} has {100 * acc[named]:.1f}."]


def _listed(labels: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(labels[:-1]), labels[-1]]))
