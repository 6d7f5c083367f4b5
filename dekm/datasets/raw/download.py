"""Download of one raw file: found in place, copied from a mirror or downloaded, and verified in each case."""

import logging
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError
from dekm.files import atomic_file

logger = logging.getLogger(__name__)

CHUNK = 2**20
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
) -> Path:
    """Download a raw file unless it exists, and verify it.

    The mirror is tried first, then the upstream addresses in order. A file gets its final name only after it
    is complete and verified. An existing file is verified and never overwritten.

    Parameters
    ----------
    raw_file : RawFile
        The file to download.
    raw_dir : Path
        Folder of the raw files.
    mirror : str, optional
        Folder or URL with the layout of `raw_dir`.
    attempts : int, default=3
        Maximum number of attempts per address; a missing file and HTTP status 4xx are not tried again.
    timeout : float, default=30.0
        Seconds without data after which a connection is closed.
    wait : float, default=2.0
        Seconds before the second attempt; the waiting time before attempt `i` is ``(i - 1) * wait``.

    Returns
    -------
    Path
        The verified file below `raw_dir`.

    Raises
    ------
    InputError
        If an existing file is not the expected one, if the file has no known checksum, or if every address
        failed; the message gives the reason for each address.
    """
    target = raw_dir / raw_file.path
    if target.exists():
        _verify_existing(raw_file, target)
        return target
    if not raw_file.verifiable:
        raise InputError(
            f"{raw_file.path} has no known checksum and is not downloaded. Put the file at {target}."
        )
    failures = []
    for address in addresses(raw_file, mirror):
        failure = _try_repeatedly(address, raw_file, target, attempts, timeout, wait)
        if failure is None:
            return target
        failures.append(f"  {address}: {failure.reason}\n")
    reasons = "".join(failures) or "  no address is known.\n"
    raise InputError(f"{raw_file.path} could not be downloaded:\n{reasons}Put the file at {target}.")


def addresses(raw_file: RawFile, mirror: str | None) -> list[str]:
    """Addresses of a raw file in the order in which they are tried.

    Parameters
    ----------
    raw_file : RawFile
        The file to download.
    mirror : str or None
        Folder or URL of the mirror.

    Returns
    -------
    list of str
        The address on the mirror, if there is one, and the upstream addresses.
    """
    mirrored = [] if mirror is None else [f"{mirror.rstrip('/')}/{raw_file.path}"]
    return mirrored + list(raw_file.urls)


@dataclass(frozen=True)
class _Failure:
    """Why an attempt failed, and whether another attempt is useless."""

    reason: str
    final: bool


def _verify_existing(raw_file: RawFile, target: Path) -> None:
    try:
        raw_file.verify(target)
    except InputError as error:
        raise InputError(
            f"{target} is not the expected file. {error} Move it away to download it again."
        ) from error


def _try_repeatedly(
    address: str, raw_file: RawFile, target: Path, attempts: int, timeout: float, wait: float
) -> _Failure | None:
    failure = _try_once(address, raw_file, target, timeout)
    for attempt in range(1, attempts):
        if failure is None or failure.final:
            break
        logger.warning("%s: %s Trying again.", address, failure.reason)
        time.sleep(wait * attempt)
        failure = _try_once(address, raw_file, target, timeout)
    return failure


def _try_once(address: str, raw_file: RawFile, target: Path, timeout: float) -> _Failure | None:
    import requests

    try:
        with atomic_file(target) as temporary:
            _copy(address, temporary, timeout)
            raw_file.verify(temporary)
    except InputError as error:
        return _Failure(str(error), final="://" not in address)
    except FileNotFoundError:
        return _Failure("file not found.", final=True)
    except requests.HTTPError as error:
        status = error.response.status_code
        return _Failure(f"HTTP status {status}.", final=400 <= status < 500)
    except requests.RequestException as error:
        return _Failure(f"{type(error).__name__}: {error}", final=False)
    except OSError as error:
        return _Failure(f"{type(error).__name__}: {error}", final=True)
    return None


def _copy(address: str, target: Path, timeout: float) -> None:
    if "://" not in address:
        shutil.copyfile(address, target)
        return
    import pooch

    logger.info("Downloading %s", address)
    download = pooch.HTTPDownloader(progressbar=True, chunk_size=CHUNK, timeout=timeout)
    download(address, str(target), None)
