"""The two jobs that train: pretraining for a dataset, and one method on one dataset.

The only module that holds data, their true labels, a method and a metric at once. The labels go to the
`Scorer`, to which nothing leads that a method is handed.
"""

import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dekm.datasets import prepared
from dekm.errors import InputError, cut, first_line, shown, without_secrets
from dekm.experiment.cells import Cell, Job
from dekm.experiment.checkpoints import RecordedCheckpoint
from dekm.experiment.config import ARCHITECTURES, with_embedding_dim
from dekm.experiment.estimators import (
    Settings,
    build,
    check_settings,
    effective_parameters,
    fit,
    takes_checkpoint,
)
from dekm.experiment.history import Epochs, History, Scorer
from dekm.experiment.provenance import method_sources, pretraining_sources
from dekm.experiment.records import write_estimator, write_failure, write_pretraining, write_run
from dekm.experiment.starts import (
    describe_parameters,
    find_published,
    load_start,
    origin,
    pretrained_seed,
    take_published,
)
from dekm.methods import find_method
from dekm.methods.autoencoder import Autoencoder
from dekm.nn.checkpoint import NO_CHECKPOINT
from dekm.results.advice import advice
from dekm.results.comparison import compare
from dekm.results.published import MAX_SEED
from dekm.results.record import Record
from dekm.results.result_set import ResultSet
from dekm.results.runs import read_runs
from dekm.results.seed import FAILED
from dekm.scaling import InputScaling

logger = logging.getLogger(__name__)


def pretrain_cell(
    results: Path,
    dataset: str,
    architecture: str,
    seeds: Sequence[int],
    settings: Settings,
    *,
    pretrained: Path | None = None,
    device: str = "auto",
    fresh: bool = False,
) -> None:
    """Pretrain one autoencoder per seed; the methods of the dataset start from it.

    The architecture may be followed by a dash and what distinguishes the settings from those of others. A
    seed that the folder of results `pretrained` has of the same data and parameters is taken from there.
    Writes ``pretrained/<dataset>/<architecture>/seed<seed>/`` and a ``summary.json`` beside the seeds.
    """
    check_seeds(seeds)
    result_set = ResultSet(results)
    X, _, data = _load(result_set, dataset)
    scaling = InputScaling.from_facts(data["scaling"])
    kind = architecture.partition("-")[0]
    if kind not in ARCHITECTURES:
        raise InputError(f"architecture={shown(architecture)} should be one of {', '.join(ARCHITECTURES)}.")
    most = min(X.shape[0], math.prod(X.shape[1:]))
    settings = with_embedding_dim(settings, kind, data["kind"], data["n_clusters"], most)
    check_settings(Autoencoder, settings)
    network = settings.get("network")
    shared = {"settings": settings, "data": data["digest"], "sources": pretraining_sources(network)}
    parameters = effective_parameters(Autoencoder, {"architecture": kind, **settings})
    published: dict[int, Record] = {}
    if pretrained is not None and network is None:
        found = {seed: find_published(pretrained, data["digest"], parameters, seed) for seed in seeds}
        published = {seed: record for seed, record in found.items() if record}

    def pretrain(job: Job) -> None:
        if record := published.get(job.seed):
            logger.info("seed %s is taken from %s", job.seed, record.path)
            write_pretraining(job.folder, take_published(record, device), record.metrics["seconds"])
            return
        epochs = Epochs()
        job.live.follow(epochs)
        checkpoint = RecordedCheckpoint(job.checkpoint, epochs)
        autoencoder = Autoencoder(
            architecture="auto" if network else kind, device=device, random_state=job.seed, **settings
        )
        autoencoder.fit(X, checkpoint=NO_CHECKPOINT if network else checkpoint, on_epoch=epochs)
        autoencoder.set_input_scaling(scaling)
        write_pretraining(job.folder, autoencoder, epochs.seconds())

    cell = Cell(
        result_set.pretraining(dataset, architecture),
        {"dataset": dataset, "architecture": architecture},
        {seed: {**shared, "seed": seed, **origin(published.get(seed))} for seed in seeds},
        math.prod(X.shape),
        {"parameters": parameters, "in_table": False},
        # UMAP gives another embedding where several threads compute one.
        concurrent=network is None and settings.get("init") != "umap",
        taken={seed: record.facts["key"] for seed, record in published.items()},
    )
    cell.run(pretrain, device=device, fresh=fresh)


