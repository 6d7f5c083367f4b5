import numpy as np
import pytest
from scipy.io import savemat

from dekm.datasets.raw.matlab import read_mat
from dekm.errors import InputError
from tests.helpers.upstream import (
    mat73,
)


def test_a_matlab_file_without_the_variables_is_an_error(tmp_path):
    savemat(tmp_path / "a.mat", {"Z": np.ones(3)})
    with pytest.raises(InputError, match=r"variables \['Z'\]; they should include X and Y"):
        read_mat(tmp_path / "a.mat")
    mat73(tmp_path / "b.mat", Z=np.ones(3))
    with pytest.raises(InputError, match="has no 'X'"):
        read_mat(tmp_path / "b.mat")
