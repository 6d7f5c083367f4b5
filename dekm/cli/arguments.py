"""Arguments that several commands take, and their values of the form NAME=VALUE."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dekm.datasets import DATASETS
from dekm.errors import InputError, shown, unknown_name
from dekm.files.reading import check_fields, read_json

Argument = tuple[str, dict[str, Any]]
# What a file may have besides the settings: values of other options of its command.
OPTIONS = {
    "licence_held": bool,
    "subsample": int,
    "n_classes": int,
    "definition": dict,
    "pretrained": str,
    "network": str,
}


def argument(name: str, help_: str, **options: Any) -> Argument:
    """An argument of a command, as `argparse` adds it."""
    return name, {"help": help_, **options}


def file(name: str, help_: str, **options: Any) -> Argument:
    """An argument that is a path; an option is required unless it has a default."""
    needed = {"required": True} if name.startswith("-") and "default" not in options else {}
    return argument(name, help_, type=Path, **needed, **options)


def several(name: str, help_: str, metavar: str, dest: str) -> Argument:
    """An option of the form NAME=VALUE that may be repeated."""
    return argument(name, help_, action="append", default=[], metavar=metavar, dest=dest)


def settings(help_: str) -> tuple[Argument, ...]:
    """Settings: in a file, and each by one option."""
    written = "JSON file of settings, as the workflow writes them to RESULTS/settings; --set changes one"
    return (
        file("--settings", written, default=None, metavar="FILE", dest="settings_file"),
        several("--set", f"{help_}; repeat the option for several", "NAME=VALUE", "settings"),
    )


RESULTS = file("--results", "folder of results")
RAW_DIR = file("--raw-dir", "folder of raw files")
DEVICE = argument("--device", "auto, cpu, cuda or cuda:N (default: auto)", default="auto")
MODULES = file("--modules", "folder in which module:attribute is searched before sys.path", default=None)
NETWORK = argument(
    "--network",
    "the network of the autoencoder, if it is outside of the package",
    metavar="MODULE:ATTRIBUTE",
)
PREPARED = argument("dataset", "name of a prepared dataset")
CONFIGURATION = file("file", "file of the configuration")
DATASET = (
    argument("dataset", f"one of {', '.join(DATASETS)}, or a name for your own data"),
    RAW_DIR,
    argument(
        "--licence-held", "state that you hold the licence of a restricted dataset", action="store_true"
    ),
    *settings("option of the dataset, or setting that describes your own data"),
)
DEFINITION = (
    several(
        "--define",
        "estimator=module:Class, label=... or autoencoder=... of a method outside of the package",
        "NAME=VALUE",
        "definition",
    ),
    MODULES,
)
CELL = (
    RESULTS,
    argument("--seeds", "seeds, one run for each", type=int, nargs="+", required=True),
    DEVICE,
    argument("--fresh", "recompute seeds that are already complete", action="store_true"),
    *settings("parameter of the method or of the autoencoder"),
)
TABLE = (
    RESULTS,
    argument("--datasets", "datasets in the order of the table", nargs="+", required=True),
    several("--left-out", "reason why a dataset has no results", "DATASET=REASON", "left_out"),
    file("--paper", "CSV file of the paper's numbers"),
    file("--out", "folder of the tables to write"),
)


def resolve_settings(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a command in which the file of ``--settings``, ``--set`` and ``--define`` are read.

    The file has an object `settings`, which ``--set`` changes, and perhaps values of further options, which
    count where the command line has none. `InputError` names what cannot be read and unknown options.
    """
    read = {name: value for name, value in arguments.items() if name != "settings_file"}
    if "settings" not in read:
        return read
    file = arguments["settings_file"]
    given = read_json(file, {"settings": dict}) if file else {"settings": {}}
    read["settings"] = given.pop("settings") | parse_settings(read["settings"])
    if "definition" in read:
        read["definition"] = parse_settings(read["definition"], "--define")
    options = [name for name in OPTIONS if name in read]
    for name in (name for name, value in given.items() if value is not None):
        if name not in options:
            raise InputError(f"{file}: {unknown_name('', name, ['settings', *options])}")
        check_fields(file, given, {name: OPTIONS[name]})
        read[name] = read[name] or given[name]
    return read


def parse_settings(pairs: list[str], option: str = "--set") -> dict[str, Any]:
    """The values of an option such as ``--set``; one that is not valid JSON is a string."""
    return {name: _parse(value) for name, value in _split(option, "NAME=VALUE", pairs)}


def parse_texts(option: str, form: str, pairs: list[str]) -> dict[str, str]:
    """The texts of an option such as ``--left-out``, whose values have a form such as ``DATASET=REASON``."""
    return dict(_split(option, form, pairs))


def parse_numbers(text: str) -> list[int]:
    """Numbers of clusters, such as "2-15" or "5,10,15", ascending; `InputError` if one is below 2."""
    numbers: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch("([0-9]{1,5})(?:-([0-9]{1,5}))?", part)
        low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 2 <= low <= high:
            raise InputError(
                f"--k {shown(text)} should be numbers of clusters >= 2, such as 2-15 or 5,10,15."
            )
        numbers.update(range(low, high + 1))
    return sorted(numbers)


def _parse(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # no JSON, an integer of too many digits, or a value too deep
        return value


def _split(option: str, form: str, pairs: list[str]) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise InputError(f"{option} {shown(pair)} should be {form}.")
        yield name, value
