import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet
from scipy import sparse

from dekm.cli import main
from dekm.datasets import prepared
from dekm.datasets.user.own import own_dataset
from dekm.errors import InputError
from tests.helpers.upstream import write


def prepare(tmp_path, block, **options):
    dataset = own_dataset("mine", {"n_clusters": 2, **block})
    prepared.prepare(dataset, tmp_path / "raw", tmp_path / "prepared", **options)
    return prepared.load(tmp_path / "prepared")


def save_image(file, size, colour, mode="RGB"):
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(file)


@pytest.mark.parametrize("shape", [(5, 3), (2, 1), (7, 17, 23), (7, 17, 23, 3), (3, 1, 9, 5)])
def test_arrays_of_any_side_and_number_of_channels_are_prepared_without_labels(tmp_path, shape):
    values = np.random.default_rng(0).random(shape)
    np.save(tmp_path / "x.npy", values)
    X, y, facts = prepare(tmp_path, {"path": str(tmp_path / "x.npy")})
    assert y is None
    assert facts["class_counts"] is None
    assert facts["kind"] == ("table" if len(shape) == 2 else "images")
    assert X.shape == (shape if len(shape) != 3 else (*shape, 1))
    np.testing.assert_array_equal(X.reshape(shape), values.astype(np.float32))


def test_a_prepared_file_without_labels_holds_no_labels_and_can_be_subsampled(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(40.0).reshape(20, 2))
    X, y, facts = prepare(tmp_path, {"path": str(tmp_path / "x.npy")}, subsample=7)
    with np.load(tmp_path / "prepared/data.npz") as arrays:
        assert arrays.files == ["X"]
    assert y is None
    assert facts["n_samples"] == len(X) == 7
    assert (np.diff(X[:, 0]) > 0).all()
    with pytest.raises(InputError, match="subsample=21 should be from 1 to 20"):
        prepare(tmp_path, {"path": str(tmp_path / "x.npy")}, subsample=21)


def test_labels_of_arrays_come_from_the_archive_or_from_a_file(tmp_path):
    X = np.zeros((3, 2), np.uint8)
    np.savez(tmp_path / "x.npz", X=X, y=np.array([[2.5], [-1], [2.5]]))
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", np.array(["b", "a", "b"]))
    write(tmp_path / "y.txt", b"dog\ncat\ndog\n")
    for block in (
        {"path": str(tmp_path / "x.npz")},
        {"path": str(tmp_path / "x.npy"), "labels": str(tmp_path / "y.npy")},
        {"path": str(tmp_path / "x.npy"), "labels": str(tmp_path / "y.txt")},
    ):
        assert prepare(tmp_path, block)[1].tolist() == [1, 0, 1]


def test_the_number_of_classes_may_differ_from_the_number_of_clusters(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.zeros((6, 2)), y=np.arange(6) % 3)
    facts = prepare(tmp_path, {"path": str(tmp_path / "x.npz"), "n_clusters": 5})[2]
    assert facts["n_clusters"] == 5
    assert facts["class_counts"] == [2, 2, 2]


def test_fewer_rows_than_clusters_are_an_error(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    with pytest.raises(InputError, match="n_samples=3 should be >= n_clusters=4"):
        prepare(tmp_path, {"path": str(tmp_path / "x.npy"), "n_clusters": 4})


def test_bytes_of_images_are_scaled_and_other_bytes_are_not(tmp_path):
    np.save(tmp_path / "image.npy", np.full((2, 3, 3), 255, np.uint8))
    np.save(tmp_path / "table.npy", np.full((2, 3), 255, np.uint8))
    assert prepare(tmp_path, {"path": str(tmp_path / "image.npy")})[0].max() == 1
    assert prepare(tmp_path, {"path": str(tmp_path / "table.npy")})[0].max() == 255


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.array([[1.0, np.nan]]), r"value at \[0, 1\] is not a finite number"),
        (np.array([[1.0, 1e300]]), r"value at \[0, 1\] is not a finite number"),
        (np.zeros(3), r"shape \(3,\) should be"),
        (np.zeros((0, 3)), r"shape \(0, 3\) should be"),
        (np.array([["a"]]), "should be numbers"),
        (np.array([[1j]]), "should be numbers"),
        (np.array([[{}]], dtype=object), "not a readable NumPy file"),
    ],
)
def test_an_array_that_no_method_can_use_is_an_error_that_names_the_place(tmp_path, values, reason):
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(InputError, match=reason):
        prepare(tmp_path, {"path": str(tmp_path / "x.npy")})


