"""Views of the runs of an experiment in the MLflow UI: their scores, which its own view hides, and the means.

MLflow has no call that saves a view; it reads one from a tag of the experiment, which its own button
*Share* writes.
"""

import json
from pathlib import Path
from typing import Any

from dekm.tracking.artifacts import NOTE
from dekm.tracking.database import open_store

SHARED = "mlflow.sharedViewState."  # the tag of a view that is shared by its address, before its key
COLUMNS = [f"metrics.`{name}`" for name in ("acc", "nmi", "ari", "seconds")]
GROUPS = [{"mode": "tag", "groupByData": name} for name in ("dataset", "method")]
MEANS = {"aggregateFunction": "average", "groupByKeys": GROUPS}
KEY = "scores"
VIEWS: dict[str, tuple[str, dict[str, Any]]] = {
    KEY: ("Runs with their scores", {"selectedColumns": COLUMNS}),
    "means": ("Means by dataset and method", {"selectedColumns": COLUMNS, "groupBy": MEANS}),
}


def view_tags(experiment_id: str) -> dict[str, str]:
    """Tags of an experiment: the views, and a description with links to them."""
    tags = {f"{SHARED}{key}": json.dumps(state) for key, (_, state) in VIEWS.items()}
    links = (f"[{text}](#{view_path(experiment_id, key)})" for key, (text, _) in VIEWS.items())
    return tags | {NOTE: f"{', '.join(links)}."}


def view_path(experiment_id: str, key: str = KEY) -> str:
    """Path of a view, behind the ``#`` of an address of the UI."""
    return f"/experiments/{experiment_id}/runs?viewStateShareKey={key}&workflowType=machine_learning"


def view_paths(store: Path) -> dict[str, str]:
    """Path of the view of the scores of each experiment of a store that has it, by the experiment's name."""
    client, _ = open_store(store)
    tagged = {found.name: found for found in client.search_experiments() if f"{SHARED}{KEY}" in found.tags}
    return {name: view_path(found.experiment_id) for name, found in sorted(tagged.items())}
