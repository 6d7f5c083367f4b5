"""Missing, damaged and malformed files give an `InputError`, or else data of the right shape."""

import gzip
import warnings

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from dekm.datasets.paper import coil20, frgc, lyrl, news20, usps
from dekm.datasets.paper.mnist import read_idx
from dekm.datasets.raw.matlab import read_mat
from dekm.datasets.user.arrays import array
from dekm.datasets.user.table_files import open_table
from dekm.datasets.user.tables import table
from dekm.errors import InputError
from tests.helpers.upstream import (
    coil_archive,
    faces,
    idx,
    libsvm,
    mat73,
    posts,
    qrels,
    tokens,
    usps_digits,
    write,
    write_usps_hdf5,
)

FUZZ = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)


def read_usps(file):
    return usps.from_hdf5(file.parents[1])


READERS = {
    "idx.gz": lambda file: read_idx(file, ndim=2),
    "usps.bz2": usps.read_libsvm,
    "usps/USPS.h5": read_usps,
    "faces.h5": frgc.read_faces,
    "coil.zip": coil20.read_coil,
    "posts.tar.gz": news20.read_posts,
    "v5.mat": lambda file: read_mat(file, "X"),
    "v73.mat": lambda file: read_mat(file, "X"),
    "tokens.gz": lambda file: list(lyrl.read_tokens([file])),
    "qrels.gz": lambda file: lyrl.read_topics(file, ("CCAT",)),
    "own.npy": lambda file: array(file.parent, path=str(file)),
    "own.npz": lambda file: array(file.parent, path=str(file)),
    "own.parquet": lambda file: table(file.parent, path=str(file)),
}


@pytest.fixture(scope="module")
def good_files(tmp_path_factory):
    """One intact file for each reader."""
    import pyarrow as pa
    from pyarrow import parquet

    folder = tmp_path_factory.mktemp("good")
    rng = np.random.default_rng(0)
    values, labels = usps_digits(4)
    write(folder / "idx.gz", idx(rng.integers(0, 256, size=(5, 4))))
    write(folder / "usps.bz2", libsvm(2 * values - 1, labels + 1))
    write_usps_hdf5(folder, (values, labels), (values, labels))
    faces(folder / "faces.h5", rng.integers(0, 256, size=(2, 3, 32, 32), dtype=np.uint8), np.arange(2))
    coil_archive(folder / "coil.zip", {(1, 0): rng.integers(0, 256, size=(128, 128), dtype=np.uint8)})
    posts(folder / "posts.tar.gz", {"20news-bydate-train/a/1": rng.bytes(600)})
    savemat(folder / "v5.mat", {"X": rng.random((4, 3)), "Y": np.arange(4.0)}, do_compression=True)
    mat73(folder / "v73.mat", X=rng.random((4, 3)), Y=np.arange(4.0).reshape(-1, 1))
    write(folder / "tokens.gz", tokens([(1, ["oil price"]), (2, ["war"])]))
    write(folder / "qrels.gz", qrels([("CCAT", 1), ("GCAT", 2)]))
    np.save(folder / "own.npy", rng.random((4, 3)))
    np.savez_compressed(folder / "own.npz", X=rng.random((4, 3)), y=np.arange(4))
    parquet.write_table(pa.table({"a": rng.random(50)}), folder / "own.parquet")
    return folder


def shapes(result):
    parts = result if isinstance(result, tuple) else (result,)
    return [getattr(part, "shape", None) for part in parts]


@pytest.mark.parametrize("name", READERS)
def test_an_intact_file_is_read(good_files, name):
    READERS[name](good_files / name)


@pytest.mark.parametrize("name", READERS)
def test_an_absent_empty_truncated_or_html_file_is_one_clear_error(good_files, tmp_path, name):
    file = tmp_path / name
    with pytest.raises(InputError, match="does not exist"):
        READERS[name](file)
    whole = (good_files / name).read_bytes()
    for content in (
        b"",
        b"<!DOCTYPE html><html><body>404</body></html>\n",
        whole[: len(whole) // 2],
        whole[:9],
    ):
        write(file, content)
        with pytest.raises(InputError) as caught:
            READERS[name](file)
        assert file.name in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in READERS if not name.endswith((".h5", "v73.mat"))])
