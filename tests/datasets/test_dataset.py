import numpy as np
import pytest

from dekm.cli import main
from dekm.datasets import DATASETS
from dekm.errors import InputError
from tests.helpers.upstream import usps_digits, write_usps_hdf5, write_usps_libsvm


def test_usps_is_loaded_from_the_raw_set_that_exists(tmp_path):
    train, test = usps_digits(20), usps_digits(10, seed=1)
    with pytest.raises(InputError, match=r"usps\.bz2 does not exist"):
        DATASETS["usps"].load(tmp_path)
    write_usps_hdf5(tmp_path, train, test)
    from_hdf5 = DATASETS["usps"].load(tmp_path)
    write_usps_libsvm(tmp_path, train, test)
    assert DATASETS["usps"].raw_set(tmp_path).loader.endswith("from_libsvm")
    np.testing.assert_array_equal(DATASETS["usps"].load(tmp_path)[0], from_hdf5[0])


def test_an_option_selects_the_raw_set_whose_loader_accepts_it():
    row = DATASETS["reuters10k"].with_options({"subset": "dec_keras"})
    assert [raw_set.loader for raw_set in row.raw_sets()] == ["dekm.datasets.paper.reuters10k:from_tokens"]
    with pytest.raises(InputError, match=r"\['stem'\] should be among \['scaling', 'subset'\]"):
        DATASETS["reuters10k"].with_options({"stem": True})


def test_restricted_data_need_the_users_confirmation(tmp_path, capsys):
    arguments = ["frgc", "--raw-dir", str(tmp_path), "--results", str(tmp_path)]
    assert main(["prepare", *arguments]) == 1
    assert (
        "FRGC needs a licence (NIST agreement, not redistributable): if you hold it"
        in capsys.readouterr().err
    )
    assert main(["prepare", *arguments, "--licence-held"]) == 1
    assert "data4torch.h5 does not exist" in capsys.readouterr().err
