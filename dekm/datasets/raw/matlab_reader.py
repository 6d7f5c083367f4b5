"""SciPy's reader of MATLAB files, in a process of its own: a damaged file can end it by a signal.

Writes one line of JSON: the shapes and classes of the variables or, for the one that is named, its form,
which is followed by its arrays in the format of NumPy; or the text of an error.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat, whosmat


def answer(file: Path, names: list[str]) -> tuple[dict[str, Any], list[np.ndarray]]:
    """What is written for the variables of a file, or for the one that is named."""
    with file.open("rb") as stream:
        if not names:
            found = whosmat(stream, appendmat=False)
            return {"variables": {name: [kind, *map(int, shape)] for name, shape, kind in found}}, []
        value = loadmat(stream, appendmat=False, variable_names=names, spmatrix=False)[names[0]]
    if sparse.issparse(value):
        rows = sparse.csr_array(value, dtype=np.float32)
        return {"shape": list(rows.shape)}, [rows.data, rows.indices, rows.indptr]
    return {}, [np.asarray(value)]


if __name__ == "__main__":
    try:
        form, arrays = answer(Path(sys.argv[1]), sys.argv[2:])
    except Exception as error:
        form, arrays = {"error": f"{error or type(error).__name__}"}, []
    sys.stdout.buffer.write(json.dumps(form | {"n_arrays": len(arrays)}).encode() + b"\n")
    pipe: Any = SimpleNamespace(write=sys.stdout.buffer.write)  # NumPy asks a file for its position
    for array in arrays:
        np.lib.format.write_array(pipe, array, allow_pickle=False)
