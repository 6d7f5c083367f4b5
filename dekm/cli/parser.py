"""The commands and their arguments."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dekm.cli import commands
from dekm.datasets import DATASETS
from dekm.figures import FIGURES
from dekm.methods import METHODS


def make_parser(prog: str) -> argparse.ArgumentParser:
    """Parser of all commands.

    Returns
    -------
    argparse.ArgumentParser
        Its result has the attribute ``command``, a function of `dekm.cli.commands`, and one attribute per
        parameter of this function.
    """
    root = argparse.ArgumentParser(prog=prog, description="Deep embedded K-means clustering.")
    subparsers = root.add_subparsers(required=True, metavar="COMMAND")
    _add_data_commands(subparsers)
    _add_run_commands(subparsers)
    _add_output_commands(subparsers)
    _add_tracking_commands(subparsers)
    return root


def _add_data_commands(subparsers: Any) -> None:
    command = _add(
        subparsers, commands.config, "check the file of a configuration; print its folder of results"
    )
    command.add_argument("file", type=Path, help="file of the configuration")

    command = _add(subparsers, commands.download, "download and verify the raw files of a dataset")
    _add_dataset_arguments(command)
    command.add_argument("--mirror", help="folder or URL to try before the upstream URLs")
    command.add_argument("--out", type=Path, required=True, help="JSON file of the verified files to write")

    command = _add(subparsers, commands.missing, "list the missing or damaged raw files and their paths")
    command.add_argument("datasets", nargs="+", choices=DATASETS, metavar="DATASET")
    _add_raw_dir(command)

    command = _add(
        subparsers, commands.prepare, "load and check a dataset, and store it as one compressed file"
    )
    _add_dataset_arguments(command)
    _add_results(command)
    command.add_argument(
        "--subsample", type=int, help="size of a stratified subsample (default: all samples)"
    )
    command.add_argument(
        "--classes",
        type=int,
        dest="n_classes",
        help="number of classes to keep, drawn at random (default: all)",
    )
    command.add_argument("--name", help="name of the prepared dataset (default: DATASET)")
    _add_modules(command)


def _add_run_commands(subparsers: Any) -> None:
    command = _add(subparsers, commands.pretrain, "pretrain the autoencoders of a dataset, one per seed")
    command.add_argument("dataset", help="name of a prepared dataset")
    command.add_argument("architecture", help="conv, mlp or network; -NAME may follow, for further settings")
    _add_modules(command)
    _add_cell_arguments(command)

    command = _add(subparsers, commands.cluster, "run one method on one dataset, once per seed")
    command.add_argument("dataset", help="name of a prepared dataset")
    command.add_argument(
        "method", help=f"one of {', '.join(METHODS)}, or a name for a method that is defined"
    )
    _add_definition(command)
    command.add_argument(
        "--pretrained",
        metavar="ARCHITECTURE",
        help="pretrained autoencoders to start from (default: those of its architecture)",
    )
    _add_network(command)
    _add_cell_arguments(command)

    command = _add(subparsers, commands.check, "check that a method fulfils what the workflow expects of one")
    command.add_argument("method", help="import path module:Class of an estimator, or a method of Table III")
    command.add_argument(
        "--modules",
        type=Path,
        default=Path(),
        help="folder in which the module is searched first (default: .)",
    )
    _add_settings(command, "parameter of the method")

    command = _add(
        subparsers, commands.predict, "predict the clusters of new samples with the model of a run"
    )
    command.add_argument("run", type=Path, help="folder of a run: RESULTS/runs/DATASET/METHOD/seedN")
    command.add_argument(
        "--out", type=Path, required=True, help="CSV file of the predicted clusters to write"
    )
    _add_device(command)
    _add_definition(command)
    _add_network(command)
    _add_settings(
        command, "setting of the new data; path=... is required, others default to those of the run's data"
    )


def _add_output_commands(subparsers: Any) -> None:
    command = _add(subparsers, commands.table2, "write Table II from the prepared data")
    _add_table_arguments(command)

    command = _add(
        subparsers, commands.table, "write Table III, further scores, mean ranks, claims and verdicts"
    )
    _add_table_arguments(command)
    command.add_argument("--methods", nargs="+", required=True, help="rows of Table III")
    command.add_argument(
        "--strategies",
        nargs="*",
        default=[],
        help="methods that appear only in the paper's claims, not in Table III",
    )
    command.add_argument(
        "--label",
        dest="labels",
        action="append",
        default=[],
        metavar="METHOD=LABEL",
        help="name of a method in the table",
    )

    command = _add(subparsers, commands.figure, "draw a figure from the results")
    command.add_argument("name", choices=FIGURES)
    command.add_argument("inputs", type=Path, nargs="*", help="inputs, documented in the figure's module")
    command.add_argument("--out", type=Path, required=True, help="folder of the figure to write")

    command = _add(subparsers, commands.compare, "list the cells in which two sets of results differ")
    command.add_argument("results", type=Path, help="folder of results, or a table3.csv")
    command.add_argument("reference", type=Path, help="folder of results, or a table3.csv, to compare with")


def _add_tracking_commands(subparsers: Any) -> None:
    command = _add(
        subparsers, commands.estimate, "estimate the time, disk and memory of an experiment on this machine"
    )
    command.add_argument("config", type=Path, help="configuration, such as config/config.yaml")

    command = _add(subparsers, commands.status, "show what is complete, running, dead, failed or waiting")
    command.add_argument("results", type=Path, nargs="+", help="folders of results, or their parent")
    command.add_argument(
        "--watch",
        type=float,
        nargs="?",
        const=5.0,
        metavar="SECONDS",
        help="repeat it at this interval (default: 5) until interrupted",
    )

    command = _add(subparsers, commands.sync, "update the MLflow store from the run folders")
    command.add_argument("results", type=Path, nargs="+", help="folders of results")
    command.add_argument("--store", type=Path, required=True, help="folder of the MLflow store")
    command.add_argument(
        "--follow",
        type=float,
        metavar="SECONDS",
        help="repeat the update at this interval until the parent process exits",
    )

    command = _add(subparsers, commands.ui, "update the MLflow store and serve its UI to this machine only")
    command.add_argument(
        "--store", type=Path, required=True, help="folder of the MLflow store, the parent of the results"
    )
    command.add_argument("--port", type=int, default=5000, help="port of the server (default: 5000)")


def _add(subparsers: Any, function: Callable[..., None], summary: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = subparsers.add_parser(
        function.__name__, help=summary, description=summary[0].upper() + summary[1:] + "."
    )
    command.set_defaults(command=function)
    return command


def _add_dataset_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("dataset", help=f"one of {', '.join(DATASETS)}, or a name for your own data")
    _add_raw_dir(command)
    command.add_argument(
        "--licence-held", action="store_true", help="state that you hold the licence of a restricted dataset"
    )
    _add_settings(command, "option of the dataset, or setting that describes your own data")


def _add_table_arguments(command: argparse.ArgumentParser) -> None:
    _add_results(command)
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


def _add_cell_arguments(command: argparse.ArgumentParser) -> None:
    _add_results(command)
    command.add_argument("--seeds", type=int, nargs="+", required=True)
    _add_device(command)
    command.add_argument("--fresh", action="store_true", help="recompute seeds that are already complete")
    _add_settings(command, "parameter of the method or of the autoencoder")


def _add_definition(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--define",
        dest="definition",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="estimator=module:Class, label=... or autoencoder=... of a method outside of the package",
    )
    _add_modules(command)


def _add_network(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--network",
        metavar="MODULE:ATTRIBUTE",
        help="the network of the autoencoder, if it is outside of the package",
    )


def _add_modules(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--modules", type=Path, help="folder in which module:attribute is searched before sys.path"
    )


def _add_raw_dir(command: argparse.ArgumentParser) -> None:
    command.add_argument("--raw-dir", type=Path, required=True, help="folder of raw files")


def _add_results(command: argparse.ArgumentParser) -> None:
    command.add_argument("--results", type=Path, required=True, help="folder of results")


def _add_device(command: argparse.ArgumentParser) -> None:
    command.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: auto)")


def _add_settings(command: argparse.ArgumentParser, help_: str) -> None:
    command.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"{help_}; repeat the option for several",
    )
