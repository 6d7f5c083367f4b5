"""The command line and the workflow import the rows of the datasets at every start."""

import subprocess
import sys

HEAVY = {"torch", "sklearn", "h5py", "scipy.io", "pandas", "PIL", "requests"}


def test_importing_the_datasets_imports_no_heavy_library():
    code = "import sys, dekm.datasets; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert "dekm.datasets.paper.rcv1" in imported
    assert not HEAVY & imported
