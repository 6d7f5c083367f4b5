"""All raw files of a dataset: fetched where they are missing, or listed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dekm.datasets.dataset import Dataset, Source
from dekm.datasets.raw.download import fetch
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError


def fetch_dataset(dataset: Dataset, raw_dir: Path, mirror: str | None = None) -> dict[str, str]:
    """Have all raw files of one source of `dataset` verified below `raw_dir`.

    A source that is already there wins over one on the mirror, and that over one upstream: the network is
    left alone where it is not needed.

    Returns
    -------
    dict
        The path of each raw file below `raw_dir`, with the SHA-256 that stands for its content.

    Raises
    ------
    InputError
        If a file that is there is not the expected one, or if no source can be had.
    """
    sources = dataset.sources()
    for source in sources:
        if source.is_there(raw_dir):
            return _fetch_source(source, raw_dir, mirror)
    failures = []
    if mirror is not None:
        for source in sources:
            try:
                return _fetch_source(_without_urls(source), raw_dir, mirror)
            except InputError as error:
                failures.append(str(error))
    for source in sources:
        try:
            return _fetch_source(source, raw_dir, None)
        except InputError as error:
            failures.append(str(error))
    raise InputError(f"{dataset.label} could not be had from any source.\n" + "\n".join(failures))


def missing_files(dataset: Dataset, raw_dir: Path) -> list[tuple[RawFile, ...]]:
    """What is still missing below `raw_dir`: the absent or wrong files of each source.

    One source is enough: if all files of a source are there, it is the one that is used, and only its wrong
    files are missing. Nothing is fetched.
    """
    sources = dataset.sources()
    there = [source for source in sources if source.is_there(raw_dir)]
    missing = [
        tuple(raw_file for raw_file in source.raw if not _is_right(raw_file, raw_dir))
        for source in there[:1] or sources
    ]
    return [files for files in missing if files]


def describe_missing(name: str, dataset: Dataset, raw_dir: Path) -> Iterator[str]:
    """Lines on the raw files that are missing, with places and addresses, and on a licence that is needed."""
    if dataset.restricted:
        yield f"{name}: needs a licence ({dataset.licence}); if you hold it, pass --licence-held"
    missing = missing_files(dataset, raw_dir)
    if not missing:
        yield f"{name}: nothing is missing"
    for i, raw_files in enumerate(missing):
        yield f"{name}: {'or ' if i else ''}this is missing:"
        for raw_file in raw_files:
            file = raw_dir / raw_file.path
            yield f"  {file}{' is damaged, or another file: move it away' if file.exists() else ''}"
            yield from (f"    from {url}" for url in raw_file.urls)


def _fetch_source(source: Source, raw_dir: Path, mirror: str | None) -> dict[str, str]:
    return {raw_file.path: raw_file.verify(fetch(raw_file, raw_dir, mirror)) for raw_file in source.raw}


def _without_urls(source: Source) -> Source:
    return replace(source, raw=tuple(replace(raw_file, urls=()) for raw_file in source.raw))


def _is_right(raw_file: RawFile, raw_dir: Path) -> bool:
    file = raw_dir / raw_file.path
    if not file.is_file():
        return False
    try:
        raw_file.verify(file)
    except InputError:
        return False
    return True
