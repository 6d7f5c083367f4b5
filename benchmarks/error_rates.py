"""Error rates of the statistics of the tables, measured on results drawn from known laws.

    python benchmarks/error_rates.py [--repeats 1000]

Every study draws results, judges them with the functions that write the tables, and counts a verdict. The
score of a run is the sum of an expected value, a part of the autoencoder, which all methods of its seed share
unless a study says otherwise, and a part of its own, both normal with a standard deviation of one point. The
paper's number is a mean of `PAPER_RUNS` such runs. Prints a table in Markdown.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from dekm.tables.cells import averages, table3
from dekm.tables.claims import judge_claims
from dekm.tables.compare import DIFFER, compare
from dekm.tables.comparisons import BY_MARGIN
from dekm.tables.loading import KEYS, SCORES, LoadedResults
from dekm.tables.statistics.friedman import friedman, iman_davenport
from dekm.tables.statistics.inference import LARGE_MARGIN, LEVEL, MARGIN
from dekm.tables.verdicts import verdicts

Study = Callable[[np.random.Generator, int, int], float]  # rate, of a generator, seeds and repeats
N_DATASETS, N_METHODS = 7, 10
NUMBER = 70.0  # expected value of the paper's number of every cell
PAPER_RUNS = 3


def draw(
    rng: np.random.Generator,
    n_seeds: int,
    means: Sequence[float],
    n_datasets: int,
    sd: float = 1.0,
    *,
    shared: bool = True,
) -> LoadedResults:
    """Results of methods with these expected scores in percent; `sd` is that of a run's own part."""
    datasets, methods = [f"d{i}" for i in range(n_datasets)], [f"m{i}" for i in range(len(means))]
    n_autoencoders = 1 if shared else len(means)
    start = rng.normal(size=(n_datasets, n_autoencoders, n_seeds, len(SCORES)))
    own = sd * rng.normal(size=(n_datasets, len(means), n_seeds, len(SCORES)))
    values = np.reshape(means, (1, -1, 1, 1)) + start + own
    index = pd.MultiIndex.from_product(
        [datasets, methods, range(n_seeds)], names=["dataset", "method", "seed"]
    )
    runs = pd.DataFrame(values.reshape(-1, len(SCORES)) / 100, index, list(SCORES)).reset_index()
    key = runs["seed"].astype(str) if shared else runs["method"] + runs["seed"].astype(str)
    runs = runs.assign(dataset_label=runs["dataset"], method_label=runs["method"], pretrained=key)
    cells = runs[KEYS].drop_duplicates().assign(reason="")
    return LoadedResults(runs, cells, dict.fromkeys(datasets, SCORES))


def printed(rng: np.random.Generator, n_datasets: int, sd: float = 1.0) -> pd.DataFrame:
    """The paper's numbers of the first method, whose runs have this standard deviation."""
    values = NUMBER + sd / PAPER_RUNS**0.5 * rng.normal(size=n_datasets)
    rows = [(f"d{i}", "m0", "acc", value, PAPER_RUNS, "no", "", "") for i, value in enumerate(values)]
    columns = ["dataset", "method", "metric", "value", "n_runs", "quoted", "origin", "remark"]
    return pd.DataFrame(rows, columns=columns)


def claim(
    relation: str,
    means: Sequence[float],
    verdict: str,
    quantifier: str = "all",
    n_datasets: int = 1,
    *,
    shared: bool = True,
) -> Study:
    """A verdict on a claim about the first method, against all others, by ACC."""
    row = {"claim": "", "section": "", "statement": "", "relation": relation, "datasets": quantifier}
    row |= {"metrics": "acc", "left": "m0", "right": " ".join(f"m{i}" for i in range(1, len(means)))}

    def study(rng: np.random.Generator, n_seeds: int, repeats: int) -> float:
        found = draw(rng, n_seeds, means, repeats * n_datasets, shared=shared)
        on = np.array(list(found.scores)).reshape(repeats, n_datasets)
        claims = pd.DataFrame([row | {"on": " ".join(datasets)} for datasets in on])
        return float((judge_claims(claims, found, printed(rng, 1))["verdict"] == verdict).mean())

    return study


def cell(difference: float, sd: float, verdict: str, noise: float = 1.0) -> Study:
    """A verdict on a cell of the paper, whose runs are this much noisier than ours."""

    def study(rng: np.random.Generator, n_seeds: int, repeats: int) -> float:
        paper = printed(rng, repeats, noise * (1 + sd**2) ** 0.5)
        cells = table3(draw(rng, n_seeds, [NUMBER + difference], repeats, sd), paper)
        return float((verdicts(cells, paper)["verdict"] == verdict).mean())

    return study


def marked(advantage: float, method: str) -> Study:
    """Whether one of ten methods is first or tied, if the first has this advantage over the others."""

    def study(rng: np.random.Generator, n_seeds: int, repeats: int) -> float:
        means = [NUMBER + advantage] + [NUMBER] * (N_METHODS - 1)
        cells = table3(draw(rng, n_seeds, means, repeats), printed(rng, 1))
        found = cells[(cells["metric"] == "acc") & (cells["method"] == method)]
        return float((found["tied"] | (found["place"] == 1)).mean())

    return study


