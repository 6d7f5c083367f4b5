import inspect
from pathlib import Path

import pytest
import yaml

from dekm.autoencoders import Autoencoder
from dekm.config import Experiment, find_mistakes, read_experiment
from dekm.errors import InputError
from dekm.methods import METHODS

CONFIG = Path(__file__).parent.parent / "config"
SCHEMA_FILE = CONFIG / "config.schema.yaml"
SCHEMA = yaml.safe_load(SCHEMA_FILE.read_text())
MINIMAL = {"name": "x", "seeds": [0], "datasets": {"digits": {}}, "methods": {"k_means": {}}}
NOT_IN_CONFIG = {"n_clusters", "autoencoder", "device", "random_state", "on_iteration"}


def resolve(schema: dict) -> dict:
    while "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


@pytest.mark.parametrize("file", ["config.yaml", "demo.yaml"])
def test_the_configurations_of_the_project_are_valid(file: str) -> None:
    read_experiment(yaml.safe_load((CONFIG / file).read_text()), SCHEMA_FILE)


def test_the_schema_names_every_method() -> None:
    assert set(resolve(SCHEMA["properties"]["methods"])["properties"]) == set(METHODS)


@pytest.mark.parametrize("method", METHODS)
def test_the_schema_names_every_parameter_of_a_method(method: str) -> None:
    parameters = set(inspect.signature(METHODS[method].load()).parameters) - NOT_IN_CONFIG
    assert (
        set(resolve(resolve(SCHEMA["properties"]["methods"])["properties"][method])["properties"])
        == parameters
    )


def test_the_schema_names_every_setting_of_the_pretraining() -> None:
    settings = set(inspect.signature(Autoencoder).parameters) - {"architecture", "device", "random_state"}
    assert set(resolve(SCHEMA["properties"]["pretraining"])["properties"]) == settings


def test_the_readme_of_the_configuration_names_every_key() -> None:
    text = (CONFIG / "README.md").read_text()
    assert all(f"`{key}`" in text for key in SCHEMA["properties"])
    assert all(f"`{method}`" in text for method in METHODS)


def test_a_dataset_overrides_pretraining_and_parameters() -> None:
    config = MINIMAL | {
        "pretraining": {"n_epochs": 5, "lr": 0.1},
        "datasets": {
            "digits": {"pretraining": {"n_epochs": 7}, "methods": {"k_means": {"n_init": 3}}},
            "topics": {},
        },
        "methods": {"k_means": {"n_init": 20}},
    }
    experiment = Experiment(config)
    assert experiment.pretraining("digits") == {"n_epochs": 7, "lr": 0.1}
    assert experiment.pretraining("topics") == {"n_epochs": 5, "lr": 0.1}
    assert experiment.parameters("digits", "k_means") == {"n_init": 3}
    assert experiment.parameters("topics", "k_means") == {"n_init": 20}


@pytest.mark.parametrize(
    ("dataset", "method", "architecture"),
    [("digits", "dekm", "conv"), ("topics", "dekm", "mlp"), ("digits", "k_means", None)],
)
def test_the_architecture_follows_from_the_rows(dataset: str, method: str, architecture: str | None) -> None:
    experiment = Experiment(MINIMAL | {"datasets": {dataset: {}}, "methods": {method: {}}})
    assert experiment.architecture(dataset, method) == architecture


def test_every_mistake_is_listed_with_its_place_and_what_is_right() -> None:
    config = {
        "nmae": "x",
        "seeds": [0, 0],
        "datasets": {"mnits": {}, "digits": {"subsample": 0}},
        "methods": {"dekm": {"tol": 2, "max_itr": 3}, "kmeans": {}},
    }
    lines = list(find_mistakes(config, SCHEMA))
    expected = [
        "nmae: unknown name; did you mean 'name'?",
        "name should be there",
        "seeds: [0, 0] has non-unique elements",
        "datasets.mnits: unknown name; did you mean 'mnist'?",
        "datasets.digits.subsample: 0 is less than the minimum of 1",
        "methods.dekm.tol: 2 is greater than the maximum of 1",
        "methods.dekm.max_itr: unknown name; did you mean 'max_iter'?",
        "methods.kmeans: unknown name; did you mean 'k_means'?",
    ]
    for text in expected:
        assert sum(text in line for line in lines) == 1, (text, lines)
    assert len(lines) == len(expected)


def test_an_empty_configuration_is_one_error() -> None:
    with pytest.raises(InputError, match="name, seeds, datasets, methods should be there"):
        read_experiment({}, SCHEMA_FILE)


def test_a_dataset_or_method_without_settings_may_be_left_empty() -> None:
    config = yaml.safe_load("{name: x, seeds: [0], datasets: {digits: }, methods: {k_means: }}")
    experiment = read_experiment(config, SCHEMA_FILE)
    assert experiment.parameters("digits", "k_means") == {}
    assert experiment.subsample("digits") is None
