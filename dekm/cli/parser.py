"""The commands and their arguments."""

import argparse
from pathlib import Path
from typing import Any

import dekm
from dekm.cli import commands, outputs
from dekm.cli.arguments import (
    CELL,
    CONFIGURATION,
    DATASET,
    DEFINITION,
    DEVICE,
    MODULES,
    NETWORK,
    PREPARED,
    RAW_DIR,
    RESULTS,
    TABLE,
    argument,
    file,
    settings,
    several,
)
from dekm.datasets import DATASETS
from dekm.figures import FIGURES
from dekm.methods import METHODS

# What a command does, and its arguments: those of the function of its name.
COMMANDS: dict[str, tuple[Any, ...]] = {
    "config": (
        "check that a configuration file can be read; print its folder of results",
        CONFIGURATION,
    ),
    "download": (
        "download and verify the raw files of a dataset",
        *DATASET,
        argument("--mirror", "folder or URL to try before the upstream URLs"),
        file("--out", "JSON file of the verified files to write"),
    ),
    "missing": (
        "list the missing or damaged raw files and their paths",
        argument("datasets", "datasets of this package", nargs="+", choices=DATASETS, metavar="DATASET"),
        RAW_DIR,
    ),
    "prepare": (
        "load and check a dataset, and store it as one compressed file",
        *DATASET,
        RESULTS,
        argument("--subsample", "size of a stratified subsample (default: all samples)", type=int),
        argument(
            "--classes",
            "number of classes to keep, drawn at random (default: all)",
            type=int,
            dest="n_classes",
        ),
        argument("--name", "name of the prepared dataset (default: DATASET)"),
        MODULES,
    ),
    "pretrain": (
        "pretrain the autoencoders of a dataset, one per seed",
        PREPARED,
        argument("architecture", "conv, mlp or network; -NAME may follow, for further settings"),
        argument(
            "--pretrained",
            "folder of results whose autoencoders of the same data, parameters and seed are taken",
            metavar="RESULTS",
        ),
        MODULES,
        *CELL,
    ),
    "cluster": (
        "run one method on one dataset, once per seed",
        PREPARED,
        argument("method", f"one of {', '.join(METHODS)}, or a name for a method that is defined"),
        *DEFINITION,
        argument(
            "--pretrained",
            "pretrained autoencoders to start from (default: those of its architecture)",
            metavar="ARCHITECTURE",
        ),
        NETWORK,
        argument(
            "--keep-models",
            "seeds whose fitted model is kept; one is the first of them (default: all)",
            choices=("all", "one", "none"),
            default="all",
        ),
        *CELL,
    ),
    "check": (
        "check that a method fulfils what the workflow expects of one",
        argument("method", "import path module:Class of an estimator, or a method of Table III"),
        file("--modules", "folder in which the module is searched first (default: .)", default=Path()),
        *settings("parameter of the method"),
    ),
    "choose-k": (
        "compare numbers of clusters without true labels",
        CONFIGURATION,
        argument("--k", "numbers of clusters, such as 2-15 or 5,10,15", required=True),
        argument("--datasets", "some of its datasets (default: all)", nargs="+", default=[]),
        argument(
            "--methods",
            "some of its methods (default: those that train nothing for the clusters, which is cheap)",
            nargs="+",
            default=[],
        ),
    ),
    "predict": (
        "predict the clusters of new samples with the model of a run",
        file("run", "folder of a run: RESULTS/runs/DATASET/METHOD/seedN"),
        file("--out", "CSV file of the predicted clusters to write"),
        DEVICE,
        *DEFINITION,
        NETWORK,
        *settings(
            "setting of the new data; path=... is required, or loader=... if a function of yours loaded "
            "the run's data; others default to those of the run's data"
        ),
    ),
    "table2": ("write Table II from the prepared data", *TABLE),
    "table": (
        "write Table III, further scores, mean ranks, claims and verdicts",
        *TABLE,
        argument("--methods", "rows of Table III", nargs="+", required=True),
        argument(
            "--strategies",
            "methods that appear only in the paper's claims, not in Table III",
            nargs="*",
            default=[],
        ),
        argument(
            "--show",
            "methods whose clusters are shown (default: the best row by true labels, K-means and DEKM)",
            nargs="*",
            default=[],
        ),
        file(
            "--reference",
            "published set whose runs are shown beside those of the results, where they can be compared",
            default=None,
        ),
        several("--label", "name of a method in the table", "METHOD=LABEL", "labels"),
    ),
    "publish": (
        "write results in a form that is small enough for a repository",
        file("results", "folder of results, which need not be complete"),
        file("out", "folder to write, such as results/reference/NAME"),
        file(
            "--paper",
            "folder of the paper's numbers (default: resources/paper of the clone)",
            default=outputs.CONFIG.parent / "resources" / "paper",
        ),
        argument("--models", "method whose models of the first seed are added", metavar="METHOD"),
        argument("--pretrained", "architecture whose autoencoders are added", metavar="ARCHITECTURE"),
        argument("--extend", "keep the seeds that the folder has and the results lack", action="store_true"),
    ),
    "figure": (
        "draw a figure from the results",
        argument("name", "figure of the paper, or one about the runs", choices=FIGURES),
        file("inputs", "inputs, documented in the figure's module", nargs="*"),
        file("--out", "folder of the figure to write"),
    ),
    "explore": (
        "write the interactive page of a run, which shows why each sample is in its cluster",
        file("run", "folder of a run: RESULTS/runs/DATASET/METHOD/seedN"),
        file("--out", "HTML file to write (default: RESULTS/explore/DATASET_METHOD.html)", default=None),
    ),
    "compare": (
        "list the cells in which two sets of results differ",
        file("results", "folder of results, or a table3.csv"),
        file("reference", "folder of results, or a table3.csv, to compare with"),
    ),
    "estimate": (
        "estimate the time, disk and memory of an experiment on this machine",
        file("config", "configuration, such as config/config.yaml"),
    ),
    "status": (
        "show what is complete, running, dead, failed or waiting",
        file("results", "folders of results, or their parent", nargs="+"),
        argument(
            "--watch",
            "repeat it at this interval (default: 5) until interrupted",
            type=float,
            nargs="?",
            const=5.0,
            metavar="SECONDS",
        ),
    ),
    "sync": (
        "update the MLflow store from the run folders",
        file("results", "folders of results (default: all in the folder of the store)", nargs="*"),
        argument(
            "--store",
            "folder of the MLflow store, or http://... of a server (default: the server in "
            "MLFLOW_TRACKING_URI, otherwise the folder above the results)",
        ),
        file(
            "--done",
            "file to write at the end, with 'pending' in it if a server could not be updated",
            default=None,
            metavar="FILE",
        ),
        argument(
            "--follow",
            "repeat the update at this interval until the parent process exits",
            type=float,
            metavar="SECONDS",
        ),
    ),
    "ui": (
        "update the MLflow store and serve its UI to this machine only",
        file("--store", "folder of the MLflow store, the parent of the results"),
        argument("--port", "port of the server (default: %(default)s)", type=int, default=5000),
    ),
}


def make_parser(prog: str) -> argparse.ArgumentParser:
    """Parser of all commands; its result has ``command``, a function, and an attribute for each parameter."""
    root = argparse.ArgumentParser(prog=prog, description="Deep embedded K-means clustering.")
    root.add_argument("--version", action="version", version=f"dekm {dekm.__version__}")
    subparsers = root.add_subparsers(required=True, metavar="COMMAND")
    for name, (summary, *arguments) in COMMANDS.items():
        text = f"{summary[0].upper()}{summary[1:]}."
        command = subparsers.add_parser(name, help=summary, description=text)
        module = commands if hasattr(commands, name.replace("-", "_")) else outputs
        command.set_defaults(command=getattr(module, name.replace("-", "_")))
        for option, details in arguments:
            command.add_argument(option, **details)
    return root
