"""Arguments that several commands take."""

import argparse
from pathlib import Path

from dekm.datasets import DATASETS


def add_dataset_arguments(command: argparse.ArgumentParser) -> None:
    """The dataset, its raw files and its options."""
    command.add_argument("dataset", help=f"one of {', '.join(DATASETS)}, or a name for your own data")
    add_raw_dir(command)
    command.add_argument(
        "--licence-held", action="store_true", help="state that you hold the licence of a restricted dataset"
    )
    add_settings(command, "option of the dataset, or setting that describes your own data")


def add_table_arguments(command: argparse.ArgumentParser) -> None:
    """What all commands that write tables take."""
    add_results(command)
    command.add_argument("--datasets", nargs="+", required=True, help="datasets in the order of the table")
    command.add_argument(
        "--left-out",
        action="append",
        default=[],
        metavar="DATASET=REASON",
        help="reason why a dataset has no results",
    )
    command.add_argument("--paper", type=Path, required=True, help="CSV file of the paper's numbers")
    command.add_argument("--out", type=Path, required=True, help="folder of the tables to write")


def add_cell_arguments(command: argparse.ArgumentParser) -> None:
    """What all commands that run a cell take."""
    add_results(command)
    command.add_argument("--seeds", type=int, nargs="+", required=True, help="seeds, one run for each")
    add_device(command)
    command.add_argument("--fresh", action="store_true", help="recompute seeds that are already complete")
    add_settings(command, "parameter of the method or of the autoencoder")


def add_definition(command: argparse.ArgumentParser) -> None:
    """The definition of a method outside of the package."""
    command.add_argument(
        "--define",
        dest="definition",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="estimator=module:Class, label=... or autoencoder=... of a method outside of the package",
    )
    add_modules(command)


def add_network(command: argparse.ArgumentParser) -> None:
    """The network of an autoencoder."""
    command.add_argument(
        "--network",
        metavar="MODULE:ATTRIBUTE",
        help="the network of the autoencoder, if it is outside of the package",
    )


def add_modules(command: argparse.ArgumentParser) -> None:
    """Where outside modules are."""
    command.add_argument(
        "--modules", type=Path, help="folder in which module:attribute is searched before sys.path"
    )


def add_raw_dir(command: argparse.ArgumentParser) -> None:
    """The folder of raw files."""
    command.add_argument("--raw-dir", type=Path, required=True, help="folder of raw files")


def add_results(command: argparse.ArgumentParser) -> None:
    """The folder of results."""
    command.add_argument("--results", type=Path, required=True, help="folder of results")


def add_device(command: argparse.ArgumentParser) -> None:
    """The device."""
    command.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: auto)")


def add_settings(command: argparse.ArgumentParser, help_: str) -> None:
    """Settings: in a file, and each by one option."""
    command.add_argument(
        "--settings",
        dest="settings_file",
        type=Path,
        metavar="FILE",
        help="JSON file of settings, as the workflow writes them to RESULTS/settings; --set changes one",
    )
    command.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"{help_}; repeat the option for several",
    )


def add_store(command: argparse.ArgumentParser) -> None:
    """The MLflow store, and a sign of its update for the workflow."""
    command.add_argument(
        "--store",
        help="folder of the MLflow store, or http://... of a server (default: the server in "
        "MLFLOW_TRACKING_URI, otherwise the folder above the results)",
    )
    command.add_argument(
        "--done",
        type=Path,
        metavar="FILE",
        help="file to write at the end, with 'pending' in it if a server could not be updated",
    )
