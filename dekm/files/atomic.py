"""Files and folders that appear whole or not at all, also after a kill, a power cut or on a full disk."""

import contextlib
import errno
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from dekm.errors import InputError
from dekm.files.leftovers import (
    REPLACED,
    dead_temporaries,
    final_name,
    remove,
    remove_dead,
    temporary_path,
)
from dekm.files.manifest import find_damage, write_manifest

logger = logging.getLogger(__name__)

UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP}  # for folders on some file systems
TAKEN = {errno.ENOTEMPTY, errno.EEXIST}
# Errors of writing that have no file name; after a short write errno is None.
UNNAMED = {None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextlib.contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """A temporary file beside `target`, of the same suffix, which replaces it if the block succeeds.

    Readers see the old file or the complete new one. The target of a symbolic link is replaced and the link
    stays; a device or pipe is written directly. `InputError` if the disk is full, a limit is reached or a
    permission is missing.
    """
    target = Path(os.path.realpath(target))
    if target.exists() and not (target.is_file() or target.is_dir()):
        yield target
        return
    temporary = temporary_path(target)
    with named_errors(target, temporary):
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_dead(target)
        try:
            yield temporary
            flush(temporary)
            os.replace(temporary, target)
            flush(target.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """A temporary folder to write into, which replaces `target` if the block succeeds.

    The folder gets a manifest of its files. If the block fails, the temporary folder is removed and `target`
    stays as it was. Several processes that write the same target do not disturb each other; the last one
    wins. The errors are those of `atomic_file`.
    """
    temporary = temporary_path(target)
    with named_errors(target, temporary):
        target.parent.mkdir(parents=True, exist_ok=True)
        recover(target)
        temporary.mkdir()
        try:
            yield temporary
            write_manifest(temporary)
            for path in [*temporary.rglob("*"), temporary]:
                flush(path)
            _replace_folder(temporary, target)
        finally:
            remove(temporary)


def recover(target: Path) -> None:
    """Finish or undo what killed writers of the folder `target` began, and remove what they left.

    A kill between the two renames leaves no target: a whole new folder takes its name, else the replaced one.
    """
    parts, replaced = dead_temporaries(target), dead_temporaries(target, REPLACED)
    if not target.exists():
        whole = [path for path in parts if not find_damage(path)]
        for source in (whole or replaced)[-1:]:
            logger.warning("%s: recovered from %s, which a killed process left", target, source.name)
            os.replace(source, target)
    for leftover in (*parts, *replaced):
        if os.path.lexists(leftover):
            remove(leftover)


def set_aside(path: Path) -> Path:
    """Move what is damaged into the folder ``damaged`` beside it, under a new name, and return that name."""
    folder = path.parent / "damaged"
    folder.mkdir(exist_ok=True)
    number = 1 + len(list(folder.iterdir()))
    while (aside := folder / f"{path.name}.{number}").exists():
        number += 1
    os.replace(path, aside)
    return aside


def _replace_folder(temporary: Path, target: Path) -> None:
    """Rename `temporary` to `target`, which another process may be doing at the same time."""
    replaced = temporary_path(target, REPLACED)
    try:
        while True:
            with contextlib.suppress(FileNotFoundError):
                os.replace(target, replaced)
            try:
                os.replace(temporary, target)
            except OSError as error:
                if error.errno not in TAKEN:
                    raise
                remove(replaced)
            else:
                break
        flush(target.parent)
    finally:
        if not target.exists() and replaced.exists():
            os.replace(replaced, target)
        remove(replaced)


def flush(path: Path) -> None:
    """Write a file or the names in a folder to the disk, so that a power cut does not empty them."""
    if os.name == "nt" and path.is_dir():  # Windows opens no folders
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def named_errors(target: Path, written: Path | None = None) -> Iterator[None]:
    """Convert errors of writing `target`, under the name `written`, into an `InputError` that names it."""
    written = written or target
    try:
        yield
    except OSError as error:
        names = [os.fsdecode(name) for name in (error.filename, error.filename2) if name is not None]
        if names and not any(Path(name).is_relative_to(written) for name in names):
            raise
        if not names and error.errno not in UNNAMED:
            raise
        raise InputError(_describe(error, target, written)) from error


def _describe(error: OSError, target: Path, written: Path) -> str:
    reason = error.strerror or str(error)
    name = final_name(target)  # also of a file in a folder that is written
    stays = "the old one stays as it was" if target.exists() else "nothing was left under this name"
    if error.errno not in {None, errno.ENOSPC}:
        return f"{name} cannot be written: {reason}; {stays}."
    size = written.stat().st_size if written.is_file() else 0
    free = shutil.disk_usage(_existing(target)).free
    return f"{name} cannot be written: {reason}. It needs more than {size} bytes, {free} are free; {stays}."


def _existing(path: Path) -> Path:
    return next(parent for parent in path.absolute().parents if parent.is_dir())
