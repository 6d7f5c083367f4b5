from pathlib import Path

import numpy as np
import pytest
import yaml

from dekm.cli import main
from dekm.datasets import prepared
from dekm.datasets.dataset import RawSet
from dekm.datasets.user.own import TEXT_SCALINGS, own_dataset
from dekm.errors import InputError
from dekm.scaling import TABLE_SCALINGS
from tests.helpers.own_data import prepare
from tests.helpers.prepared_files import files
from tests.helpers.upstream import write


def test_the_number_of_classes_may_differ_from_the_number_of_clusters(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.zeros((6, 2)), y=np.arange(6) % 3)
    facts = prepare(tmp_path, {"path": str(tmp_path / "x.npz"), "n_clusters": 5})[2]
    assert facts["n_clusters"] == 5
    assert facts["class_counts"] == [2, 2, 2]


def test_fewer_rows_than_clusters_are_an_error(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    with pytest.raises(InputError, match="n_samples=3 should be >= n_clusters=4"):
        prepare(tmp_path, {"path": str(tmp_path / "x.npy"), "n_clusters": 4})


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ({"n_clusters": 2}, "path=None should be a path"),
        ({"path": "x.npy"}, "n_clusters=None should be an integer"),
        ({"path": "x.npy", "n_clusters": 0}, "n_clusters=0 should be"),
        ({"path": "x.npy", "n_clusters": True}, "n_clusters=True should be"),
        ({"path": "y.npy", "n_clusters": 2}, r"path='y.npy' does not exist\.$"),
        ({"path": "huggingface:a/b", "n_clusters": 2}, "or of the Hugging Face hub, as a file"),
        ({"path": "a:2024.npy", "n_clusters": 2}, r"path='a:2024.npy' does not exist\.$"),
        ({"path": "s3://a/b.csv", "n_clusters": 2}, "An address should be openml:ID or openml:NAME"),
        ({"path": "https://a.b/c.csv", "n_clusters": 2}, "An address should be openml:ID or openml:NAME"),
        ({"path": "x.xls", "n_clusters": 2}, "should be a folder or end with"),
        ({"path": "x.npy", "n_clusters": 2, "colour": 3}, r"\['colour'\] should be among"),
        (
            {"path": "x.npy", "n_clusters": 2, "kind": "text"},
            "should be left out: path='x.npy' is not a folder",
        ),
        ({"path": "empty", "n_clusters": 2}, "holds no file that ends with"),
        (
            {"path": "both", "n_clusters": 2},
            "such as a.png and a.txt; set kind to images or text",
        ),
        ({"path": "both", "n_clusters": 2, "kind": "sound"}, "kind='sound' should be"),
    ],
)
def test_an_invalid_block_is_an_error_that_names_the_setting(tmp_path, monkeypatch, block, reason):
    monkeypatch.chdir(tmp_path)
    for name in ("x.npy", "x.xls", "both/a.txt", "both/a.png", "empty/README"):
        write(tmp_path / name, b"")
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    with pytest.raises(InputError, match=reason):
        own_dataset("mine", block)


def test_the_command_line_prepares_own_data_from_settings(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    place = ["--raw-dir", str(tmp_path), "--results", str(tmp_path)]
    settings = ["--set", f"path={tmp_path / 'x.npy'}", "--set", "n_clusters=2", "--set", "label=Mine"]
    assert main(["prepare", "mine", *place, *settings]) == 0
    assert prepared.load(**files(tmp_path / "data/mine"))[2]["label"] == "Mine"
    assert main(["prepare", "mine", *place]) == 1
    assert "mine: unknown name; Valid names: digits," in capsys.readouterr().err


def test_every_option_of_a_loader_of_own_data_may_stand_in_a_configuration():
    schema = yaml.safe_load((Path(__file__).parents[3] / "config/config.schema.yaml").read_text())
    keys = schema["$defs"]["dataset"]["properties"].keys()
    loaders = ("arrays:array", "tables:table", "texts:from_column", "texts:from_folder", "images:images")
    for loader in (*loaders, "loaders:outside"):
        assert RawSet(f"dekm.datasets.user.{loader}").options() - {"features"} <= keys
    assert set(schema["$defs"]["dataset"]["properties"]["scaling"]["enum"]) == {
        *TABLE_SCALINGS,
        *TEXT_SCALINGS,
    }
