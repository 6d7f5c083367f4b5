import numpy as np
import pytest
from scipy import sparse

from dekm.errors import InputError
from tests.helpers.own_data import prepare
from tests.helpers.upstream import write


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
    with pytest.raises(
        InputError, match=r"1.txt is not in UTF-8, but probably in Latin-1 or Windows-1252; save it in UTF-8"
    ):
        prepare(tmp_path, {"path": str(tmp_path / "texts")})


def test_a_text_in_a_table_may_be_long(tmp_path):
    long = "cat dog " * 50_000
    write(tmp_path / "x.csv", f"text\n{long}\ncat bird\ndog\n".encode())
    X, _, _ = prepare(tmp_path, {"path": str(tmp_path / "x.csv"), "text_column": "text"})
    assert X.shape[0] == 3


def test_texts_in_lines_of_json_are_those_of_a_column(tmp_path):
    write(tmp_path / "t.csv", b"text,class\ncat dog,a\ndog dog,b\n,b\n")
    lines = (
        b'{"text": "cat dog", "class": "a"}\n{"class": "b", "text": "dog dog", "more": [1]}\n{"class": "b"}\n'
    )
    write(tmp_path / "t.jsonl", lines)
    blocks = [{"path": str(tmp_path / name), "text_column": "text"} for name in ("t.csv", "t.jsonl")]
    from_csv, from_json = (prepare(tmp_path, block | {"label_column": "class"}) for block in blocks)
    np.testing.assert_array_equal(from_csv[0].toarray(), from_json[0].toarray())
    assert from_csv[1].tolist() == from_json[1].tolist() == [0, 1, 1]


def test_a_text_in_utf_16_is_named(tmp_path):
    write(tmp_path / "texts/1.txt", "cat".encode("utf-16"))
    with pytest.raises(InputError, match=r"1\.txt is in UTF-16; save it in UTF-8"):
        prepare(tmp_path, {"path": str(tmp_path / "texts")})


@pytest.mark.parametrize("stem", [False, True])
def test_empty_texts_copies_and_stop_words_are_told_and_stop_words_left_out(tmp_path, stem, caplog):
    words = "the of and to in is it that was for on are as with his they be at one have this from or had by"
    texts = [f"{words} cat{i % 7} dog{i % 5}" for i in range(20)] + [f"{words} cat0 dog0", "", " "]
    write(tmp_path / "x.csv", ("text\n" + "".join(f'"{text}"\n' for text in texts)).encode())
    block = {"path": str(tmp_path / "x.csv"), "text_column": "text", "stem": stem}
    prepare(tmp_path, block)
    assert "2 of 23 texts are empty or have none of the terms" in caplog.text
    assert "1 of 23 texts are copies of others" in caplog.text
    assert "terms are English stop words, such as" in caplog.text
    caplog.clear()
    X, _, _ = prepare(tmp_path, block | {"stop_words": "english"})
    assert X.shape[1] == 12
    assert "stop words" not in caplog.text
    with pytest.raises(InputError, match="stop_words='german' should be 'english'"):
        prepare(tmp_path, block | {"stop_words": "german"})
