import inspect
import json
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from dekm.errors import InputError
from dekm.experiment.checks import find_mistakes, read_experiment
from dekm.experiment.config import DEFAULTS, JUNE2021, PAPER, RELEASED, Experiment, Machine
from dekm.experiment.config_file import read_config_file
from dekm.experiment.plan import job_settings
from dekm.experiment.schema import read_schema
from dekm.files import write_manifest
from dekm.methods import METHODS, STRATEGIES
from dekm.methods.autoencoder import Autoencoder

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
SCHEMA_FILE = CONFIG / "config.schema.yaml"
SCHEMA = read_schema(SCHEMA_FILE)
MINIMAL = {"name": "x", "seeds": [0], "datasets": {"digits": {}}, "methods": {"k_means": {}}}
BEYOND = [pytest.param(10**400, id="10^400")]  # an integer that float64 does not hold


@pytest.mark.parametrize("file", ["config.yaml", "controls.yaml", "demo.yaml", "field.yaml"])
def test_the_configurations_of_the_project_are_valid(file: str) -> None:
    read_experiment(yaml.safe_load((CONFIG / file).read_text()), SCHEMA_FILE)


def test_the_field_runs_the_methods_of_the_paper_as_the_paper_and_all_others() -> None:
    paper, field = (Experiment(read_config_file(CONFIG / f"{name}.yaml")) for name in ("config", "field"))
    assert set(field.methods) == {*METHODS, "dekm_previous"}
    for dataset in field.datasets:
        own = {"init_update": "previous", "n_init_update": 5}
        expected = field.method_settings(dataset, "dekm") | own
        assert field.method_settings(dataset, "dekm_previous") == expected
    for dataset in set(field.datasets) & set(paper.datasets):
        for method in paper.methods:
            assert field.method_settings(dataset, method) == paper.method_settings(dataset, method)
            key = paper.pretraining(dataset, method)
            assert field.pretraining(dataset, method) == key
            if key is not None:
                expected = paper.pretraining_settings(dataset, key)
                assert field.pretraining_settings(dataset, key) == expected


def test_the_control_differs_from_the_paper_in_the_autoencoders_only() -> None:
    paper, control = (
        Experiment(read_config_file(CONFIG / f"{name}.yaml")) for name in ("config", "controls")
    )
    for dataset in control.datasets:
        shared = paper.pretraining(dataset, "dekm")
        assert shared is not None
        assert control.pretraining_settings(dataset, shared) == paper.pretraining_settings(dataset, shared)
        for method in control.methods:
            original = control.method(method).settings_of or method
            assert control.pretraining(dataset, method) == shared
            expected = paper.method_settings(dataset, original)
            assert control.method_settings(dataset, method) == expected


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
    assert experiment.pretraining_settings("digits", "conv").items() >= {"n_epochs": 7, "lr": 0.1}.items()
    assert experiment.pretraining_settings("topics", "mlp").items() >= {"n_epochs": 5, "lr": 0.1}.items()
    assert experiment.method_settings("digits", "k_means") == {"n_init": 3}
    assert experiment.method_settings("topics", "k_means") == {"n_init": 20}


@pytest.mark.parametrize(
    ("dataset", "method", "architecture"),
    [("digits", "dekm", "conv"), ("topics", "dekm", "mlp"), ("digits", "k_means", None)],
)
def test_the_architecture_follows_from_the_rows(dataset: str, method: str, architecture: str | None) -> None:
    experiment = Experiment(MINIMAL | {"datasets": {dataset: {}}, "methods": {method: {}}})
    assert experiment.pretraining(dataset, method) == architecture


