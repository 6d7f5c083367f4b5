"""Datasets of OpenML, fetched by scikit-learn from a server on loopback."""

import contextlib
import json
import socket
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from dekm.cli import main
from dekm.datasets.raw import download as downloads
from dekm.datasets.raw.openml import raw_file
from dekm.datasets.user.own import most_samples, own_dataset
from dekm.errors import InputError
from dekm.results.record import read_record
from tests.helpers import openml

BLOCK = {"path": "openml:61", "n_clusters": 3}
SPARSE = "@RELATION s\n@ATTRIBUTE a NUMERIC\n@ATTRIBUTE b NUMERIC\n@DATA\n{0 1}\n{1 2}\n"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(downloads, "WAIT", 0.001)
    server = openml.OpenML()
    openml.use(monkeypatch, server)
    yield server
    server.close()


@pytest.fixture
def raw_dir(tmp_path):
    return tmp_path / "raw"


def download(raw_dir, block=BLOCK, **options):
    dataset = own_dataset("mine", block)
    for file in dataset.raw:
        downloads.download_file(file, raw_dir, wait=0.001, **options)
    return dataset


def failure(raw_dir, block=BLOCK):
    """The text of the error of a download, which leaves no file behind."""
    with pytest.raises(InputError) as error:
        download(raw_dir, block, attempts=1)
    assert not [path for path in raw_dir.rglob("*") if path.is_file()]
    return str(error.value)


@pytest.mark.parametrize("address", ["openml:61", "openml:Flowers/1"])
def test_a_dataset_is_fetched_once_and_read_without_network(server, raw_dir, monkeypatch, address):
    server.add(61, openml.flowers())
    download(raw_dir, BLOCK | {"path": address})
    server.http.answers.clear()
    n_requests = len(server.http.requested)
    dataset = download(raw_dir, BLOCK | {"path": address})
    X, y, names, features = dataset.load(raw_dir)
    assert len(server.http.requested) == n_requests
    assert (features, names, dataset.kind) == (["length", "width"], None, "table")
    assert most_samples(dataset) is None
    np.testing.assert_allclose(X[:4], [[0, 0], [10.1, 1.1], [20.2, 2.2], [0.3, 0.3]])
    np.testing.assert_array_equal(y[:4], ["a", "b", "c", "a"])


def test_a_small_run_records_the_checksum_of_what_was_fetched(server, raw_dir, tmp_path, capsys):
    server.add(61, openml.flowers())
    settings = ["--set", "path=openml:61", "--set", "n_clusters=3", "--raw-dir", str(raw_dir)]
    record = tmp_path / "raw.json"
    assert main(["prepare", "mine", *settings, "--results", str(tmp_path / "new")]) == 1
    assert "openml/61.npz does not exist: run 'python -m dekm download' first" in capsys.readouterr().err
    assert main(["download", "mine", *settings, "--out", str(record)]) == 0
    assert json.loads(record.read_text()) == {
        "openml/61.npz": raw_file("openml:61").verify(raw_dir / "openml/61.npz")
    }
    server.http.answers.clear()
    assert main(["download", "mine", *settings, "--out", str(record)]) == 0
    results = tmp_path / "results" / "flowers"
    assert main(["prepare", "mine", *settings, "--results", str(results)]) == 0
    cell = ["cluster", "mine", "k_means", "--results", str(results), "--seeds", "0", "--device", "cpu"]
    assert main(cell) == 0
    run = read_record(results / "runs/mine/k_means/seed0")
    assert run.metrics["acc"] == 1
    assert run.data_facts["raw"] == ["openml/61.npz"]
    assert run.data_facts["options"] == {"path": "openml:61"}


def test_another_checksum_than_openml_states_is_refused(server, raw_dir):
    server.add(61, openml.flowers(), md5_checksum="0" * 32)
    text = failure(raw_dir)
    assert "expected 00000000000000000000000000000000 but got" in text
    assert "modified or corrupted.\n" in text
    assert "/tmp" not in text.partition("Put a copy of the file")[0]


def test_a_dataset_that_does_not_exist_is_one_clear_line(server, raw_dir):
    texts = {path: failure(raw_dir, BLOCK | {"path": path}) for path in ("openml:62", "openml:no/3")}
    assert "openml:62: Dataset with data_id 62 not found.\n" in texts["openml:62"]
    assert "openml:no/3: Dataset no with version 3 not found.\n" in texts["openml:no/3"]


