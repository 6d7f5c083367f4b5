"""A view of the runs of an experiment in the MLflow UI that shows their scores, which its own one hides."""

import json
from pathlib import Path

from dekm.tracking.database import open_store

KEY = "scores"
SHARED = "mlflow.sharedViewState."  # the tag of a view that is shared by its address, before its key
NOTE = "mlflow.note.content"
SHOWN = ("acc", "nmi", "ari", "seconds", "partition/silhouette")


def view_tags(experiment_id: str) -> dict[str, str]:
    """Tags of an experiment: the view, and a description with a link to it."""
    link = f"[Runs with their scores](#{view_path(experiment_id)})"
    return {
        f"{SHARED}{KEY}": json.dumps({"selectedColumns": [f"metrics.`{name}`" for name in SHOWN]}),
        NOTE: f"{link}.",
    }


def view_path(experiment_id: str) -> str:
    """Path of the view, behind the ``#`` of an address of the UI."""
    return f"/experiments/{experiment_id}/runs?viewStateShareKey={KEY}&workflowType=machine_learning"


def view_paths(store: Path) -> dict[str, str]:
    """Path of the view of each experiment of a store that has it, by the name of the experiment."""
    client, _ = open_store(store)
    tagged = {found.name: found for found in client.search_experiments() if f"{SHARED}{KEY}" in found.tags}
    return {name: view_path(found.experiment_id) for name, found in sorted(tagged.items())}