@pytest.mark.parametrize(
    ("dataset", "method", "same", "other"),
    [
        ("digits", "dekm", {"scaling": "none", "hidden": [9], "noise": 0.0}, {"scaling": "symmetric"}),
        ("digits", "dekm", {"embedding_dim": 10}, {"embedding_dim": 9}),
        ("coil20", "dekm", {"embedding_dim": 20}, {"embedding_dim": 10}),
        ("coil20", "dkm", {"embedding_dim": 10, "channels": [1, 1, 1]}, {"embedding_dim": 20}),
        ("topics", "dekm", {"noise": 0.0, "layerwise": False}, {"noise": 0.0, "layerwise": True}),
    ],
)
def test_methods_that_ask_for_the_same_pretraining_share_it(
    dataset: str, method: str, same: dict, other: dict
) -> None:
    for own, is_shared in ((same, True), (other, False)):
        methods = {method: {"pretraining": own}}
        experiment = Experiment(MINIMAL | {"datasets": {dataset: {}}, "methods": methods})
        architecture = "mlp" if dataset == "topics" or method == "dkm" else "conv"
        assert (experiment.pretraining(dataset, method) == architecture) is is_shared


def test_the_defaults_of_a_pretraining_are_those_of_the_autoencoder() -> None:
    found = {name: inspect.signature(Autoencoder).parameters[name].default for name in DEFAULTS}
    assert found == DEFAULTS


def test_dkm_with_annealing_starts_from_no_pretrained_autoencoder() -> None:
    config = {"methods": {"dkm": {}, "dkm_a": {"method": "dkm", "annealed": True, "label": "DKM^a"}}}
    experiment = read_experiment(MINIMAL | config, SCHEMA_FILE)
    assert experiment.pretraining("digits", "dkm") == "mlp"
    assert experiment.pretraining("digits", "dkm_a") is None
    assert experiment.method_settings("digits", "dkm_a")["annealed"] is True
    annealed = {"methods": {"dkm": {"annealed": True}}}
    assert read_experiment(MINIMAL | annealed, SCHEMA_FILE).pretraining("digits", "dkm") is None


def test_a_job_is_told_what_the_configuration_says_of_it_and_no_more() -> None:
    own = {"method": "dekm", "label": "Mine", "lr": 0.1, "pretraining": {"network": "mine:make"}}
    config = MINIMAL | {"datasets": {"digits": {"subsample": 50}}, "methods": {"k_means": {}, "mine": own}}
    experiment = Experiment(config)
    told = partial(job_settings, experiment)
    assert told("download", "digits") == {"settings": {}, "licence_held": False}
    assert told("prepare", "digits") == told("download", "digits") | {"subsample": 50, "n_classes": None}
    start = experiment.pretraining("digits", "mine")
    assert told("pretrain", "digits", start)["settings"]["network"] == "mine:make"
    mine = told("cluster", "digits", "mine")
    assert mine["settings"]["lr"] == 0.1
    assert (mine["definition"]["label"], mine["pretrained"], mine["network"]) == ("Mine", start, "mine:make")
    k_means = {"settings": {}, "definition": None, "pretrained": None, "network": None}
    assert told("cluster", "digits", "k_means") == k_means
    assert mine == json.loads(json.dumps(mine))


@pytest.mark.parametrize(
    ("threads", "n_jobs", "n_cores", "expected"),
    [
        ("auto", 20, 2, 1),
        ("auto", 1, 2, 2),
        ("auto", 3, 16, 5),
        ("auto", 1, 64, 8),
        ("auto", 0, 4, 4),
        (8, 20, 2, 8),
        (16, 1, 8, 16),
        (1, 1, 8, 1),
        (12, 1, 64, 12),
    ],
)
def test_jobs_share_the_cores_unless_the_configuration_gives_a_number(
    threads: int | str, n_jobs: int, n_cores: int, expected: int
) -> None:
    experiment = read_experiment(MINIMAL | {"threads": threads}, SCHEMA_FILE)
    assert experiment.machine.threads_of(n_jobs, n_cores) == expected
    assert read_experiment(MINIMAL, SCHEMA_FILE).machine == Machine()


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
        "the file lacks name",
        "seeds=[0, 0] should be a list of at least 1 different value(s), each an integer",
        "datasets.mnits: unknown name; did you mean 'mnist'?",
        "datasets.digits.subsample=0 should be an integer >= 1 or null.",
        "methods.dekm.tol=2 should be a number >= 0 and <= 1.",
        "methods.dekm.max_itr: unknown name; did you mean 'max_iter'?",
        "methods.kmeans: unknown name; did you mean 'k_means'?",
    ]
    for text in expected:
        assert sum(text in line for line in lines) == 1, (text, lines)
    assert len(lines) == len(expected)


