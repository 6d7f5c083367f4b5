"""What the installation shows, and what it says when something is missing."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "workflow/terminal/install.py"


@pytest.fixture(scope="module")
def script() -> Any:
    specification = spec_from_file_location("install", SCRIPT)
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


OUTPUT = """\
Collecting numpy==2.4.6
  Downloading numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl (16.9 MB)
Collecting wcwidth==0.9.4
  Downloading wcwidth-0.9.4-py3-none-any.whl (500 kB)
Collecting torch==2.13.0
  Using cached torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl (190.1 MB)
"""


def test_the_progress_tells_packages_megabytes_and_what_is_fetched(script: Any) -> None:
    progress = script.Progress(177)
    for line in OUTPUT.splitlines():
        progress.read(line)
    assert progress.describe() == "  3 of 177 packages, 17 MB; fetching wcwidth, 500 kB"
    progress.read("Installing collected packages: numpy, wcwidth, torch\n")
    assert progress.describe().endswith("; all are fetched and are being unpacked")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "disk is full",
        ),
        ("ERROR: No matching distribution found for torch==2.13.0", "does not resolve on this platform"),
        ("  error: command 'gcc' failed: No such file or directory", "a C compiler"),
        (
            "  ERROR: Failed building wheel for immutables",
            "headers (gcc, python3-dev) are needed: ERROR: Failed",
        ),
        ("ERROR: Something new", "pip failed: ERROR: Something new"),
    ],
)
def test_a_failure_is_one_line(script: Any, line: str, text: str) -> None:
    explained = script.explain(["Collecting scipy", line, "note: see above"])
    assert text in explained
    assert "\n" not in explained


def test_a_small_disk_is_refused(script: Any) -> None:
    script.check_disk(10**10)
    with pytest.raises(script.InstallError, match=re.escape("needs 3 GB of disk; 0.5 GB are free")):
        script.check_disk(5 * 10**8)


@pytest.mark.parametrize(("installed", "n"), [("", 2), ("2.1.0", 2), ("2.20.1+cpu", 1), ("3.0.0", 1)])
def test_a_pytorch_within_the_bounds_is_kept(script: Any, installed: str, n: int) -> None:
    assert len(script.without_kept_torch(["numpy==2.4.6", "torch==2.13.0"], installed)) == n
