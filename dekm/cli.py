"""The command line: what the workflow's rules and people run."""

import argparse
import json
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dekm.datasets import DATASETS
from dekm.errors import InputError
from dekm.experiment.config import find_dataset
from dekm.figures import FIGURES
from dekm.methods import METHODS, STRATEGIES


def main(argv: Sequence[str] | None = None, *, prog: str = "dekm") -> int:
    """Run one command; a user's mistake is one line on standard error and exit status 1."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("dekm").setLevel(logging.INFO)
    logging.captureWarnings(True)
    arguments = vars(parser(prog).parse_args(argv))
    command = arguments.pop("command")
    try:
        command(**arguments)
    except InputError as error:
        print(f"dekm: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        print(f"dekm: error: {error.filename}: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


def parser(prog: str = "dekm") -> argparse.ArgumentParser:
    """All commands and their arguments."""
    root = argparse.ArgumentParser(prog=prog, description="Deep embedded K-means clustering.")
    commands = root.add_subparsers(required=True, metavar="COMMAND")

    command = _add(commands, download, "fetch and verify the raw files of a dataset")
    _add_dataset_arguments(command)
    command.add_argument("--mirror", help="folder or URL to try before the upstream addresses")
    command.add_argument("--out", type=Path, required=True, help="file that will list what was verified")

    command = _add(commands, missing, "list the raw files that are missing or damaged, and where they belong")
    command.add_argument("datasets", nargs="+", choices=DATASETS, metavar="DATASET")
    command.add_argument("--raw-dir", type=Path, required=True, help="folder of raw files")

    command = _add(commands, prepare, "turn raw files into one compact file")
    _add_dataset_arguments(command)
    command.add_argument("--results", type=Path, required=True, help="folder of the results")
    command.add_argument("--subsample", type=int, help="keep so many samples, each class in its share")
    command.add_argument(
        "--classes", type=int, dest="n_classes", help="keep so many classes, drawn at random"
    )
    command.add_argument("--name", help="folder of the prepared data; that of the dataset if it is missing")

    command = _add(commands, pretrain, "pretrain the autoencoders of a dataset, one per seed")
    command.add_argument("dataset")
    command.add_argument("architecture", choices=("conv", "mlp"))
    _add_cell_arguments(command)

    command = _add(commands, cluster, "run one method on one dataset, once per seed")
    command.add_argument("dataset")
    command.add_argument("method", choices=[*METHODS, *STRATEGIES])
    _add_cell_arguments(command)

    _add_report_commands(commands)

    command = _add(commands, sync, "bring the MLflow store up to date with the run folders")
    command.add_argument("results", type=Path, nargs="+", help="folders of results")
    command.add_argument("--store", type=Path, required=True, help="folder of the store")
    command.add_argument(
        "--follow", type=float, metavar="SECONDS", help="do so again and again while the caller lives"
    )

    command = _add(commands, ui, "browse all runs in the MLflow UI, on this machine only")
    command.add_argument("--store", type=Path, required=True, help="folder of the store, above the results")
    command.add_argument("--port", type=int, default=5000)
    return root


def download(
    dataset: str, settings: list[str], raw_dir: Path, licence_held: bool, mirror: str | None, out: Path
) -> None:
    """Fetch every raw file of a dataset that is not there yet, and list them with their checksums."""
    from dekm.datasets.raw.fetch import fetch_dataset
    from dekm.files import write_json

    row = find_dataset(dataset, parse_settings(settings))
    row.check_licence(licence_held)
    write_json(out, fetch_dataset(row, raw_dir, mirror))


def missing(datasets: list[str], raw_dir: Path) -> None:
    """Print each missing or damaged raw file with its place and its addresses."""
    from dekm.datasets.raw.fetch import describe_missing

    for name in datasets:
        print(*describe_missing(name, DATASETS[name], raw_dir), sep="\n")


def prepare(
    dataset: str,
    settings: list[str],
    raw_dir: Path,
    licence_held: bool,
    results: Path,
    subsample: int | None,
    n_classes: int | None,
    name: str | None,
) -> None:
    """Load, check and store a dataset."""
    from dekm.datasets import prepared
    from dekm.results.result_set import ResultSet

    row = find_dataset(dataset, parse_settings(settings))
    row.check_licence(licence_held)
    target = ResultSet(results).data(name or dataset)
    prepared.prepare(
        row,
        raw_dir,
        data=target.arrays_file,
        facts=target.facts_file,
        subsample=subsample,
        n_classes=n_classes,
    )


def pretrain(settings: list[str], **arguments: Any) -> None:
    """Pretrain the autoencoders of one dataset and architecture."""
    from dekm.experiment.jobs import pretrain_cell

    pretrain_cell(settings=parse_settings(settings), **arguments)


def cluster(settings: list[str], **arguments: Any) -> None:
    """Run one cell of Table III."""
    from dekm.experiment.jobs import cluster_cell

    cluster_cell(settings=parse_settings(settings), **arguments)


def predict(run: Path, settings: list[str], device: str, out: Path) -> None:
    """Write the cluster of each new sample."""
    from dekm.experiment.prediction import write_predictions

    write_predictions(run, parse_settings(settings), out, device=device)


def table2(results: Path, datasets: list[str], left_out: list[str], paper: Path, out: Path) -> None:
    """Write Table II."""
    from dekm.tables import write_table2

    write_table2(results, datasets, paper, out, left_out=parse_reasons(left_out))


def table(
    results: Path,
    datasets: list[str],
    left_out: list[str],
    methods: list[str],
    strategies: list[str],
    paper: Path,
    out: Path,
) -> None:
    """Write Table III."""
    from dekm.tables import write_table3

    labels = {name: row.label for name, row in (DATASETS | METHODS).items()}
    write_table3(
        results,
        datasets,
        methods,
        paper,
        out,
        strategies=strategies,
        labels=labels,
        left_out=parse_reasons(left_out),
    )


def figure(name: str, inputs: list[Path], out: Path) -> None:
    """Draw one figure."""
    from dekm.figures import write_figure

    write_figure(name, inputs, out)


def compare(results: Path, reference: Path) -> None:
    """Print the cells in which two sets of results differ beyond noise."""
    from dekm.tables.compare import compare, compare_grid
    from dekm.tables.markdown import to_markdown

    print(to_markdown(compare_grid(compare(results, reference))), end="")


def sync(results: list[Path], store: Path, follow: float | None) -> None:
    """Mirror run folders into MLflow."""
    from dekm.tracking.store import sync_all
    from dekm.tracking.ui import follow_runs

    if follow is None:
        sync_all(results, store)
    else:
        follow_runs(results, store, follow)


def ui(store: Path, port: int) -> None:
    """Bring the store up to date and serve the MLflow UI on loopback until interrupted."""
    from dekm.results.result_set import result_sets
    from dekm.tracking.store import sync_all
    from dekm.tracking.ui import check_port, serve

    check_port(port)
    results = [result_set.path for result_set in result_sets(store)]
    if not results:
        raise InputError(f"{store} holds no runs yet: run 'make demo' first.")
    sync_all(results, store)
    serve(results, store, port)


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Settings from NAME=VALUE pairs; a value is JSON, or else a string."""
    settings = {}
    for name, value in split_pairs("--set", "NAME=VALUE", pairs):
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            settings[name] = value
    return settings


