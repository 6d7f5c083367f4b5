"""One run of the MLflow store, from the folder of a seed: its tags, files, metrics and curves."""

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dekm.errors import InputError
from dekm.files.reading import readable
from dekm.markup import markdown
from dekm.results.progress import read_progress
from dekm.results.record import Record, read_record
from dekm.results.seed import SUBJECTS, SeedFolder
from dekm.tracking.artifacts import LONGEST_NOTE, NOTE, log_folder

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Metric

OPTIONAL_TAGS = ("pretrained", "warnings")
METRICS_PER_BATCH = 800  # MLflow takes 1,000 metrics, parameters and tags at a time
POINTS_PER_CURVE = 200
UNGROUPED = {"acc", "nmi", "ari", "f1"}  # all other curves show the training
GROUPS = {"pretrain": "pretrain", "cluster": "train"}  # of the charts that show it, by stage

Point = tuple[str, float, int, int]


def log_run(client: "MlflowClient", experiment_id: str, seed: SeedFolder) -> None:
    """Log one complete run: parameters, tags, data, curves, final metrics and files."""
    from mlflow.entities import Metric

    with readable(seed.path, "run", remedy=seed.remedy):  # all of it before the store is changed
        record = read_record(seed.path)
        final, points, end = record.metrics, list(curves(record)), created_at(record)
        start = end - int(final["seconds"] * 1000)
        metrics = [Metric(name, value, start + ms, step) for name, value, ms, step in points]
        last = {} if record.failure else final_values(final, points)  # the means of the view leave it out
        metrics += [Metric(name, value, end, 0) for name, value in last.items()]
    run = start_run(client, experiment_id, record, start=start, metrics=metrics[:METRICS_PER_BATCH])
    run_id = run.info.run_id
    for i in range(METRICS_PER_BATCH, len(metrics), METRICS_PER_BATCH):
        client.log_batch(run_id, metrics=metrics[i : i + METRICS_PER_BATCH])
    log_folder(client, run, record.path)
    client.set_terminated(run_id, "FAILED" if record.failure else "FINISHED", end_time=end)


def final_values(final: Mapping[str, Any], points: Sequence[Point]) -> dict[str, float]:
    """The final metrics that no curve ends with, by the names under which the UI shows them.

    Scores and seconds have no group, so that they come first; the others are in the group ``partition``.
    """
    curves = {name.rpartition("/")[2] for name, *_ in points}
    return {
        name if name in {*UNGROUPED, "seconds"} else f"partition/{name}": float(value)
        for name, value in final.items()
        if value is not None and name not in curves
    }


def log_progress(client: "MlflowClient", experiment_id: str, seed: SeedFolder, run: Any = None) -> None:
    """Log new points of the curves of an unfinished seed, and where its job is, in its run or a new one."""
    from mlflow.entities import Metric, RunTag

    points = new_points(seed, -1 if run is None else int(run.data.tags.get("logged_step", -1)))
    progress = read_progress(seed.file("progress"))
    run = run or start_run(client, experiment_id, seed, start=created_at(seed))
    if points:
        start = run.info.start_time
        metrics = [Metric(name, value, start + ms, step) for name, value, ms, step in points]
        tags = [RunTag("logged_step", str(max(step for *_, step in points)))]
        if progress is not None:
            tags.append(RunTag("progress", progress.describe()))
        client.log_batch(run.info.run_id, metrics=metrics[-METRICS_PER_BATCH:], tags=tags)