def cluster_cell(
    results: Path,
    dataset: str,
    method: str,
    seeds: Sequence[int],
    settings: Settings,
    *,
    definition: Settings | None = None,
    pretrained: str | None = None,
    network: str | None = None,
    device: str = "auto",
    fresh: bool = False,
    keep_models: str = "all",
) -> None:
    """Run one method on one dataset, once per seed.

    Writes ``runs/<dataset>/<method>/seed<seed>/`` and a ``summary.json`` beside the seeds.

    Parameters
    ----------
    definition : mapping, optional
        Defines a method that is not in the table of methods, see `dekm.methods.find_method`.
    pretrained : str, optional
        Key of the autoencoders that it starts from; by default the architecture of the method.
    network : str, optional
        Import path of the network of the autoencoders, if it is outside of this package.
    fresh : bool
        Whether to make complete seeds again.
    keep_models : {"all", "one", "none"}
        Seeds whose fitted model is kept: all, the first one, or none. A complete seed stays as it is.
    """
    check_seeds(seeds)
    result_set = ResultSet(results)
    X, y, data = _load(result_set, dataset)
    scaling = InputScaling.from_facts(data["scaling"])
    row = find_method(method, {method: definition})
    settings = row.with_settings(settings)
    check_settings(row.load(), settings)
    architecture: str | None = row.architecture(data["kind"], settings)
    if architecture is not None:
        architecture = pretrained or architecture
    with_model = {"all": seeds, "one": seeds[:1], "none": ()}[keep_models]
    starts = {seed: pretrained_seed(result_set, data, dataset, architecture, seed) for seed in seeds}
    shared = {
        "settings": settings,
        "data": data["digest"],
        "n_clusters": data["n_clusters"],
        "estimator": row.estimator,
        "sources": method_sources(row.module),
    }

    samples = result_set.data(dataset).samples()

    def cluster(job: Job) -> None:
        start = load_start(starts[job.seed], device, network)
        estimator = build(row, data["n_clusters"], settings, start, device, job.seed)
        planned, may_stop_early = getattr(estimator, "planned_iterations", 0), hasattr(estimator, "tol")
        history = History(planned, may_stop_early=may_stop_early)
        scorer = Scorer(y, history)
        job.live.follow(history, scorer.scores)
        checkpoint = NO_CHECKPOINT if network else RecordedCheckpoint(job.checkpoint, history)
        if network or not takes_checkpoint(estimator):
            logger.info("no checkpoints: an interrupted run of this method starts from its beginning")
        try:
            fitted = fit(estimator, X, start, history, checkpoint)
        except FloatingPointError as error:  # such as `DivergedError`
            job.found[FAILED] = cut(without_secrets(first_line(error)))
            write_failure(job.folder, scorer)
            return
        job.found["warnings"] = fitted.warnings
        if job.seed in with_model:
            write_estimator(job.folder, estimator, scaling, data.get("features") if X.ndim == 2 else None)
        write_run(job.folder, fitted, X, scorer, samples)

    cell = Cell(
        result_set.cell(dataset, method),
        {"dataset": dataset, "method": method},
        {
            seed: {**shared, "seed": seed, "pretrained": start and start.facts["key"]}
            for seed, start in starts.items()
        },
        math.prod(X.shape),
        {
            "label": row.label,
            "in_table": row.in_table and data.get("n_classes") is None,
            **describe_parameters(row.load(), settings, starts[seeds[0]]),
        },
        # UMAP gives another embedding where several threads compute one.
        concurrent=network is None and row.is_ours and row.extra is None,
    )
    cell.run(cluster, device=device, fresh=fresh)
    runs = read_runs(result_set, [dataset])
    if text := advice(runs, dataset, compare(runs, dataset)):
        logger.info("%s", text)


def check_seeds(seeds: Sequence[int]) -> None:
    """Raise `InputError` unless every seed is one that NumPy and PyTorch accept."""
    for seed in seeds:
        if not 0 <= seed <= MAX_SEED:
            raise InputError(f"seed={seed} should be an integer from 0 to {MAX_SEED}.")


def _load(results: ResultSet, dataset: str) -> tuple[Any, Any, dict[str, Any]]:
    folder = results.data(dataset)
    X, y, _ = prepared.load(folder.arrays_file, folder.facts_file)
    return X, y, folder.facts
