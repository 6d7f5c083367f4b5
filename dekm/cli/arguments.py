"""Arguments that several commands take."""

from pathlib import Path
from typing import Any

from dekm.datasets import DATASETS

Argument = tuple[str, dict[str, Any]]


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