def compared(shift: float) -> Study:
    """Whether `compare` lists a cell of two sets; `shift` is the difference in one method."""

    def differ(folder: Path, rng: np.random.Generator, n_seeds: int) -> bool:
        files = [folder / f"{i}.csv" for i in range(2)]
        for file, first in zip(files, (NUMBER + shift, NUMBER), strict=True):
            found = draw(rng, n_seeds, [first] + [NUMBER] * (N_METHODS - 1), N_DATASETS)
            averages(found, found.scores).to_csv(file, index=False)
        return bool(compare(*files)["verdict"].isin(DIFFER).any())

    def study(rng: np.random.Generator, n_seeds: int, repeats: int) -> float:
        with tempfile.TemporaryDirectory() as folder:
            return float(np.mean([differ(Path(folder), rng, n_seeds) for _ in range(repeats)]))

    return study


def ranked(test: Callable[[np.ndarray], float], n_datasets: int) -> Study:
    """Whether a test of the mean ranks rejects that ten equal methods are equal."""
    return lambda rng, _, repeats: float(
        np.mean([test(rng.normal(size=(n_datasets, N_METHODS))) <= LEVEL for _ in range(repeats)])
    )


PAIR, SEVEN = [70.0, 70.0], [70.0] * 4
ERRORS: dict[str, Study] = {
    "two equal methods: `above` holds": claim("above", PAIR, "holds"),
    "the same, each with its own autoencoders": claim("above", PAIR, "holds", shared=False),
    "two equal methods: `similar` does not hold": claim("similar", PAIR, "does not hold"),
    "the same, not by our margin": claim("similar", PAIR, BY_MARGIN),
    "two equal methods: `far above` does not hold": claim("far above", PAIR, "does not hold"),
    f"{MARGIN:g} points apart: `similar` holds": claim("similar", [70 + MARGIN, 70], "holds"),
    f"{LARGE_MARGIN:g} points apart: `far above` holds": claim("far above", [70 + LARGE_MARGIN, 70], "holds"),
    "four equal methods on seven datasets: `above` holds on all": claim("above", SEVEN, "holds", "all", 7),
    "the same: `above` holds on most": claim("above", SEVEN, "holds", "most", 7),
    "the same: `not below`, true at the margin, not by our margin": claim(
        "not below", [70 - MARGIN + 1e-6, 70, 70, 70], BY_MARGIN, "all", 7
    ),
    f"{MARGIN:g} points from the paper, quiet: reproduced": cell(MARGIN, 0.5, "reproduced"),
    f"{MARGIN:g} points from the paper, noisy: reproduced": cell(MARGIN, 4.0, "reproduced"),
    "8 points from the paper, noisy: reproduced": cell(8.0, 4.0, "reproduced"),
    f"{MARGIN:g} points from the paper: better": cell(MARGIN, 1.0, "better"),
    "ten equal methods: a given one is neither bold nor marked": lambda *law: 1 - marked(0.0, "m0")(*law),
    "two sets of 140 cells, equal: any cell differs": compared(0.0),
    "ten equal methods on six datasets: Friedman rejects": ranked(friedman, 6),
    "the same: Iman and Davenport reject": ranked(iman_davenport, 6),
}
POWER: dict[str, Study] = {
    "5 points apart: `above` holds": claim("above", [75, 70], "holds"),
    "two equal methods: `similar` holds": claim("similar", PAIR, "holds"),
    "10 points apart: `far above` holds": claim("far above", [80, 70], "holds"),
    "5 points above three methods on seven datasets: `above` holds on most": claim(
        "above", [75, 70, 70, 70], "holds", "most", 7
    ),
    "5 points below: `above` does not hold on all": claim(
        "above", [65, *SEVEN[1:]], "does not hold", "all", 7
    ),
    "5 points below the best of ten: not marked": lambda *law: 1 - marked(5.0, "m1")(*law),
    "equal to the paper, quiet: reproduced": cell(0.0, 0.5, "reproduced"),
    "equal to the paper, noisy: reproduced": cell(0.0, 4.0, "reproduced"),
    "8 points from the paper: better": cell(8.0, 1.0, "better"),
    "two sets of 140 cells, 10 points apart in 14 of them: any cell differs": compared(10.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 5, 10])
    arguments = parser.parse_args()
    for title, studies in (("wrong verdict", ERRORS), ("right verdict", POWER)):
        print(f"| {title} | " + " | ".join(f"{n} seeds" for n in arguments.seeds) + " |")
        print("|---|" + "---|" * len(arguments.seeds))
        for name, study in studies.items():
            rates = [study(np.random.default_rng(0), n, arguments.repeats) for n in arguments.seeds]
            print(f"| {name} | " + " | ".join(f"{rate:.1%}" for rate in rates) + " |", flush=True)
        print()


if __name__ == "__main__":
    main()
