"""The benchmarks run and write what they print, on small data."""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dekm.datasets import DATASETS, preparation
from dekm.nn.networks import empty_network
from dekm.nn.training import Step
from tests.helpers.prepared_files import files

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
KERAS = os.environ.get("KERAS_PYTHON")  # Python of an environment with TensorFlow
CLUSTPY = os.environ.get("CLUSTPY_PYTHON")  # Python of an environment with ClustPy


def run(script, *arguments):
    command = [sys.executable, BENCHMARKS / script, *map(str, arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def count(calls, function):
    def counted(*arguments):
        calls.append(arguments)
        return function(*arguments)

    return counted


@pytest.fixture
def digits(tmp_path):
    preparation.prepare(
        DATASETS["digits"], tmp_path / "raw", **files(tmp_path / "data/digits"), subsample=300
    )
    return tmp_path


def test_complete_fits_are_timed_and_scored(digits, tmp_path):
    out = tmp_path / "peers.json"
    given = ["--libraries", "dekm", "--datasets", "digits", "--epochs", 1, "--repeats", 1, "--out", out]
    given += ["--samples", 200]
    assert "digits 200x64 idec: " in run("peers.py", digits, *given, "--methods", "idec")
    (row,) = json.loads(out.read_text())["rows"]
    assert row["libraries"]["dekm"]["seconds"] > 0
    assert 0.1 <= row["libraries"]["dekm"]["acc"] <= 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # few epochs, and no other stop
@pytest.mark.parametrize("method", ["dec", "idec", "dcn", "dkm"])
def test_a_compared_method_takes_a_step_for_each_batch_of_its_epochs(method, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    fit = importlib.import_module("fit")
    X = np.random.default_rng(0).random((300, 8), dtype=np.float32)
    given = argparse.Namespace(method=method, pretraining=1, clustering=4, seed=0, device="cpu")
    estimator = fit.make_dekm(given, 3, *X.shape)
    steps = []
    monkeypatch.setattr(Step, "_step", count(steps, Step._step))
    estimator.fit(X)
    assert len(steps) == (1 + 4) * 2  # epochs, of two batches


def test_steps_and_pretrainings_are_timed_beside_keras(tmp_path):
    out = tmp_path / "keras.json"
    given = ["--shapes", "8x8x1", "--samples", 40, "--turns", 1, "--steps", 1, "--epochs", 1, "--out", out]
    peer = ["--peer-python", KERAS] if KERAS else ["--libraries", "dekm"]
    assert "8x8x1, batch 40: " in run("keras_peer.py", *given, *peer)
    (row,) = json.loads(out.read_text())["rows"]
    for times in (row["step_ms"], row["pretraining_s"]):
        assert list(times) == (["dekm", "keras"] if KERAS else ["dekm"])
        assert all(time > 0 for found in times.values() for time in found)


@pytest.mark.skipif(KERAS is None, reason="KERAS_PYTHON names no environment with Keras")
@pytest.mark.parametrize("shape", [(28, 28, 1), (16, 16, 1), (8, 8, 1), (32, 32, 3), (20,)])
def test_the_network_of_keras_has_as_many_weights(shape, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    train = importlib.import_module("train")
    architecture = "conv" if len(shape) == 3 else "mlp"
    ours = empty_network(shape, architecture, train.EMBEDDING_DIM, train.CHANNELS, train.HIDDEN)
    count = f"import train; print(train.keras_network({shape}).count_params())"
    command = [str(KERAS), "-c", count]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=True)
    assert int(done.stdout) == sum(value.numel() for value in ours.parameters())


def test_memory_grows_by_less_than_four_copies_of_the_data(tmp_path):
    run("scale.py", "--sizes", 1000, 100_000, "--hidden", 128, 128, "--out", tmp_path / "scale.json")
    small, large = json.loads((tmp_path / "scale.json").read_text())["rows"]
    assert (small["n"], large["n"]) == (1000, 100_000)
    assert large["peak_mb"] - small["peak_mb"] < 4 * large["file_mb"]


def test_steps_have_a_time_and_a_fraction_of_the_rate_of_the_machine(tmp_path):
    run("steps.py", "--device", "cpu", "--small", "--repeats", 5, "--out", tmp_path / "steps.json")
    results = json.loads((tmp_path / "steps.json").read_text())
    assert results["machine"]["cpu"]
    assert results["machine"]["instruction set"]
    assert all(row["step_ms"] > 0 for row in results["steps"])
    assert results["steps"][0]["gflops"] == pytest.approx(
        results["steps"][0]["fraction"] * max(results["gemm"].values())
    )


def test_kmeans_is_timed_beside_other_libraries(tmp_path):
    run("kmeans.py", "--device", "cpu", "--sizes", "500x5x3", "--turns", 1, "--out", tmp_path / "kmeans.json")
    (row,) = json.loads((tmp_path / "kmeans.json").read_text())["kmeans"]
    assert (row["n"], row["e"], row["k"]) == (500, 5, 3)
    assert row["dekm"]["ratio"] == 1
    assert row["scikit-learn"]["seconds"] > 0
    assert row["dekm"]["inertia_more"] == pytest.approx(0, abs=1e-6)  # it is scikit-learn


def test_cells_are_timed_in_one_process(digits, tmp_path):
    config = tmp_path / "own.yaml"
    config.write_text(
        "{name: own, seeds: [0], device: cpu, datasets: {digits: {}}, methods: {k_means: {n_init: 2}}}"
    )
    assert "s digits k_means" in run("paper.py", config, digits)


def test_the_parts_of_a_gpu_day_are_timed_and_kept(digits, tmp_path):
    """A rehearsal on the CPU: the tests on a GPU are skipped, and one dataset is not prepared."""
    config, out = tmp_path / "own.yaml", tmp_path / "day"
    config.write_text(
        "{name: own, seeds: [0], pretraining: {n_epochs: 1, channels: [2, 2, 2]},"
        " datasets: {digits: {}, topics: {}},"
        " methods: {k_means: {n_init: 1}, ae_k_means: {n_init: 1}, dec: {unknown: 1}}}"
    )
    settings = {
        "DEVICE": "cpu",
        "LIMIT": "2000",
        "CONFIG": str(config),
        "STEPS": "--small --repeats 1",
        "KMEANS": "--sizes 500x5x3 --turns 1",
        "DATASETS": "digits topics",
    }
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | settings | {"OMP_NUM_THREADS": "1", "PATH": path}
    command = [BENCHMARKS / "gpu_day.sh", digits / "data", out]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    summary = (out / "summary.txt").read_text()
    assert "steps: complete" in summary
    assert "digits: failed with status 1" in summary  # one cell of three
    assert "topics: not prepared" in summary
    assert "s digits k_means" in (out / "digits.log").read_text()
    with tarfile.open(out / "report.tar.gz") as archive:
        names = archive.getnames()
    assert {"./kmeans.json", "./steps.json", "./runs/digits/ae_k_means/seed0/metrics.json"} <= set(names)
    assert not any(name.endswith((".npy", ".safetensors")) for name in names)


def test_a_gpu_day_ends_in_time(digits, tmp_path):
    command = [BENCHMARKS / "gpu_day.sh", digits / "data", tmp_path / "day"]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "LIMIT": "4"}
    done = subprocess.run(command, env=environment | {"DATASETS": "digits"}, capture_output=True, text=True)
    assert "steps: no time left" in done.stdout, done.stderr
    assert "digits: no time left" in done.stdout


def test_a_cluster_is_simulated_job_by_job(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    cluster = importlib.import_module("cluster")
    pretraining, runs = cluster.Job("p", "p", 10.0), [cluster.Job(f"c{i}", "p", 4.0) for i in range(4)]
    other = cluster.Job("q", "q", 3.0)
    jobs = [*runs, pretraining, other]
    assert [cluster.simulate(jobs, n) for n in (1, 2, 32)] == [29.0, 18.0, 14.0]
    assert cluster.longest_chain(jobs) == (14.0, "c3")


def test_starts_of_deep_methods_on_vectors_are_compared(tmp_path, blobs):
    np.savez(tmp_path / "vectors.npz", X=blobs.X, y=blobs.y)
    given = ["--methods", "k_means", "ae_k_means", "--dims", 2, 4, "--hidden", 8, "--seeds", 1]
    printed = run("embeddings.py", tmp_path / "vectors.npz", *given, "--out", tmp_path / "rows.json")
    assert "300 samples of 10 values, k=3" in printed
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [row["start"] for row in rows] == ["", "pca, e=2, 0 epochs", "pca, e=4, 0 epochs"]
    assert all(row["acc"] > 0.9 for row in rows)


def test_numbers_within_one_or_a_tenth_are_counted(monkeypatch, capsys):
    monkeypatch.syspath_prepend(BENCHMARKS)
    pairs = [(4, 4), (5, 4), (6, 4), (18, 20), (17, 20), (0, 1), (3, 1)]
    importlib.import_module("partitions").print_hits("gap", pairs)
    assert capsys.readouterr().out == "gap: 1 right, 4 within one or a tenth, of 7\n"


@pytest.mark.skipif(CLUSTPY is None, reason="CLUSTPY_PYTHON names no environment with ClustPy")
def test_dipdeck_counts_compact_clusters(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    X = make_blobs(400, 10, centers=3, cluster_std=0.5, random_state=0)[0]
    assert importlib.import_module("dipdeck").estimate(X, 0, CLUSTPY) == 3
