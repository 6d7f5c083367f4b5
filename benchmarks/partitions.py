"""How well measures without true labels choose a method and a number of clusters, where classes are known.

    python benchmarks/partitions.py methods RESULTS ...
    python benchmarks/partitions.py numbers [--prepared RESULTS ...]

`methods` reads folders of results of labelled datasets, such as that of ``make demo`` and those that
benchmarks/paper.py makes by benchmarks/partitions.yaml. It prints, for each measure and dataset, Kendall's
tau with ACC over the partitions, and by how many points of ACC the method with the largest mean is below the
best one; then the means of both, and the largest loss. `numbers` does the same for numbers of clusters, on
data of scikit-learn and on prepared data.
"""

import argparse
import math
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.stats import kendalltau
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import calinski_harabasz_score
from sklearn.preprocessing import StandardScaler

from dekm.clustering.gap import gap_statistic
from dekm.clustering.modularity import NeighborGraph
from dekm.datasets import prepared
from dekm.metrics import ari, davies_bouldin, silhouette
from dekm.results.advice import NEAR
from dekm.results.comparison import compare
from dekm.results.record import Record
from dekm.results.result_set import ResultSet
from dekm.results.runs import Runs, read_runs

Cells = Mapping[str, list[Record]]
Scores = dict[str, list[float]]  # of the runs of each method


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("methods").add_argument("results", nargs="+", type=Path)
    commands.add_parser("numbers").add_argument("--prepared", nargs="*", type=Path, default=[])
    arguments = parser.parse_args()
    if arguments.command == "methods":
        study_methods(arguments.results)
    else:
        study_numbers(arguments.prepared)


def study_methods(results: list[Path]) -> None:
    table: dict[str, list[str]] = {}
    losses: dict[str, list[float]] = {}
    taus: dict[str, list[float]] = {}
    best_of_near: list[float] = []
    pairs: list[tuple[float, float]] = []
    for folder in results:
        runs = read_runs(ResultSet(folder))
        for dataset in sorted({name for name, _ in runs.cells}):
            cells = {
                method: records for method, records in runs.of_dataset(dataset).items() if is_scored(records)
            }
            if len(cells) < 2:
                continue
            acc = {
                method: 100 * fmean(run.metrics["acc"] for run in records)
                for method, records in cells.items()
            }
            print(f"{dataset}: {', '.join(f'{method} {value:.1f}' for method, value in acc.items())}")
            for name, scores in measures(runs, dataset, cells).items():
                means = {method: fmean(values) for method, values in scores.items()}
                chosen = max(means, key=lambda method: means[method])
                order = [
                    (value, run.metrics["acc"])
                    for m, v in scores.items()
                    for value, run in zip(v, cells[m], strict=True)
                ]
                taus.setdefault(name, []).append(kendalltau(*zip(*order, strict=True)).statistic)
                lost = max(acc.values()) - acc[chosen] if not math.isnan(means[chosen]) else math.nan
                losses.setdefault(name, []).append(lost)
                table.setdefault(name, []).append(f"{taus[name][-1]:.2f}, {losses[name][-1]:.1f} ({chosen})")
                if name == "pooled silhouette":
                    named = [acc[method] for method, mean in means.items() if mean >= means[chosen] - NEAR]
                    best_of_near.append(max(acc.values()) - max(named))
                    pairs += [(means[a] - means[b], acc[a] - acc[b]) for a, b in combinations(means, 2)]
    for name, cells_of_row in table.items():
        lost = losses[name]
        summary = f"{np.nanmean(taus[name]):.2f}, {np.nanmean(lost):.1f}, {np.nanmax(lost):.1f}"
        print(f"| {name} | {' | '.join(cells_of_row)} | {summary} |")
    told = [a * b > 0 for a, b in pairs if abs(a) >= NEAR]
    near = ", ".join(f"{loss:.1f}" for loss in best_of_near)
    print(f"the best of those within {NEAR} of the first is {near} points below the best")
    print(f"{sum(told)} of {len(told)} pairs that differ by {NEAR} or more are in the order of ACC")


def is_scored(records: list[Record]) -> bool:
    return all("acc" in run.metrics for run in records)


