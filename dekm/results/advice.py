"""Which partition of a dataset is best by a measure that needs no true labels."""

from statistics import fmean

from dekm.results.runs import Runs

SIMPLE = ("k_means", "pca_k_means", "ae_k_means")  # they train nothing for the clusters, the simplest first
SIMPLE_WINS = " A simple method separates these samples best, by a measure that favours it."
DIGITS = 3  # of a silhouette; smaller differences say nothing


def mean_silhouettes(runs: Runs, dataset: str) -> dict[tuple[str, str], float]:
    """Mean silhouette of the samples by key and label of the method, the largest first, then the simplest.

    It is that of the samples themselves, not of an embedding, so the methods can be compared; it favours
    methods that, like K-means, cluster the samples themselves.
    """
    means = {}
    for method, records in runs.of_dataset(dataset).items():
        values = [record.metrics.get("silhouette") for record in records]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            means[method, records[0].label] = round(fmean(known), DIGITS)
    order = [*SIMPLE, *(method for method, _ in means if method not in SIMPLE)]
    return dict(sorted(means.items(), key=lambda item: (-item[1], order.index(item[0][0]))))


def advice(runs: Runs, dataset: str) -> str:
    """One line that compares the methods by the silhouette of the samples; empty for fewer than two."""
    means = mean_silhouettes(runs, dataset)
    if len(means) < 2:
        return ""
    shown = ", ".join(f"{label} {value:.{DIGITS}f}" for (_, label), value in means.items())
    best = [cell for cell, value in means.items() if value == max(means.values())]
    labels = " and ".join(label for _, label in best)
    simple = SIMPLE_WINS if best[0][0] in SIMPLE else ""
    verb = "has" if len(best) == 1 else "have"
    return f"{dataset}: {labels} {verb} the largest silhouette of the samples.{simple} All: {shown}."
