import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
FILES = ["tests/nn/test_cuda.py", "tests/helpers/emulated_gpu_checks.py"]
PLUGINS = ["-p", "tests.helpers.emulated_gpu", "-p", "no:cacheprovider"]
SEEDS = "concurrent_seeds or three_seeds"
NO_DRIVER = """
import sys
import pytest
import torch
import torch._dynamo  # before CUDA seems to be built: it imports what such a build has

def refuse(*_):
    raise RuntimeError("Found no NVIDIA driver on your system")

torch.cuda._lazy_init = torch._C._accelerator_getStream = torch._C._accelerator_getDeviceIndex = refuse
torch._C._accelerator_getAccelerator = lambda: torch.device("cuda")
torch.backends.cuda.is_built = torch.cuda._is_compiled = lambda: True
torch._C._cuda_getDeviceCount = lambda: 0
sys.exit(pytest.main(sys.argv[1:]))
"""

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


def assert_pass(*command: str) -> None:
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout


def test_concurrent_seeds_pass_on_an_emulated_gpu() -> None:
    assert_pass("-m", "pytest", "-q", *PLUGINS, *FILES, "-k", SEEDS)


def test_all_other_tests_of_the_gpu_pass_on_an_emulated_one_without_a_driver() -> None:
    assert_pass("-c", NO_DRIVER, "-q", *PLUGINS, *FILES, "-k", f"not ({SEEDS})")