def test_an_empty_configuration_is_one_error() -> None:
    with pytest.raises(InputError, match="the file lacks name, seeds, datasets, methods"):
        read_experiment({}, SCHEMA_FILE)


def test_a_dataset_or_method_without_settings_may_be_left_empty() -> None:
    config = yaml.safe_load("{name: x, seeds: [0], datasets: {digits: }, methods: {k_means: }}")
    experiment = read_experiment(config, SCHEMA_FILE)
    assert experiment.method_settings("digits", "k_means") == {}
    assert experiment.blocks["digits"].subsample is None


def test_own_data_join_by_a_block_and_their_header_tells_the_architecture(tmp_path: Path) -> None:
    datasets = {}
    for name, shape in (("rows", (20, 5)), ("grey", (20, 8, 8)), ("colour", (20, 8, 8, 3))):
        np.save(tmp_path / f"{name}.npy", np.zeros(shape))
        np.savez(tmp_path / f"{name}.npz", X=np.zeros(shape))
        datasets |= {
            f"{name}_{kind}": {"path": f"{tmp_path / name}.{kind}", "n_clusters": 2}
            for kind in ("npy", "npz")
        }
    experiment = read_experiment(MINIMAL | {"datasets": datasets, "methods": {"dekm": {}}}, SCHEMA_FILE)
    architectures = {name: experiment.pretraining(name, "dekm") for name in datasets}
    assert architectures == {name: "mlp" if name.startswith("rows") else "conv" for name in datasets}


@pytest.mark.parametrize(
    ("datasets", "text"),
    [
        ({"mine": {"path": "nowhere.npy", "n_clusters": 2}}, "mine: path='nowhere.npy' does not exist"),
        ({"mnist": {"path": "x.npy", "n_clusters": 2}}, "mnist is a dataset of this package"),
        ({"digits": {"stem": True}}, r"options \['stem'\] should be among \[\]"),
    ],
)
def test_data_that_cannot_be_used_are_named(datasets: dict, text: str) -> None:
    with pytest.raises(InputError, match=text):
        read_experiment(MINIMAL | {"datasets": datasets}, SCHEMA_FILE)


def test_restricted_data_are_left_out_until_the_user_says_that_they_hold_the_licence() -> None:
    experiment = read_experiment(MINIMAL | {"datasets": {"digits": {}, "frgc": {}}}, SCHEMA_FILE)
    assert list(experiment.datasets) == ["digits"]
    assert experiment.left_out["frgc"].startswith("needs a licence (NIST")
    held = read_experiment(MINIMAL | {"datasets": {"frgc": {"licence_held": True}}}, SCHEMA_FILE)
    assert list(held.datasets) == ["frgc"]
    assert held.left_out == {}


def test_one_key_switches_the_protocol_of_all_methods_it_concerns() -> None:
    config = MINIMAL | {"methods": {"dekm": {}, "dekm_f": {"tol": 0.3}, "k_means": {}}}
    paper, released = Experiment(config), Experiment(config | {"protocol": "released"})
    assert paper.method_settings("digits", "dekm") == PAPER
    assert released.method_settings("digits", "dekm") == RELEASED
    assert released.method_settings("digits", "strategy_2").items() >= RELEASED.items()
    assert released.method_settings("digits", "dekm_f")["tol"] == 0.3
    assert released.method_settings("digits", "k_means") == {}
    assert paper.pretraining_settings("digits", "conv") == {"init": "xavier", "embedding_dim": None}
    assert released.pretraining_settings("digits", "conv") == {"init": "released", "embedding_dim": 10}


