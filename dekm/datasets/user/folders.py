"""A user's folders: files in one folder, unlabelled, or in one subfolder per class."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dekm.datasets.labels import label_vector
from dekm.errors import InputError

logger = logging.getLogger(__name__)

IMAGE_SUFFIXES = (
    ".bmp", ".gif", ".jfif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"
)  # fmt: skip
TEXT_SUFFIXES = (".txt",)
WINDOWS_FILES = {"desktop.ini", "thumbs.db"}
SHOWN = 5  # names in a line of the log


def list_files(folder: Path, suffixes: tuple[str, ...]) -> tuple[list[Path], np.ndarray | None]:
    """The files of a folder with some endings, sorted by path, and the names of their subfolders as labels.

    The labels are None if the files are in the folder itself. Raises `InputError` if there are no such files,
    or they are at different depths.
    """
    files = [file for file in visible_files(folder) if file.suffix.lower() in suffixes]
    if not files:
        raise InputError(f"{folder} holds no file that ends with {', '.join(suffixes)}.")
    depth = len(files[0].relative_to(folder).parts)
    for file in files:
        if len(file.relative_to(folder).parts) != depth or depth > 2:
            raise InputError(
                f"{file}: all files should be in {folder}, or all in one subfolder of it per class."
            )
    return files, None if depth == 1 else label_vector([file.parent.name for file in files], folder)


def visible_files(folder: Path) -> list[Path]:
    """All files in a folder and its subfolders but hidden ones and those of systems; links are followed."""
    return sorted(file for file in _walk(folder, (folder.resolve(),)) if file.is_file())


def _walk(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    """All entries below a folder that are no readable subfolders; `above` are the real folders above them."""
    try:
        entries = list(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}.") from error
    for entry in entries:
        if entry.name.startswith(".") or entry.name.lower() in WINDOWS_FILES:
            continue
        real = entry.resolve() if entry.is_dir() else None
        if real is None or real in above:
            yield entry
        else:
            yield from _walk(entry, (*above, real))


def log_ignored(folder: Path, suffixes: tuple[str, ...]) -> None:
    """Log warnings that name the first files of a folder with other endings, and links that lead nowhere."""
    entries = sorted(_walk(folder, (folder.resolve(),)))
    files = [entry for entry in entries if entry.is_file()]
    ignored = [file for file in files if file.suffix.lower() not in suffixes]
    others = [entry for entry in entries if not entry.is_file()]
    for reason, found in (
        (f"ignored, not ending with {', '.join(suffixes)}", ignored),
        ("ignored, a link that is broken or leads to a folder above it, or no file", others),
    ):
        if found:
            logger.warning("%s: %s: %s", folder, reason, first_names(folder, found))


def first_names(folder: Path, files: Sequence[Path]) -> str:
    """The first paths of some files in a folder, and the number of the others."""
    named = ", ".join(str(file.relative_to(folder)) for file in files[:SHOWN])
    return named + (f" and {len(files) - SHOWN} more" if len(files) > SHOWN else "")
