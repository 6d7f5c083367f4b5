"""Functions that the benchmarks share: description of the machine, timing, and output."""

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

from dekm.nn import kernels
from dekm.nn.dense import product
from dekm.nn.device import precision_of_steps


def describe(device: torch.device) -> dict[str, Any]:
    """Processor, GPU, number of threads, and versions."""
    return {
        "cpu": processor(),
        "instruction set": torch.backends.cpu.get_cpu_capability(),
        "gpu": torch.cuda.get_device_name(device) if device.type == "cuda" else None,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "dekm": version("dekm"),
    }


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def shape(text: str) -> tuple[int, ...]:
    """Sizes such as 28x28x1, or one number."""
    return tuple(map(int, text.split("x")))


def median_seconds(run: Callable[[], Any], repeats: int, device: torch.device) -> float:
    """Median time of a call after three warm-up calls."""
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
    """GFLOP/s of products of square matrices in the precision of training steps; on a CPU with oneDNN too."""
    n = 4096 if device.type == "cuda" else 1024
    A, B = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
    products = {"default": lambda: A @ B}
    if device.type == "cpu" and kernels.this_processor().onednn:
        products["oneDNN"] = lambda: product(A, B)
    with precision_of_steps(A):
        return {name: 2e-9 * n**3 / median_seconds(run, 20, device) for name, run in products.items()}


def save(results: Any, file: Path | None) -> None:
    if file is not None:
        file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
