import bz2
import gzip
import json
import lzma
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from dekm.datasets.labels import label_vector, name_classes
from dekm.datasets.user.table_files import most_rows
from dekm.errors import InputError
from dekm.scaling import TABLE_SCALINGS
from tests.helpers.own_data import prepare
from tests.helpers.upstream import write


def test_a_table_gives_the_same_rows_from_csv_and_from_parquet(tmp_path):
    write(tmp_path / "x.csv", b'\xef\xbb\xbfwidth,class,"height, cm"\n1,b,2.5\n3,a,-4e2\n5,b,0\n')
    columns = {"width": [1, 3, 5], "class": ["b", "a", "b"], "height, cm": [2.5, -400, 0]}
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
    for name in ("x.csv", "x.parquet"):
        X, y, facts = prepare(
            tmp_path, {"path": str(tmp_path / name), "label_column": "class", "scaling": "none"}
        )
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
        ("a,b\n1,2\n3\n", "row 3 has 1 cells; the first row names 2"),
        ("a,a\n1,2\n", "column 'a' appears twice"),
        ("1,2\n3,4\n", "row 1 should name the columns"),
        ("a,b\n", "no rows"),
        ("", "is empty; its first row should name"),
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
            "'cat' is not a finite number. Texts: if the column holds categories, .* label_column",
        ),
        ("a;b\n1;2\n", {}, "'1;2' is not a finite number. The separator seems to be ';'"),
        ("a\tb\n1,5\t2\n", {}, r"row 2 has 2 cells; the first row names 1. The separator seems to be '\\t'"),
        (
            "a;b, in cm;c\n1;2;3\n",
            {},
            "row 2 has 1 cells; the first row names 2. The separator seems to be ';'",
        ),
        (
            "a|b\n1|2\n",
            {"label_column": "b"},
            r"label_column: .* has no column 'b'; it has a\|b. The separator seems to be '\|'",
        ),
        (
            "a;b\n1;2\n",
            {"text_column": "b"},
            "text_column: .* has no column 'b'; it has a;b. The separator seems to be ';'; set separator",
        ),
    ],
)
def test_an_error_in_a_table_says_what_to_set_or_which_separator_to_use(tmp_path, text, block, hint):
    write(tmp_path / "x.csv", text.encode())
    with pytest.raises(InputError, match=hint):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv"), **block})


EXCEL = """id,width,note,colour,day,vector
1,"1,5",,red,2026-01-02,"[0.1, 0.2]"
2,"2,5",7,red,2026-01-03,"[0.3, 0.4]"
3,3,8,blue,2026-01-04,"[0.5, 0.6]"
"""


def test_all_columns_that_are_no_numbers_are_in_one_message_with_what_to_do(tmp_path):
    file = write(tmp_path / "x.csv", EXCEL.encode())
    with pytest.raises(InputError) as caught:
        prepare(tmp_path, {"path": str(file)})
    text = str(caught.value)
    assert "\n" not in text
    assert "row 2, column 'width': '1,5' is not a finite number; row 2, column 'note': '' is not" in text
    assert 'Decimal commas: decimal: "," (width; 2 cells).' in text
    assert "ignore_columns (note; 1 cells)." in text
    assert "Lists that are written as texts: save them as lists" in text
    assert "in categories; if labels, in label_column; if texts to cluster, in text_column" in text
    assert "in ignore_columns (colour; 3 cells)." in text
    assert (
        "Dates: convert them to numbers, such as days, or name the column in ignore_columns (day; 3" in text
    )


@pytest.mark.parametrize(
    ("cell", "remedy"),
    [
        ("1,234.5", "Separators of thousands: remove them"),
        ("1.234,5", "Separators of thousands: remove them"),
        ("1,234,567", "Separators of thousands: remove them"),
        ("12,5", 'Decimal commas: decimal: ","'),
        ("2026-01-02 10:00", "Dates: convert them"),
        ("02.01.2026", "Dates: convert them"),
        ("?", "Empty cells: fill them"),
        ("12 %", "Texts: if the column holds categories"),
    ],
)
def test_each_kind_of_cell_that_is_no_number_has_its_remedy(tmp_path, cell, remedy):
    write(tmp_path / "x.csv", f'a,b\n1,2\n3,"{cell}"\n'.encode())
    with pytest.raises(InputError, match=rf"is not a finite number\. {re.escape(remedy)}"):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv")})


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
@pytest.mark.parametrize("cell", [[[1, 2], [3, 4]], {"x": 1}])
def test_nested_values_are_refused_with_what_to_do(tmp_path, kind, cell):
    file = tmp_path / f"x.{kind}"
    if kind == "parquet":
        parquet.write_table(pa.table({"v": [cell] * 3}), file)
    else:
        write(file, f'{{"v": {json.dumps(cell)}}}\n'.encode() * 3)
    with pytest.raises(InputError, match=r"(lists in lists;|Nested values:) give each row one list"):
        prepare(tmp_path, {"path": str(file)})