def test_flipped_bits_give_our_error_or_the_right_shape(good_files, tmp_path, name):
    file, whole = tmp_path / name, (good_files / name).read_bytes()
    expected = shapes(READERS[name](good_files / name))
    rng = np.random.default_rng(0)
    for place in rng.integers(len(whole), size=8 if name == "v5.mat" else 60):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        write(file, bytes(damaged))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = READERS[name](file)
        except InputError:
            continue
        if name not in ("own.npy", "v5.mat"):
            assert shapes(result) == expected


@pytest.mark.parametrize("name", [name for name in READERS if name.endswith((".h5", "v73.mat"))])
def test_flipped_bits_in_the_header_of_an_hdf5_file_give_our_error_or_the_right_shape(
    good_files, tmp_path, name
):
    file, whole = tmp_path / name, (good_files / name).read_bytes()
    expected = shapes(READERS[name](good_files / name))
    start = 512 if name == "v73.mat" else 0
    for place in range(start, start + 96):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        write(file, bytes(damaged))
        try:
            result = READERS[name](file)
        except InputError:
            continue
        assert shapes(result) == expected


@FUZZ
@given(content=st.binary(max_size=60), shape=st.lists(st.integers(0, 2**32 - 1), max_size=3))
def test_idx_content_gives_our_error_or_the_shape_of_its_header(tmp_path, content, shape):
    header = bytes([0, 0, 8, len(shape)]) + b"".join(side.to_bytes(4, "big") for side in shape)
    file = write(tmp_path / "idx.gz", gzip.compress(header + content))
    try:
        values = read_idx(file, ndim=len(shape))
    except InputError:
        return
    assert values.shape == tuple(shape)
    assert values.tobytes() == content


@FUZZ
@given(
    lines=st.lists(
        st.one_of(
            st.text("0123456789:-+. eE#nainfqd\n", max_size=30),
            st.builds(
                "{} {}:{}".format, st.integers(-1, 12), st.integers(-1, 300), st.floats(-2, 2, width=16)
            ),
        ),
        max_size=4,
    )
)
def test_libsvm_lines_give_our_error_or_one_digit_a_line(tmp_path, lines):
    import bz2

    text = "".join(line + "\n" for line in lines)
    file = write(tmp_path / "usps.bz2", bz2.compress(text.encode()))
    try:
        values, labels = usps.read_libsvm(file)
    except InputError:
        return
    assert values.shape == (len(text.splitlines()), 256)
    assert labels.shape == (len(values),)
    assert 0 <= values.min() <= values.max() <= 1


@FUZZ
@given(
    data=st.sampled_from(["u1", "i4", "f4", "f8", "S3", "?", "c8"]),
    sides=st.lists(st.sampled_from([0, 1, 2, 3, 32, 33]), max_size=5),
    n_labels=st.integers(0, 3),
    group=st.booleans(),
)
def test_hdf5_arrays_give_our_error_or_images_of_faces(tmp_path, data, sides, n_labels, group):
    with h5py.File(tmp_path / "faces.h5", "w") as file:
        if group:
            file.create_group("data")
        else:
            file["data"] = np.zeros(sides, data)
        file["labels"] = np.arange(n_labels)
    try:
        images, labels = frgc.read_faces(tmp_path / "faces.h5")
    except InputError:
        return
    assert images.shape == (n_labels, 32, 32, 3)
    assert labels.shape == (n_labels,)


@FUZZ
@given(
    text=st.one_of(
        st.text(max_size=60),
        st.text('ab,"\n\r 1.5e-', max_size=60),
        st.builds(
            lambda rows: "a,b\n" + "\n".join(",".join(row) for row in rows),
            st.lists(
                st.lists(st.sampled_from(["1", "-2.5", "", "x", "nan", "1e99"]), max_size=3), max_size=4
            ),
        ),
    ),
    label_column=st.sampled_from([None, "a", "b"]),
)
def test_csv_text_gives_our_error_or_rows_of_the_named_columns(tmp_path, text, label_column):
    file = write(tmp_path / "x.csv", text.encode("utf-8", "surrogatepass"))
    try:
        X, y, *_ = table(tmp_path, path=str(file), label_column=label_column)
    except InputError:
        return
    opened = open_table(file)
    assert X.shape == (len(list(opened.rows())), len(opened.names) - (label_column is not None))
    assert np.isfinite(X).all()
    assert (y is None) == (label_column is None)
