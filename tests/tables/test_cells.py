from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dekm.tables.cells import Score, difference, table3
from dekm.tables.statistics.inference import LEVEL, paired, welch
from tests.helpers.handmade import write_facts, write_scores
from tests.helpers.loaded import read_results

PAPER = pd.read_csv(Path(__file__).parents[2] / "resources" / "paper" / "table3.csv")
BEST = [0.80, 0.85, 0.90]
SECOND = [value - gap for value, gap in zip(BEST, (0.006, 0.010, 0.014), strict=True)]


def tied(results: Path, n_methods: int) -> bool:
    """Whether the second of so many methods is marked as perhaps the best; the others are far below."""
    scores = [BEST, SECOND, *([0.1, 0.15, 0.2] for _ in range(n_methods - 2))]
    methods = [f"m{i}" for i in range(n_methods)]
    write_facts(results, "mnist")
    for method, acc in zip(methods, scores, strict=True):
        write_scores(results, "mnist", method, acc, pretrained="shared")
    cells = table3(read_results(results, ["mnist"], methods), PAPER)
    return bool(cells.query("metric == 'acc'").set_index("method").loc["m1", "tied"])


def test_a_mark_allows_for_the_number_of_methods_that_may_be_the_best(tmp_path: Path) -> None:
    p = paired(100 * np.array(SECOND), 100 * np.array(BEST)).p_below(0)
    assert LEVEL / 9 < p < LEVEL
    assert tied(tmp_path / "ten", 10)
    assert not tied(tmp_path / "two", 2)


def scores(values: list[float], keys: list[str]) -> dict[int, Score]:
    return {seed: Score(*run) for seed, run in enumerate(zip(values, keys, strict=True))}


@pytest.mark.parametrize(
    ("keys", "others", "n_pairs"),
    [
        (["a", "b", "c"], ["a", "b", "c"], 3),
        (["a", "b", "c"], ["a", "b", "x"], 2),
        (["a", "b", "c"], ["a", "x", "y"], 0),
        (["a", "b", "c"], ["", "", ""], 0),
        (["", "", ""], ["", "", ""], 0),
    ],
)
def test_only_runs_from_the_same_autoencoder_are_paired(
    keys: list[str], others: list[str], n_pairs: int
) -> None:
    a, b = np.array([90.0, 92.0, 95.0]), np.array([89.0, 90.0, 96.0])
    found = difference(scores(list(a), keys), scores(list(b), others))
    moments = [(float(x.mean()), float(x.std(ddof=1)), 3) for x in (a, b)]
    expected = paired(a[:n_pairs], b[:n_pairs]) if n_pairs else welch(*moments[0], *moments[1])
    for name in ("estimate", "error", "df"):
        assert float(getattr(found, name)) == pytest.approx(float(getattr(expected, name)))
