import subprocess
import sys

import pytest

COUNT_PAGE_FAULTS = """
import resource
import torch
from dekm.training import Step

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


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator of glibc")
def test_a_step_gets_no_new_pages_for_its_gradients():
    done = subprocess.run(
        [sys.executable, "-c", COUNT_PAGE_FAULTS], capture_output=True, text=True, check=True
    )
    pages_of_one_gradient = 1000 * 2000 * 4 / 4096
    assert float(done.stdout) < pages_of_one_gradient
