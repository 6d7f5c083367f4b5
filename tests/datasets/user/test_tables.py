import bz2
import gzip
import lzma

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

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
        ("a,b\n1,1e39\n", "row 2, column 'b'"),
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
            "'cat' is not a finite number. If the column holds labels, .* label_column",
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
            r"label_column='b': .* it has a\|b. The separator seems to be '\|'",
        ),
        ("a;b\n1;2\n", {"text_column": "b"}, "text_column='b': .* it has a;b. The separator seems to be ';'"),
    ],
)
def test_an_error_in_a_table_says_what_to_set_or_which_separator_to_use(tmp_path, text, block, hint):
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
def test_an_error_in_a_table_has_no_hint_where_none_would_help(tmp_path, text, block):
    write(tmp_path / "x.csv", text.encode())
    with pytest.raises(InputError, match=r"is not a finite number\.$"):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv"), **block})


def test_an_error_in_a_parquet_file_names_row_and_column(tmp_path):
    parquet.write_table(pa.table({"a": [1, None]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="row 2, column 'a': 'None'"):
        prepare(tmp_path, {"path": str(tmp_path / "x.parquet")})


def test_a_missing_column_or_label_is_an_error(tmp_path):
    write(tmp_path / "x.csv", b"a,b\n1,2\n3,\n")
    with pytest.raises(InputError, match=r"label_column='c': .*x\.csv has no such column; it has a, b"):
        prepare(tmp_path, {"path": str(tmp_path / "x.csv"), "label_column": "c"})
    with pytest.raises(InputError, match="row 3, column 'b' has no label"):
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
    with pytest.raises(InputError, match=r"label_column='id': .* has no such column"):
        prepare(tmp_path, block | {"ignore_columns": ["id", "name"], "label_column": "id"})


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
        ("x.tsv", b"a,b\n1,2\n", r"The separator seems to be ','; it should be '\\t'"),
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
    assert len(digests) == 3


def test_the_scaling_is_learned_from_the_rows_that_are_kept(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(0, 400.0, 10).reshape(20, 2))
    X, _, _ = prepare(tmp_path, {"path": str(tmp_path / "x.npy"), "scaling": "minmax"}, subsample=7)
    assert X.min(0).tolist() == [0, 0]
    assert X.max(0).tolist() == [1, 1]