def test_labels_that_are_not_one_a_row_are_an_error(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    write(tmp_path / "y.txt", b"a\nb\n")
    with pytest.raises(InputError, match=r"y.txt: 2 labels should be 3"):
        prepare(tmp_path, {"path": str(tmp_path / "x.npy"), "labels": str(tmp_path / "y.txt")})
    write(tmp_path / "y.txt", b"a\n\nb\n")
    with pytest.raises(InputError, match="line 2 has no label"):
        prepare(tmp_path, {"path": str(tmp_path / "x.npy"), "labels": str(tmp_path / "y.txt")})
    np.savez(tmp_path / "x.npz", X=np.zeros((3, 2)), y=np.eye(3))
    with pytest.raises(InputError, match=r"shape \(3, 3\) should be one a row"):
        prepare(tmp_path, {"path": str(tmp_path / "x.npz")})


def test_a_table_gives_the_same_rows_from_csv_and_from_parquet(tmp_path):
    write(tmp_path / "x.csv", b'\xef\xbb\xbfwidth,class,"height, cm"\n1,b,2.5\n3,a,-4e2\n5,b,0\n')
    columns = {"width": [1, 3, 5], "class": ["b", "a", "b"], "height, cm": [2.5, -400, 0]}
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
    for name in ("x.csv", "x.parquet"):
        X, y, facts = prepare(tmp_path, {"path": str(tmp_path / name), "label_column": "class"})
        assert X.tolist() == [[1, 2.5], [3, -400], [5, 0]]
        assert y.tolist() == [1, 0, 1]
        assert facts["kind"] == "table"


def test_a_table_without_a_label_column_has_no_labels(tmp_path):
    write(tmp_path / "x.csv", b"a,b\n1,2\n3,4\n")
    X, y, _ = prepare(tmp_path, {"path": str(tmp_path / "x.csv")})
    assert X.tolist() == [[1, 2], [3, 4]]
    assert y is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n1,2\n3,x\n", "row 3, column 'b': 'x' is not a finite number"),
        ("a,b\n1,2\n3,\n", "row 3, column 'b': '' is not a finite number"),
        ("a,b\n1,nan\n", "row 2, column 'b'"),
        ("a,b\n1,1e39\n", "row 2, column 'b'"),
        ("a,b\n1,2\n3\n", "row 3 has 1 cells; the first row names 2"),
        ("a,a\n1,2\n", "column 'a' is there twice"),
        ("1,2\n3,4\n", "row 1 should name the columns"),
        ("a,b\n", "no rows"),
        ("", "no first row"),
        ('a,b\n1,"2\n', "not a readable CSV file"),
    ],
)
def test_an_error_in_a_table_names_row_and_column(tmp_path, text, reason):
    write(tmp_path / "x.csv", text.encode())
    with pytest.raises(InputError, match=reason):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv")})


@pytest.mark.parametrize(
    ("text", "block", "hint"),
    [
        (
            "a,b\n1,cat\n",
            {},
            "'cat' is not a finite number. If the column holds labels, .* label_column",
        ),
        ("a;b\n1;2\n", {}, "'1;2' is not a finite number. The file seems to be separated by ';'"),
        ("a\tb\n1,5\t2\n", {}, r"row 2 has 2 cells; the first row names 1. The file seems .* by '\\t'"),
        ("a;b, in cm;c\n1;2;3\n", {}, "row 2 has 1 cells; the first row names 2. The file seems .* by ';'"),
        ("a|b\n1|2\n", {"label_column": "b"}, r"label_column='b': .* it has a\|b. The file seems .* by '\|'"),
        ("a;b\n1;2\n", {"text_column": "b"}, "text_column='b': .* it has a;b. The file seems .* by ';'"),
    ],
)
def test_an_error_in_a_table_tells_what_to_set_or_which_separator_it_should_have(tmp_path, text, block, hint):
    write(tmp_path / "x.csv", text.encode())
    with pytest.raises(InputError, match=hint):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv"), **block})


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("a,b,c\n1,,x\n", {"label_column": "c"}),
        ("a,b,c\n1,?,x\n", {"label_column": "c"}),
        ("a;b,c\n1,\n", {}),
    ],
)
def test_an_error_in_a_table_ends_without_a_hint_where_none_would_help(tmp_path, text, block):
    write(tmp_path / "x.csv", text.encode())
    with pytest.raises(InputError, match=r"is not a finite number\.$"):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv"), **block})