def test_the_protocol_of_june_2021_has_settings_of_its_own_for_some_datasets() -> None:
    config = MINIMAL | {
        "protocol": "june2021",
        "datasets": {"mnist": {}, "usps": {}, "coil20": {}, "frgc": {}},
    }
    june = Experiment(config | {"methods": {"dekm": {}, "dekm_f": {"batch_size": 64}}})
    pretraining = {"init": "released", "embedding_dim": None}
    for name in ("mnist", "usps"):
        assert june.method_settings(name, "dekm") == JUNE2021 | {"shuffle": False}
        assert june.pretraining_settings(name, "conv") == pretraining
    assert june.method_settings("frgc", "dekm") == JUNE2021
    assert june.method_settings("coil20", "strategy_1").items() >= (JUNE2021 | {"batch_size": 32}).items()
    assert june.method_settings("coil20", "dekm_f")["batch_size"] == 64
    assert june.pretraining_settings("coil20", "conv") == pretraining | {"batch_size": 32}


@pytest.mark.parametrize("method", ["dekm", "dekm_f", "strategy_3"])
def test_the_protocol_of_the_paper_carries_no_partition_over(method: str) -> None:
    paper = Experiment(MINIMAL | {"methods": {"dekm": {}, "dekm_f": {}}})
    settings = paper.method_settings("digits", method)
    assert settings["init_update"] == "fresh"
    assert (settings["n_init"], settings["n_init_update"]) == (100, "2n_iter")  # the authors' starts


def test_the_papers_configuration_keeps_the_batches_of_32_of_june_2021() -> None:
    june = Experiment(read_config_file(CONFIG / "config.yaml") | {"protocol": "june2021"})
    assert june.pretraining_settings("coil20", "conv")["batch_size"] == 32
    assert june.method_settings("coil20", "dekm")["batch_size"] == 32


def test_figure_1_shows_some_classes_in_two_dimensions() -> None:
    figures = {"fig1": {"dataset": "digits", "n_classes": 3}}
    experiment = read_experiment(MINIMAL | {"figures": figures}, SCHEMA_FILE)
    assert experiment.blocks["fig1"].n_classes == 3
    assert experiment.blocks["digits"].n_classes is None
    assert experiment.pretraining_settings("fig1", "conv")["embedding_dim"] == 2
    assert experiment.method_settings("fig1", "dekm").items() >= {"max_iter": 20, "tol": 0}.items()


def test_figure_1_has_a_pretraining_of_its_own_in_two_dimensions() -> None:
    block = {"dataset": "digits", "pretraining": {"n_epochs": 3, "embedding_dim": 5}}
    methods = MINIMAL["methods"] | {"dekm": {"pretraining": {"n_epochs": 4}}}
    experiment = read_experiment(MINIMAL | {"figures": {"fig1": block}, "methods": methods}, SCHEMA_FILE)
    key = experiment.pretraining("fig1", "dekm")
    assert key == "conv"
    assert experiment.pretraining_settings("fig1", key).items() >= {"n_epochs": 3, "embedding_dim": 2}.items()
    assert "n_epochs" not in experiment.pretraining_settings("digits", "conv")
    assert "figures.fig1.pretraining" in mistakes_of({"figures": {"fig1": block | {"pretraining": {"x": 1}}}})


def test_a_figure_of_a_dataset_that_is_not_there_is_a_mistake() -> None:
    with pytest.raises(InputError, match=r"figures.fig4.dataset='mnist' should be one of \['digits'\]"):
        read_experiment(MINIMAL | {"figures": {"fig4": {"dataset": "mnist"}}}, SCHEMA_FILE)


@pytest.mark.parametrize(
    ("methods", "text"),
    [
        ({"idec": {"reconstruction": False}}, "methods.idec: reconstruction=False should stay True"),
        ({"dec": {"reconstruction": True}}, "methods.dec: reconstruction=True should stay False"),
        (
            {"dekm_f": {"n_batches": 40}},
            "methods.dekm_f: n_batches=40 should stay 'pass': it makes DEKM_F what",
        ),
    ],
)
def test_what_would_make_a_method_another_one_is_refused(methods: dict, text: str) -> None:
    with pytest.raises(InputError, match=text):
        read_experiment(MINIMAL | {"methods": methods}, SCHEMA_FILE)
    with pytest.raises(InputError, match=text):
        read_experiment(
            MINIMAL | {"methods": dict.fromkeys(methods), "datasets": {"digits": {"methods": methods}}},
            SCHEMA_FILE,
        )


