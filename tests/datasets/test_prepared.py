from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from dekm.datasets import DATASETS, preparation, prepared
from dekm.errors import InputError
from dekm.files import read_json, write_json
from dekm.files.samples import StoredSamples, write_samples
from dekm.results.data import PreparedData
from dekm.scaling import learn_image_scaling
from tests.helpers.own_data import prepare
from tests.helpers.prepared_files import files
from tests.helpers.upstream import write

EMBEDDED = [name for name, dataset in DATASETS.items() if not dataset.raw]


@pytest.fixture
def store(tmp_path):
    """Save arrays with facts that hold their digest, and return the two files."""

    def run(X, y):
        stored = files(tmp_path)
        write_samples(stored["data"], StoredSamples(X, y))
        write_json(
            stored["facts"],
            {"digest": prepared.samples_digest(X, y), "scaling": learn_image_scaling(X).facts()},
        )
        return stored

    return run


@pytest.mark.parametrize("name", EMBEDDED)
def test_prepared_data_come_back_as_they_were_loaded(name, loaded, tmp_path):
    facts = preparation.prepare(DATASETS[name], tmp_path, **files(tmp_path / "data" / name))
    X, y, read = prepared.load(**files(tmp_path / "data" / name))
    assert read == facts
    assert (facts["n_samples"], tuple(facts["shape"])) == (X.shape[0], X.shape[1:])
    assert sum(facts["class_counts"]) == facts["n_samples"]
    assert facts["subsample"] is facts["n_classes"] is None
    expected, labels = loaded[name]
    np.testing.assert_array_equal(y, labels)
    assert X.dtype == np.float32
    assert abs(X - expected).max() == 0
    assert sorted(path.name for path in (tmp_path / "data" / name).iterdir()) == ["data.npz", "facts.json"]


def test_uint8_images_are_scaled_to_one(store):
    X = np.arange(256, dtype=np.uint8).reshape(4, 8, 8, 1)
    read, _, _ = prepared.load(**store(X, np.arange(4)))
    assert read.dtype == np.float32
    np.testing.assert_allclose(read, X / 255, rtol=1e-6)
    assert read.max() == 1


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_matrices_with_any_type_of_index_come_back(index, store):
    X = sparse.random(20, 9, 0.3, format="csr", dtype=np.float32, random_state=0)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    read, _, _ = prepared.load(**store(X, np.arange(20)))
    assert read.shape == (20, 9)
    np.testing.assert_array_equal(read.toarray(), X.toarray())


@pytest.mark.parametrize(
    "y", [np.array(["b", "a", "b"]), np.array([-1, 5, 7]), np.array([0, 1, 1], np.uint8)]
)
def test_labels_of_any_type_come_back(y, store):
    X = np.eye(3, dtype=np.float32)
    np.testing.assert_array_equal(prepared.load(**store(X, y))[1], y)


def test_the_digest_changes_with_one_value_the_shape_the_type_and_one_label():
    X, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.array([0, 1, 1])
    changed = X.copy()
    changed[2, 3] += 1
    other_y = np.array([0, 1, 0])
    variants = [(X, y), (changed, y), (X.reshape(3, 2, 2), y), (X.astype(np.float64), y), (X, other_y)]
    variants += [(sparse.csr_matrix(X), y), (sparse.csr_matrix(changed), y)]
    assert len({prepared.samples_digest(*variant) for variant in variants}) == len(variants)
    assert prepared.samples_digest(np.asfortranarray(X), y) == prepared.samples_digest(X, y)


def test_data_that_were_changed_afterwards_are_an_error(store):
    X, y = np.eye(3, dtype=np.float32), np.arange(3)
    stored = store(X, y)
    X[0, 0] = 0.5
    write_samples(stored["data"], StoredSamples(X, y))
    with pytest.raises(
        InputError, match=r"data\.npz does not have the digest in .*facts\.json; prepare the data again"
    ):
        prepared.load(**stored)