def test_without_network_the_error_says_so_and_where_the_file_belongs(raw_dir, monkeypatch):
    server = openml.OpenML()
    openml.use(monkeypatch, server)
    server.close()
    text = failure(raw_dir)
    assert "openml:61: URLError: <urlopen error [Errno 111] Connection refused>" in text
    assert text.endswith(f"Put a copy of the file from another machine at {raw_dir / 'openml/61.npz'}.")


@pytest.mark.parametrize(
    ("limits", "text"), [({"timeout": 0.1}, "timed out"), ({"deadline": 0.5}, "the server is too slow")]
)
def test_a_server_that_never_answers_is_given_up(raw_dir, monkeypatch, limits, text):
    before = set(threading.enumerate())
    with socket.create_server(("127.0.0.1", 0)) as silent:
        openml.use(monkeypatch, SimpleNamespace(url=f"http://127.0.0.1:{silent.getsockname()[1]}/"))
        with pytest.raises(InputError, match=text):
            download(raw_dir, attempts=1, **limits)
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert socket.getdefaulttimeout() is None
    assert not [path for path in raw_dir.rglob("*.npz") if path.is_file()]


def test_a_mirror_is_tried_before_openml(server, raw_dir, tmp_path):
    server.add(61, openml.flowers())
    download(tmp_path / "mirror")
    server.http.answers.clear()
    dataset = download(raw_dir, mirror=str(tmp_path / "mirror"))
    assert len(dataset.load(raw_dir).X) == 30


@pytest.mark.parametrize(
    "change",
    [
        {"url": "http://127.0.0.1:1/none"},
        {"url": 5},
        {"md5_checksum": None},
        {"format": None},
    ],
)
def test_a_damaged_description_is_one_clear_error(server, raw_dir, change):
    server.add(61, openml.flowers(), **change)
    assert "openml/61.npz could not be downloaded:\n  openml:61: " in failure(raw_dir)


@pytest.mark.parametrize("answer", [b"", b"[]", b"<html>", b'{"data_set_description": 3}'])
def test_an_answer_of_another_form_is_one_clear_error(server, raw_dir, answer):
    server.add(61, openml.flowers())
    server.http.answers["/api/v1/json/data/61"] = answer
    assert "openml/61.npz could not be downloaded:\n  openml:61: " in failure(raw_dir)


def test_a_sparse_dataset_is_refused(server, raw_dir):
    server.add(61, SPARSE, format="Sparse_ARFF")
    assert "openml:61: it is stored sparse; a loader of your own can return its matrix." in failure(raw_dir)


def test_a_dataset_without_rows_is_refused(server, raw_dir):
    server.add(61, openml.flowers(0))
    assert "openml:61: it has no rows.\n" in failure(raw_dir)


def test_the_scheme_may_be_in_capitals(server, raw_dir):
    server.add(61, openml.flowers())
    assert len(download(raw_dir, BLOCK | {"path": "OpenML:61"}).load(raw_dir).X) == 30


def test_a_dataset_without_default_target_has_no_labels_unless_a_column_is_named(server, raw_dir, caplog):
    server.add(61, openml.flowers(), default_target_attribute=None, status="deactivated")
    dataset = download(raw_dir, BLOCK | {"ignore_columns": ["kind"]})
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warning == "openml:61 is deactivated on OpenML: its data may have mistakes"
    caplog.set_level("INFO")
    assert dataset.load(raw_dir).y is None
    assert "openml:61 has no default target: label_column names the column of labels" in caplog.text
    named = own_dataset("mine", BLOCK | {"label_column": "kind"})
    assert set(named.load(raw_dir).y) == {"a", "b", "c"}


def test_a_default_target_that_is_ignored_gives_no_labels(server, raw_dir):
    server.add(61, openml.flowers())
    dataset = download(raw_dir, BLOCK | {"ignore_columns": "kind"})
    assert dataset.load(raw_dir).y is None


MIXED = """@RELATION mixed
@ATTRIBUTE a NUMERIC
@ATTRIBUTE colour {red,blue}
@ATTRIBUTE level {1,2}
@ATTRIBUTE note STRING
@ATTRIBUTE class {x,y}
@DATA
1,red,1,'first words',x
?,blue,2,'second words',y
3,red,2,'words',x
"""


