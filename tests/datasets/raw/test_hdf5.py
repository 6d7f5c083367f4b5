import h5py
import numpy as np
import pytest

from dekm.datasets.paper import frgc
from dekm.errors import InputError
from tests.helpers.upstream import (
    faces,
)


def test_hdf5_links_to_other_files_are_an_error(tmp_path):
    secret = faces(tmp_path / "secret.h5", np.zeros((2, 32, 32, 3)), np.arange(2))
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["data"] = h5py.ExternalLink(secret, "data")
        file["labels"] = np.arange(2)
    with pytest.raises(InputError, match="'data' is a link"):
        frgc.read_faces(tmp_path / "f.h5")
    with h5py.File(tmp_path / "g.h5", "w") as file:
        file.create_dataset("data", (2, 32, 32, 3), "u1", external=[(secret, 0, 2 * 32 * 32 * 3)])
        file["labels"] = np.arange(2)
    with pytest.raises(InputError, match="stored in another file"):
        frgc.read_faces(tmp_path / "g.h5")


def test_an_hdf5_array_that_claims_terabytes_is_an_error_before_it_is_read(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("data", (10**9, 32, 32, 3), "u1", chunks=(1, 32, 32, 3))
        file["labels"] = np.arange(2)
    with pytest.raises(InputError, match="larger than"):
        frgc.read_faces(tmp_path / "f.h5")
