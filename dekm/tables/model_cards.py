"""Trained models of a set of results, each with a card that says what it is."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dekm.errors import InputError, shown
from dekm.files import copy_file, write_text
from dekm.markup import markdown, markdown_code
from dekm.results.record import Record
from dekm.results.result_set import ResultSet

SHOWN = ("acc", "nmi", "ari", "f1", "silhouette", "n_iter")


def publish_models(results: Path, out: Path, method: str, licences: Mapping[str, str]) -> list[Path]:
    """Copy the model of a method's first seed for each dataset, beside a card in Markdown; return the models.

    `licences` has that of the data by dataset. `InputError` if no cell of the tables has a model of the
    method.
    """
    written = []
    for cell in ResultSet(results).finished_cells():
        seeds = cell.seeds() if cell.path.name == method else []
        if seeds and seeds[0].in_table and seeds[0].file("model").is_file():
            target = out / f"{seeds[0].file_name}.safetensors"
            copy_file(seeds[0].checked("model"), target)
            write_text(target.with_suffix(".md"), card(seeds[0], licences.get(cell.path.parent.name, "")))
            written.append(target)
    if not written:
        raise InputError(
            f"{results} holds no model of {shown(method)}: it was not run, or keep_models kept none of the "
            "first seed that counts."
        )
    return written


def card(seed: Record, licence: str) -> str:
    """What a model is: data, protocol, scores, licence, and how to use it."""
    facts, data = seed.facts, seed.data_facts
    sides = " x ".join(map(str, data["shape"]))
    samples = f"{data['n_samples']:,} {data['kind']} of {sides}"
    rows = {
        "data": f"{markdown(data['label'])}: {samples}, digest `{data['digest']}`",
        "licence of the data": markdown(licence) or "not known",
        "licence of the model": "that of this package",
        "clusters": facts.get("n_clusters"),
        "seed": facts["seed"],
        "parameters": _settings(facts.get("parameters", facts["settings"])),
        "pretraining": _settings(facts.get("pretraining", {})),
        "commit": f"`{facts.get('commit')}`",
        "device": facts["device"],
        "PyTorch": facts["versions"].get("torch"),
        "scores on the training data": ", ".join(
            f"{name} {seed.metrics[name]:.4g}" for name in SHOWN if seed.metrics.get(name) is not None
        ),
    }
    table = [f"| {name} | {value} |" for name, value in rows.items()]
    module, _, name = facts.get("estimator", f"dekm.methods:{seed.label}").partition(":")
    package = "dekm" if module.startswith("dekm.") else module
    use = f'{package}.{name}.load("{seed.file_name}.safetensors").predict(X)'
    lines = [f"# {markdown(seed.label)} on {markdown(data['label'])}", "", "| | |", "|---|---|", *table, ""]
    lines += [
        f"`{use}` gives the clusters of images or vectors X that are prepared as these data are.",
        "",
    ]
    lines += ["It was trained without labels; what its clusters mean has to be looked at.", ""]
    return "\n".join(lines)


def _settings(settings: Mapping[str, Any]) -> str:
    return ", ".join(markdown_code(f"{name}={json.dumps(value)}") for name, value in settings.items())
