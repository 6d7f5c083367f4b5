"""One GPU for each job that trains, by locks between the jobs of a user on one machine.

Snakemake counts GPUs but tells no job which one is its own, so all jobs of a machine would train on the first
one. A job therefore locks a free GPU and makes it the only one that PyTorch sees. This module imports no
PyTorch, which has to start after the choice.
"""

import contextlib
import importlib.util
import logging
import os
import re
import runpy
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dekm.errors import InputError
from dekm.files.locks import Lock
from dekm.results.progress import WARNING

logger = logging.getLogger(__name__)

VARIABLE = "CUDA_VISIBLE_DEVICES"
QUERY = ("nvidia-smi", "--query-gpu=uuid,memory.used", "--format=csv,noheader,nounits")
QUERY_SECONDS = 60.0  # without NVIDIA's persistence daemon the driver starts first, seconds per GPU
DRIVERS = (Path("/dev/nvidiactl"), Path("/dev/kfd"))  # NVIDIA's and AMD's
NO_GPU = ("", "-1", "NoDevFiles")  # values of `VARIABLE`, the last one of Slurm
LOCKS = Path("/tmp")  # of every machine its own, and not TMPDIR, which differs from job to job
PAUSE = 0.5  # seconds between two attempts to lock a GPU


class Gpu(NamedTuple):
    """A GPU of this machine."""

    uuid: str  # does not depend on the order in which programs list GPUs
    used: int  # MiB of its memory that processes use
    name: str  # in `VARIABLE`


def find_gpus() -> list[Gpu]:
    """The NVIDIA GPUs of this machine; none without a working ``nvidia-smi``, or on Windows."""
    if os.name != "posix" or shutil.which(QUERY[0]) is None:
        return []
    try:
        done = subprocess.run(QUERY, capture_output=True, text=True, timeout=QUERY_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    found = re.findall(r"^(GPU-[^,\s]+), *(\d*)", done.stdout, re.M)  # of some the memory is "[N/A]"
    return [Gpu(uuid, int(used or 0), uuid) for uuid, used in found]


def visible_gpus() -> list[Gpu]:
    """The GPUs of which a job may choose: all, or those in `VARIABLE` if it names several."""
    if VARIABLE not in os.environ:
        return find_gpus()
    entries = _entries()
    gpus = find_gpus() if len(entries) > 1 else []
    named = ((entry, gpu) for entry in entries for i, gpu in enumerate(gpus) if _is_named(gpu, i, entry))
    return [gpu._replace(name=entry) for entry, gpu in named]


def _entries() -> list[str]:
    return [entry.strip() for entry in os.environ.get(VARIABLE, "").split(",")]


def _is_named(gpu: Gpu, index: int, entry: str) -> bool:
    """Whether an entry of `VARIABLE`, an index or the beginning of an UUID, stands for a GPU."""
    return entry == str(index) or (entry.startswith("GPU-") and gpu.uuid.startswith(entry))


def count_gpus(device: str) -> int | None:
    """How many jobs that train can have a GPU of their own on this machine; None if they train on the CPU."""
    given = os.environ.get(VARIABLE)
    if device == "cpu" or given in NO_GPU:
        return None
    if device not in ("auto", "cuda") or (given is not None and "," not in given):
        return 1
    # There may be GPUs that only PyTorch can list.
    return len(visible_gpus()) or (1 if any(driver.exists() for driver in DRIVERS) else None)


@contextlib.contextmanager
def reserved_gpu(device: str, purpose: str) -> Iterator[None]:
    """Reserve a GPU for this process within the block; wait while other jobs hold all of them.

    The one whose memory is used least comes first, so that one with processes of others is the last.
    `VARIABLE` names it to PyTorch, which has to start within the block. A value that names one GPU, or none,
    is left alone: Slurm or the user has chosen. The kernel releases the GPU when the process ends, however it
    ends. The logs of those that wait for it name the `purpose`.
    """
    gpus = _candidates(device)
    if not gpus:
        yield
        return
    gpu, lock = _lock_one(sorted(gpus, key=lambda gpu: gpu.used), purpose)
    logger.info("reserved GPU %s, of whose memory other processes use %d MiB", gpu.name, gpu.used)
    before = os.environ.get(VARIABLE)
    if device in ("auto", "cuda"):
        os.environ[VARIABLE] = gpu.name
    try:
        yield
    finally:
        lock.release()
        os.environ.pop(VARIABLE, None)
        os.environ.update({} if before is None else {VARIABLE: before})


def _candidates(device: str) -> list[Gpu]:
    """The GPUs of which a job needs one; none if there is no choice to make."""
    if device in ("auto", "cuda"):
        return visible_gpus()
    index = re.fullmatch(r"cuda:(\d+)", device)
    return visible_gpus()[int(index[1]) :][:1] if index else []


def _lock_one(gpus: Sequence[Gpu], purpose: str) -> tuple[Gpu, Lock]:
    """Lock the first GPU that is or becomes free."""
    folder = lock_folder()
    locks = [(gpu, Lock(folder / gpu.uuid, purpose=purpose)) for gpu in gpus]
    told = False
    while True:
        for gpu, lock in locks:
            if lock.try_acquire():
                return gpu, lock
        if not told:
            holders = "; ".join(f"{gpu.name} by {lock.describe_holder()}" for gpu, lock in locks)
            logger.info("waiting for a GPU; in use are %s", holders)
            told = True
        time.sleep(PAUSE)


def lock_folder() -> Path:
    """The folder of this user's locks, which nobody else can have made or can write to.

    It is the same for all jobs of the user on this machine. Only where another user has taken its name is it
    in the home folder, which several machines may share: the names of the locks are those of single GPUs.
    `InputError` if the user can have a folder at neither place.
    """
    places = (lambda: LOCKS / f"dekm-gpus-{os.geteuid()}", lambda: Path.home() / ".cache/dekm/gpus")
    for place in places:
        with contextlib.suppress(OSError, RuntimeError):
            folder = place()
            folder.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                folder.chmod(0o700)
                return folder
            logger.warning("%s is of another user, or no folder, and not used for the locks of GPUs", folder)
    raise InputError(f"no folder for the locks of GPUs can be made in {LOCKS} or in the home folder.")


def has_gpu_build() -> bool:
    """Whether the installed PyTorch can use GPUs, read from its files without importing it."""
    found = importlib.util.find_spec("torch")
    file = Path(found.origin or "").with_name("version.py") if found else Path()
    if not file.is_file():
        return True  # nothing is known
    built_for = runpy.run_path(str(file))
    return any(built_for.get(name) for name in ("cuda", "hip", "xpu"))


def describe_unseen_gpu(device: str) -> str:
    """A warning if PyTorch sees none of the GPUs that `VARIABLE` gives to this job; otherwise empty."""
    import torch

    from dekm.nn.device import has_gpu

    given = os.environ.get(VARIABLE, "")
    if device != "auto" or given in NO_GPU or has_gpu():
        return ""
    return (
        f"{WARNING}{VARIABLE}={given} gives this job a GPU, but PyTorch {torch.__version__} does not see "
        "it: the job trains on the CPU. Is it a build for GPUs, and the driver recent enough?"
    )
