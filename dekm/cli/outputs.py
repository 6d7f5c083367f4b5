"""One function per command that reads results: tables, figures, status and the MLflow store.

The parameters of a function are the arguments of its command, as in `dekm.cli.commands`.
"""

import logging
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from dekm.cli.arguments import parse_texts
from dekm.datasets import DATASETS
from dekm.errors import InputError
from dekm.files import write_text
from dekm.markup import printable
from dekm.methods import METHODS

if TYPE_CHECKING:
    from dekm.tables.loading import Labels

logger = logging.getLogger(__name__)

CONFIG = Path(__file__).parents[2] / "config"
SCHEMA = CONFIG / "config.schema.yaml"
PAPER = CONFIG / "config.yaml"
MOST_SECONDS = 10**6  # between two updates


def schema_file() -> Path:
    """The schema of configurations; `InputError` if the package is installed without its clone."""
    if not SCHEMA.is_file():
        raise InputError(
            f"{SCHEMA} does not exist: experiments need a clone of the project, in which make or "
            "pip install -e '.[workflow]' installs the package."
        )
    return SCHEMA


def known_labels(more_methods: Mapping[str, str] | None = None) -> "Labels":
    """Names of the datasets and methods of this package, and of more methods."""
    from dekm.tables.loading import Labels

    methods = {name: row.label for name, row in METHODS.items()}
    return Labels({name: row.label for name, row in DATASETS.items()}, {**methods, **(more_methods or {})})


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
    show: list[str],
    reference: Path | None,
    labels: list[str],
    paper: Path,
    out: Path,
) -> None:
    """Write Table III and the tables derived from it."""
    from dekm.experiment.deviations import find_deviations
    from dekm.tables import write_table3

    labels_of_methods = parse_texts("--label", "METHOD=LABEL", labels)
    write_table3(
        results,
        datasets,
        methods,
        paper,
        out,
        strategies=strategies,
        show=show,
        reference=reference,
        labels=known_labels(labels_of_methods),
        left_out=parse_texts("--left-out", "DATASET=REASON", left_out),
        deviations=find_deviations(results, datasets, [*methods, *strategies], PAPER),
    )


def publish(
    results: Path, paper: Path, models: str | None, pretrained: str | None, extend: bool, out: Path
) -> None:
    """Write a set of results in a form that is small enough for a repository."""
    from dekm.experiment.deviations import find_deviations
    from dekm.tables.publication import publish

    methods = [name for name, row in METHODS.items() if row.of_paper]
    publish(
        results,
        out,
        paper,
        methods,
        known_labels(),
        deviations=find_deviations(results, list(DATASETS), methods, PAPER),
        models=models,
        pretrained=pretrained,
        licences={name: row.licence for name, row in DATASETS.items()},
        draw=draw_tables,
        extend=extend,
    )


def draw_tables(folder: Path) -> None:
    """Draw the figures of the tables in a folder, as PNG in its folder of figures."""
    from dekm.figures import write_figure
    from dekm.files import copy_file
    from dekm.results.result_set import FIGURES_OF_TABLES

    with TemporaryDirectory() as drawn:
        for name, tables in FIGURES_OF_TABLES.items():
            inputs = [folder / table for table in tables]
            if all(file.is_file() for file in inputs):
                write_figure(name, inputs, Path(drawn))
        for figure in sorted(Path(drawn).glob("*.png")):
            copy_file(figure, folder / "figures" / figure.name)


def figure(name: str, inputs: list[Path], out: Path) -> None:
    """Draw one figure."""
    from dekm.figures import write_figure

    write_figure(name, inputs, out)


def explore(run: Path, out: Path | None) -> None:
    """Write the page of a run, and print its path."""
    from dekm.figures.explore import write_page
    from dekm.results.folders import read_run
    from dekm.results.result_set import ResultSet

    record = read_run(run)
    results = ResultSet(Path(*record.parts[:-4]))
    target = out or results.page_of_run(record.facts["dataset"], record.subject)
    write_page(record.path, target)
    print(target)


def compare(results: Path, reference: Path) -> None:
    """Print the cells in which two sets of results differ by more than noise."""
    from dekm.tables.compare import compare, compare_grid
    from dekm.tables.rendering.markdown import to_markdown

    print(to_markdown(compare_grid(compare(results, reference))), end="")


def check_interval(option: str, seconds: float | None) -> None:
    """`InputError` for an interval that `time.sleep` refuses."""
    if seconds is not None and not 0 < seconds <= MOST_SECONDS:
        raise InputError(f"{option} {seconds} should be a number of seconds > 0 and <= {MOST_SECONDS:,}.")


def status(results: list[Path], watch: float | None) -> None:
    """Print what is complete, running, dead, failed or waiting; once, or repeatedly until interrupted."""
    from dekm.results.status import find_results, read_status
    from dekm.results.status_text import describe_status

    check_interval("--watch", watch)
    while True:
        texts = [printable(describe_status(read_status(folder))) for folder in find_results(results)]
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
    from dekm.experiment.estimate import describe_estimate

    content = read_config_file(config)
    experiment = read_experiment(content, schema_file(), config.absolute().parent)
    print(printable(describe_estimate(experiment)))


def sync(results: list[Path], store: str | None, follow: float | None, done: Path | None) -> None:
    """Update the MLflow store from the run folders, once or repeatedly.

    With `done`, a server that cannot be updated is a warning, and `PENDING` is written to this file.
    """
    from dekm.results.progress import WARNING
    from dekm.results.result_set import result_folders
    from dekm.tracking.server import PENDING, default_store, read_store
    from dekm.tracking.store import sync_all
    from dekm.tracking.ui import follow_runs

    check_interval("--follow", follow)
    target = read_store(
        default_store(results[0].absolute().parent if results else Path("results"))
        if store is None
        else store
    )
    if not results and isinstance(target, str):
        raise InputError(f"{target} is a server: name the folders of results.")
    if follow is not None:
        follow_runs(results, target, follow)
        return
    state = ""
    try:
        sync_all(results or result_folders(Path(target)), target)
    except InputError as error:
        if done is None or isinstance(target, Path):
            raise
        logger.warning("%s%s The next run of the workflow tries it again.", WARNING, error)
        state = PENDING
    if done is not None:
        write_text(done, state)


def ui(store: Path, port: int) -> None:
    """Update the MLflow store and serve its UI on the loopback interface until interrupted."""
    from dekm.results.result_set import result_folders
    from dekm.tracking.store import sync_all
    from dekm.tracking.ui import check_port, serve

    check_port(port)
    results = result_folders(store)
    if not results:
        raise InputError(f"{store} holds no runs yet: run 'make demo' first.")
    sync_all(results, store)
    serve(store, port)