def start_run(
    client: "MlflowClient",
    experiment_id: str,
    seed: SeedFolder,
    *,
    start: int,
    metrics: "Sequence[Metric]" = (),
) -> Any:
    """Create a run with its tags, parameters, data and description, and first metrics; it stays open.

    Few calls, since each is a transaction that waits for the disk. Times are in ms since the epoch.
    """
    from mlflow.entities import Dataset, DatasetInput, Param

    facts, warned = seed.facts, [seed.failure, *seed.warnings, *seed.data.warnings]
    shown = {"dataset": facts["dataset"], SUBJECTS[seed.stage]: seed.subject, "seed": facts["seed"]}
    tags = shown | {
        "stage": seed.stage,
        "current": "yes",
        "key": facts["key"],
        "id": facts["id"],
        "commit": facts.get("commit"),
        "device": facts.get("device"),
        "data_digest": facts["data"],
        "pretrained": facts.get("pretrained"),
        "warnings": " ".join(filter(None, warned))[:LONGEST_NOTE],
        "mlflow.source.name": f"dekm {seed.stage}",
        NOTE: f"{note(seed)} {links(client, experiment_id, seed)}",
    }
    run = client.create_run(
        experiment_id,
        start_time=start,
        run_name=seed.name,
        tags={name: str(value) for name, value in tags.items() if value or name not in OPTIONAL_TAGS},
    )
    run_id = run.info.run_id
    params = [Param(name, str(value)) for name, value in (shown | parameters(facts)).items()]
    client.log_batch(run_id, metrics=metrics, params=params)
    data = Dataset(facts["dataset"], facts["data"][:8], source_type="local", source="prepared data")
    client.log_inputs(run_id, datasets=[DatasetInput(data)])
    return run


def parameters(facts: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a run and of its pretraining."""
    pretraining = {f"pretraining.{name}": value for name, value in facts.get("pretraining", {}).items()}
    return dict(facts.get("parameters", facts["settings"])) | pretraining


def created_at(seed: SeedFolder) -> int:
    """Time at which the facts of a seed were written, in ms since the epoch."""
    with readable(seed.file("facts"), "description of a run", remedy=seed.remedy):
        return int(dt.datetime.fromisoformat(seed.facts["created"]).timestamp() * 1000)


def links(client: "MlflowClient", experiment_id: str, seed: SeedFolder) -> str:
    """Links between a pretraining and the runs that started from it, as Markdown; empty without any."""
    if seed.stage == "pretrain":
        query = quote(f'tags.pretrained = "{seed.facts["key"]}"')
        return f"[Runs that started from it](#/experiments/{experiment_id}/runs?searchFilter={query})."
    key = seed.facts.get("pretrained")
    found = client.search_runs([experiment_id], f"tags.`key` = '{key}'", max_results=1) if key else []
    if not found:
        return ""
    start = found[0].info
    return f"It started from [{start.run_name}](#/experiments/{experiment_id}/runs/{start.run_id})."


def note(seed: SeedFolder) -> str:
    """Description of a run on its page of the MLflow UI, as Markdown."""
    facts = seed.facts
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return (
        f"{markdown(seed.label)} on {facts['dataset']}, seed {facts['seed']}, "
        f"on {facts.get('device')}. Files: `{seed.path}`. Commit {facts.get('commit')}; {versions}."
    )


def curves(seed: SeedFolder) -> Iterator[Point]:
    """The points of the curves of a run; of long ones about `POINTS_PER_CURVE` and the last one.

    Yields name (``train/...`` or ``pretrain/...``, of a score its own), value (never NaN), milliseconds since
    the start of the run, and iteration or epoch. Without a partition no score is that of the run.
    """
    rows = seed.history()
    if rows and "seconds" not in rows[0]:  # of a pretraining: only the time of all epochs is kept
        seconds = seed.metrics["seconds"] if isinstance(seed, Record) else 0.0
        rows = [row | {"seconds": seconds * i / len(rows)} for i, row in enumerate(rows, 1)]
    stride = max(1, -(-len(rows) // POINTS_PER_CURVE))
    ungrouped = set() if seed.failure else UNGROUPED
    for i, row in enumerate(rows):
        if i % stride and i != len(rows) - 1:
            continue
        step = int(row.pop("n_iter", row.pop("epoch", 0)))
        ms = int(1000 * row.pop("seconds", 0))
        for name, value in row.items():
            if not math.isnan(value):
                yield name if name in ungrouped else f"{GROUPS[seed.stage]}/{name}", value, ms, step


def new_points(seed: SeedFolder, logged: int) -> list[Point]:
    """The points of the curves after an iteration; none if the run has just ended."""
    try:
        return [point for point in curves(seed) if point[3] > logged]
    except InputError:
        if seed.path.exists():
            raise
        return []  # the next update logs it as complete
