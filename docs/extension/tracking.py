"""The page of what the MLflow store holds, from its catalogue."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from docs.extension.text import code, table

CATALOGUE = Path(__file__).parents[1] / "reference" / "mlflow.yaml"
TITLES = {"metrics": "Metrics", "parameters": "Parameters", "tags": "Tags"}


def catalogue() -> Mapping[str, Mapping[str, str]]:
    """Meaning of the names of metrics, parameters and tags."""
    return yaml.safe_load(CATALOGUE.read_text(encoding="utf-8"))


def unknown(kind: str, names: Iterable[str], others: Iterable[str] = ()) -> set[str]:
    """The names of metrics, parameters or tags that the catalogue does not have.

    Parameters
    ----------
    kind : {"metrics", "parameters", "tags"}
        What the names are of.
    names : iterable of str
        The names.
    others : iterable of str
        Names that stand for ``<metric>`` or ``<setting>``.
    """
    known = [re.sub(r"<[^>]+>", "[^/]+", name) for name in catalogue()[kind] if not name.startswith("<")]
    return {name for name in names if not any(re.fullmatch(one, name) for one in known)} - set(others)


def page() -> str:
    """A table each of metrics, parameters and tags."""
    return "\n".join(
        f"## {title}\n\n"
        + table(["name", "meaning"], [[code(name), text] for name, text in catalogue()[kind].items()])
        for kind, title in TITLES.items()
    )
