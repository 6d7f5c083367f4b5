"""Every command with every kind of wrong path: it ends with one line, or with none if it can do its work."""

import os
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from dekm.cli import main
from dekm.cli.parser import make_parser
from dekm.figures import FIGURES

PAPER = Path(__file__).parents[2] / "resources" / "paper"
PLACE = "PLACE"  # is replaced by a wrong path
SEED = ["--seeds", "0", "--device", "cpu"]

COMMANDS: dict[str, list[list[str]]] = {
    "config": [[PLACE]],
    "check": [["k_means", "--modules", PLACE]],
    "missing": [["mnist", "--raw-dir", PLACE]],
    "download": [
        ["digits", "--raw-dir", PLACE, "--out", "files.json"],
        ["digits", "--raw-dir", "raw", "--out", PLACE],
    ],
    "prepare": [
        ["mnist", "--raw-dir", PLACE, "--results", "new"],
        ["digits", "--raw-dir", "raw", "--results", PLACE],
        ["own", "--raw-dir", "raw", "--results", "new", "--set", f"path={PLACE}", "--set", "n_clusters=2"],
    ],
    "pretrain": [["digits", "conv", "--results", PLACE, *SEED]],
    "cluster": [["digits", method, "--results", PLACE, *SEED] for method in ("k_means", "dekm")],
    "predict": [[PLACE, "--set", "path=x.npy", "--out", "out.csv"]],
    "explore": [[PLACE, "--out", "page.html"]],
    "table2": [
        ["--results", PLACE, "--datasets", "digits", "--paper", str(PAPER / "table2.csv"), "--out", "out"],
        ["--results", "new", "--datasets", "digits", "--paper", PLACE, "--out", "out"],
        ["--results", "new", "--datasets", "digits", "--paper", str(PAPER / "table2.csv"), "--out", PLACE],
    ],
    "table": [
        ["--results", results, "--datasets", "digits", "--methods", "dekm", "--paper", paper, "--out", out]
        for results, paper, out in (
            (PLACE, str(PAPER / "table3.csv"), "out"),
            ("new", PLACE, "out"),
            ("new", str(PAPER / "table3.csv"), PLACE),
        )
    ],
    "figure": [
        *([name, PLACE, "--out", "out"] for name in FIGURES if name != "fig2"),  # which has no input
        *([name, *[PLACE] * 5, "--out", "out"] for name in ("fig4", "fig5")),
    ],
    "choose-k": [[PLACE, "--k", "2-3"]],
    "publish": [
        [PLACE, "published", "--paper", str(PAPER)],
        ["new", PLACE, "--paper", str(PAPER)],
        ["new", "published", "--paper", PLACE],
    ],
    "compare": [[PLACE, PLACE]],
    "status": [[PLACE]],
    "estimate": [[PLACE]],
    "sync": [[PLACE, "--store", "store"]],
    "ui": [["--store", PLACE, "--port", "0"], ["--store", "new", "--port", "99999999"]],
}
KINDS = (
    "missing",
    "empty",
    "text",
    "binary",
    "json",
    "folder",
    "folder of folders",
    "below a file",
    "loop",
    "long",
)
KINDS += ("not UTF-8", "line break")
SLOW = {("sync", "folder"), ("sync", "folder of folders")}  # MLflow makes a store; test_store.py has them


def make(kind: str) -> str:
    """A path of a kind in the working directory."""
    if kind == "folder of folders":
        for name in ("data/digits/facts.json", "data/digits/data.npz", "runs/digits/dekm/seed0/facts.json"):
            Path("place", name).mkdir(parents=True)
    elif kind == "loop":
        Path("place").symlink_to("place")
    elif kind == "folder":
        Path("place").mkdir()
    elif kind in ("empty", "text", "binary", "json", "below a file"):
        content = {"text": b"some\nwords, and\nmore", "binary": os.urandom(500), "json": b'{"seeds": {}}'}
        Path("place").write_bytes(content.get(kind, b""))
    names = {"below a file": "place/file", "long": "x" * 300, "not UTF-8": "\udce9", "line break": "a\nb"}
    return names.get(kind, "place")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    shutil.rmtree(tmp_path, ignore_errors=True)


def test_every_command_is_tried() -> None:
    actions = make_parser("dekm")._subparsers._group_actions
    assert set(COMMANDS) == set(actions[0].choices)


@pytest.mark.parametrize(("command", "kind"), [pair for pair in product(COMMANDS, KINDS) if pair not in SLOW])
@pytest.mark.usefixtures("here", "restored_logging")
def test_a_wrong_path_is_one_line(command: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in COMMANDS[command]:
        place = make(kind)
        status = main([command, *(argument.replace(PLACE, place) for argument in arguments)])
        errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("dekm: ")]
        assert (status, len(errors)) in ((0, 0), (1, 1)), (arguments, errors)
        for path in Path.cwd().iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


WRONG = (
    "nan",
    "inf",
    "-1",
    "0",
    str(10**30),
    "1e400",
    "5.0",
    "x",
    "",
    "\udce9",
    "a\nb",
    "[" * 3000,
    "é" * 3000,
)
NUMBERS: list[list[str]] = [
    ["prepare", "digits", "--raw-dir", "raw", "--results", "new", "--subsample", PLACE],
    ["prepare", "digits", "--raw-dir", "raw", "--results", "new", "--classes", PLACE],
    ["prepare", "digits", "--raw-dir", "raw", "--results", "new", "--set", f"stem={PLACE}"],
    [
        "prepare",
        "own",
        "--raw-dir",
        "raw",
        "--results",
        "new",
        "--set",
        "path=.",
        "--set",
        f"n_clusters={PLACE}",
    ],
    ["pretrain", "digits", PLACE, "--results", "new", *SEED],
    ["pretrain", "digits", "conv", "--results", "new", "--seeds", PLACE],
    ["cluster", "digits", "k_means", "--results", "new", "--seeds", PLACE],
    ["cluster", "digits", "k_means", "--results", "new", "--seeds", "0", "--device", PLACE],
    ["cluster", "digits", "dekm", "--results", "new", *SEED, "--set", f"lr={PLACE}"],
    ["cluster", "digits", "dekm", "--results", "new", *SEED, "--set", f"{PLACE}=1"],
    ["ui", "--store", "new", "--port", PLACE],
    ["table2", "--results", "new", "--datasets", PLACE, "--paper", str(PAPER / "table2.csv"), "--out", "out"],
    ["compare", PLACE, PLACE],
]


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1", "0", "1e300", "1e400"])
@pytest.mark.usefixtures("here", "restored_logging")
def test_an_interval_that_is_none_is_one_line(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["sync", "new", "--store", "store", "--follow"], ["status", "new", "--watch"]):
        assert main([*command[:-1], f"{command[-1]}={seconds}"]) == 1
        assert "should be a number of seconds > 0" in capsys.readouterr().err


@pytest.mark.parametrize("value", WRONG, ids=lambda value: ascii(value)[:12])
@pytest.mark.usefixtures("here", "restored_logging")
def test_a_wrong_value_is_one_line(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in NUMBERS:
        try:
            status = main([argument.replace(PLACE, value) for argument in arguments])
        except SystemExit as refused:  # argparse: the usage and one line
            status = refused.code
        errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("dekm")]
        assert (status, len(errors)) in ((0, 0), (1, 1), (2, 1)), (arguments, errors)
