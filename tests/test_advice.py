import pytest

from dekm.results.advice import advice
from dekm.results.result_set import ResultSet
from dekm.results.runs import read_runs
from tests.helpers.handmade import write_summary


@pytest.fixture
def write(tmp_path):
    def write(method, *silhouettes, dataset="mine"):
        write_summary(tmp_path, dataset, method, [{"silhouette": value} for value in silhouettes])

    return write


@pytest.fixture
def line(tmp_path):
    return lambda: advice(read_runs(ResultSet(tmp_path)), "mine")


def test_the_methods_are_ranked_by_the_mean_over_the_seeds(write, line):
    write("k_means", 0.1, 0.3)
    write("dekm", 0.2, 0.26)
    write("dec", 0.9, dataset="other")
    assert line() == "mine: DEKM has the largest silhouette of the samples. All: DEKM 0.230, K-means 0.200."


def test_a_simple_method_that_wins_is_said(write, line):
    write("k_means", 0.3)
    write("dekm", -0.1)
    assert "K-means has the largest silhouette of the samples. A simple method" in line()


@pytest.mark.parametrize("values", [(), (None,)])
def test_one_method_or_an_undefined_silhouette_gives_no_advice(write, line, values):
    write("k_means", 0.3)
    if values:
        write("dekm", *values)
    assert line() == ""
