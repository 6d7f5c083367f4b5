"""A machine with GPUs, as far as `nvidia-smi` tells."""

from collections.abc import Mapping
from pathlib import Path

LISTING = """#!/bin/sh
cat <<END
{lines}
END
"""


def fake_gpus(folder: Path, used: Mapping[str, int | str]) -> Path:
    """Write an `nvidia-smi` that lists GPUs by UUID with their used memory in MiB; its folder, for PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "nvidia-smi"
    lines = "\n".join(f"{uuid}, {mib}" for uuid, mib in used.items())
    program.write_text(LISTING.format(lines=lines))
    program.chmod(0o755)
    return folder
