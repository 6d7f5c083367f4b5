"""The estimate of an experiment before it starts."""

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dekm.cli import main
from dekm.experiment import measure
from dekm.experiment.config import Experiment
from dekm.experiment.estimate import Data, describe_estimate, find_size, planned_cells, size
from dekm.experiment.measure import Costs
from tests.helpers.handmade import write_facts

CONFIG: dict[str, Any] = {
    "name": "small",
    "seeds": [0, 1],
    "device": "cpu",
    "threads": 1,
    "pretraining": {"n_epochs": 10, "batch_size": 100, "hidden": [8], "channels": [4, 4, 4]},
    "datasets": {"digits": {"subsample": 900}, "frgc": None},
    "methods": {
        "k_means": {"n_init": 3},
        "dec": {"max_iter": 5, "update_interval": 7, "n_init": 2},
        "dcn": {"max_iter": 2, "epochs_per_iter": 3, "batch_size": 300},
        "dekm": {"max_iter": 4, "n_init": 6, "n_batches": 40, "n_init_update": 20},
        "dekm_f": {"max_iter": 4, "n_init": 6, "batch_size": 100, "n_init_update": "2n_iter"},
    },
}


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, float]:
    """Seconds of every cell if a step takes 1 s, an encoding 1 ms and a K-means 100 s."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dekm.experiment.estimate.measure_network", lambda *_: Costs(1.0, 0.001, 50))
    monkeypatch.setattr("dekm.experiment.estimate.measure_kmeans", lambda *_: 100.0)
    return {cell.subject: cell.seconds for cell in planned_cells(Experiment(CONFIG))}


def test_the_time_follows_from_the_number_of_steps(seconds: dict[str, float]) -> None:
    assert seconds["conv"] == seconds["mlp"] == 10 * 9
    assert seconds["k_means"] == 3 * 100
    assert seconds["dec"] == pytest.approx(2 * 100 + 5 * 7 + 6 * 0.9)
    assert seconds["dcn"] == pytest.approx(10 * 100 + 2 * 3 * 3 + 3 * 0.9)
    assert seconds["dekm"] == pytest.approx((6 + 4 * 20) * 100 + 4 * 40 + 5 * 0.9)
    assert seconds["dekm_f"] == pytest.approx((6 + 4 * 20) * 100 + 4 * 9 + 5 * 0.9)


def test_a_cell_is_measured_on_this_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measure, "N_POINTS", 100)
    n_threads = torch.get_num_threads()
    cells = {cell.subject: cell for cell in planned_cells(Experiment(CONFIG))}
    torch.set_num_threads(n_threads)
    assert all(cell.seconds > 0 for cell in cells.values())
    assert cells["conv"].costs.n_parameters > cells["k_means"].costs.n_parameters == 0
    assert 0 < cells["conv"].disk < cells["dekm"].disk
    text = describe_estimate(Experiment(CONFIG))
    assert "small on cpu: about " in text
    assert "frgc is left out: it needs a licence" in text
    assert text.splitlines()[-1].startswith("dekm_f")


def test_the_jobs_have_as_many_threads_as_were_measured_with(
    monkeypatch: pytest.MonkeyPatch, seconds: dict[str, float]
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 16)
    config = {name: value for name, value in CONFIG.items() if name != "threads"}
    n_threads = torch.get_num_threads()
    torch.set_num_threads(16)
    try:
        text = describe_estimate(
            Experiment(config | {"datasets": {"digits": None}, "methods": {"k_means": {}}})
        )
    finally:
        torch.set_num_threads(n_threads)
    assert "2 jobs of 8 threads at a time" in text


def test_data_of_known_size_are_not_named_as_unknown() -> None:
    method = {"estimator": "sklearn.cluster:KMeans"}
    text = describe_estimate(Experiment(CONFIG | {"datasets": {"digits": None}, "methods": {"own": method}}))
    assert "no time is known" in text
    assert "size is not known" not in text


@pytest.mark.parametrize(("keep_models", "n_models"), [("all", 2), ("one", 1), ("none", 0)])
@pytest.mark.usefixtures("seconds")
def test_the_disk_follows_from_the_models_that_are_kept(keep_models: str, n_models: int) -> None:
    cells = {cell.subject: cell for cell in planned_cells(Experiment(CONFIG | {"keep_models": keep_models}))}
    arrays = 900 * (4 * 10 + 8)
    assert cells["dekm"].disk == 2 * arrays + n_models * (2 * 4 * 50 + arrays)
    assert cells["conv"].disk == 2 * 4 * 50  # the methods start from them


@pytest.mark.usefixtures("seconds")
def test_the_embedding_of_a_network_of_the_user_has_the_size_that_the_job_takes() -> None:
    network = {"network": "tests.helpers.networks:random_network", "n_epochs": 1}
    config = CONFIG | {"datasets": {"coil20": None}, "methods": {"dekm": {"pretraining": network}}}
    assert {cell.embedding_dim for cell in planned_cells(Experiment(config))} == {20}


def test_the_size_is_that_of_the_prepared_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    experiment = Experiment(CONFIG | {"figures": {"fig1": {"dataset": "digits", "n_classes": 4}}})
    block = experiment.blocks["digits"]
    assert find_size(experiment, block) == Data(900, (8, 8, 1), 10)
    assert find_size(experiment, experiment.blocks["fig1"]) == Data(360, (8, 8, 1), 4)
    write_facts(Path("results/small"), "digits", n_samples=77, shape=[3], n_clusters=2)
    assert find_size(experiment, block) == Data(77, (3,), 2)
    Path("results/small/data/digits/facts.json").write_text('{"label": "digits"}', encoding="utf-8")
    assert find_size(experiment, block) == Data(900, (8, 8, 1), 10)


@pytest.mark.parametrize(("n_bytes", "text"), [(0, "0 MB"), (1.26e7, "13 MB"), (3.44e9, "3.4 GB")])
def test_sizes_have_a_unit(n_bytes: float, text: str) -> None:
    assert size(n_bytes) == text


@pytest.mark.parametrize("content", ["", "- 3", "a: [", "name: x"])
def test_a_file_that_is_no_configuration_is_an_error_of_the_user(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text(content)
    assert main(["estimate", str(tmp_path / "config.yaml")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("dekm: error: ")
    assert "Traceback" not in error


def test_an_unknown_size_is_no_time_of_zero_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "x.npy", np.zeros((40, 3)))
    datasets = {"mine": {"path": str(tmp_path / "x.npy"), "n_clusters": 2}}
    text = describe_estimate(Experiment(CONFIG | {"datasets": datasets}))
    assert "no time is known yet" in text
    assert "about 0" not in text
    assert "before the data are prepared: mine" in text


def test_times_of_a_busy_machine_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measure, "measured", [])
    assert measure.idleness() == 1
    experiment = Experiment(CONFIG | {"methods": {"k_means": {"n_init": 2}}})
    seconds = partial(measure.seconds_of, partial(time.sleep, 0.05))
    monkeypatch.setattr("dekm.experiment.estimate.measure_kmeans", lambda *_: seconds())
    text = describe_estimate(experiment)
    assert measure.idleness() < 0.5
    assert "This machine is busy: what was measured had a processor for" in text
    monkeypatch.setattr(measure, "measured", [(0.95, 1.0)])
    monkeypatch.setattr("dekm.experiment.estimate.measure_kmeans", lambda *_: 1.0)
    assert "busy" not in describe_estimate(experiment)
