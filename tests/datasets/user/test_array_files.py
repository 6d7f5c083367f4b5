"""Files of one or several arrays, in the formats of other programs."""

import gzip
import struct

import h5py
import numpy as np
import pytest
from scipy import io, sparse

from dekm.datasets.user.arrays import select
from dekm.errors import InputError
from tests.helpers.own_data import prepare
from tests.helpers.upstream import write

X = np.arange(24.0).reshape(6, 4) % 7
Y = np.array([3, 5, 3, 5, 3, 3])
ENCODED = [0, 1, 0, 1, 0, 0]


def idx(array, code):
    return bytes([0, 0, code, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_h5(file, **arrays):
    with h5py.File(file, "w") as opened:
        for name, values in arrays.items():
            opened[name.replace("__", "/")] = values


@pytest.mark.parametrize("names", [("X", "y"), ("data", "target"), ("fea", "gnd"), ("features", "labels")])
@pytest.mark.parametrize("ending", [".npz", ".mat", ".h5", ".hdf5"])
def test_samples_and_labels_are_found_by_their_usual_names(names, ending, tmp_path):
    file = tmp_path / f"a{ending}"
    arrays = dict(zip(names, (X, Y), strict=True))
    {".npz": np.savez, ".mat": lambda file, **kw: io.savemat(file, kw)}.get(ending, write_h5)(file, **arrays)
    read, y, facts = prepare(tmp_path, {"path": str(file)})
    np.testing.assert_array_equal(read, X)
    assert y.tolist() == ENCODED
    assert facts["kind"] == "table"


def test_an_archive_of_one_array_needs_no_name(tmp_path):
    np.savez(tmp_path / "a.npz", X)
    np.testing.assert_array_equal(prepare(tmp_path, {"path": str(tmp_path / "a.npz")})[0], X)


def test_where_it_is_unclear_the_arrays_are_listed_and_can_be_named(tmp_path):
    np.savez(tmp_path / "a.npz", x_train=X, y_train=Y, x_test=X[:2], y_test=Y[:2])
    block = {"path": str(tmp_path / "a.npz")}
    with pytest.raises(
        InputError, match=r"several arrays: x_train \(6, 4\), y_train \(6,\), .* in label_array"
    ):
        prepare(tmp_path, block)
    with pytest.raises(InputError, match=r"array='train': .* has no such array; it has x_train \(6, 4\),"):
        prepare(tmp_path, block | {"array": "train"})
    read, y, _ = prepare(tmp_path, block | {"array": "x_train", "label_array": "y_train"})
    np.testing.assert_array_equal(read, X)
    assert y.tolist() == ENCODED
    assert prepare(tmp_path, block | {"array": "x_test"})[1] is None


def test_a_named_array_of_a_group_is_read(tmp_path):
    write_h5(tmp_path / "a.h5", train__data=X, train__label=Y, test__data=X)
    block = {"path": str(tmp_path / "a.h5"), "array": "train/data", "label_array": "train/label"}
    read, y, _ = prepare(tmp_path, block)
    np.testing.assert_array_equal(read, X)
    assert y.tolist() == ENCODED


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_annotated_data_have_their_samples_in_x_and_labels_in_categories(form, tmp_path):
    with h5py.File(tmp_path / "cells.h5ad", "w") as file:
        if form == "dense":
            file["X"] = X
        else:
            matrix = getattr(sparse, f"{form}_matrix")(X)
            group = file.create_group("X")
            group.attrs.update({"encoding-type": f"{form}_matrix", "shape": X.shape})
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(matrix, part)
        file["var/_index"] = [b"g1", b"g2", b"g3", b"g4"]
        kinds = file.create_group("obs/kind")
        kinds.attrs["encoding-type"] = "categorical"
        kinds["codes"], kinds["categories"] = np.array([1, 0, 1, 0, 1, 1]), ["B cell", "T cell"]
    block = {"path": str(tmp_path / "cells.h5ad"), "label_array": "obs/kind"}
    read, y, facts = prepare(tmp_path, block)
    assert sparse.issparse(read) == (form != "dense")
    np.testing.assert_array_equal(read.toarray() if form != "dense" else read, X)
    assert y.tolist() == [1, 0, 1, 0, 1, 1]
    assert facts["class_names"] == ["B cell", "T cell"]


def test_a_file_of_matlab_73_is_read_rows_first(tmp_path):
    write_h5(tmp_path / "a.mat", X=X.T, y=Y[np.newaxis].T)
    read, y, _ = prepare(tmp_path, {"path": str(tmp_path / "a.mat")})
    np.testing.assert_array_equal(read, X)
    assert y.tolist() == ENCODED


@pytest.mark.parametrize("ending", [".npz", ".mat"])
def test_sparse_rows_stay_sparse(ending, tmp_path):
    file, matrix = tmp_path / f"a{ending}", sparse.csc_matrix(X)
    sparse.save_npz(file, matrix) if ending == ".npz" else io.savemat(file, {"X": matrix})
    np.savetxt(tmp_path / "y.txt", Y, fmt="%d")
    read, y, _ = prepare(tmp_path, {"path": str(file), "labels": str(tmp_path / "y.txt")})
    assert sparse.issparse(read)
    np.testing.assert_array_equal(read.toarray(), X)
    assert y.tolist() == ENCODED
    scaled = prepare(tmp_path, {"path": str(file), "scaling": "minmax"})[0]
    np.testing.assert_allclose(scaled, (X - X.min(0)) / np.ptp(X, axis=0), rtol=1e-6)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["train-images-idx3-ubyte", "train-images.idx3-ubyte", "images.idx"])
def test_idx_files_are_images_and_labels(name, packed, tmp_path):
    images = np.arange(6 * 4 * 5, dtype=np.uint8).reshape(6, 4, 5) * 2
    pack, end = (gzip.compress, ".gz") if packed else (bytes, "")
    write(tmp_path / f"{name}{end}", pack(idx(images, 8)))
    write(tmp_path / f"labels-idx1-ubyte{end}", pack(idx(Y.astype(np.uint8), 8)))
    block = {"path": str(tmp_path / f"{name}{end}"), "labels": str(tmp_path / f"labels-idx1-ubyte{end}")}
    read, y, facts = prepare(tmp_path, block)
    np.testing.assert_array_equal(read[..., 0], images.astype(np.float32) / np.float32(255))
    assert y.tolist() == ENCODED
    assert facts["kind"] == "images"


def test_idx_files_of_floats_are_big_endian(tmp_path):
    write(tmp_path / "a.idx", idx(X.astype(">f4"), 0x0D))
    np.testing.assert_array_equal(prepare(tmp_path, {"path": str(tmp_path / "a.idx")})[0], X)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.idx", b"\0\0\x08\x02\0\0"),
        ("a.idx", b"hello"),
        ("a.idx", idx(X.astype(">f4"), 0x0D)[:-4]),
        ("a-idx2-ubyte.gz", b"\x1f\x8b damaged"),
        ("a.npz", b"PK damaged"),
        ("a.mat", b"MATLAB damaged"),
        ("a.h5", b"\x89HDF damaged"),
    ],
)
def test_a_damaged_file_is_one_line_that_names_it(name, content, tmp_path):
    write(tmp_path / name, content)
    with pytest.raises(InputError, match=rf"^[^\n]*{name}[^\n]*$"):
        prepare(tmp_path, {"path": str(tmp_path / name)})


