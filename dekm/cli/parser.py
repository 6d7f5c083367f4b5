"""The commands and their arguments."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dekm
from dekm.cli import commands, outputs
from dekm.cli.arguments import (
    add_cell_arguments,
    add_dataset_arguments,
    add_definition,
    add_device,
    add_modules,
    add_network,
    add_raw_dir,
    add_results,
    add_settings,
    add_store,
    add_table_arguments,
)
from dekm.datasets import DATASETS
from dekm.figures import FIGURES
from dekm.methods import METHODS


def make_parser(prog: str) -> argparse.ArgumentParser:
    """Parser of all commands.

    Returns
    -------
    argparse.ArgumentParser
        Its result has the attribute ``command``, a function of `dekm.cli.commands` or `dekm.cli.outputs`,
        and one attribute per parameter of this function.
    """
    root = argparse.ArgumentParser(prog=prog, description="Deep embedded K-means clustering.")
    root.add_argument("--version", action="version", version=f"dekm {dekm.__version__}")
    subparsers = root.add_subparsers(required=True, metavar="COMMAND")
    _add_data_commands(subparsers)
    _add_run_commands(subparsers)
    _add_output_commands(subparsers)
    _add_tracking_commands(subparsers)
    return root


def _add_data_commands(subparsers: Any) -> None:
    command = _add(
        subparsers,
        commands.config,
        "check that a configuration file can be read; print its folder of results",
    )
    command.add_argument("file", type=Path, help="file of the configuration")

    command = _add(subparsers, commands.download, "download and verify the raw files of a dataset")
    add_dataset_arguments(command)
    command.add_argument("--mirror", help="folder or URL to try before the upstream URLs")
    command.add_argument("--out", type=Path, required=True, help="JSON file of the verified files to write")

    command = _add(subparsers, commands.missing, "list the missing or damaged raw files and their paths")
    command.add_argument(
        "datasets", nargs="+", choices=DATASETS, metavar="DATASET", help="dataset of the paper"
    )
    add_raw_dir(command)

    command = _add(
        subparsers, commands.prepare, "load and check a dataset, and store it as one compressed file"
    )
    add_dataset_arguments(command)
    add_results(command)
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
    add_modules(command)


def _add_run_commands(subparsers: Any) -> None:
    command = _add(subparsers, commands.pretrain, "pretrain the autoencoders of a dataset, one per seed")
    command.add_argument("dataset", help="name of a prepared dataset")
    command.add_argument("architecture", help="conv, mlp or network; -NAME may follow, for further settings")
    add_modules(command)
    add_cell_arguments(command)

    command = _add(subparsers, commands.cluster, "run one method on one dataset, once per seed")
    command.add_argument("dataset", help="name of a prepared dataset")
    command.add_argument(
        "method", help=f"one of {', '.join(METHODS)}, or a name for a method that is defined"
    )
    add_definition(command)
    command.add_argument(
        "--pretrained",
        metavar="ARCHITECTURE",
        help="pretrained autoencoders to start from (default: those of its architecture)",
    )
    add_network(command)
    command.add_argument(
        "--keep-models",
        choices=("all", "one", "none"),
        default="all",
        help="seeds whose fitted model is kept; one is the first of them (default: all)",
    )
    add_cell_arguments(command)

    command = _add(subparsers, commands.check, "check that a method fulfils what the workflow expects of one")
    command.add_argument("method", help="import path module:Class of an estimator, or a method of Table III")
    command.add_argument(
        "--modules",
        type=Path,
        default=Path(),
        help="folder in which the module is searched first (default: .)",
    )
    add_settings(command, "parameter of the method")

    command = _add(subparsers, commands.choose_k, "compare numbers of clusters without true labels")
    command.add_argument("file", type=Path, help="file of the configuration")
    command.add_argument("--k", required=True, help="numbers of clusters, such as 2-15 or 5,10,15")
    command.add_argument("--datasets", nargs="+", default=[], help="some of its datasets (default: all)")
    command.add_argument(
        "--methods",
        nargs="+",
        default=[],
        help="some of its methods (default: those that train nothing for the clusters, which is cheap)",
    )

    command = _add(
        subparsers, commands.predict, "predict the clusters of new samples with the model of a run"
    )
    command.add_argument("run", type=Path, help="folder of a run: RESULTS/runs/DATASET/METHOD/seedN")
    command.add_argument(
        "--out", type=Path, required=True, help="CSV file of the predicted clusters to write"
    )
    add_device(command)
    add_definition(command)
    add_network(command)
    add_settings(
        command, "setting of the new data; path=... is required, others default to those of the run's data"
    )


def _add_output_commands(subparsers: Any) -> None:
    command = _add(subparsers, outputs.table2, "write Table II from the prepared data")
    add_table_arguments(command)

    command = _add(
        subparsers, outputs.table, "write Table III, further scores, mean ranks, claims and verdicts"
    )
    add_table_arguments(command)
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

    command = _add(
        subparsers, outputs.publish, "write results in a form that is small enough for a repository"
    )
    command.add_argument("results", type=Path, help="folder of results, which need not be complete")
    command.add_argument("out", type=Path, help="folder to write, such as results/reference/NAME")
    command.add_argument(
        "--paper",
        type=Path,
        default=Path("resources/paper"),
        help="folder of the paper's numbers (default: resources/paper)",
    )
    command.add_argument("--models", metavar="METHOD", help="method whose models of the first seed are added")

    command = _add(subparsers, outputs.figure, "draw a figure from the results")
    command.add_argument("name", choices=FIGURES, help="figure of the paper, or one about the runs")
    command.add_argument("inputs", type=Path, nargs="*", help="inputs, documented in the figure's module")
    command.add_argument("--out", type=Path, required=True, help="folder of the figure to write")

    command = _add(
        subparsers, outputs.explore, "write the page of a run, on which each sample can be asked about"
    )
    command.add_argument("run", type=Path, help="folder of a run: RESULTS/runs/DATASET/METHOD/seedN")
    command.add_argument(
        "--out", type=Path, help="HTML file to write (default: RESULTS/explore/DATASET_METHOD.html)"
    )

    command = _add(subparsers, outputs.compare, "list the cells in which two sets of results differ")
    command.add_argument("results", type=Path, help="folder of results, or a table3.csv")
    command.add_argument("reference", type=Path, help="folder of results, or a table3.csv, to compare with")


def _add_tracking_commands(subparsers: Any) -> None:
    command = _add(
        subparsers, outputs.estimate, "estimate the time, disk and memory of an experiment on this machine"
    )
    command.add_argument("config", type=Path, help="configuration, such as config/config.yaml")

    command = _add(subparsers, outputs.status, "show what is complete, running, dead, failed or waiting")
    command.add_argument("results", type=Path, nargs="+", help="folders of results, or their parent")
    command.add_argument(
        "--watch",
        type=float,
        nargs="?",
        const=5.0,
        metavar="SECONDS",
        help="repeat it at this interval (default: 5) until interrupted",
    )

    command = _add(subparsers, outputs.sync, "update the MLflow store from the run folders")
    command.add_argument(
        "results", type=Path, nargs="*", help="folders of results (default: all in the folder of the store)"
    )
    add_store(command)
    command.add_argument(
        "--follow",
        type=float,
        metavar="SECONDS",
        help="repeat the update at this interval until the parent process exits",
    )

    command = _add(subparsers, outputs.ui, "update the MLflow store and serve its UI to this machine only")
    command.add_argument(
        "--store", type=Path, required=True, help="folder of the MLflow store, the parent of the results"
    )
    command.add_argument("--port", type=int, default=5000, help="port of the server (default: 5000)")


def _add(subparsers: Any, function: Callable[..., None], summary: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = subparsers.add_parser(
        function.__name__.replace("_", "-"), help=summary, description=summary[0].upper() + summary[1:] + "."
    )
    command.set_defaults(command=function)
    return command