def test_truncated_data_are_an_error(store):
    stored = store(np.random.default_rng(0).random((50, 4)), np.arange(50))
    content = stored["data"].read_bytes()
    for broken in (content[: len(content) // 2], content[:300] + b"\x00\x01\x02\x03" + content[304:]):
        stored["data"].write_bytes(broken)
        with pytest.raises(InputError, match=r"data\.npz"):
            prepared.load(**stored)


def test_data_that_were_not_prepared_are_named(tmp_path):
    with pytest.raises(InputError, match=r"nothing holds no .*run 'python -m dekm prepare nothing' first"):
        prepared.load(**files(tmp_path / "nothing"))


def test_facts_tell_of_a_subsample(tmp_path):
    stored = files(tmp_path / "data")
    facts = preparation.prepare(DATASETS["digits"], tmp_path, **stored, subsample=100)
    assert (facts["subsample"], facts["n_samples"], sum(facts["class_counts"])) == (100, 100, 100)
    whole = preparation.prepare(DATASETS["digits"], tmp_path, **stored)
    assert whole["digest"] != facts["digest"]
    assert read_json(stored["facts"]) == whole


def test_facts_tell_what_the_preparation_warned_of(tmp_path):
    for name, text in (("a.txt", "one word"), ("b.txt", "one word"), ("c.txt", "two words")):
        (tmp_path / "texts").mkdir(exist_ok=True)
        (tmp_path / "texts" / name).write_text(text)
    facts = prepare(tmp_path, {"path": str(tmp_path / "texts")})[2]
    assert facts["warnings"] == ["1 of 3 texts are copies of others"]
    assert PreparedData(tmp_path / "prepared").warnings == facts["warnings"]
    quiet = preparation.prepare(DATASETS["digits"], tmp_path, **files(tmp_path / "digits"))
    assert quiet["warnings"] == []


def test_some_classes_of_a_subsample_are_the_same_each_time(tmp_path):
    facts = [
        preparation.prepare(
            DATASETS["digits"], tmp_path, **files(tmp_path / name), subsample=200, n_classes=4
        )
        for name in ("first", "second")
    ]
    assert facts[0] == facts[1]
    assert facts[0]["n_classes"] == facts[0]["n_clusters"] == len(facts[0]["class_counts"]) == 4
    assert facts[0]["n_samples"] == sum(facts[0]["class_counts"]) < 100
    assert facts[0]["label"].startswith("digits, classes ")
    X, y, _ = prepared.load(**files(tmp_path / "first"))
    assert X.shape == (facts[0]["n_samples"], 8, 8, 1)
    assert f"digits, classes {', '.join(map(str, np.unique(y)))}" == facts[0]["label"]


@pytest.mark.parametrize("n_classes", [0, 11])
def test_a_number_of_classes_that_cannot_be_kept_is_named(n_classes, tmp_path):
    with pytest.raises(InputError, match=f"n_classes={n_classes} should be from 1 to 10"):
        preparation.prepare(DATASETS["digits"], tmp_path, **files(tmp_path / "x"), n_classes=n_classes)


def test_a_prepared_file_without_labels_holds_no_labels_and_can_be_subsampled(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(40.0).reshape(20, 2))
    X, y, facts = prepare(tmp_path, {"path": str(tmp_path / "x.npy")}, subsample=7)
    with np.load(tmp_path / "prepared/data.npz") as arrays:
        assert arrays.files == ["X", "rows"]
    assert y is None
    assert facts["n_samples"] == len(X) == 7
    assert (np.diff(X[:, 0]) > 0).all()
    with pytest.raises(InputError, match="subsample=21 should be from 1 to 20"):
        prepare(tmp_path, {"path": str(tmp_path / "x.npy")}, subsample=21)


def test_names_of_classes_files_and_kept_rows_are_stored(tmp_path):
    for i in range(24):
        write(tmp_path / "texts" / ("acq", "crude", "=1+1")[i % 3] / f"{i:02}.txt", f"word{i % 3} x".encode())
    X, y, facts = prepare(tmp_path, {"path": str(tmp_path / "texts")}, subsample=12)
    data = PreparedData(tmp_path / "prepared")
    found = data.samples()
    assert facts["class_names"] == ["=1+1", "acq", "crude"]
    assert [Path(file).parent.name for file in found.files] == found.classes.tolist()
    assert found.classes.tolist() == [facts["class_names"][label] for label in y]
    files_ = sorted((tmp_path / "texts").rglob("*.txt"))
    assert [str(files_[row]) for row in found.rows] == found.files.tolist()
    assert len(found.rows) == X.shape[0] == 12


@pytest.mark.parametrize("y", [np.arange(12) % 3 + 1, np.array([0.5, 1.5, 10.0] * 4), np.array([b"a"] * 12)])
def test_labels_come_back_under_their_own_names(y, tmp_path):
    np.savez(tmp_path / "x.npz", X=np.eye(12), y=y)
    prepare(tmp_path, {"path": str(tmp_path / "x.npz")})
    expected = y.astype(str) if y.dtype.kind == "S" else y
    np.testing.assert_array_equal(PreparedData(tmp_path / "prepared").labels(), expected)


def test_labels_that_are_numbers_from_0_need_no_names(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.eye(12), y=np.arange(12) % 3)
    assert prepare(tmp_path, {"path": str(tmp_path / "x.npz")})[2]["class_names"] is None
    found = PreparedData(tmp_path / "prepared").samples()
    assert found.files is None
    np.testing.assert_array_equal(found.rows, np.arange(12))


def test_damaged_names_of_classes_are_one_line(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.eye(12), y=np.arange(12) % 3 + 1)
    facts = prepare(tmp_path, {"path": str(tmp_path / "x.npz")})[2]
    write_json(tmp_path / "prepared/facts.json", facts | {"class_names": ["a"]})
    with pytest.raises(InputError, match=r"facts\.json is not a readable description of prepared data"):
        PreparedData(tmp_path / "prepared").labels()


def test_classes_of_a_figure_have_their_names(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.eye(12), y=np.array(["a", "b", "c", "d"] * 3))
    X, y, facts = prepare(tmp_path, {"path": str(tmp_path / "x.npz")}, subsample=8, n_classes=2)
    data = PreparedData(tmp_path / "prepared")
    assert facts["label"] == f"mine, classes {', '.join(np.unique(data.labels()))}"
    assert len(np.unique(y)) == 2
    np.testing.assert_array_equal(X.argmax(1), data.samples().rows)
