from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml

from dekm.cli import main
from dekm.cli.arguments import parse_numbers
from dekm.clustering.gap import Gap
from dekm.clustering.modularity import NeighborGraph
from dekm.errors import InputError
from dekm.experiment.choose_k import (
    LIMITS,
    Fits,
    LoggedHistory,
    Trial,
    measure,
    recommend,
)
from dekm.experiment.config import Experiment
from dekm.methods import baselines
from dekm.methods.baselines import PCAKMeans, fit_pca
from dekm.methods.iteration import Iteration
from dekm.nn.stages import Epoch

pytestmark = pytest.mark.usefixtures("restored_logging")


RISES = Gap([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4], [0.0] * 4)


def stops_at(k: int) -> Gap:
    return Gap([1, 2, 3, 4], [float(min(n, k)) - (n > k) for n in (1, 2, 3, 4)], [0.0] * 4)


def trial(label: str, k: int, *modularity: float, stability: float = 1.0) -> Trial:
    return Trial(label, k, list(modularity), [0.1], [1.0], stability, 5)


@pytest.mark.parametrize(
    ("text", "numbers"), [("2-4", [2, 3, 4]), ("15,5,10", [5, 10, 15]), ("3", [3]), ("2-3,3,7", [2, 3, 7])]
)
def test_numbers_of_clusters_are_read(text: str, numbers: list[int]) -> None:
    assert parse_numbers(text) == numbers


@pytest.mark.parametrize("text", ["", "1-3", "5-2", "x", "2-", "2.5", "-3", "2-999999", "２"])
def test_what_is_no_number_of_clusters_is_named(text: str) -> None:
    with pytest.raises(InputError, match="should be numbers of clusters >= 2, such as 2-15 or 5,10,15"):
        parse_numbers(text)


def test_the_first_peak_of_the_gap_statistic_is_recommended() -> None:
    trials = [trial("K-means", 2, 0.3, 0.2), trial("K-means", 3, 0.245), trial("DEKM", 4, 0.1)]
    text = recommend(trials, stops_at(3))
    assert "K-means: largest modularity 0.250 at k = 2; about as good: 3\n" in text
    assert "Recommended: k = 3, the first peak of the gap statistic." in text
    assert text.endswith(LIMITS)


def test_the_largest_modularity_decides_where_the_gap_statistic_names_none() -> None:
    text = recommend([trial("K-means", 2, 0.3), trial("K-means", 3, 0.2), trial("DEKM", 4, 0.5)], RISES)
    assert "Recommended: k = 4, by the modularity of DEKM. The gap statistic rises" in text


def test_no_number_is_recommended_for_one_cluster_or_equal_samples() -> None:
    text = recommend([trial("K-means", 2, 0.3), trial("K-means", 3, 0.2)], stops_at(1))
    assert "No number is recommended: by the gap statistic these samples look like one cluster" in text
    assert "Recommended:" not in text
    assert recommend([trial("K-means", 2)], RISES) == "No number is recommended: the samples are all equal."


def test_seeds_that_disagree_are_a_warning() -> None:
    trials = [trial("K-means", 2, 0.3, stability=0.2), trial("K-means", 3, 0.4, stability=0.55)]
    warned = (
        "Warning: the seeds disagree about the partition into 3 clusters (adjusted Rand index: K-means 0.55)"
    )
    assert warned in recommend(trials, stops_at(3))
    assert "Warning" not in recommend([trial("K-means", 3, 0.4, stability=float("nan"))], stops_at(3))


def test_partitions_are_measured_over_the_seeds() -> None:
    X = np.repeat(9 * np.eye(3), 12, axis=0) + np.random.default_rng(0).normal(size=(36, 3))
    labels, graph = np.repeat(np.arange(3), 12), NeighborGraph(X)
    found = measure("K-means", 3, X, graph, [labels, (labels + 1) % 3])
    assert (found.stability, found.smallest) == (1.0, 12)
    assert found.row()["modularity"] == pytest.approx(2 / 3, abs=0.01)
    assert found.row()["silhouette"] > 0.7
    assert found.row()["modularity_sd"] == pytest.approx(0)
    assert np.isnan(measure("K-means", 3, X, graph, [labels]).stability)


def test_the_components_are_computed_once_and_change_no_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(80, 6)).astype(np.float32)
    np.save("x.npy", X)
    config = {"datasets": {"mine": {"path": "x.npy", "n_clusters": 3}}, "device": "cpu"}
    config |= {"name": "own", "seeds": [1], "methods": {"pca_k_means": {"n_init": 2, "variance": 0.7}}}
    fits = Fits(Experiment(config), "mine", X)
    expected = [PCAKMeans(k, n_init=2, variance=0.7, random_state=1).fit_predict(X) for k in (2, 3, 4)]
    fitted: list[int] = []
    monkeypatch.setattr(baselines, "fit_pca", lambda *given: fitted.append(1) or fit_pca(*given))
    found = [fits.labels("pca_k_means", k, 1) for k in (2, 3, 4)]
    np.testing.assert_array_equal(found, expected)
    assert len(fitted) == 1


def test_a_long_pretraining_or_fit_is_seen_to_progress(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr("dekm.experiment.choose_k.LOG_SECONDS", 0)
    LoggedHistory("mine, seed 0: pretraining mlp").log_epoch(Epoch(3, 9, 0.5, None))
    X = torch.eye(4)
    LoggedHistory("mine, DEKM")(Iteration(2, X, torch.arange(4), X, 0.0, 0.25))
    assert caplog.messages == [
        "mine, seed 0: pretraining mlp: epoch 3 of 9",
        "mine, DEKM: iteration 2, 25.00% of the labels changed",
    ]
    monkeypatch.setattr("dekm.experiment.choose_k.LOG_SECONDS", 60)
    LoggedHistory("mine").log_epoch(Epoch(4, 9, 0.5, None))
    assert len(caplog.messages) == 2


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
    assert "Recommended: k = 3, the first peak of the gap statistic." in capsys.readouterr().out
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


def test_the_samples_are_those_of_the_configuration_and_of_the_file_as_they_are_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    block = {"path": "x.npy", "n_clusters": 3}
    config = {"name": "own", "seeds": [0], "methods": {"k_means": {"n_init": 1}}, "datasets": {"mine": block}}

    def n_samples_of(n: int, **options: int) -> str:
        np.save("x.npy", np.random.default_rng(0).normal(size=(n, 3)))
        text = yaml.safe_dump(config | {"datasets": {"mine": block | options}})
        Path("own.yaml").write_text(text, encoding="utf-8")
        assert main(["choose-k", "own.yaml", "--k", "90"]) == 1
        return capsys.readouterr().err

    assert "n_samples=60" in n_samples_of(60)
    assert "n_samples=70" in n_samples_of(70)
    assert "n_samples=50" in n_samples_of(70, subsample=50)


def test_a_sample_without_a_cluster_is_in_none() -> None:
    X = np.random.default_rng(0).normal(size=(8, 2))
    assert measure("x", 2, X, NeighborGraph(X), [np.array([-1, 0, 0, 0, 1, 1, 1, 1])]).smallest == 3
