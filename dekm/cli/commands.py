"""One function per command.

The parameters of a function are the arguments of its command, which `dekm.cli.parser` documents. A command
imports what it needs when it runs, so that starting a process stays cheap.
"""

import contextlib
import gc
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dekm.cli.pairs import parse_settings, parse_texts
from dekm.datasets import DATASETS
from dekm.errors import InputError
from dekm.experiment.blocks import find_dataset
from dekm.methods import METHODS
from dekm.outside import use_folder

SCHEMA = Path(__file__).parents[2] / "config" / "config.schema.yaml"


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Import modules without garbage collections.

    PyTorch and scikit-learn create a million objects that stay until the process ends. The collector would
    visit them again and again, and once more at the end, which takes a third of a short job.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def config(file: Path) -> None:
    """Check that a configuration can be read, and print the folder of its results.

    A file whose aliases expand to very many values is refused, on which Snakemake would not return.
    """
    from dekm.experiment.config import Experiment
    from dekm.experiment.config_file import read_config_file

    read = read_config_file(file)
    if not isinstance(read.get("name"), str):
        raise InputError(f"{file}: its key 'name' should be text.")
    print(Experiment(read).results)


def download(
    dataset: str, settings: list[str], raw_dir: Path, licence_held: bool, mirror: str | None, out: Path
) -> None:
    """Download the missing raw files of a dataset and write the checksums of all its raw files."""
    from dekm.datasets.raw.fetch import fetch_dataset
    from dekm.files import write_json

    row = find_dataset(dataset, parse_settings(settings))
    row.check_licence(licence_held)
    write_json(out, fetch_dataset(row, raw_dir, mirror))


def missing(datasets: list[str], raw_dir: Path) -> None:
    """Print the path and the URLs of each missing or damaged raw file."""
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
    modules: Path | None,
) -> None:
    """Load, check and store a dataset."""
    from dekm.datasets import prepared
    from dekm.results.result_set import ResultSet

    use_folder(modules)
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


def pretrain(settings: list[str], modules: Path | None, **arguments: Any) -> None:
    """Pretrain the autoencoders of one dataset and architecture."""
    with importing():
        from dekm.experiment.jobs import pretrain_cell

    use_folder(modules)
    pretrain_cell(settings=parse_settings(settings), **arguments)


def cluster(settings: list[str], definition: list[str], modules: Path | None, **arguments: Any) -> None:
    """Run one cell of Table III."""
    with importing():
        from dekm.experiment.jobs import cluster_cell

    use_folder(modules)
    defined = parse_settings(definition, "--define")
    cluster_cell(settings=parse_settings(settings), definition=defined, **arguments)


def check(method: str, settings: list[str], modules: Path) -> None:
    """Check a method, and print one line per check.

    Raises
    ------
    InputError
        If it cannot be used, or a check fails.
    """
    import torch

    from dekm.experiment.contract import Subject, run_checks
    from dekm.experiment.estimators import check_estimator, check_settings
    from dekm.methods import find_method

    use_folder(modules)
    torch.set_num_threads(1)  # the samples are few
    row = find_method(method, {method: {"estimator": method}} if ":" in method else None)
    check_estimator(row)
    given = row.with_settings(parse_settings(settings))
    check_settings(row.load(), given)
    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    print(method)
    for result, text in run_checks(Subject(row.load(), given)):
        counts[result] += 1
        print(f"  {result:7}  {text}", flush=True)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    if counts["failed"]:
        raise InputError(f"{method} fails {counts['failed']} of {sum(counts.values())} checks.")


def predict(
    run: Path, settings: list[str], definition: list[str], modules: Path | None, **arguments: Any
) -> None:
    """Write the predicted cluster of each new sample."""
    with importing():
        from dekm.experiment.prediction import write_predictions

    use_folder(modules)
    defined = parse_settings(definition, "--define")
    write_predictions(run, parse_settings(settings), definition=defined, **arguments)


def table2(results: Path, datasets: list[str], left_out: list[str], paper: Path, out: Path) -> None:
    """Write Table II."""
    from dekm.tables import write_table2

    write_table2(
        results, datasets, paper, out, left_out=parse_texts("--left-out", "DATASET=REASON", left_out)
    )


def table(
    results: Path,
    datasets: list[str],
    left_out: list[str],
    methods: list[str],
    strategies: list[str],
    labels: list[str],
    paper: Path,
    out: Path,
) -> None:
    """Write Table III and the tables derived from it."""
    from dekm.tables import write_table3

    known = {name: row.label for name, row in (DATASETS | METHODS).items()}
    write_table3(
        results,
        datasets,
        methods,
        paper,
        out,
        strategies=strategies,
        labels=known | parse_texts("--label", "METHOD=LABEL", labels),
        left_out=parse_texts("--left-out", "DATASET=REASON", left_out),
    )


def figure(name: str, inputs: list[Path], out: Path) -> None:
    """Draw one figure."""
    from dekm.figures import write_figure

    write_figure(name, inputs, out)


def compare(results: Path, reference: Path) -> None:
    """Print the cells in which two sets of results differ by more than noise."""
    from dekm.tables.compare import compare, compare_grid
    from dekm.tables.rendering.markdown import to_markdown

    print(to_markdown(compare_grid(compare(results, reference))), end="")


def status(results: list[Path], watch: float | None) -> None:
    """Print what is complete, running, dead, failed or waiting; once, or repeatedly until interrupted."""
    from dekm.results.status import find_results, read_status
    from dekm.results.status_text import describe

    while True:
        texts = [describe(read_status(folder)) for folder in find_results(results)]
        clear = "\033[H\033[2J" if watch is not None and sys.stdout.isatty() else ""
        print(clear + "\n\n".join(texts), flush=True)
        if watch is None:
            return
        time.sleep(watch)
        print()


def estimate(config: Path) -> None:
    """Print about how long an experiment takes here, and how much disk and memory."""
    from dekm.experiment.checks import read_experiment
    from dekm.experiment.config_file import read_config_file
    from dekm.experiment.estimate_text import describe_estimate

    content = read_config_file(config)
    print(describe_estimate(read_experiment(content, SCHEMA, config.absolute().parent)))


def sync(results: list[Path], store: Path, follow: float | None) -> None:
    """Update the MLflow store from the run folders, once or repeatedly."""
    from dekm.tracking.store import sync_all
    from dekm.tracking.ui import follow_runs

    if follow is not None and not 0 < follow < float("inf"):
        raise InputError(f"--follow {follow} should be a number of seconds > 0.")
    if follow is None:
        sync_all(results, store)
    else:
        follow_runs(results, store, follow)


def ui(store: Path, port: int) -> None:
    """Update the MLflow store and serve its UI on the loopback interface until interrupted.

    Raises
    ------
    InputError
        If the port cannot be used or there are no runs.
    """
    from dekm.results.result_set import RESERVED, result_sets
    from dekm.tracking.store import sync_all
    from dekm.tracking.ui import check_port, serve

    check_port(port)
    results = [result_set.path for result_set in result_sets(store) if result_set.path.name not in RESERVED]
    if not results:
        raise InputError(f"{store} holds no runs yet: run 'make demo' first.")
    sync_all(results, store)
    serve(results, store, port)