def test_an_error_in_a_parquet_file_names_row_and_column(tmp_path):
    parquet.write_table(pa.table({"a": [1, None]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="row 2, column 'a': 'None'"):
        prepare(tmp_path, {"path": str(tmp_path / "x.parquet")})


def test_a_column_that_is_not_there_or_without_a_label_is_an_error(tmp_path):
    write(tmp_path / "x.csv", b"a,b\n1,2\n3,\n")
    with pytest.raises(InputError, match=r"label_column='c': .*x\.csv has no such column; it has a, b"):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv"), "label_column": "c"})
    with pytest.raises(InputError, match="row 3, column 'b' has no label"):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv"), "label_column": "b"})


def test_class_folders_of_images_give_labels_and_one_size(tmp_path):
    save_image(tmp_path / "faces/b/1.png", (5, 7), (255, 0, 0))
    save_image(tmp_path / "faces/b/2.pgm", (6, 4), 51, mode="L")
    save_image(tmp_path / "faces/a/1.png", (5, 5), (0, 0, 255))
    write(tmp_path / "faces/README", b"not an image")
    X, y, facts = prepare(tmp_path, {"path": str(tmp_path / "faces"), "image_size": [4, 6], "channels": 3})
    assert X.shape == (3, 4, 6, 3)
    assert y.tolist() == [0, 1, 1]
    assert facts["kind"] == "images"
    np.testing.assert_allclose(X[:, 2, 2], [[0, 0, 1], [1, 0, 0], [0.2, 0.2, 0.2]], rtol=1e-6)


def test_files_that_are_no_images_are_named_and_hidden_ones_are_not(tmp_path, caplog):
    save_image(tmp_path / "faces/a/1.png", (4, 4), 0)
    save_image(tmp_path / "faces/b/1.png", (4, 4), 0)
    hidden = ("a/.DS_Store", "a/Thumbs.db", "b/desktop.ini", ".git/config", ".cache/1.png", ".notes.txt")
    for name in ("a/notes.doc", *hidden):
        write(tmp_path / "faces" / name, b"")
    assert len(prepare(tmp_path, {"path": str(tmp_path / "faces")})[0]) == 2
    (message,) = caplog.messages
    assert message.startswith(f"{tmp_path / 'faces'}: ignored, not ending in .bmp, ")
    assert message.endswith(": a/notes.doc")


def test_many_ignored_files_are_one_line(tmp_path, caplog):
    write(tmp_path / "texts/1.txt", b"cat dog")
    write(tmp_path / "texts/2.txt", b"dog")
    for i in range(8):
        write(tmp_path / f"texts/{i}.json", b"")
    prepare(tmp_path, {"path": str(tmp_path / "texts")})
    (message,) = caplog.messages
    assert message.endswith(": 0.json, 1.json, 2.json, 3.json, 4.json and 3 more")


def test_a_folder_without_other_files_is_read_without_a_word(tmp_path, caplog):
    for i in range(2):
        save_image(tmp_path / f"flat/{i}.png", (4, 4), 0)
    prepare(tmp_path, {"path": str(tmp_path / "flat")})
    assert caplog.messages == []


def test_a_flat_folder_of_images_has_no_labels(tmp_path):
    for i in range(3):
        save_image(tmp_path / f"flat/{i}.png", (9, 8), 40 * i, mode="L")
    X, y, _ = prepare(tmp_path, {"path": str(tmp_path / "flat"), "channels": 1})
    assert X.shape == (3, 8, 9, 1)
    assert y is None


def test_images_of_several_sizes_need_an_image_size(tmp_path):
    save_image(tmp_path / "flat/1.png", (9, 8), 0, mode="L")
    save_image(tmp_path / "flat/2.png", (8, 9), 0, mode="L")
    with pytest.raises(InputError, match=r"2.png: an image of \(9, 8\).*set image_size"):
        prepare(tmp_path, {"path": str(tmp_path / "flat")})


def test_an_image_that_cannot_be_read_is_an_error_that_names_it(tmp_path):
    write(tmp_path / "flat/1.png", b"<html>")
    with pytest.raises(InputError, match=r"1.png is not a readable image"):
        prepare(tmp_path, {"path": str(tmp_path / "flat")})
    Image.fromarray(np.zeros((4, 4), np.uint16)).save(tmp_path / "flat/1.png")
    with pytest.raises(InputError, match="should have 8 bits"):
        prepare(tmp_path, {"path": str(tmp_path / "flat")})


def test_an_image_of_too_many_pixels_is_an_error_before_it_is_decoded(tmp_path):
    save_image(tmp_path / "flat/1.png", (9000, 9000), 0, mode="L")
    with pytest.raises(InputError, match="9000x9000 is more than"):
        prepare(tmp_path, {"path": str(tmp_path / "flat"), "image_size": 8})


def test_images_at_several_depths_are_an_error(tmp_path):
    save_image(tmp_path / "flat/1.png", (4, 4), 0, mode="L")
    save_image(tmp_path / "flat/a/1.png", (4, 4), 0, mode="L")
    with pytest.raises(InputError, match="should lie in"):
        prepare(tmp_path, {"path": str(tmp_path / "flat")})


def test_texts_come_from_folders_and_from_a_column(tmp_path):
    for name, text in (("b/1", "dog dog"), ("b/2", ""), ("a/1", "cat dog")):
        write(tmp_path / f"texts/{name}.txt", text.encode())
    write(tmp_path / "t.csv", b"id,text,class\n1,cat dog,a\n2,dog dog,b\n3,,b\n")
    from_folder, y_folder, _ = prepare(tmp_path, {"path": str(tmp_path / "texts")})
    block = {"path": str(tmp_path / "t.csv"), "text_column": "text", "label_column": "class"}
    from_column, y_column, facts = prepare(tmp_path, block)
    assert sparse.issparse(from_folder)
    assert y_folder.tolist() == y_column.tolist() == [0, 1, 1]
    assert facts["kind"] == "text"
    np.testing.assert_array_equal(from_folder.toarray(), from_column.toarray())
    assert prepare(tmp_path, block | {"scaling": "paper"})[0].max() > 1


def test_a_text_in_another_encoding_is_an_error_that_names_it(tmp_path):
    write(tmp_path / "texts/1.txt", b"caf\xe9")
    with pytest.raises(InputError, match=r"1.txt is not a readable text in UTF-8"):
        prepare(tmp_path, {"path": str(tmp_path / "texts")})


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ({"n_clusters": 2}, "path=None should be a path"),
        ({"path": "x.npy"}, "n_clusters=None should be a whole number"),
        ({"path": "x.npy", "n_clusters": 0}, "n_clusters=0 should be"),
        ({"path": "x.npy", "n_clusters": True}, "n_clusters=True should be"),
        ({"path": "y.npy", "n_clusters": 2}, "path='y.npy' is not there"),
        ({"path": "x.xls", "n_clusters": 2}, "should be a folder or end in"),
        ({"path": "x.npy", "n_clusters": 2, "colour": 3}, r"\['colour', 'path'\] should be among"),
        ({"path": "x.npy", "n_clusters": 2, "kind": "text"}, "is for a folder"),
        ({"path": "empty", "n_clusters": 2}, "holds no file that ends in"),
        (
            {"path": "both", "n_clusters": 2},
            "such as a.png and a.txt; set kind to images or text",
        ),
        ({"path": "both", "n_clusters": 2, "kind": "sound"}, "kind='sound' should be"),
    ],
)
def test_a_block_that_describes_no_data_is_an_error_that_names_the_setting(
    tmp_path, monkeypatch, block, reason
):
    monkeypatch.chdir(tmp_path)
    for name in ("x.npy", "x.xls", "both/a.txt", "both/a.png", "empty/README"):
        write(tmp_path / name, b"")
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    with pytest.raises(InputError, match=reason):
        own_dataset("mine", block)


@pytest.mark.parametrize(
    "option", [{"image_size": 0}, {"image_size": [3]}, {"channels": 2}, {"image_size": "3"}]
)
def test_an_image_option_of_another_value_is_an_error_that_names_it(tmp_path, option):
    save_image(tmp_path / "flat/1.png", (4, 4), 0, mode="L")
    with pytest.raises(InputError, match=next(iter(option))):
        prepare(tmp_path, {"path": str(tmp_path / "flat"), **option})


def test_the_command_line_prepares_own_data_from_settings(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    place = ["--raw-dir", str(tmp_path), "--results", str(tmp_path)]
    settings = ["--set", f"path={tmp_path / 'x.npy'}", "--set", "n_clusters=2", "--set", "label=Mine"]
    assert main(["prepare", "mine", *place, *settings]) == 0
    assert prepared.load(tmp_path / "data/mine")[2]["label"] == "Mine"
    assert main(["prepare", "mine", *place]) == 1
    assert "mine: unknown name; Valid names: digits," in capsys.readouterr().err