def test_strategies_take_the_parameters_of_dekm_but_move_samples_as_their_rows_say() -> None:
    dekm = {"dims": "all", "space": "H", "max_iter": 7}
    experiment = read_experiment(MINIMAL | {"methods": {"dekm": dekm}}, SCHEMA_FILE)
    for name, row in STRATEGIES.items():
        assert experiment.method_settings("digits", name).items() >= {"max_iter": 7, **row.params}.items()


def test_layerwise_pretraining_is_for_fully_connected_autoencoders() -> None:
    experiment = Experiment(MINIMAL | {"pretraining": {"layerwise": True}})
    assert experiment.pretraining_settings("digits", "mlp")["layerwise"] is True
    assert "layerwise" not in experiment.pretraining_settings("digits", "conv")


def test_blocks_that_are_empty_or_no_blocks_are_no_traceback() -> None:
    with pytest.raises(InputError, match=r"datasets.mine=5 should be a block of settings or null"):
        read_experiment(MINIMAL | {"datasets": {"mine": 5}}, SCHEMA_FILE)
    datasets = {"digits": {"methods": {"dekm": None}}}
    experiment = read_experiment(
        MINIMAL | {"datasets": datasets, "figures": {"fig1": {"dataset": "digits"}}}, SCHEMA_FILE
    )
    assert experiment.method_settings("fig1", "dekm")["max_iter"] == 20


def mistakes_of(config: dict) -> str:
    with pytest.raises(InputError) as error:
        read_experiment(MINIMAL | config, SCHEMA_FILE)
    return str(error.value)


@pytest.mark.parametrize("name", ["x\n", "x\n\n", "../x", "x/y", "x y", "x;y", "$x", "a" * 101, "", "é"])
def test_a_name_that_is_no_plain_word_is_refused(name: str) -> None:
    assert "name=" in mistakes_of({"name": name})
    assert "datasets" in mistakes_of({"datasets": {name: {"path": ".", "n_clusters": 2}}})


@pytest.mark.parametrize("name", ["reference", "Reference", "mlartifacts"])
def test_a_name_that_results_has_for_other_folders_is_refused(name: str) -> None:
    assert f"name={name!r} should be another name" in mistakes_of({"name": name})


def test_an_own_dataset_cannot_take_the_name_of_figure_1(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((20, 5)))
    own = {"path": str(tmp_path / "x.npy"), "n_clusters": 2}
    for figures in ({}, {"fig1": {"dataset": "digits"}}, {"fig1": {"dataset": "fig1"}}):
        config = {"datasets": {"digits": {}, "fig1": own}, "figures": figures}
        assert "fig1: give it another name" in mistakes_of(config)


@pytest.mark.parametrize("key", [True, 2024, None, 1.5])
def test_keys_that_are_no_text_are_refused(key: object) -> None:
    assert f"the key {key!r} should be text" in mistakes_of(
        {"datasets": {key: {"path": ".", "n_clusters": 2}}}
    )
    assert f"the key {key!r} should be text" in mistakes_of({"methods": {key: {}}})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 5.0, 1e300, *BEYOND])
@pytest.mark.parametrize(
    "place",
    [
        "seeds.0",
        "threads",
        "pretraining.n_epochs",
        "pretraining.hidden.0",
        "methods.dekm.n_init",
        "methods.dekm.n_batches",
        "methods.dekm.n_init_update",
        "methods.dkm.max_iter",
        "datasets.digits.subsample",
    ],
)
def test_an_integer_is_a_whole_number_of_reasonable_size(place: str, value: float) -> None:
    config: Any = value
    for part in reversed(place.split(".")[1:]):
        config = [config] if part == "0" else {part: config}
    top = place.split(".")[0]
    assert f"{place}=" in mistakes_of({top: config}).replace(f"{top}.digits: ", "")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), True, *BEYOND])
