"""What the benchmarks share: the machine they ran on, and how they take the time."""

import json
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch

from dekm.dense import HAS_ONEDNN, product


def describe(device: torch.device) -> dict[str, Any]:
    """Name of the processor, threads, and versions."""
    cpu = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "cpu": cpu[0].split(":")[1].strip() if cpu else platform.processor(),
        "gpu": torch.cuda.get_device_name(device) if device.type == "cuda" else None,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "dekm": version("dekm"),
    }


def median_seconds(run: Callable[[], Any], repeats: int, device: torch.device) -> float:
    """Median time of a call, after three that do not count."""
    times = []
    for _ in range(3 + repeats):
        wait(device)
        started = time.perf_counter()
        run()
        wait(device)
        times.append(time.perf_counter() - started)
    return statistics.median(times[3:])


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def gemm_rates(device: torch.device) -> dict[str, float]:
    """GFLOP/s of products of square float32 matrices, by PyTorch's default and by oneDNN."""
    n = 4096 if device.type == "cuda" else 1024
    A, B = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
    products = {"default": lambda: A @ B}
    if device.type == "cpu" and HAS_ONEDNN:
        products["oneDNN"] = lambda: product(A, B)
    return {name: 2e-9 * n**3 / median_seconds(run, 20, device) for name, run in products.items()}


def save(results: Any, file: Path | None) -> None:
    if file is not None:
        file.write_text(json.dumps(results, indent=1) + "\n")
