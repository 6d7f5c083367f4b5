import pytest

from dekm.cli.outputs import PAPER
from dekm.experiment.config import Experiment
from dekm.experiment.config_file import read_config_file
from dekm.experiment.deviations import describe_differences, find_deviations, pretraining_of
from dekm.experiment.estimators import effective_parameters
from dekm.files import write_json
from tests.helpers.handmade import MADE, write_seed, write_summary


@pytest.fixture
def facts():
    """The facts of a run of DEKM on USPS under a protocol of the paper's configuration."""

    def make(protocol="paper", **changes):
        paper = Experiment({**read_config_file(PAPER), "protocol": protocol})
        settings = paper.method_settings("usps", "dekm")
        parameters = effective_parameters(paper.method("dekm").load(), settings)
        pretraining = pretraining_of(paper, "usps", paper.pretraining("usps", "dekm"))
        return {"parameters": parameters, "pretraining": pretraining} | changes

    return make


def deviations(results, facts, datasets=("usps",)):
    write_summary(results, "usps", "dekm", [{"acc": 0.9, "nmi": 0.9}], **facts)
    return find_deviations(results, list(datasets), ["dekm"], PAPER)


@pytest.mark.parametrize("protocol", ["paper", "released", "june2021"])
def test_a_protocol_of_the_configuration_is_the_papers(facts, tmp_path, protocol):
    assert deviations(tmp_path, facts(protocol)) == {}


def test_other_parameters_and_pretrainings_are_named(facts, tmp_path):
    same = facts()
    other = facts(
        parameters=same["parameters"] | {"tol": 0.5}, pretraining=same["pretraining"] | {"n_epochs": 5}
    )
    (text,) = deviations(tmp_path, other).values()
    assert text == "tol 0.5 instead of 0.001, pretraining n_epochs 5 instead of 200"


def test_a_run_of_an_earlier_version_and_other_data_are_left_out(facts, tmp_path):
    old = {name: value for name, value in facts().items() if name != "parameters"}
    assert deviations(tmp_path, old) == {}
    assert deviations(tmp_path, facts(), datasets=["digits", "mnist"]) == {}


def test_a_seed_that_the_summary_does_not_count_tells_nothing(facts, tmp_path):
    old = facts()
    assert deviations(tmp_path, facts(parameters=old["parameters"] | {"tol": 0.5}))
    cell = tmp_path / "runs/usps/dekm"
    write_seed(tmp_path, "usps", "dekm", 10, {"acc": 0.9, "nmi": 0.9}, **old)
    write_json(cell / "summary.json", {"seeds": {"10": {"key": MADE["key"], "id": "uspsdekm10"}}})
    assert find_deviations(tmp_path, ["usps"], ["dekm"], PAPER) == {}
    (cell / "summary.json").write_text("{")
    assert find_deviations(tmp_path, ["usps"], ["dekm"], PAPER) == {}


def test_many_differences_are_cut():
    assert describe_differences(list("abcdef")) == "a, b, c, d and 2 more"