def test_a_file_without_samples_says_what_it_has(tmp_path):
    io.savemat(tmp_path / "a.mat", {"notes": "text", "s": {"a": 1}})
    with pytest.raises(InputError, match=r"a\.mat holds no array of samples; it has none"):
        select(tmp_path / "a.mat")


def test_samples_on_the_last_axis_are_found_by_the_labels_or_said(tmp_path, caplog):
    images = np.random.default_rng(0).integers(0, 256, (9, 8, 3, 6), np.uint8)
    io.savemat(tmp_path / "a.mat", {"X": images, "y": Y.astype(float)})
    io.savemat(tmp_path / "b.mat", {"X": images})
    io.savemat(tmp_path / "y.mat", {"y": Y})
    expected = np.moveaxis(images, -1, 0) / np.float32(255)
    for block in (
        {"path": "a.mat"},
        {"path": "b.mat", "samples": "last"},
        {"path": "b.mat", "labels": str(tmp_path / "y.mat")},
    ):
        caplog.clear()
        X, y, facts = prepare(tmp_path, block | {"path": str(tmp_path / block["path"])})
        np.testing.assert_array_equal(X, expected)
        assert ("the samples are taken from the last axis" in caplog.text) == ("samples" not in block)
        assert (y is None) == (block == {"path": "b.mat", "samples": "last"})
    assert facts["class_names"] == sorted(set(Y.tolist()))
    with pytest.raises(InputError, match="samples='middle' should be first or last"):
        prepare(tmp_path, {"path": str(tmp_path / "b.mat"), "samples": "middle"})


def test_rows_may_be_columns(tmp_path):
    io.savemat(tmp_path / "a.mat", {"X": sparse.csc_matrix(X.T)})
    read = prepare(tmp_path, {"path": str(tmp_path / "a.mat"), "samples": "last"})[0]
    np.testing.assert_array_equal(read.toarray(), X)


def test_axes_that_may_be_others_are_told(tmp_path, caplog):
    io.savemat(tmp_path / "a.mat", {"X": np.zeros((9, 9, 30))})
    prepare(tmp_path, {"path": str(tmp_path / "a.mat")})
    assert "read as 9 grey images of 9x30 pixels; if the samples are on the last axis" in caplog.text
    np.save(tmp_path / "a.npy", np.zeros((9, 50, 3)))
    prepare(tmp_path, {"path": str(tmp_path / "a.npy")})
    assert (
        "grey images of 50x3 pixels; if it holds series (n, time, channels), save them as rows" in caplog.text
    )


