"""Mutations of configurations: each is refused in plain lines, or accepted and then accepted by every job."""

import copy
import json
import random
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dekm.cli.arguments import parse_settings
from dekm.errors import InputError
from dekm.experiment.checks import read_experiment
from dekm.experiment.config import Experiment
from dekm.experiment.config_file import read_config_file
from dekm.experiment.estimators import check_settings
from dekm.experiment.jobs import check_seeds
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.validation import check_parameters
from dekm.results.result_set import checked_name

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "config" / "config.schema.yaml"
MAX_LINE = 1000  # characters of a mistake

NUMBERS = (0, -1, 1, 2, 5.0, 0.5, 1e-300, 1e300, 2**31, 2**40, 10**30, 10**400, -(10**400))
NOT_FINITE = (float("nan"), float("inf"), -float("inf"))
TEXTS = (
    "",
    " ",
    "\n",
    "x\n",
    "a\0b",
    "\ud800",
    "é",
    "x" * 300,
    "x" * 10**5,
    "=cmd",
    r"$\foo$",
    "<script>",
    "~",
)
PATHS = (
    "../../x",
    "/etc/passwd",
    "-rf",
    "--fresh",
    "fig1",
    "all",
    "table",
    "reference",
    "digits",
    "k_means",
    "*",
)
SHELL = ("$(touch x)", "`id`", "a;b", "a'b", 'a"b', "{x}", "{{", "%s", "cuda", "cuda:99\n", "auto", "pass")
YAML_TEXTS = ("1e-3", "5", "5.0", "nan", "null", "true", "0x10", "1_000", "1:30", "2024-01-01", "[", "{a: 1}")
LISTS = ([], [[]], [None], [0, 0], [1, 2, 3], ["a"], [float("nan")], [10**30])
BLOCKS = ({}, {"a": 1}, {"": {}}, {"dekm": {}}, {1: 2}, {None: None}, {"path": "."})
VALUES: tuple[Any, ...] = (None, True, False, *NUMBERS, *NOT_FINITE, *TEXTS, *PATHS, *SHELL, *YAML_TEXTS)
VALUES += (*LISTS, *BLOCKS)
KEYS = (
    *(value for value in VALUES if isinstance(value, str)),
    None,
    True,
    1,
    1.5,
    "path",
    "methods",
    "lr",
    "seeds",
)


def base_configurations(folder: Path) -> list[dict[str, Any]]:
    """The configurations of the project, and one of own data of every kind."""
    np.save(folder / "rows.npy", np.zeros((30, 4)))
    np.savez(folder / "images.npz", X=np.zeros((30, 8, 8)), y=np.arange(30) % 3)
    (folder / "table.csv").write_text("a,b,c\n" + "1,2,x\n" * 30, encoding="utf-8")
    (folder / "texts").mkdir(exist_ok=True)
    for i in range(9):
        (folder / "texts" / f"{i}.txt").write_text("some words", encoding="utf-8")
    own: dict[str, Any] = {
        "name": "own",
        "seeds": [0, 1],
        "device": "cpu",
        "threads": 1,
        "raw_dir": "resources/raw",
        "mirror": str(folder),
        "fresh": False,
        "protocol": "released",
        "pretraining": {"n_epochs": 1, "lr": 0.001, "hidden": [8, 4], "layerwise": True},
        "datasets": {
            "rows": {"path": str(folder / "rows.npy"), "n_clusters": 3, "subsample": 20, "label": "Rows"},
            "images": {"path": str(folder / "images.npz"), "n_clusters": 3},
            "table": {"path": str(folder / "table.csv"), "n_clusters": 2, "label_column": "c"},
            "column": {"path": str(folder / "table.csv"), "n_clusters": 2, "text_column": "c", "stem": True},
            "texts": {"path": str(folder / "texts"), "n_clusters": 2, "scaling": "paper", "kind": "text"},
            "digits": {"subsample": 100, "pretraining": {"init": "xavier", "channels": [1, 2, 3]}},
        },
        "methods": {
            "k_means": {"n_init": 2},
            "pca_k_means": {"variance": 0.5},
            "dec": {"gamma": 0.1, "update_interval": 2, "tol": 0.1},
            "dcn": {"lam": 1.0, "epochs_per_iter": 1},
            "dkm": {"alpha": 10, "max_iter": "auto"},
            "dekm": {"n_batches": "pass", "n_init_update": "2n_iter", "space": "H", "dims": "all"},
            "variant": {"method": "dekm", "lr": 0.01, "label": "Mine"},
            "outside": {"estimator": "sklearn.cluster:MiniBatchKMeans", "n_init": 2},
        },
        "figures": {"fig1": {"dataset": "images", "n_classes": 2}, "fig4": {"dataset": "rows"}},
    }
    files = [ROOT / "config" / name for name in ("config.yaml", "demo.yaml")]
    return [own, own, *(read_config_file(file) for file in files)]


def places(config: Any) -> list[tuple[Any, Any]]:
    """Every block or list of a configuration with each of its keys or positions."""
    keys = (
        list(config) if isinstance(config, dict) else range(len(config)) if isinstance(config, list) else ()
    )
    return [place for key in keys for place in [(config, key), *places(config[key])]]