@pytest.mark.parametrize(
    "place",
    ["pretraining.lr", "methods.dekm.tol", "methods.dec.gamma", "methods.dkm.alpha", "methods.dcn.lam"],
)
def test_a_number_is_finite(place: str, value: float) -> None:
    top, *parts = place.split(".")
    config: Any = value
    for part in reversed(parts):
        config = {part: config}
    assert f"{place}=" in mistakes_of({top: config})


@pytest.mark.parametrize("value", [2**31, 10**30, 2**40])
def test_an_absurd_size_is_named_with_its_limit(value: int) -> None:
    assert "n_init=" in (text := mistakes_of({"methods": {"dekm": {"n_init": value}}}))
    assert "<= 100000." in text
    text = mistakes_of({"pretraining": {"embedding_dim": value}})
    assert "<= 100000 or null." in text


def test_a_value_of_many_characters_is_cut_off() -> None:
    assert len(mistakes_of({"device": "x" * 10_000})) < 400
    assert "too many digits" in mistakes_of({"threads": 10**5000})


@pytest.mark.parametrize(
    ("text", "number"),
    [("1e-3", 0.001), ("1E-3", 0.001), ("5e2", 500.0), (".5e1", 5.0), ("0.01", 0.01), ("1", 1), ("-1", None)],
)
def test_numbers_that_yaml_reads_as_text_are_numbers(text: str, number: float | None) -> None:
    config = {"methods": {"dekm": {"lr": text}}}
    if number is None:
        assert "methods.dekm.lr='-1' should be a number >= 0" in mistakes_of(config)
    else:
        assert (
            read_experiment(MINIMAL | config, SCHEMA_FILE).method_settings("digits", "dekm")["lr"] == number
        )


@pytest.mark.parametrize(
    "text",
    [
        "nan",
        "inf",
        ".nan",
        ".inf",
        "1e999",
        "1e-3x",
        "[",
        "{a: 1}",
        "9" * 5000,
        "!!bool x",
        "!!int",
        "!!float",
    ],
)
def test_text_that_is_no_number_stays_a_mistake(text: str) -> None:
    assert "pretraining.lr=" in mistakes_of({"pretraining": {"lr": text}})


@pytest.mark.parametrize("text", ["0100", "010", "0b1", "1_0", "1:30", "08"])
def test_text_that_is_a_number_in_one_version_of_yaml_alone_stays_a_mistake(text: str) -> None:
    assert f"datasets.digits.subsample={text!r}" in mistakes_of({"datasets": {"digits": {"subsample": text}}})
    assert f"seeds.0={text!r}" in mistakes_of({"seeds": [text]})


@pytest.mark.parametrize(("key", "value"), [("label", False), ("label_column", 8), ("label", 2024)])
def test_text_that_yaml_reads_as_a_value_should_be_quoted(key: str, value: object) -> None:
    text = mistakes_of({"datasets": {"mine": {"path": "x.csv", key: value}}})
    assert f"datasets.mine.{key}={value!r} should be text" in text
    assert "in quotes." in text


def test_the_text_of_the_command_line_is_read() -> None:
    config = MINIMAL | {
        "name": "2024",
        "seeds": ["0", "1"],
        "threads": "2",
        "fresh": "true",
        "pretraining": {"n_epochs": "5", "hidden": ["8", "4"], "lr": "1e-3", "embedding_dim": "null"},
        "datasets": {"digits": {"subsample": "100", "licence_held": "false"}},
        "methods": {"dekm": {"n_batches": "3", "space": "H"}, "idec": {"reconstruction": "true"}},
    }
    experiment = read_experiment(config, SCHEMA_FILE)
    assert experiment.config["name"] == "2024"
    assert experiment.seeds == [0, 1]
    assert experiment.config["threads"] == 2
    assert experiment.config["fresh"] is True
    expected = {"n_epochs": 5, "hidden": [8, 4], "lr": 0.001, "embedding_dim": None}
    assert experiment.config["pretraining"] == expected
    assert experiment.blocks["digits"].subsample == 100
    assert experiment.method_settings("digits", "dekm").items() >= {"n_batches": 3, "space": "H"}.items()
    assert config["seeds"] == ["0", "1"]  # what was given is not changed


