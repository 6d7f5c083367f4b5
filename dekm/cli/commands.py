"""One function per command that prepares data or runs a cell.

The parameters of a function are the arguments of its command, which `dekm.cli.parser` documents. A command
imports what it needs when it runs, so that starting a process stays cheap.
"""

import contextlib
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dekm.cli.arguments import parse_numbers
from dekm.datasets import DATASETS
from dekm.errors import InputError, unknown_name
from dekm.experiment.blocks import find_dataset
from dekm.experiment.gpus import reserved_gpu
from dekm.markup import printable
from dekm.outside import use_folder


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
    """Check that the file of a configuration can be read, and print the folder of its results.

    A file whose aliases expand to very many values is refused, on which Snakemake would not return.
    """
    from dekm.experiment.config import Experiment
    from dekm.experiment.config_file import read_config_file

    read = read_config_file(file)
    if not isinstance(read.get("name"), str):
        raise InputError(f"{file}: its key 'name' should be text.")
    print(Experiment(read).results)


def download(
    dataset: str, settings: dict[str, Any], raw_dir: Path, licence_held: bool, mirror: str | None, out: Path
) -> None:
    """Download the missing raw files of a dataset and write the checksums of all its raw files."""
    from dekm.datasets.raw.fetch import fetch_dataset
    from dekm.files import write_json

    row = find_dataset(dataset, settings)
    row.check_licence(licence_held)
    write_json(out, fetch_dataset(row, raw_dir, mirror))


def missing(datasets: list[str], raw_dir: Path) -> None:
    """Print the path and the URLs of each missing or damaged raw file."""
    from dekm.datasets.raw.fetch import describe_missing

    for name in datasets:
        print(*describe_missing(name, DATASETS[name], raw_dir), sep="\n")


def prepare(
    dataset: str,
    settings: dict[str, Any],
    raw_dir: Path,
    licence_held: bool,
    results: Path,
    subsample: int | None,
    n_classes: int | None,
    name: str | None,
    modules: Path | None,
) -> None:
    """Load, check and store a dataset."""
    from dekm.datasets import preparation
    from dekm.results.result_set import ResultSet

    use_folder(modules)
    row = find_dataset(dataset, settings)
    row.check_licence(licence_held)
    target = ResultSet(results).data(name or dataset)
    preparation.prepare(
        row,
        raw_dir,
        data=target.arrays_file,
        facts=target.facts_file,
        subsample=subsample,
        n_classes=n_classes,
    )


def pretrain(modules: Path | None, pretrained: str | None, **arguments: Any) -> None:
    """Pretrain the autoencoders of one dataset and architecture, on a GPU that no other job has reserved."""
    with reserved_gpu(arguments["device"], f"pretrain {arguments['dataset']} {arguments['architecture']}"):
        with importing():
            from dekm.experiment.jobs import pretrain_cell

        use_folder(modules)
        pretrain_cell(pretrained=Path(pretrained) if pretrained else None, **arguments)


def cluster(modules: Path | None, **arguments: Any) -> None:
    """Run one cell of Table III, on a GPU that no other job has reserved."""
    with reserved_gpu(arguments["device"], f"cluster {arguments['dataset']} {arguments['method']}"):
        with importing():
            from dekm.experiment.jobs import cluster_cell

        use_folder(modules)
        cluster_cell(**arguments)


def choose_k(file: Path, k: str, datasets: list[str], methods: list[str]) -> None:
    """Cluster datasets into several numbers of clusters, plot label-free measures, and recommend one."""
    import pandas as pd

    from dekm.cli.outputs import schema_file
    from dekm.clustering.gap import gap_statistic
    from dekm.datasets.preparation import samples_of
    from dekm.experiment.checks import read_experiment
    from dekm.experiment.choose_k import Fits, recommend, run_trials
    from dekm.experiment.config_file import read_config_file
    from dekm.figures import write_figure
    from dekm.files.writing import write_text
    from dekm.markup import to_csv
    from dekm.results.comparison import SIMPLE
    from dekm.results.result_set import ResultSet

    numbers = parse_numbers(k)
    experiment = read_experiment(read_config_file(file), schema_file(), file.absolute().parent)
    raw_dir = Path(experiment.machine.raw_dir)
    chosen = methods or [name for name in SIMPLE if name in experiment.methods] or ["k_means"]
    for name in [*(datasets or experiment.datasets)]:
        if name not in experiment.datasets:
            raise InputError(unknown_name("--datasets", name, list(experiment.datasets)))
        block = experiment.blocks[name]
        fits = Fits(experiment, name, samples_of(block.row, raw_dir, block.subsample))
        trials, gap = list(run_trials(fits, numbers, chosen)), gap_statistic(fits.X, numbers)
        target = ResultSet(experiment.results).choice_file(name)
        write_text(target, to_csv(pd.DataFrame([trial.row() for trial in trials]), "%.6g"))
        write_figure("choose_k", [target], target.parent)
        print(printable(f"{name}: {target} and {target.with_suffix('.png')}\n{recommend(trials, gap)}"))


def check(method: str, settings: dict[str, Any], modules: Path) -> None:
    """Check a method, and print one line per check; `InputError` if it cannot be used, or a check fails."""
    import torch

    from dekm.experiment.contract import Subject, run_checks
    from dekm.experiment.estimators import check_estimator, check_settings
    from dekm.methods import find_method

    use_folder(modules)
    torch.set_num_threads(1)  # the samples are few
    row = find_method(method, {method: {"estimator": method}} if ":" in method else None)
    check_estimator(row)
    given = row.with_settings(settings)
    check_settings(row.load(), given)
    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    print(method)
    for result, text in run_checks(Subject(row.load(), given)):
        counts[result] += 1
        print(f"  {result:7}  {text}", flush=True)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    if counts["failed"]:
        raise InputError(f"{method} fails {counts['failed']} of {sum(counts.values())} checks.")


def predict(modules: Path | None, **arguments: Any) -> None:
    """Write the predicted cluster of each new sample, and print a line that describes them."""
    with importing():
        from dekm.experiment.prediction import write_predictions

    use_folder(modules)
    print(printable(write_predictions(**arguments)))
