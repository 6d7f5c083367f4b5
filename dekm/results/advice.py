"""Which partition of a dataset is best by a measure that needs no true labels."""

from statistics import fmean

from dekm.results.result_set import ResultSet

SIMPLE = {"k_means", "pca_k_means", "ae_k_means"}  # they train nothing for the clusters


def advice(results: ResultSet, dataset: str) -> str:
    """Compare the methods that have been run on a dataset by the silhouette of the samples.

    It is that of the samples themselves, not of an embedding, so the methods can be compared; it favours
    methods that, like K-means, cluster the samples themselves.

    Parameters
    ----------
    results : ResultSet
        Folder of results.
    dataset : str
        Name of the dataset.

    Returns
    -------
    str
        One line; empty before two methods have a silhouette.
    """
    means = {}
    for summary in results.summaries():
        values = [run.get("silhouette") for run in summary["seeds"].values()]
        if summary["dataset"] == dataset and None not in values:
            means[summary["method"], summary["label"]] = fmean(values)
    if len(means) < 2:
        return ""
    ranked = sorted(means, key=lambda key: -means[key])
    shown = ", ".join(f"{label} {means[method, label]:.3f}" for method, label in ranked)
    method, label = ranked[0]
    simple = " A simple method separates these samples best." if method in SIMPLE else ""
    return f"{dataset}: {label} has the largest silhouette of the samples.{simple} All: {shown}."