def test_flat_pixels_become_images(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8 * 9), np.uint8)
    np.save(tmp_path / "a.npy", pixels)
    np.savetxt(
        tmp_path / "a.csv", pixels, "%d", ",", header=",".join(f"p{i}" for i in range(72)), comments=""
    )
    for name in ("a.npy", "a.csv"):
        read, _, facts = prepare(tmp_path, {"path": str(tmp_path / name), "image_shape": [8, 9]})
        np.testing.assert_array_equal(read, pixels.reshape(6, 8, 9, 1) / np.float32(255))
        assert facts["kind"] == "images"
    with pytest.raises(InputError, match=r"image_shape=\[8, 8\] should be \[h, w\] .* with a product of 72"):
        prepare(tmp_path, {"path": str(tmp_path / "a.npy"), "image_shape": [8, 8]})
    with pytest.raises(InputError, match=r"image_shape='8' should be \[h, w\]"):
        prepare(tmp_path, {"path": str(tmp_path / "a.npy"), "image_shape": "8"})


def test_channels_first_are_asked_for_and_moved(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (6, 3, 9, 8), dtype=np.uint8)
    np.save(tmp_path / "a.npy", images)
    block = {"path": str(tmp_path / "a.npy")}
    with pytest.raises(
        InputError, match=r"a\.npy: shape \(6, 3, 9, 8\) seems .*set channels to first, or to last"
    ):
        prepare(tmp_path, block)
    first = prepare(tmp_path, block | {"channels": "first"})[0]
    np.testing.assert_array_equal(first, images.transpose(0, 2, 3, 1) / np.float32(255))
    assert prepare(tmp_path, block | {"channels": "last"})[0].shape == (6, 3, 9, 8)
    with pytest.raises(InputError, match=r"channels=3 should be first or last"):
        prepare(tmp_path, block | {"channels": 3})


def test_integers_of_images_are_bytes_whatever_their_type(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (6, 9, 8))
    np.save(tmp_path / "a.npy", images)
    X, _, facts = prepare(tmp_path, {"path": str(tmp_path / "a.npy")})
    np.testing.assert_array_equal(X[..., 0], images.astype(np.float32) / np.float32(255))
    assert facts["scaling"]["kind"] == "pixels"


def test_images_of_another_range_are_told(tmp_path, caplog):
    np.save(tmp_path / "a.npy", np.linspace(0, 255, 6 * 72).reshape(6, 9, 8))
    assert prepare(tmp_path, {"path": str(tmp_path / "a.npy")})[0].max() == 1
    assert "values from 0 to 255, which are scaled to [0, 1]" in caplog.text
    np.save(tmp_path / "a.npy", np.linspace(-2, 2, 6 * 72).reshape(6, 9, 8))
    assert prepare(tmp_path, {"path": str(tmp_path / "a.npy")})[0].max() == 2
    assert "values from -2 to 2, which are not scaled" in caplog.text


@pytest.mark.parametrize("offset", [1e300, 1.7e12])
def test_images_beyond_float32_are_scaled_in_float64(offset, tmp_path):
    images = np.random.default_rng(0).random((6, 9, 8))
    np.save(tmp_path / "a.npy", offset * images if offset > 1e38 else offset + 1000 * images)
    X, _, facts = prepare(tmp_path, {"path": str(tmp_path / "a.npy")})
    expected = (images - images.min()) / np.ptp(images)
    np.testing.assert_allclose(X[..., 0], expected, atol=1e-4)
    assert facts["scaling"]["kind"] == "range"


def test_an_idx_file_unpacks_no_more_than_its_header_says(tmp_path, monkeypatch):
    import tracemalloc

    bomb = gzip.compress(idx(np.zeros((2, 4), np.uint8), 8) + bytes(2**27), compresslevel=1)
    write(tmp_path / "a.idx.gz", bomb)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"holds more values; its header says \(2, 4\)"):
        prepare(tmp_path, {"path": str(tmp_path / "a.idx.gz")})
    assert tracemalloc.get_traced_memory()[1] < 2**25
    tracemalloc.stop()


@pytest.mark.parametrize("n_axes", [33, 65, 255])
def test_an_idx_file_of_too_many_axes_is_refused(tmp_path, n_axes):
    write(tmp_path / "a.idx", bytes([0, 0, 8, n_axes]) + bytes([0, 0, 0, 1]) * n_axes + b"x")
    with pytest.raises(InputError, match=f"not an idx file: it has {n_axes} axes"):
        prepare(tmp_path, {"path": str(tmp_path / "a.idx")})


def test_python_objects_in_a_numpy_file_are_refused_with_a_remedy(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", np.array(list("ababab"), dtype=object))
    with pytest.raises(
        InputError, match=r"y\.npy: an array holds Python objects, which can run code; save .*dtype=str"
    ):
        prepare(tmp_path, {"path": str(tmp_path / "x.npy"), "labels": str(tmp_path / "y.npy")})
