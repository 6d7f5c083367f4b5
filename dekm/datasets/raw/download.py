"""Raw files: found where the user put them, copied from a mirror, or downloaded; verified in each case."""

import contextlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError

logger = logging.getLogger(__name__)

CHUNK = 2**20
ATTEMPTS = 3
TIMEOUT = 30.0
WAIT = 2.0


def fetch(
    raw_file: RawFile,
    raw_dir: Path,
    mirror: str | None = None,
    *,
    attempts: int = ATTEMPTS,
    timeout: float = TIMEOUT,
    wait: float = WAIT,
) -> Path:
    """Return the verified file below `raw_dir`, fetching it first if it is not there.

    Sources are tried in order: `mirror`, a folder or a URL, then upstream. A file reaches its final name
    only whole and verified, and a file that is already there is never replaced.

    Parameters
    ----------
    attempts : tries per address; a refusal (HTTP 4xx) is final
    timeout : seconds without a byte after which an address counts as stalled
    wait : seconds before the second try; the third waits twice as long

    Raises
    ------
    InputError
        If the file that is there is not the expected one, or if every source failed; the text gives the
        reason of each.
    """
    target = raw_dir / raw_file.path
    if target.exists():
        try:
            raw_file.verify(target)
        except InputError as error:
            raise InputError(
                f"{target} is not the expected file. {error} Move it away to fetch it."
            ) from error
        return target
    failures = []
    if not raw_file.verifiable:
        raise InputError(
            f"{raw_file.path} has no known checksum and is not fetched. Put the file at {target}."
        )
    for source in sources(raw_file, mirror):
        for attempt in range(1, attempts + 1):
            failure = _try_source(source, raw_file, target, timeout)
            if failure is None:
                return target
            if failure.final or attempt == attempts:
                failures.append(f"  {source}: {failure.reason}")
                break
            logger.warning("%s: %s Trying again.", source, failure.reason)
            time.sleep(wait * attempt)
    reasons = "".join(f"{failure}\n" for failure in failures) or "  no address is known.\n"
    raise InputError(f"{raw_file.path} could not be fetched:\n{reasons}Put the file at {target}.")


def sources(raw_file: RawFile, mirror: str | None) -> list[str]:
    """Addresses of a raw file: that on the mirror first."""
    mirrored = [] if mirror is None else [f"{mirror.rstrip('/')}/{raw_file.path}"]
    return mirrored + list(raw_file.urls)


@dataclass(frozen=True)
class _Failure:
    reason: str
    final: bool


def _try_source(source: str, raw_file: RawFile, target: Path, timeout: float) -> _Failure | None:
    import requests

    try:
        with _whole_file(target) as temporary:
            _copy(source, temporary, timeout)
            raw_file.verify(temporary)
    except InputError as error:
        return _Failure(str(error), final="://" not in source)
    except FileNotFoundError:
        return _Failure("no such file.", final=True)
    except requests.HTTPError as error:
        status = error.response.status_code
        return _Failure(f"HTTP status {status}.", final=400 <= status < 500)
    except requests.RequestException as error:
        return _Failure(f"{type(error).__name__}: {error}", final=False)
    except OSError as error:
        return _Failure(f"{type(error).__name__}: {error}", final=True)
    return None


def _copy(source: str, target: Path, timeout: float) -> None:
    if "://" not in source:
        shutil.copyfile(source, target)
        return
    import pooch

    logger.info("Downloading %s", source)
    download = pooch.HTTPDownloader(progressbar=True, chunk_size=CHUNK, timeout=timeout)
    download(source, str(target), None)


@contextlib.contextmanager
def _whole_file(target: Path) -> Iterator[Path]:
    """A temporary file beside `target`, which takes its name if the block succeeds and else goes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
