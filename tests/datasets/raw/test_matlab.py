import h5py
import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from dekm.datasets.paper.reuters10k import from_mat
from dekm.datasets.raw import matlab
from dekm.datasets.raw.matlab import mat_shapes, read_mat
from dekm.errors import InputError
from tests.helpers.upstream import mat73, write


def test_arrays_are_listed_and_read_with_their_types(tmp_path):
    X = np.arange(6, dtype=np.uint16).reshape(2, 3)
    savemat(tmp_path / "a.mat", {"X": X, "S": sparse.csc_matrix(np.eye(3)), "notes": "text"})
    assert mat_shapes(tmp_path / "a.mat") == {"X": (2, 3), "S": (3, 3)}
    read = read_mat(tmp_path / "a.mat", "X")
    assert (read.dtype, read.tolist()) == (np.uint16, X.tolist())
    np.testing.assert_array_equal(read_mat(tmp_path / "a.mat", "S").toarray(), np.eye(3))
    mat73(tmp_path / "b.mat", X=X, notes=np.array([[110, 111]], np.uint16))
    with h5py.File(tmp_path / "b.mat", "r+") as opened:
        opened["notes"].attrs["MATLAB_class"] = np.bytes_("char")
    assert mat_shapes(tmp_path / "b.mat") == {"X": (2, 3)}
    np.testing.assert_array_equal(read_mat(tmp_path / "b.mat", "X"), X)


def test_a_matlab_file_without_a_variable_is_an_error(tmp_path):
    savemat(tmp_path / "a.mat", {"Z": np.ones(3)})
    with pytest.raises(InputError, match=r"a\.mat is not a readable MATLAB file: 'X'"):
        read_mat(tmp_path / "a.mat", "X")
    mat73(tmp_path / "b.mat", Z=np.ones(3))
    with pytest.raises(InputError, match="has no 'X'"):
        read_mat(tmp_path / "b.mat", "X")


@pytest.mark.parametrize("X", [sparse.csr_matrix(np.eye(4)), np.array([["text"]])], ids=["sparse", "text"])
def test_the_reuters_file_should_hold_dense_numbers(tmp_path, X):
    (tmp_path / "reuters10k").mkdir()
    savemat(tmp_path / "reuters10k/reuters10k.mat", {"X": X, "Y": np.arange(4.0)})
    with pytest.raises(InputError, match="X and Y should be dense matrices of numbers"):
        from_mat(tmp_path)


def test_a_crash_of_the_reader_is_an_error_of_one_line(tmp_path, monkeypatch):
    crash = write(tmp_path / "crash.py", b"import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    monkeypatch.setattr(matlab, "READER", crash)
    with pytest.raises(InputError, match=r"^.*a\.mat is damaged: it ends SciPy's reader .*\(-11\)\.$"):
        mat_shapes(write(tmp_path / "a.mat", b"MATLAB"))