def measures(runs: Runs, dataset: str, cells: Cells) -> dict[str, Scores]:
    """The scores of each measure; more is better."""

    def of(metric: str, sign: int = 1) -> Scores:
        return {method: [sign * run.metrics[metric] for run in records] for method, records in cells.items()}

    folder = records_data(cells)
    X = vectors(prepared.load(folder.arrays_file, folder.facts_file)[0])
    stability = {method: [agreement(records)] * len(records) for method, records in cells.items()}
    pooled = compare(runs, dataset).scores
    return {
        "pooled silhouette": {method: list(pooled[method]) for method in cells},
        "silhouette of the samples": of("silhouette"),
        "silhouette of the own embedding": of("silhouette_embedding"),
        "Davies-Bouldin of the samples": of("davies_bouldin", -1),
        "Calinski-Harabasz of the samples": {
            method: [calinski_harabasz_score(X, run.labels()) for run in records]
            for method, records in cells.items()
        },
        "modularity in the samples": {
            method: [NeighborGraph(X).modularity(run.labels()) or 0.0 for run in records]
            for method, records in cells.items()
        },
        "stability over the seeds": stability,
        "always DEKM": {
            method: [float(method == "dekm")] * len(records) for method, records in cells.items()
        },
        "always K-means": {
            method: [float(method == "k_means")] * len(records) for method, records in cells.items()
        },
    }


def agreement(records: list[Record]) -> float:
    """Mean adjusted Rand index of the partitions of a method; NaN of one."""
    pairs = [ari(a.labels(), b.labels()) for a, b in combinations(records, 2)]
    return fmean(pairs) if pairs else math.nan


def records_data(cells: Cells) -> Any:
    return next(iter(cells.values()))[0].data


def vectors(X: Any) -> np.ndarray:
    return X.toarray() if issparse(X) else np.asarray(X).reshape(len(X), -1)


def study_numbers(results: list[Path]) -> None:
    """K-means on the principal components, ten restarts and three seeds, at most 1,000 samples."""
    hits: dict[str, list[tuple[int, int]]] = {}
    for name, X, k in datasets(results):
        numbers = range(2, 16) if k <= 12 else range(2, 31)
        found = choices(some(X), numbers)
        print(f"| {name} | {k} | {' | '.join(map(str, found.values()))} |", flush=True)
        for rule, number in found.items():
            hits.setdefault(rule, []).append((number, k))
    for rule, pairs in hits.items():
        print_hits(rule, pairs)


def some(X: np.ndarray) -> np.ndarray:
    """At most 1,000 samples, always the same."""
    return X[np.random.default_rng(0).permutation(len(X))[:1000]]


def print_hits(rule: str, pairs: list[tuple[int, int]]) -> None:
    """How many of the numbers that a rule chose are those of the classes."""
    right = sum(number == k for number, k in pairs)
    near = sum(abs(number - k) <= max(1, round(k / 10)) for number, k in pairs)
    print(f"{rule}: {right} right, {near} within one or a tenth, of {len(pairs)}")


def choices(X: np.ndarray, numbers: range) -> dict[str, int]:
    """The number that each rule chooses; 0 if it names none."""
    components = PCA(0.9, svd_solver="full").fit_transform(X)
    graph, gap = NeighborGraph(X), gap_statistic(X, list(numbers))
    curves: dict[str, list[float]] = {}
    for k in numbers:
        fits = [KMeans(k, n_init=10, random_state=seed).fit(components).labels_ for seed in range(3)]
        values = {
            "modularity": fmean(graph.modularity(labels) or 0.0 for labels in fits),
            "silhouette": fmean(silhouette(X, labels) or -1.0 for labels in fits),
            "Davies-Bouldin": -fmean(davies_bouldin(X, labels) or np.inf for labels in fits),
            "stability": fmean(ari(a, b) for a, b in combinations(fits, 2)),
        }
        for name, value in values.items():
            curves.setdefault(name, []).append(value)
    best = {name: numbers[int(np.argmax(values))] for name, values in curves.items()}
    return {"choose-k": gap.chosen or best["modularity"], "gap": gap.chosen or 0, **best}


def datasets(results: list[Path]) -> Iterator[tuple[str, np.ndarray, int]]:
    """Name, samples and number of classes; 1 for noise."""
    rng = np.random.default_rng(1)
    for d in (2, 10, 50):
        yield f"uniform noise, {d} dimensions", rng.uniform(size=(800, d)), 1
        yield f"normal noise, {d} dimensions", rng.normal(size=(800, d)), 1
    for level, sd in (("easy", 2.5), ("medium", 4.0), ("hard", 5.5)):
        for k in (5, 12):
            yield f"{level} blobs", make_blobs(1000, 10, centers=k, cluster_std=sd, random_state=k + 10)[0], k
    for load in (load_iris, load_wine, load_breast_cancer):
        X, y = load(return_X_y=True)
        yield load.__name__.removeprefix("load_"), StandardScaler().fit_transform(X), len(np.unique(y))
    yield "digits", load_digits().data, 10
    for folder in results:
        for facts in sorted(folder.glob("data/*/facts.json")):
            X, y, _ = prepared.load(facts.with_name("data.npz"), facts)
            if facts.parent.name not in {"digits", "fig1", "wine", "breast_cancer"} and y is not None:
                yield facts.parent.name, vectors(X), len(np.unique(y[y >= 0]))


if __name__ == "__main__":
    main()
