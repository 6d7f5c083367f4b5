"""A user's HDF5 files, among them those of AnnData (.h5ad) with sparse matrices, categories and names."""

from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
from scipy import sparse

from dekm.datasets.labels import decoded
from dekm.datasets.raw.hdf5 import is_array, member, opened_hdf5, values_of
from dekm.files.reading import readable

SPARSE = {"csr_matrix": sparse.csr_matrix, "csc_matrix": sparse.csc_matrix}


class Names(NamedTuple):
    """Names of the rows and of the columns of an array; None where the file has none."""

    rows: list[str] | None = None
    columns: list[str] | None = None


def shapes(file: Path) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays of numbers or texts, and of sparse matrices and categories, by their paths."""
    found: dict[str, tuple[int, ...]] = {}

    def visit(name: str, item: Any) -> None:
        if any(name.startswith(f"{above}/") for above in found):
            return  # a part of a sparse matrix or of categories
        encoding = _attribute(item, "encoding-type")
        if encoding in SPARSE and "shape" in item.attrs:
            found[name] = tuple(int(side) for side in np.ravel(item.attrs["shape"]))
        elif encoding == "categorical" and isinstance(item, h5py.Group):
            codes = item.get("codes")
            found[name] = getattr(codes, "shape", ())
        elif is_array(item):
            found[name] = item.shape

    with opened_hdf5(file) as opened:
        opened.visititems(visit)
    return found


def read(file: Path, name: str) -> Any:
    """One of the arrays that `shapes` lists: numbers, texts, or a csr_matrix.

    A row without a category is an empty text.
    """
    with opened_hdf5(file) as opened:
        item = member(opened, file, name)
        encoding = _attribute(item, "encoding-type")
        if encoding in SPARSE:
            parts = [_part(opened, file, name, part, "iuf") for part in ("data", "indices", "indptr")]
            shape = tuple(int(side) for side in np.ravel(item.attrs["shape"]))
            with readable(file, "sparse matrix in HDF5"):
                matrix = SPARSE[encoding](tuple(parts), shape=shape)
                matrix.check_format()
                return sparse.csr_matrix(matrix, dtype=np.float32)
        if encoding != "categorical":
            return values_of(item, file)
        codes = _part(opened, file, name, "codes", "iu")
        categories = _part(opened, file, name, "categories", "buifOS").astype(str)
        return np.where(codes < 0, "", categories[codes])


def names(file: Path, array: str) -> Names:
    """Names of the rows (cells) and columns (genes) of an array of AnnData."""
    folder = array.rpartition("/")[0]
    if array != "X" and folder not in ("layers", "obsm", "raw"):
        return Names()
    columns = {"": "var", "layers": "var", "raw": "raw/var"}.get(folder)
    with opened_hdf5(file) as opened:
        found = None if columns is None else _index(opened, file, columns)
        return Names(_index(opened, file, "obs"), None if found is None else unique(found))


def unique(names: list[str]) -> list[str]:
    """Names made unique: a second GENE becomes GENE-1, as in AnnData."""
    given, seen = set(names), set[str]()
    found = []
    for name in names:
        number, new = 0, name
        while new in seen or (number and new in given):
            number += 1
            new = f"{name}-{number}"
        seen.add(new)
        found.append(new)
    return found


def _index(opened: h5py.File, file: Path, group: str) -> list[str] | None:
    """The index of a data frame of AnnData."""
    if not isinstance(opened.get(group, getlink=True), h5py.HardLink):
        return None
    item = opened[group]
    if not isinstance(item, h5py.Group):
        return None
    name = _attribute(item, "_index") or "_index"
    if not isinstance(item.get(name, getlink=True), h5py.HardLink):
        return None
    return values_of(item[name], file).astype(str).tolist()


def _part(opened: h5py.File, file: Path, name: str, part: str, kinds: str) -> np.ndarray:
    return values_of(member(opened, file, f"{name}/{part}"), file, kinds)


def _attribute(item: Any, name: str) -> str:
    value = item.attrs.get(name, "")
    return decoded(value) if isinstance(value, bytes) else str(value)
