import re
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from dekm.results.advice import NEAR, TRUST, advice
from dekm.results.comparison import compare
from dekm.results.result_set import ResultSet
from dekm.results.runs import read_runs
from tests.helpers.handmade import make_history, write_run, write_summary

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "choose-a-method.md"
NUMBERS = {5: "five", 6: "six", 7: "seven", 8: "eight"}
RNG = np.random.default_rng(0)
TRUE = np.arange(60) % 3
NOISE = RNG.normal(size=(60, 4)).astype(np.float32)
GOOD = (NOISE + 6 * np.eye(3, 4)[TRUE]).astype(np.float32)  # an embedding that separates the classes
OTHER = RNG.integers(3, size=60)
HALF = np.where(np.arange(60) < 30, TRUE, OTHER)


@pytest.fixture
def write(tmp_path):
    def write(method, *partitions, embedding=GOOD, dataset="mine", metrics=None):
        for seed, labels in enumerate(partitions):
            write_run(tmp_path, dataset, method, labels, embedding, make_history([0.5]), seed)
        write_summary(tmp_path, dataset, method, [metrics or {}] * len(partitions))

    return write


@pytest.fixture
def runs(tmp_path):
    return lambda: read_runs(ResultSet(tmp_path))


@pytest.fixture
def line(runs):
    return lambda: advice(runs(), "mine", compare(runs(), "mine"))


def test_the_method_whose_clusters_every_embedding_separates_is_named(write, line):
    write("k_means", OTHER, OTHER, embedding=NOISE)
    write("dekm", TRUE, HALF)
    write("dec", TRUE, dataset="other")
    text = line()
    assert text.startswith("mine: DEKM separates the samples best in the embeddings of all runs. Pooled silh")
    assert "DEKM +0." in text
    assert "K-means -" in text
    assert TRUST in text


def test_neither_the_samples_nor_the_contrast_of_a_methods_own_space_decide(write, line):
    write("k_means", OTHER, embedding=NOISE + 50 * np.eye(3, 4)[OTHER])
    write("dekm", TRUE)
    write("ae_k_means", HALF)
    collapsed = 0.001 * NOISE + 900 * np.eye(3, 4)[OTHER]  # it fits its own partition perfectly
    write("idec", OTHER, embedding=collapsed.astype(np.float32))
    assert line().startswith("mine: DEKM separates")


def test_the_samples_count_where_nothing_was_learned(write, line):
    write("k_means", TRUE)
    write("pca_k_means", OTHER)
    assert line().startswith("mine: K-means, a simple method, separates the samples best")


def test_methods_that_differ_too_little_are_not_ranked(write, line):
    nearly = TRUE.copy()
    nearly[:1] = (nearly[:1] + 1) % 3
    write("k_means", OTHER)
    write("dekm", TRUE)
    write("dec", nearly)
    assert "DEKM and DEC separate the samples best" in line()
    assert "which of them is best cannot be told without labels" in line()


def test_true_labels_have_no_part_but_are_told(write, line):
    write("k_means", OTHER, metrics={"acc": 0.9})
    write("dekm", TRUE, metrics={"acc": 0.6})
    assert line().startswith("mine: DEKM separates")
    assert line().endswith("By the true labels K-means has the best ACC, 90.0; DEKM has 60.0.")
    write("dekm", TRUE, metrics={"acc": 0.95})
    assert line().endswith("By the true labels DEKM has the best ACC, 95.0.")


def test_what_cannot_be_compared_is_said_in_one_line(write, line, tmp_path):
    assert line() == ""
    write_summary(tmp_path, "mine", "k_means", [{}])
    assert line() == "mine: only K-means has been run, so there is nothing to compare."
    write("k_means", OTHER)
    assert line() == "mine: only K-means has been run, so there is nothing to compare."
    write("dekm", np.zeros(60, int))
    assert line() == (
        "mine: the methods cannot be compared without labels. DEKM is left out: a run has one cluster."
    )
    write("dec", TRUE, embedding=np.ones_like(GOOD))
    assert line().startswith("mine: DEC separates")  # in the samples, since all embeddings are of equal rows
    write("k_means", TRUE + 1)
    assert line().startswith("mine: the methods cannot be compared without labels. DEKM is left out")
    assert line().endswith("No embedding tells the partitions apart.")
    write_summary(tmp_path, "mine", "dcn", [{}])
    assert "DCN is left out: " in line()
    assert "labels.npy does not exist" in line()
    assert "\n" not in line()


def test_a_run_without_its_embedding_is_compared_in_those_of_others(write, line, tmp_path):
    write("dekm", TRUE)
    write("dec", HALF)
    write("idec", OTHER)
    (tmp_path / "runs/mine/dec/seed0/embedding.npy").unlink()
    write_summary(tmp_path, "mine", "dec", [{}])
    assert line().startswith("mine: DEKM separates")
    assert "DEC +" in line() or "DEC -" in line()
    assert "An embedding is left out:" in line()
    assert "dec/seed0/embedding.npy does not exist" in line()
    write("dec", HALF, embedding=np.full_like(GOOD, np.nan))
    assert "dec/seed0/embedding.npy is not finite" in line()


def test_the_comparison_is_the_same_every_time(write, runs):
    write("dekm", TRUE, HALF)
    write("dec", OTHER)
    first = compare(runs(), "mine")
    assert first == compare(runs(), "mine")
    assert [len(scores) for scores in first.scores.values()] == [2, 1]


def test_the_loss_it_states_is_that_of_the_table():
    page = PAGE.read_text(encoding="utf-8")
    row = re.search(r"^\| \*\*pooled silhouette\*\* \| (.*) \|$", page, re.M).group(1)
    *datasets, summary, largest = row.split(" | ")
    losses = [float(cell.split(", ")[1]) for cell in datasets]
    mean = float(summary.strip("*").split(", ")[1])
    assert mean == pytest.approx(fmean(losses), abs=0.1)
    assert float(largest) == max(losses)
    assert f"on {NUMBERS[len(losses)]} datasets" in TRUST
    assert f"had {mean} points of ACC less" in TRUST
    assert f"at most {largest}." in TRUST
    assert f"within {NEAR} of the first" in " ".join(page.split())
