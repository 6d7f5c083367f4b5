from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from dekm.cli import main
from dekm.cli.arguments import parse_numbers
from dekm.errors import InputError
from dekm.experiment.choose_k import Trial, measure, recommend

pytestmark = pytest.mark.usefixtures("restored_logging")


def trial(label: str, k: int, *silhouettes: float) -> Trial:
    return Trial(label, k, list(silhouettes), [1.0] * len(silhouettes), 1.0, 5)


@pytest.mark.parametrize(
    ("text", "numbers"), [("2-4", [2, 3, 4]), ("15,5,10", [5, 10, 15]), ("3", [3]), ("2-3,3,7", [2, 3, 7])]
)
def test_numbers_of_clusters_are_read(text: str, numbers: list[int]) -> None:
    assert parse_numbers(text) == numbers


@pytest.mark.parametrize("text", ["", "1-3", "5-2", "x", "2-", "2.5", "-3", "2-999999", "２"])
def test_what_is_no_number_of_clusters_is_named(text: str) -> None:
    with pytest.raises(InputError, match="should be numbers of clusters >= 2, such as 2-15 or 5,10,15"):
        parse_numbers(text)


def test_the_largest_silhouette_is_recommended_with_those_about_as_good() -> None:
    text = recommend([trial("K-means", 2, 0.3, 0.2), trial("K-means", 3, 0.245), trial("DEKM", 4, 0.1)])
    assert "K-means: k = 2 (silhouette 0.250); about as good: 3\n" in text
    assert "Recommended: k = 2, by K-means." in text
    assert "favour few, round clusters" in text
    assert recommend([trial("K-means", 2)]) == "No number of clusters has a silhouette."


def test_a_simple_method_that_wins_over_a_deep_one_is_said() -> None:
    said = "by K-means. A simple method separates these samples best"
    assert said in recommend([trial("K-means", 2, 0.3), trial("DEKM", 2, 0.1)])
    assert said not in recommend([trial("K-means", 2, 0.3), trial("AE+K-means", 2, 0.1)])
    assert "A simple method" not in recommend([trial("K-means", 2, 0.1), trial("DEKM", 2, 0.3)])


def test_partitions_are_measured_over_the_seeds() -> None:
    X = np.repeat(np.eye(3), 4, axis=0) + np.random.default_rng(0).normal(0, 0.01, (12, 3))
    labels = np.repeat(np.arange(3), 4)
    found = measure("K-means", 3, X, [labels, (labels + 1) % 3])
    assert (found.stability, found.smallest) == (1.0, 4)
    assert found.row()["silhouette"] > 0.9
    assert found.row()["silhouette_sd"] == pytest.approx(0)
    assert np.isnan(measure("K-means", 3, X, [labels]).stability)


def test_the_command_measures_plots_and_recommends(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.save("x.npy", 9.0 * np.eye(3)[np.arange(30) % 3] + rng.normal(size=(30, 3)))
    pretraining = {"n_epochs": 1, "hidden": [8], "embedding_dim": 2}
    config = {"name": "own", "seeds": [0, 1], "device": "cpu", "pretraining": pretraining}
    config |= {"datasets": {"mine": {"path": "x.npy", "n_clusters": 3}}}
    config |= {"methods": {"dekm": {}, "ae_k_means": {"n_init": 2}, "k_means": {"n_init": 2}}}
    Path("own.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    assert main(["choose-k", "own.yaml", "--k", "2-4"]) == 0
    assert "Recommended: k = 3, by K-means." in capsys.readouterr().out
    assert "mine, trial 4 of 6: AE+K-means, k=2" in caplog.messages
    assert "mine, seed 1: pretraining mlp, 1 epochs" in caplog.messages
    table = pd.read_csv("results/own/choose_k/mine.csv")
    assert table[["method", "k"]].to_numpy().tolist() == [
        [method, k] for method in ("K-means", "AE+K-means") for k in (2, 3, 4)
    ]
    assert Path("results/own/choose_k/mine.png").stat().st_size > 10_000
    assert main(["choose-k", "own.yaml", "--k", "30"]) == 1
    assert main(["choose-k", "own.yaml", "--k", "3", "--datasets", "yours"]) == 1
    error = capsys.readouterr().err
    assert "mine: k=30 should be < n_samples=30." in error
    assert "yours: unknown name" in error
