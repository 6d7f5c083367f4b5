"""Temporary names of other processes than this one."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dekm.files import leftovers


def written_by(target: Path, kind: str = "part", **facts: Any) -> Path:
    """A temporary name of another process, with some facts of its own."""
    writer = leftovers.this_process()._replace(run="0", **facts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leftovers, "this_process", lambda: writer)
        return leftovers.temporary_path(target, kind)


def number_of_an_ended_process() -> int:
    """A number that belongs to no process now."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid
