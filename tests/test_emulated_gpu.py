import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parent.parent
FILES = ["tests/test_cuda.py", "tests/emulated_gpu_checks.py"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_the_tests_of_the_gpu_pass_on_an_emulated_one():
    command = [sys.executable, "-m", "pytest", "-p", "tests.emulated_gpu", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run([*command, *FILES], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout
