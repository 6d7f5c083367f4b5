"""The checkpoint of a seed: a file beside its folder, from which an interrupted job continues.

It is one safetensors file, which holds no code: tensors, and JSON metadata for the rest. It appears whole or
not at all, and is removed when the seed is complete.
"""

import contextlib
import json
import logging
import os
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from dekm.experiment.history import Recorder
from dekm.nn.checkpoint import Checkpoint, State

logger = logging.getLogger(__name__)

SECONDS = 120.0  # between two checkpoints, at least
COST = 0.005  # fraction of the time that checkpoints may take


class SeedCheckpoint(Checkpoint):
    """The checkpoint file of one seed.

    It is written in `part`, the unfinished folder of the seed on the same file system, and then moved. `key`
    is the digest of everything that decides the states of the training; a file with another key is ignored.
    """

    def __init__(self, file: Path, part: Path, key: str) -> None:
        self.file = file
        self.part = part
        self.key = key
        self._due = time.monotonic() + SECONDS

    def load(self) -> State | None:
        """Read the file; warn if it cannot be used."""
        if not self.file.exists():
            return None
        try:
            key, state = read_checkpoint(self.file)
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            logger.warning("%s is ignored: the checkpoint is damaged (%s)", self.file, error)
            return None
        if key != self.key:
            logger.warning("%s is ignored: it is a checkpoint of other settings, code or device", self.file)
            return None
        logger.info("continued from %s", self.file)
        return state

    def save(self, state: Callable[[], State]) -> None:
        """Write the file if the last one is old enough; warn if it cannot be written, and go on."""
        started = time.monotonic()
        if started < self._due:
            return
        try:
            self._write(state())
        except (OSError, SafetensorError) as error:
            logger.warning("%s could not be written (%s); the training goes on", self.file, error)
        ended = time.monotonic()
        self._due = ended + max(SECONDS, (ended - started) / COST)

    def _write(self, state: State) -> None:
        temporary = self.part / self.file.name
        try:
            write_checkpoint(temporary, self.key, state)
            os.replace(temporary, self.file)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def write_checkpoint(file: Path, key: str, state: State) -> None:
    """Write a state and the key that it belongs to."""
    tensors = {name: value.detach().cpu().contiguous() for name, value in state.tensors.items()}
    values = json.dumps(state.values)
    metadata = {"key": key, "values": values, "checksum": str(checksum(tensors, values))}
    save_file(tensors, file, metadata=metadata)
    with file.open("rb") as written:
        os.fsync(written.fileno())  # otherwise a power failure may leave an empty file of the final name


def read_checkpoint(file: Path) -> tuple[str, State]:
    """The key and the state in a file; one of several errors if it is damaged."""
    with safe_open(file, framework="pt") as opened:
        metadata = opened.metadata() or {}
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    if int(metadata["checksum"]) != checksum(tensors, metadata["values"]):
        raise ValueError("its checksum is wrong")
    return metadata["key"], State(tensors, json.loads(metadata["values"]))


def checksum(tensors: Mapping[str, Tensor], values: str) -> int:
    """CRC-32 of what a checkpoint holds."""
    crc = zlib.crc32(values.encode())
    for name in sorted(tensors):
        crc = zlib.crc32(tensors[name].numpy().tobytes(), zlib.crc32(name.encode(), crc))
    return crc


@dataclass(frozen=True)
class RecordedCheckpoint(Checkpoint):
    """A checkpoint that keeps the record of a job beside the state of its training."""

    inner: Checkpoint
    record: Recorder

    def load(self) -> State | None:
        """The state of the training; the record gets its own back."""
        state = self.inner.load()
        if state is not None:
            self.record.restore(state)
        return state

    def save(self, state: Callable[[], State]) -> None:
        """Keep the state of the training and the record together."""

        def both() -> State:
            training, record = state(), self.record.state()
            return State(training.tensors | record.tensors, training.values | record.values)

        self.inner.save(both)