def mutate(config: dict[str, Any], rng: random.Random) -> str:
    """Change one value, key or member of a configuration in place; says what was done."""
    block, key = rng.choice(places(config))
    value, kind = (
        copy.deepcopy(rng.choice(VALUES)),
        rng.choice(("set", "set", "add", "rename", "remove", "text")),
    )
    if kind == "set":
        block[key] = value
    elif kind == "text":
        block[key] = value = str(block[key])
    elif kind == "remove":
        del block[key]
    elif isinstance(block, list):
        block.insert(key, value)
    elif kind == "add":
        block[key := rng.choice(KEYS)] = value
    else:
        block[rng.choice(KEYS)] = value = block.pop(key)
    return f"{kind} {key!r:.60} {value!r:.60}" if not is_long(value) else f"{kind} {key!r:.60}"


def is_long(value: Any) -> bool:
    """Whether Python refuses to print an integer."""
    return isinstance(value, int) and value.bit_length() > 10_000


def problem_of(read: Callable[[], dict[str, Any]]) -> str:
    """Why a configuration is handled wrongly; empty if it is refused in plain lines, or is usable."""
    try:
        experiment = read_experiment(read(), SCHEMA)
    except InputError as error:
        return next(
            (f"a line is too long: {line[:80]}" for line in str(error).split("\n") if len(line) > MAX_LINE),
            "",
        )
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    try:
        use(experiment)
    except Exception as error:
        return f"accepted, but {type(error).__name__}: {error}"[:300]
    return ""


def use(experiment: Experiment) -> None:
    """What the rules and the jobs do with a configuration, without the computation."""
    assert experiment.results.parent == Path("results")
    checked_name(experiment.results.name)
    check_seeds(experiment.seeds)
    json.dumps(experiment.config, allow_nan=False)
    for name, block in experiment.blocks.items():
        checked_name(name)
        pass_on(block.loader_options)
        for architecture in ("conv", "mlp"):
            settings = pass_on(experiment.pretraining_settings(name, architecture))
            settings = {key: value for key, value in settings.items() if value is not None}
            check_settings(Autoencoder, settings)
            check_parameters(Autoencoder(**settings))
        for method in experiment.methods:
            row, settings = experiment.method(method), pass_on(experiment.method_settings(name, method))
            check_settings(row.load(), settings)
            if row.is_ours:
                check_parameters(row.load()(n_clusters=block.row.n_clusters, **settings))


def pass_on(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings after their way through the shell to a command."""
    pairs = (f"{name}={json.dumps(value, allow_nan=False)}" for name, value in settings.items())
    read = parse_settings(shlex.split(" ".join(map(shlex.quote, pairs))))
    assert read == settings, (read, settings)
    return read


def change_text(text: str, rng: random.Random) -> str:
    """A text with some characters or a line removed, repeated, or replaced by others."""
    lines = text.split("\n")
    position = rng.randrange(len(lines))
    if rng.random() < 0.3:
        lines.insert(rng.randrange(len(lines)), lines[position])
        return "\n".join(lines)
    start = rng.randrange(len(text))
    end = min(len(text), start + rng.choice((0, 1, 1, 5, 50)))
    return (
        text[:start]
        + rng.choice(("", " ", "\t", "\n", ":", "- ", "&a ", "*a", "{", "[", '"', "#", "\x01"))
        + text[end:]
    )


def mutate_configurations(folder: Path, n: int, seed: int) -> Iterator[tuple[str, str]]:
    """`n` cases with their problems; a problem is empty if the case went as it should."""
    rng, bases = random.Random(seed), base_configurations(folder)
    for i in range(n):
        config = copy.deepcopy(rng.choice(bases))
        if i % 4 < 3:
            done = "; ".join(mutate(config, rng) for _ in range(rng.choice((1, 1, 1, 2, 4))))
            yield f"{i}: {done}", problem_of(lambda config=config: config)
        else:
            file = folder / "my.yaml"
            file.write_text(change_text(yaml.safe_dump(config), rng), encoding="utf-8")
            yield f"{i}: text of {config.get('name')}", problem_of(lambda file=file: read_config_file(file))


def lengthen_configurations(folder: Path) -> Iterator[tuple[str, str]]:
    """One case for each value and each name of the configuration of own data, replaced by a long text."""
    base = base_configurations(folder)[0]
    long = "x" * 3000  # a path may be as long
    for i in range(len(places(base))):
        for kind in ("value", "name"):
            config = copy.deepcopy(base)
            block, key = places(config)[i]
            if kind == "value":
                block[key] = long
            elif isinstance(block, dict):
                block[long] = block.pop(key)
            yield f"{kind} {key!r}", problem_of(lambda config=config: config)


def parts(folder: Path, scale: int, seed: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The part of the campaign about configurations."""
    from tests.faults.material import Report

    def run() -> Report:
        report = Report(f"configurations, seed {seed}")
        (folder / "configurations").mkdir()
        for case, problem in mutate_configurations(folder / "configurations", 200 * scale, seed):
            report.add(case, problem)
        return report

    yield "configurations", run