def test_a_table_of_lists_without_rows_is_named(tmp_path):
    parquet.write_table(pa.table({"v": pa.array([], pa.list_(pa.float32()))}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet has no rows of numbers"):
        prepare(tmp_path, {"path": str(tmp_path / "x.parquet")})


def test_the_remedies_of_that_message_read_the_table(tmp_path, caplog):
    caplog.set_level("INFO")
    file = write(tmp_path / "x.csv", EXCEL.encode())
    block = {"path": str(file), "decimal": ",", "categories": ["colour"], "name_column": "id"}
    X, _, facts = prepare(tmp_path, block | {"ignore_columns": ["note", "day", "vector"], "scaling": "none"})
    assert facts["features"] == ["width", "colour=blue", "colour=red"]
    assert X.tolist() == [[1.5, 0, 1], [2.5, 0, 1], [3, 1, 0]]
    assert "3 features: width, colour=blue, colour=red" in caplog.text
    assert "not features: note, day, vector, id (name_column)" in caplog.text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", b"a,kind,id\n1,red,p\n2,,\n"),
        ("x.jsonl", b'{"a": 1, "kind": "red", "id": "p"}\n{"a": 2, "kind": null, "id": null}\n'),
    ],
)
def test_an_empty_cell_is_the_same_in_every_format(tmp_path, name, content):
    file = write(tmp_path / name, content)
    block = {"path": str(file), "categories": ["kind"], "name_column": "id", "scaling": "none"}
    X, _, facts = prepare(tmp_path, block)
    assert facts["features"] == ["a", "kind=", "kind=red"]
    assert X.tolist() == [[1, 0, 1], [2, 1, 0]]


def test_semicolons_and_decimal_commas_are_read(tmp_path):
    file = write(tmp_path / "x.csv", b"a;b\n1,5;2\n2,5;3\n")
    with pytest.raises(InputError, match="The separator seems to be ';'; set separator: \";\""):
        prepare(tmp_path, {"path": str(file)})
    with pytest.raises(InputError, match='Decimal commas: decimal: ","'):
        prepare(tmp_path, {"path": str(file), "separator": ";"})
    X, _, _ = prepare(tmp_path, {"path": str(file), "separator": ";", "decimal": ","})
    assert X.tolist() == [[1.5, 2], [2.5, 3]]


def test_an_error_in_a_parquet_file_names_row_and_column(tmp_path):
    parquet.write_table(pa.table({"a": [1, None]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="row 2, column 'a': 'None'"):
        prepare(tmp_path, {"path": str(tmp_path / "x.parquet")})


def test_a_missing_column_or_label_is_an_error(tmp_path):
    write(tmp_path / "x.csv", b"a,b\n1,\n3,\n")
    with pytest.raises(InputError, match=r"mine: label_column: .*x\.csv has no column 'c'; it has a, b"):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv"), "label_column": "c"})
    with pytest.raises(InputError, match=r"x\.csv: no sample has a label"):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv"), "label_column": "b"})


@pytest.mark.parametrize("cell", ["12_34", "\uff11\uff12", "1\u0663", "\u00bd", "infinity"])
def test_only_plain_digits_are_a_number(tmp_path, cell):
    write(tmp_path / "x.csv", f"a,b\n1,2\n3,{cell}\n".encode())
    with pytest.raises(InputError, match=rf"row 3, column 'b': '{cell}' is not a finite number"):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv")})


def test_truth_values_are_one_and_zero(tmp_path):
    write(tmp_path / "x.csv", b"a,b\n1,True\n3, false\n5,TRUE\n")
    write(tmp_path / "x.jsonl", b'{"a": 1, "b": true}\n{"a": 3, "b": false}\n{"a": 5, "b": true}\n')
    parquet.write_table(pa.table({"a": [1, 3, 5], "b": [True, False, True]}), tmp_path / "x.parquet")
    for name in ("x.csv", "x.jsonl", "x.parquet"):
        assert prepare(tmp_path, {"path": str(tmp_path / name)})[0].tolist() == [[1, 1], [3, 0], [5, 1]]


INDEXES = {
    "filtered": pd.Index([7, 2, 5]),
    "named": pd.Index([7, 2, 5], name="id"),
    "strings": pd.Index(["c", "a", "b"], name="key"),
    "dates": pd.date_range("2020-01-01", periods=3)[::-1],
    "several": pd.MultiIndex.from_tuples([(1, 900), (1, 800), (2, 700)], names=["u", "v"]),
    "range": None,
}


@pytest.mark.parametrize("index", INDEXES)
def test_the_saved_index_of_a_data_frame_is_no_feature(tmp_path, index):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.5, 0.25, 0.0]}, index=INDEXES[index])
    frame.to_parquet(tmp_path / "x.parquet")
    X, _, facts = prepare(tmp_path, {"path": str(tmp_path / "x.parquet")})
    assert facts["features"] == ["a", "b"]
    assert X.tolist() == frame.to_numpy().tolist()


