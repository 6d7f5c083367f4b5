import numpy as np
import pytest
from scipy.io import savemat

from dekm.datasets.paper import reuters10k as reuters
from dekm.errors import InputError
from tests.helpers.upstream import (
    mat73,
)


def test_a_matlab_file_without_the_variables_is_an_error(tmp_path):
    savemat(tmp_path / "a.mat", {"Z": np.ones(3)})
    with pytest.raises(InputError, match=r"variables \['Z'\]; X and Y are needed"):
        reuters.read_mat(tmp_path / "a.mat")
    mat73(tmp_path / "b.mat", Z=np.ones(3))
    with pytest.raises(InputError, match="has no 'X'"):
        reuters.read_mat(tmp_path / "b.mat")