@pytest.mark.parametrize("seed", [0, 7, "3"])
def test_one_seed_need_not_be_a_list(seed: object) -> None:
    assert read_experiment(MINIMAL | {"seeds": seed}, SCHEMA_FILE).seeds == [int(str(seed))]
    assert "seeds=True" in mistakes_of({"seeds": True})


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"path": "x.csv", "label_column": "z"}, "label_column: x.csv has no column 'z'; it has a, b"),
        ({"path": "x.csv", "text_column": "z"}, "text_column: x.csv has no column 'z'"),
        ({"path": "x.npy", "labels": "nowhere.npy"}, "labels='nowhere.npy' should be an existing file"),
        ({"path": "x.npy", "label_column": "a"}, "options ['label_column'] should be among"),
        ({"path": "x.csv", "subsample": 10**9}, "subsample=1000000000 should be <= 3 samples"),
        ({"path": "x.npy", "subsample": 21}, "subsample=21 should be <= 20 samples"),
        ({"path": "x.npz", "subsample": 21}, "subsample=21 should be <= 20 samples"),
        ({"path": "texts", "subsample": 5}, "subsample=5 should be <= 4 samples"),
        ({"path": "x.npy", "n_clusters": 21}, "n_samples=20 should be >= n_clusters=21"),
        ({"path": "x.npy", "n_clusters": 9, "subsample": 8}, "subsample=8 should be >= n_clusters=9"),
        ({"path": "x" * 4000}, "File name too long"),
        ({"path": "x" * 5000}, "of at most 4096 characters"),
        ({"path": "x\0.npy"}, "'x\\x00.npy' should be a number, or text"),
        ({"path": "\udce9.npy"}, r"'\udce9.npy' should be a number, or text"),
        ({"path": ""}, "path='' should be text that is not empty and has no braces"),
        ({"path": "{x}.npy"}, "path='{x}.npy' should be text that is not empty"),
        ({"path": "x.npy", "labels": "{x}.npy"}, "labels='{x}.npy' should be text that is not empty"),
        ({"path": "x.npy", "label": ""}, "label='' should be text that is not empty"),
        (
            {"path": "x.npy", "label": "a\nb"},
            "should be text that is not empty and has no control characters",
        ),
        ({"path": "images", "channels": 1.0}, "channels=1.0 should be 1 or 3"),
        ({"path": "images", "channels": True}, "channels=True should be 1 or 3"),
    ],
)
def test_own_data_that_do_not_fit_their_description_are_named(
    block: dict, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("a,b\n1,2\n3,4\n5,6\n", encoding="utf-8")
    np.save("x.npy", np.zeros((20, 5)))
    np.savez("x.npz", X=np.zeros((20, 5)))
    for name in "abcd":
        Path("texts").mkdir(exist_ok=True)
        Path("texts", f"{name}.txt").write_text("word", encoding="utf-8")
    assert text in mistakes_of({"datasets": {"mine": {"n_clusters": 2, **block}}})


def test_the_rows_of_a_parquet_file_limit_the_subsample(tmp_path: Path) -> None:
    import pandas as pd

    pd.DataFrame({"a": range(7)}).to_parquet(tmp_path / "x.parquet")
    block = {"path": str(tmp_path / "x.parquet"), "n_clusters": 2, "subsample": 8}
    assert "subsample=8 should be <= 7 samples" in mistakes_of({"datasets": {"mine": block}})


def test_published_autoencoders_are_in_a_folder_of_results_and_jobs_are_told_of_it(tmp_path: Path) -> None:
    config = {"pretrained": str(tmp_path)}
    assert "should be a folder of results that has a folder 'pretrained'." in mistakes_of(config)
    (tmp_path / "pretrained").mkdir()
    told = job_settings(read_experiment(MINIMAL | config, SCHEMA_FILE), "pretrain", "digits", "conv")
    assert told["pretrained"] == str(tmp_path)
    assert "pretrained" not in job_settings(Experiment(MINIMAL), "pretrain", "digits", "conv")


def test_a_reference_is_a_published_set_with_one_of_the_datasets(tmp_path: Path) -> None:
    assert "should be a published set of results; it holds no runs.csv." in mistakes_of(
        {"reference": str(tmp_path)}
    )
    header = "stage,dataset,subject,seed,data,pretrained,created,label,in_table,protocol,machine,acc\n"
    row = "cluster,usps,dec,0,d,,now,DEC,True,paper,cpu,0.5\n"
    write_runs(tmp_path, header + row)
    text = mistakes_of({"reference": str(tmp_path)})
    assert f"reference='{tmp_path}' should have a run on one of digits." in text
    write_runs(tmp_path, header + row.replace("usps", "digits"))
    assert read_experiment(MINIMAL | {"reference": str(tmp_path)}, SCHEMA_FILE).reference == str(tmp_path)
    write_runs(tmp_path, header + row.replace("0.5", "5"))
    assert "acc=5 should be in [0, 1]" in mistakes_of({"reference": str(tmp_path)})
    write_runs(tmp_path, header)
    assert "runs.csv is damaged: it has no seed." in mistakes_of({"reference": str(tmp_path)})
    (tmp_path / "manifest.json").unlink()
    assert f"{tmp_path} is an incomplete set: it holds no manifest.json." in mistakes_of(
        {"reference": str(tmp_path)}
    )


def test_a_path_may_be_in_the_home_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    names = ("raw_dir", "mirror", "container", "pretrained", "reference")
    experiment = Experiment(MINIMAL | dict.fromkeys(names, "~/sets"))
    found = (*(getattr(experiment.machine, name) for name in names[:3]), experiment.pretrained)
    assert {*found, experiment.reference} == {str(tmp_path / "sets")}
    assert Experiment(MINIMAL | {"mirror": "https://x/~a"}).machine.mirror == "https://x/~a"
    assert Experiment(MINIMAL).pretrained is None


def write_runs(folder: Path, text: str) -> None:
    (folder / "runs.csv").write_text(text)
    write_manifest(folder)


def test_figure_1_cannot_show_more_classes_than_there_are() -> None:
    config = {"figures": {"fig1": {"dataset": "digits", "n_classes": 99}}}
    assert "figures.fig1.n_classes=99 should be <= 10 classes" in mistakes_of(config)


def test_dates_and_other_values_that_json_does_not_have_are_named() -> None:
    for value in (date(2024, 1, 1), {1, 2}, b"x", object()):
        assert "should be a number, or text" in mistakes_of(
            {"methods": {"mine": {"method": "dekm", "x": value}}}
        )


def test_a_variant_takes_numbers_that_yaml_reads_as_text() -> None:
    config = {"methods": {"dekm": {}, "mine": {"method": "dekm", "lr": "1e-4"}}}
    experiment = read_experiment(MINIMAL | config, SCHEMA_FILE)
    assert experiment.method_settings("digits", "mine")["lr"] == 1e-4


@pytest.mark.parametrize("name", ["mine\n", "../mine", "x" * 101, "é"])
def test_a_method_of_ones_own_has_a_plain_name(name: str) -> None:
    assert "the name" in mistakes_of({"methods": {name: {"method": "dekm"}}})
    assert "the name" not in mistakes_of({"methods": {"mine": {"method": "dekm\n"}}})


@pytest.mark.parametrize("key", ["2024-01-01", "1", "[", "x" * 100_000])
def test_a_key_that_is_no_name_is_named(key: str) -> None:
    for place in ("datasets", "methods"):
        text = mistakes_of({place: {key: {}}})
        assert f"{place}: the name" in text
        assert len(text) < 2000