def test_an_index_that_is_named_as_labels_is_read(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=pd.Index(["x", "y", "x"], name="kind"))
    frame.to_parquet(tmp_path / "x.parquet")
    X, y, _ = prepare(tmp_path, {"path": str(tmp_path / "x.parquet"), "label_column": "kind"})
    assert (X.tolist(), y.tolist()) == ([[1], [2], [3]], [0, 1, 0])


def test_the_index_that_pandas_wrote_into_a_csv_file_is_no_feature(tmp_path):
    write(tmp_path / "x.csv", b"Unnamed: 0,a\n0,1.5\n1,2.5\n")
    assert prepare(tmp_path, {"path": str(tmp_path / "x.csv")})[0].tolist() == [[1.5], [2.5]]


def test_columns_can_be_ignored(tmp_path):
    write(tmp_path / "x.csv", b"id,name,a\n1,p,0.5\n2,q,1.5\n")
    block = {"path": str(tmp_path / "x.csv")}
    X, _, facts = prepare(tmp_path, block | {"ignore_columns": ["id", "name"]})
    assert (X.tolist(), facts["features"]) == ([[0.5], [1.5]], ["a"])
    with pytest.raises(InputError, match=r"x\.csv has no column 'nam'; it has id, name, a"):
        prepare(tmp_path, block | {"ignore_columns": ["nam"]})
    with pytest.raises(InputError, match=r"ignore_columns=\[1\] should be a list of names"):
        prepare(tmp_path, block | {"ignore_columns": [1]})
    assert prepare(tmp_path, block | {"ignore_columns": "name"})[2]["features"] == ["id", "a"]
    both = prepare(tmp_path, block | {"ignore_columns": ["id", "name"], "label_column": "id"})
    assert (both[1].tolist(), both[2]["features"]) == ([0, 1], ["a"])


@pytest.mark.parametrize(
    "pack", [(bytes, ""), (gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz")]
)
def test_tables_are_read_with_tabs_as_lines_of_json_and_compressed(tmp_path, pack):
    texts = {
        "x.csv": b"a,b\n1,2\n3,4\n",
        "x.tsv": b"a\tb\n1\t2\n3\t4\n",
        "x.jsonl": b'{"a": 1, "b": 2}\n\n{"b": 4, "a": 3}\n',
    }
    for name, text in texts.items():
        file = write(tmp_path / f"{name}{pack[1]}", pack[0](text))
        assert prepare(tmp_path, {"path": str(file)})[0].tolist() == [[1, 2], [3, 4]]
        assert most_rows(file) >= 2


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("x.tsv", b"a,b\n1,2\n", r"The separator seems to be ','; set separator"),
        ("x.jsonl", b'{"a": 1}\n[2]\n', "line 2 should be an object"),
        ("x.jsonl", b'{"a": 1}\n{"a"\n', "x.jsonl is not a readable JSON Lines file"),
        ("x.jsonl", b'{"a": 1}\n{"b": 2}\n', "row 1, column 'b': 'None' is not a finite number"),
        ("x.jsonl", b"\n", "x.jsonl is empty"),
        ("x.csv.gz", b"a,b\n", "x.csv.gz is not a readable CSV file"),
        ("x.csv.xz", b"a,b\n", "x.csv.xz is not a readable CSV file"),
        ("x.csv", "a,b\n1,2\n".encode("utf-16"), "x.csv is in UTF-16; save it in UTF-8"),
        ("x.csv", "a,b\n1,2\n".encode("utf-16-le"), "x.csv is in UTF-16; save it in UTF-8"),
    ],
)
def test_a_table_of_another_form_is_one_line(tmp_path, name, text, reason):
    write(tmp_path / name, text)
    with pytest.raises(InputError, match=reason):
        prepare(tmp_path, {"path": str(tmp_path / name)})


