import pyarrow as pa
import pytest
from pyarrow import parquet

from dekm.errors import InputError
from tests.helpers.own_data import prepare
from tests.helpers.upstream import write


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
