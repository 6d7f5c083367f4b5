"""Damage to every file of a folder of results, and every command that reads it."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.material import (
    PAPER,
    PRETRAIN,
    RUN,
    Report,
    labels,
    repair,
    restore,
    run_command,
    table,
)

Mutation = Callable[[Path, random.Random], None]


def _rewrite(change: Callable[[bytes, random.Random], bytes]) -> Mutation:
    def mutate(file: Path, rng: random.Random) -> None:
        file.write_bytes(change(file.read_bytes(), rng))

    return mutate


def _flip(content: bytes, rng: random.Random) -> bytes:
    position = rng.randrange(len(content))
    return content[:position] + bytes([content[position] ^ (1 << rng.randrange(8))]) + content[position + 1 :]


def _change_json(content: bytes, rng: random.Random) -> bytes:
    """Drop, rename or replace one field at any depth; the content of other files is reversed."""
    try:
        value = json.loads(content)
    except ValueError:
        return content[::-1]
    place: Any = value
    while True:
        key = rng.choice(list(place))
        if isinstance(place[key], dict) and place[key] and rng.random() < 0.6:
            place = place[key]
            continue
        kind = rng.randrange(4)
        if kind == 0:
            del place[key]
        elif kind == 1:
            place[f"{key}x"] = place.pop(key)
        else:
            place[key] = rng.choice(
                [None, True, -1, 10**30, float("nan"), "word", "", [], {}, [[]], {"a": {}}]
            )
        return json.dumps(value).encode()


def _replace_by_folder(file: Path, rng: random.Random) -> None:
    file.unlink()
    file.mkdir()


MUTATIONS: dict[str, Mutation] = {
    "delete": lambda file, rng: file.unlink(),
    "empty": _rewrite(lambda content, rng: b""),
    "truncate": _rewrite(lambda content, rng: content[: rng.randrange(len(content))]),
    "flip": _rewrite(_flip),
    "append": _rewrite(lambda content, rng: content + b"\n1,2,3"),
    "nest": _rewrite(lambda content, rng: b"[" * 100_000),
    "no-utf-8": _rewrite(lambda content, rng: b"\xff\xfe\x00" + content),
    "object": _rewrite(lambda content, rng: b"{}"),
    "zeros": _rewrite(lambda content, rng: bytes(len(content))),
    "json": _rewrite(_change_json),
    "json again": _rewrite(_change_json),
    "folder": _replace_by_folder,
}


def commands(results: Path, out: Path) -> dict[str, list[str]]:
    """Every command that reads results."""
    run, cell = results / "runs" / "digits" / "dekm" / "seed0", results / "runs" / "digits" / "dekm"
    images = str(results / "images.npy")
    to = ["--out", str(out)]
    return {
        "pretrain": PRETRAIN,
        "k_means": RUN["k_means"],
        "dekm": RUN["dekm"],
        "predict": [
            "predict",
            str(run),
            "--set",
            f"path={images}",
            "--device",
            "cpu",
            "--out",
            f"{out}/p.csv",
        ],
        "table": table(results),
        "table2": ["table2", "--datasets", "digits", "--paper", str(results / "table2.csv"), *to],
        "paper": [
            "table",
            "--datasets",
            "digits",
            "--methods",
            *RUN,
            "--paper",
            f"{results}/table3.csv",
            *to,
        ],
        "compare": ["compare", str(results), str(results)],
        "compare tables": ["compare", str(results / "tables"), str(results / "tables" / "table3.csv")],
        "ranks": ["figure", "ranks", str(results / "tables" / "ranks.csv"), *to],
        "fig1": ["figure", "fig1", str(run), *to],
        "fig3": ["figure", "fig3", str(results / "data" / "digits"), *to],
        "fig4": ["figure", "fig4", *[str(cell)] * 5, *to],
        "fig5": ["figure", "fig5", str(run), *to],
        "runs": ["figure", "runs", str(run), *to],
        "explore": ["explore", str(run), "--out", f"{out}/page.html"],
        "sync": ["sync", str(results), "--store", str(results.parent)],
    }


# Which commands read a file, the quick ones first.
READERS = {
    "data/digits/data.npz": ["k_means", "explore", "fig3", "runs"],
    "data/digits/facts.json": ["k_means", "table2", "predict", "table", "fig3"],
    "pretrained/*/summary.json": ["pretrain"],
    "pretrained/*/seed0/*": ["dekm", "pretrain", "sync"],
    "runs/*/summary.json": ["compare", "table", "fig4", "k_means", "dekm"],
    "runs/digits/dekm/seed0/model.safetensors": ["predict", "dekm"],
    "runs/digits/dekm/seed0/iterations.npz": ["dekm", "explore", "fig1"],
    "runs/digits/dekm/seed0/*.npy": ["dekm", "explore", "runs", "fig5"],
    "runs/digits/dekm/seed0/clusters.csv": ["dekm", "explore", "sync"],
    "runs/digits/dekm/seed0/history.csv": ["dekm", "fig4", "runs", "sync"],
    "runs/*/seed0/*": ["k_means", "dekm", "predict", "fig4", "sync", "fig5"],
    "tables/table3.csv": ["compare tables"],
    "tables/ranks.csv": ["ranks"],
    "table2.csv": ["table2"],
    "table3.csv": ["paper"],
    "claims.csv": ["paper"],
}
SLOW = {"explore", "fig1", "fig3", "fig5", "runs", "sync", "fig4"}


def add_inputs(results: Path) -> None:
    """Add copies of the paper's tables and new data, which are damaged as well."""
    import numpy as np

    for name in ("table2", "table3", "claims"):
        shutil.copy(PAPER / f"{name}.csv", results)
    np.save(results / "images.npy", np.random.default_rng(0).random((3, 8, 8, 1), np.float32))


def readers_of(name: str) -> list[str]:
    """The commands that read a file."""
    from fnmatch import fnmatch

    return next((readers for pattern, readers in READERS.items() if fnmatch(name, pattern)), [])


def damage_files(pristine: Path, folder: Path, n: int, seed: int, slow: float = 0.1) -> Report:
    """Damage one file at a time and run a command that reads it; then run all jobs again.

    `slow` is the fraction of cases in which also a slow command may be chosen.
    """
    report, rng, expected = Report(f"damaged files, seed {seed}"), random.Random(seed), labels(pristine)
    source, results, out = folder / "pristine", folder / "damaged" / "tiny", folder / "out"
    shutil.copytree(pristine, source)
    add_inputs(source)
    names = sorted(str(file.relative_to(source)) for file in source.rglob("*") if file.is_file())
    names = [name for name in names if readers_of(name) and ".lock" not in name]
    for i in range(n):
        restore(source, results)
        name, mutation = rng.choice(names), rng.choice(list(MUTATIONS))
        MUTATIONS[mutation](results / name, rng)
        readers = readers_of(name)
        quick = [reader for reader in readers if reader not in SLOW] or readers
        chosen = rng.choice(readers if rng.random() < slow else quick)
        outcome = run_command(commands(results, out)[chosen], results)
        problem = outcome.problem()
        if not problem and i % 20 == 0 and (mutation != "folder" or "seed0" in name):
            problem = repair(results)
            if not problem and labels(results) != expected:
                problem = "the repaired labels differ"
        report.add(f"{i}: {mutation} {name}, then {chosen}", problem)
    return report