@pytest.mark.parametrize(
    ("scaling", "expected"),
    [
        ("none", [[0, 5], [100, 5]]),
        ("minmax", [[0, 0], [1, 0]]),
        ("standard", [[-1, 0], [1, 0]]),
        ("auto", [[0, 0], [1, 0]]),
    ],
)
def test_the_columns_of_a_table_are_scaled(tmp_path, scaling, expected):
    write(tmp_path / "x.csv", b"a,b\n0,5\n100,5\n")
    X, _, facts = prepare(tmp_path, {"path": str(tmp_path / "x.csv"), "scaling": scaling})
    assert X.tolist() == expected
    assert facts["scaling"]["kind"] == ("minmax" if scaling == "auto" else scaling)


def test_the_scaling_is_part_of_the_digest(tmp_path):
    write(tmp_path / "x.csv", b"a,b\n0,5\n100,5\n")
    block = {"path": str(tmp_path / "x.csv")}
    digests = {prepare(tmp_path, block | {"scaling": kind})[2]["digest"] for kind in TABLE_SCALINGS[1:]}
    assert len(digests) == 4


def test_the_scaling_is_learned_from_the_rows_that_are_kept(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(0, 400.0, 10).reshape(20, 2))
    X, _, _ = prepare(tmp_path, {"path": str(tmp_path / "x.npy"), "scaling": "minmax"}, subsample=7)
    assert X.min(0).tolist() == [0, 0]
    assert X.max(0).tolist() == [1, 1]


def test_features_and_what_looks_like_labels_or_row_numbers_are_told(tmp_path, caplog):
    caplog.set_level("INFO")
    rows = "".join(f"{7 * i % 12},{i / 3},{i % 2},{i + 1}\n" for i in range(12))
    write(tmp_path / "x.csv", f"ID,a,target,serial\n{rows}".encode())
    X, _, facts = prepare(tmp_path, {"path": str(tmp_path / "x.csv")})
    assert facts["features"] == ["ID", "a", "target", "serial"]
    assert X.shape == (12, 4)
    assert "4 features: ID, a, target, serial" in caplog.text
    assert "target is a feature, but looks like true labels; if it is: label_column: target" in caplog.text
    for name in ("ID", "serial"):
        assert f"column {name} is a feature, but looks like a number of the row" in caplog.text
    assert "column a is" not in caplog.text


def test_the_first_row_of_a_table_without_a_header_is_no_sample_that_is_lost(tmp_path):
    file = write(
        tmp_path / "iris.csv", b"5.1,3.5,Iris-setosa\n4.9,3.0,Iris-setosa\n7.0,3.2,Iris-versicolor\n"
    )
    with pytest.raises(
        InputError, match=r"row 1 should name the columns, but has '5\.1'\. .* set header: false"
    ):
        prepare(tmp_path, {"path": str(file)})
    block = {"path": str(file), "header": False, "label_column": "column_3"}
    X, y, facts = prepare(tmp_path, block | {"scaling": "none"})
    np.testing.assert_allclose(X, [[5.1, 3.5], [4.9, 3.0], [7.0, 3.2]])
    assert (y.tolist(), facts["features"]) == ([0, 0, 1], ["column_1", "column_2"])
    years = write(tmp_path / "years.csv", b"2019,2020\n1,2\n3,4\n")
    assert prepare(tmp_path, {"path": str(years), "header": True})[2]["features"] == ["2019", "2020"]


