import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
FILES = ["tests/nn/test_cuda.py", "tests/helpers/emulated_gpu_checks.py"]
PLUGINS = ["-p", "tests.helpers.emulated_gpu", "-p", "no:cacheprovider"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_the_gpu_tests_pass_on_an_emulated_gpu():
    command = [sys.executable, "-m", "pytest", "-q", *PLUGINS, *FILES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout
