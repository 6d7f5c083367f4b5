import os
import subprocess
import sys

import pytest

from dekm.nn.allocator import USER_SETTINGS

COUNT_PAGE_FAULTS = """
import resource
import torch
from dekm.nn.training import Step

weights = [torch.nn.Parameter(torch.zeros(1000, 2000)) for _ in range(4)]
step = Step(lambda index: sum((weight ** 2).sum() for weight in weights), weights, lr=0.1)
index = torch.zeros(1, dtype=torch.int64)
for _ in range(3):
    step(index)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    step(index)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 10)
"""
PAGES_OF_ONE_GRADIENT = 1000 * 2000 * 4 / 4096

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the allocator of glibc")


def count_page_faults(**settings):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(USER_SETTINGS)}
    command = [sys.executable, "-c", COUNT_PAGE_FAULTS]
    done = subprocess.run(command, env=environment | settings, capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_a_step_reuses_the_memory_of_the_gradients():
    assert count_page_faults() < PAGES_OF_ONE_GRADIENT


def test_settings_of_the_environment_are_not_overridden():
    assert count_page_faults(MALLOC_TRIM_THRESHOLD_="131072") > PAGES_OF_ONE_GRADIENT