@pytest.mark.parametrize("missing", ["", "nan", "NaN"])
def test_a_sample_without_a_label_has_no_class(tmp_path, missing, caplog):
    file = write(tmp_path / "x.csv", f"a,b,kind\n1,2,cat\n3,4,{missing}\n5,6,dog\n".encode())
    X, y, facts = prepare(tmp_path, {"path": str(file), "label_column": "kind"})
    assert (len(X), y.tolist()) == (3, [0, -1, 1])
    assert (facts["class_names"], facts["class_counts"]) == (["cat", "dog"], [1, 1])
    assert "2 of 3 samples have a label, and only they are scored" in caplog.text


@pytest.mark.parametrize(
    ("labels", "y", "names"),
    [
        (np.array([10.0, np.nan, 9.0]), [1, -1, 0], [9, 10]),
        (np.array([0.5, np.nan, 0.25]), [1, -1, 0], [0.25, 0.5]),
        (np.array([2.0, 1.0, 2.0]), [1, 0, 1], [1, 2]),
        (np.array(["b", "", "a"], dtype=object), [1, -1, 0], ["a", "b"]),
        (np.array(["b", None, "a"], dtype=object), [1, -1, 0], ["a", "b"]),
        (np.array([10, None, 9], dtype=object), [1, -1, 0], [9, 10]),
        (np.array(["10.0", "", "9.0"]), [0, -1, 1], ["10", "9"]),
        (np.array([b"\xc3\xa9", b"\xe9", b"a"]), [1, 1, 0], ["a", "é"]),
    ],
)
def test_labels_of_any_form_are_classes_or_none(labels, y, names):
    found, classes = name_classes(label_vector(labels, "x"))
    assert (found.tolist(), classes) == (y, names)


@pytest.mark.parametrize("line", [b'{"a": 3, "b": 4, "a": 5}', b'{"a": {"b": 1, "c": {"a": 3, "a": 4}}}'])
def test_a_key_that_appears_twice_in_a_line_of_json_is_refused(tmp_path, line):
    file = write(tmp_path / "x.jsonl", b'{"a": 1, "b": 2}\n' + line + b"\n")
    with pytest.raises(InputError, match=r"x\.jsonl: line 2: 'a' is there twice"):
        prepare(tmp_path, {"path": str(file)})


@pytest.mark.parametrize("ending", [".npy", ".txt", ".csv", ".parquet"])
def test_labels_of_a_table_may_be_in_a_second_file(tmp_path, ending):
    write(tmp_path / "x.csv", b"a,b\n1,2\n3,4\n5,6\n")
    write(tmp_path / "t.csv", b"text\nred cat\nblue dog\nred dog\n")
    labels, file = ["x", "y", "x"], tmp_path / f"y{ending}"
    {
        ".npy": lambda: np.save(file, np.array(labels)),
        ".txt": lambda: write(file, b"x\ny\nx\n"),
        ".csv": lambda: write(file, b"kind\nx\ny\nx\n"),
        ".parquet": lambda: pd.DataFrame({"kind": labels}, index=[3, 1, 2]).to_parquet(file),
    }[ending]()
    for block in ({"path": "x.csv"}, {"path": "t.csv", "text_column": "text"}):
        block |= {"path": str(tmp_path / block["path"]), "labels": str(file)}
        assert prepare(tmp_path, block)[1].tolist() == [0, 1, 0]
    with pytest.raises(InputError, match=r"labels=.* should be left out: label_column='b' has the labels"):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv"), "labels": str(file), "label_column": "b"})


VECTORS = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
LISTS = {
    "list": lambda: pa.array(VECTORS.tolist(), pa.list_(pa.float32())),
    "large_list": lambda: pa.array(VECTORS.tolist(), pa.large_list(pa.float64())),
    "fixed": lambda: pa.FixedSizeListArray.from_arrays(pa.array(VECTORS.ravel()), 4),
    "sliced": lambda: pa.FixedSizeListArray.from_arrays(pa.array(np.tile(VECTORS, (2, 1)).ravel()), 4)[6:],
}