def test_categories_texts_and_empty_cells_are_named_together_with_what_to_do(server, raw_dir):
    server.add(61, MIXED)
    dataset = download(raw_dir)
    with pytest.raises(InputError) as error:
        dataset.load(raw_dir)
    text = str(error.value)
    assert text.startswith("openml:61: row 2, column 'a': '' is not a finite number; row 1, column 'colour'")
    assert "Texts: if the column holds categories, name it in categories" in text
    assert "(colour, level, note; 9 cells)" in text
    assert "\n" not in text


def test_categories_become_features_and_a_text_column_is_clustered(server, raw_dir):
    server.add(61, MIXED.replace("?,blue", "2,blue"))
    settings = {"categories": ["colour", "level"], "ignore_columns": ["note"]}
    X, y, _, features = download(raw_dir, BLOCK | settings).load(raw_dir)
    assert features == ["a", "colour=blue", "colour=red", "level=1", "level=2"]
    np.testing.assert_array_equal(X[:2], [[1, 0, 1, 1, 0], [2, 1, 0, 0, 1]])
    np.testing.assert_array_equal(y, ["x", "y", "x"])
    texts = own_dataset("mine", BLOCK | {"text_column": "note"}).load(raw_dir)
    assert [text.strip("'") for text in texts.X.documents] == ["first words", "second words", "words"]
    np.testing.assert_array_equal(texts.y, ["x", "y", "x"])


def test_rows_of_pixels_become_images(server, raw_dir):
    server.add(61, openml.flowers())
    X = download(raw_dir, BLOCK | {"image_shape": [1, 2]}).load(raw_dir).X
    assert X.shape == (30, 1, 2, 1)


@pytest.mark.parametrize("address", ["", "iris", "0", "../1", "a/b/1", "iris/0", "iris/active"])
def test_an_address_of_another_form_is_refused(address):
    with pytest.raises(InputError, match=r"mine: path='openml:.*should be openml:ID or openml:NAME/VERSION"):
        own_dataset("mine", BLOCK | {"path": f"openml:{address}"})


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"separator": ";"}, "separator should be left out"),
        ({"kind": "images"}, "kind='images' should be left out"),
        ({"image_size": 3}, "image_size"),
        ({"n_clusters": None}, "n_clusters=None should be an integer"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, text):
    with pytest.raises(InputError, match=text):
        own_dataset("mine", BLOCK | settings)


def test_a_column_that_does_not_exist_is_named_with_those_that_do(server, raw_dir):
    server.add(61, openml.flowers())
    with pytest.raises(InputError, match="openml:61 has no column 'y'; it has length, width, kind"):
        download(raw_dir, BLOCK | {"label_column": "y"}).load(raw_dir)


def test_a_damaged_or_foreign_file_is_refused_and_kept(server, raw_dir):
    server.add(61, openml.flowers())
    server.add(62, openml.flowers(), name="others")
    dataset = download(raw_dir)
    file = raw_dir / "openml/61.npz"
    whole = file.read_bytes()
    for position in range(0, len(whole), 97):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 0x20]) + whole[position + 1 :])
        with contextlib.suppress(InputError):  # any other error fails the test
            np.testing.assert_allclose(dataset.load(raw_dir).X[1], [10.1, 1.1])
    file.write_bytes(whole[:-50])
    with pytest.raises(
        InputError, match=r"61\.npz is not the expected file.*Move it away to download it again"
    ):
        download(raw_dir)
    assert file.read_bytes() == whole[:-50]
    download(raw_dir, BLOCK | {"path": "openml:62"})
    (raw_dir / "openml/62.npz").replace(file)
    with pytest.raises(InputError, match=r"61\.npz holds 'openml:62' instead of openml:61"):
        dataset.load(raw_dir)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": ["a"]},
        {"columns": [1, 2, 3]},
        {"columns": "abc"},
        {"cells": {"kind": 3}},
        {"cells": {"kind": []}},
        {"cells": {"other": ["a"] * 30}},
        {"source": None},
        {"target": 5},
    ],
)
def test_a_file_of_another_form_is_one_clear_error(server, raw_dir, change):
    server.add(61, openml.flowers())
    dataset = download(raw_dir)
    file = raw_dir / "openml/61.npz"
    with np.load(file) as opened:
        numbers, table = opened["numbers"], json.loads(opened["table"].tobytes())
    np.savez(file, numbers=numbers, table=np.frombuffer(json.dumps(table | change).encode(), np.uint8))
    with pytest.raises(InputError, match=r"61\.npz.*Move it away"):
        dataset.load(raw_dir)