def parse_reasons(pairs: list[str]) -> dict[str, str]:
    """Why each dataset is left out, from DATASET=REASON pairs."""
    return dict(split_pairs("--left-out", "DATASET=REASON", pairs))


def split_pairs(option: str, form: str, pairs: list[str]) -> Iterator[tuple[str, str]]:
    """Names and values of an option that may be given several times."""
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise InputError(f"{option} {pair!r} should be {form}.")
        yield name, value


def _add(commands: Any, function: Any, summary: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        function.__name__, help=summary, description=summary[0].upper() + summary[1:] + "."
    )
    command.set_defaults(command=function)
    return command


def _add_dataset_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("dataset", help=f"one of {', '.join(DATASETS)}, or a name for your own data")
    command.add_argument("--raw-dir", type=Path, required=True, help="folder of raw files")
    command.add_argument(
        "--licence-held", action="store_true", help="you hold the licence of restricted data"
    )
    _add_settings(command, "an option of the dataset, or a setting that describes your own data")


def _add_report_commands(commands: Any) -> None:
    command = _add(commands, predict, "give new data the clusters of a run")
    command.add_argument("run", type=Path, help="folder of a run: RESULTS/runs/DATASET/METHOD/seedN")
    command.add_argument("--out", type=Path, required=True, help="CSV file of the clusters")
    command.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    _add_settings(command, "what describes the new data, at least path=...; else as the run's own data")

    command = _add(commands, table2, "write Table II from the prepared data")
    _add_table_arguments(command)

    command = _add(commands, table, "write Table III, and what follows from it, from the runs")
    _add_table_arguments(command)
    command.add_argument("--methods", nargs="+", required=True, choices=METHODS)
    command.add_argument(
        "--strategies", nargs="*", default=[], help="further methods that the paper's claims are about"
    )

    command = _add(commands, figure, "draw a figure from the results")
    command.add_argument("name", choices=FIGURES)
    command.add_argument("inputs", type=Path, nargs="*", help="what it shows: see the figure's module")
    command.add_argument("--out", type=Path, required=True, help="folder of the figure's files")

    command = _add(commands, compare, "list the cells in which two sets of results differ")
    command.add_argument("results", type=Path, help="folder of results, or a table3.csv")
    command.add_argument("reference", type=Path, help="what to compare with, the same")


def _add_table_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--results", type=Path, required=True, help="folder of the results")
    command.add_argument("--datasets", nargs="+", required=True)
    command.add_argument(
        "--left-out", action="append", default=[], metavar="DATASET=REASON", help="why one has no results"
    )
    command.add_argument("--paper", type=Path, required=True, help="CSV file of the paper's numbers")
    command.add_argument("--out", type=Path, required=True, help="folder of the table files")


def _add_cell_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--results", type=Path, required=True, help="folder of the results")
    command.add_argument("--seeds", type=int, nargs="+", required=True)
    command.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    command.add_argument("--fresh", action="store_true", help="recompute also what is complete")
    _add_settings(command, "a parameter")


def _add_settings(command: argparse.ArgumentParser, help_: str) -> None:
    command.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="NAME=VALUE", help=help_
    )