@pytest.mark.parametrize("kind", [*LISTS, "jsonl"])
def test_embeddings_in_a_column_of_lists_are_read(tmp_path, kind):
    file = tmp_path / ("x.jsonl" if kind == "jsonl" else "x.parquet")
    if kind == "jsonl":
        lines = (f'{{"id": "t{i}", "vector": {row}}}\n' for i, row in enumerate(VECTORS.tolist()))
        write(file, "".join(lines).encode())
    else:
        parquet.write_table(pa.table({"id": [f"t{i}" for i in range(6)], "vector": LISTS[kind]()}), file)
    X, _, facts = prepare(tmp_path, {"path": str(file), "name_column": "id"})
    np.testing.assert_array_equal(X, VECTORS)
    assert facts["features"] == [f"vector[{i}]" for i in range(4)]


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
@pytest.mark.parametrize(
    ("lists", "reason"),
    [
        ([[1.0, 2.0], [3.0]], "row 2, column 'v' has a list of "),
        ([[1.0, 2.0], None], "row 2, column 'v' has a "),
        ([[1.0, 2.0], [3.0, None]], "row 2, column 'v': 'None' is not a finite number"),
    ],
)
def test_lists_of_several_lengths_and_holes_are_refused(tmp_path, kind, lists, reason):
    file = tmp_path / f"x.{kind}"
    if kind == "parquet":
        parquet.write_table(pa.table({"v": lists}), file)
    else:
        pd.DataFrame({"v": lists}).to_json(file, orient="records", lines=True)
    with pytest.raises(InputError, match=reason):
        prepare(tmp_path, {"path": str(file)})


def test_numbers_of_every_type_of_parquet_are_read(tmp_path):
    from decimal import Decimal

    columns = {
        "u8": pa.array([1, 2], pa.uint8()), "i64": pa.array([3, 4]), "half": pa.array(np.float16([0.5, 1])),
        "dec": pa.array([Decimal("1.5"), Decimal("2.5")]), "text": pa.array(["7", "8.5"]),
        "dict": pa.array(["1", "2"]).dictionary_encode(), "bool": pa.array([True, False]),
        "a.b": pa.array([1, 2]),
    }  # fmt: skip
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
    X, _, facts = prepare(tmp_path, {"path": str(tmp_path / "x.parquet")})
    assert facts["features"] == list(columns)
    assert X.tolist() == [[1, 3, 0.5, 1.5, 7, 1, 1, 1], [2, 4, 1, 2.5, 8.5, 2, 0, 2]]


@pytest.mark.parametrize("offset", [1e8, 1.7e12, 3e300])
@pytest.mark.parametrize("ending", [".csv", ".npy", ".parquet"])
def test_an_offset_or_a_size_takes_no_digits(tmp_path, offset, ending):
    rows = offset + np.arange(12.0).reshape(6, 2) * max(1, offset / 1e10)
    file = tmp_path / f"x{ending}"
    frame = pd.DataFrame(rows, columns=["a", "b"])
    {
        ".csv": lambda: frame.to_csv(file, index=False),
        ".npy": lambda: np.save(file, rows),
        ".parquet": lambda: frame.to_parquet(file),
    }[ending]()
    X, _, _ = prepare(tmp_path, {"path": str(file)})
    np.testing.assert_allclose(X[:, 0], np.linspace(0, 1, 6), atol=1e-4)
    if offset > 1e38:
        with pytest.raises(
            InputError, match=r"mine: values up to 3e\+300 are beyond float32; scaling: minmax or"
        ):
            prepare(tmp_path, {"path": str(file), "scaling": "none"})


def test_digits_that_are_lost_without_scaling_are_told(tmp_path, caplog):
    np.save(tmp_path / "x.npy", 1e9 + np.arange(12.0).reshape(6, 2))
    prepare(tmp_path, {"path": str(tmp_path / "x.npy"), "scaling": "none"})
    assert r"float32 rounds differences between the values away; scaling: minmax or standard" in caplog.text


def test_a_pipe_is_no_file(tmp_path):
    import os

    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(InputError, match=r"path='.*x\.csv' is neither a file nor a folder"):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv")})


def test_a_table_in_latin_1_says_so(tmp_path):
    write(tmp_path / "x.csv", "größe,b\n1,2\n".encode("latin-1"))
    with pytest.raises(
        InputError, match="not in UTF-8, but probably in Latin-1 or Windows-1252; save it in UTF-8"
    ):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv")})


def test_the_name_of_a_class_can_be_written_in_utf_8():
    _, names = name_classes(
        label_vector(np.array(["caf\udce9", "聚类"]), "x")
    )  # a folder in another encoding
    assert names == ["caf\\udce9", "聚类"]
