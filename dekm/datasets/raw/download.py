"""Download of one raw file: found in place, copied from a mirror or downloaded, and verified in each case."""

import logging
import time
from pathlib import Path

from dekm.datasets.raw.openml import is_address
from dekm.datasets.raw.transfer import Limits, TransferError, is_remote, longest_seconds, transfer
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError, without_secrets
from dekm.files.atomic import atomic_file
from dekm.files.leftovers import remove_dead

logger = logging.getLogger(__name__)

ATTEMPTS = 3
TIMEOUT = 30.0
WAIT = 2.0


def download_file(
    raw_file: RawFile,
    raw_dir: Path,
    mirror: str | None = None,
    *,
    attempts: int = ATTEMPTS,
    timeout: float = TIMEOUT,
    wait: float = WAIT,
    deadline: float | None = None,
) -> Path:
    """Download a raw file unless it exists, verify it, and return its path below `raw_dir`.

    The mirror is tried first, then the upstream addresses in order, each at most `attempts` times within
    `deadline` seconds; a missing file and HTTP status 4xx are not tried again. A file gets its final name
    only after it is complete and verified, and an existing file is never overwritten. Raises `InputError` if
    an existing file is not the expected one, the file has no known checksum or cannot be written, or every
    address failed; the message gives the reason for each.
    """
    target = raw_dir / raw_file.path
    remove_dead(target)
    if target.exists():
        _verify_existing(raw_file, target)
        return target
    if not raw_file.verifiable:
        raise InputError(
            f"{raw_file.path} has no known checksum and is not downloaded. Put the file at {target}."
        )
    seconds = longest_seconds(raw_file.max_bytes) if deadline is None else deadline
    reasons = ""
    for address in addresses(raw_file, mirror):
        limits = Limits(raw_file.max_bytes, timeout, time.monotonic() + seconds)
        try:
            _try_repeatedly(address, raw_file, target, limits, attempts, wait)
        except TransferError as failure:
            reasons += f"  {address}: {failure}\n"
        else:
            return target
    reasons = reasons or "  no address is known.\n"
    file = "a copy of the file from another machine" if any(map(is_address, raw_file.urls)) else "the file"
    raise InputError(f"{raw_file.path} could not be downloaded:\n{reasons}Put {file} at {target}.")


def addresses(raw_file: RawFile, mirror: str | None) -> list[str]:
    """Addresses of a raw file in the order in which they are tried: on the mirror, then upstream."""
    mirrored = [] if mirror is None else [f"{mirror.rstrip('/')}/{raw_file.path}"]
    return mirrored + list(raw_file.urls)


def _verify_existing(raw_file: RawFile, target: Path) -> None:
    try:
        raw_file.verify(target)
    except InputError as error:
        raise InputError(
            f"{target} is not the expected file. {error} Move it away to download it again."
        ) from error


def _try_repeatedly(
    address: str, raw_file: RawFile, target: Path, limits: Limits, attempts: int, wait: float
) -> None:
    for attempt in range(1, attempts + 1):
        try:
            return _try_once(address, raw_file, target, limits)
        except TransferError as failure:
            if failure.final or attempt == attempts:
                raise
            logger.warning("%s: %s Trying again.", without_secrets(address), failure)
            time.sleep(wait * attempt)
    return None


def _try_once(address: str, raw_file: RawFile, target: Path, limits: Limits) -> None:
    logger.info("Getting %s", without_secrets(address))
    with atomic_file(target) as temporary:
        transfer(address, temporary, limits)
        try:
            raw_file.verify(temporary)
        except InputError as error:
            raise TransferError(str(error), final=not is_remote(address)) from error
