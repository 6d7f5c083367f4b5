"""The raw files of a dataset: missing ones are downloaded or listed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dekm.datasets.dataset import Dataset, RawSet
from dekm.datasets.raw.download import download_file
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError, find_secret


def fetch_dataset(dataset: Dataset, raw_dir: Path, mirror: str | None = None) -> dict[str, str]:
    """Download and verify one raw set of a dataset; path and SHA-256 of the content of each of its files.

    A raw set that exists in `raw_dir` is preferred to one on the mirror, and that to an upstream one, so that
    the network is used only if necessary. Raises `InputError` if an existing file is not the expected one, if
    no raw set could be downloaded, or if `mirror` holds a password.
    """
    if problem := find_secret("mirror", mirror):
        raise InputError(problem)
    raw_sets = dataset.raw_sets()
    for raw_set in raw_sets:
        if raw_set.exists(raw_dir):
            return _fetch(raw_set, raw_dir, mirror)
    candidates = [] if mirror is None else [(_without_urls(raw_set), mirror) for raw_set in raw_sets]
    failures = []
    for raw_set, place in [*candidates, *((raw_set, None) for raw_set in raw_sets)]:
        try:
            return _fetch(raw_set, raw_dir, place)
        except InputError as error:
            failures.append(str(error))
    raise InputError(f"{dataset.label}: no set of raw files could be downloaded.\n" + "\n".join(failures))


def missing_files(dataset: Dataset, raw_dir: Path) -> list[tuple[RawFile, ...]]:
    """Missing and damaged files of each raw set, one of which has to be completed; nothing is downloaded.

    If all files of a raw set exist, the dataset is loaded from it, and only its damaged files are listed.
    """
    raw_sets = dataset.raw_sets()
    existing = [raw_set for raw_set in raw_sets if raw_set.exists(raw_dir)]
    missing = [
        tuple(raw_file for raw_file in raw_set.raw if not _is_valid(raw_file, raw_dir))
        for raw_set in existing[:1] or raw_sets
    ]
    return [files for files in missing if files]


def describe_missing(name: str, dataset: Dataset, raw_dir: Path) -> Iterator[str]:
    """Lines for the user: the path of each missing or damaged file, its addresses, and a required licence."""
    if dataset.restricted:
        yield f"{name}: needs a licence ({dataset.licence}); if you hold it, pass --licence-held"
    missing = missing_files(dataset, raw_dir)
    if not missing:
        yield f"{name}: no files are missing"
    for i, raw_files in enumerate(missing):
        yield f"{name}: {'or these' if i else 'these'} files are missing:"
        for raw_file in raw_files:
            file = raw_dir / raw_file.path
            yield f"  {file}{' is damaged or a different file: move it away' if file.exists() else ''}"
            yield from (f"    from {url}" for url in raw_file.urls)


def _fetch(raw_set: RawSet, raw_dir: Path, mirror: str | None) -> dict[str, str]:
    return {
        raw_file.path: raw_file.verify(download_file(raw_file, raw_dir, mirror)) for raw_file in raw_set.raw
    }


def _without_urls(raw_set: RawSet) -> RawSet:
    return replace(raw_set, raw=tuple(replace(raw_file, urls=()) for raw_file in raw_set.raw))


def _is_valid(raw_file: RawFile, raw_dir: Path) -> bool:
    file = raw_dir / raw_file.path
    if not file.is_file():
        return False
    try:
        raw_file.verify(file)
    except InputError:
        return False
    return True
