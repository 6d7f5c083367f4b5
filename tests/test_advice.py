import pytest

from dekm.files import write_json
from dekm.results.advice import advice
from dekm.results.result_set import ResultSet


def summary(results, method, label, *silhouettes, dataset="mine"):
    seeds = {str(seed): {"silhouette": value} for seed, value in enumerate(silhouettes)}
    identity = {"dataset": dataset, "method": method, "label": label}
    write_json(results.cell(dataset, method).summary_file, identity | {"seeds": seeds})


@pytest.fixture
def results(tmp_path):
    return ResultSet(tmp_path)


def test_the_methods_are_ranked_by_the_mean_over_the_seeds(results):
    summary(results, "k_means", "K-means", 0.1, 0.3)
    summary(results, "dekm", "DEKM", 0.2, 0.26)
    summary(results, "dec", "DEC", 0.9, dataset="other")
    assert advice(results, "mine") == (
        "mine: DEKM has the largest silhouette of the samples. All: DEKM 0.230, K-means 0.200."
    )


def test_a_simple_method_that_wins_is_said(results):
    summary(results, "k_means", "K-means", 0.3)
    summary(results, "dekm", "DEKM", -0.1)
    assert "K-means has the largest silhouette of the samples. A simple method" in advice(results, "mine")


@pytest.mark.parametrize("values", [(), (None,)])
def test_one_method_or_an_undefined_silhouette_gives_no_advice(results, values):
    summary(results, "k_means", "K-means", 0.3)
    if values:
        summary(results, "dekm", "DEKM", *values)
    assert advice(results, "mine") == ""
