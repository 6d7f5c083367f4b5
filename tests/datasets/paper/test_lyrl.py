import gzip

import pytest

from dekm.datasets.paper import lyrl
from dekm.errors import InputError
from tests.helpers.upstream import (
    write,
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b".W\n", "line 1 should be"),
        (b".I x\n.W\noil\n", "line 1 should be '.I NUMBER'"),
        (b".I 1\noil\n", "line 2 should be"),
        (b".I 1\n.W\noil\n.I 2\n", "should end with the text"),
        (b"", "should end with the text"),
    ],
)
def test_a_token_file_of_another_form_is_an_error_that_names_the_line(tmp_path, text, reason):
    file = write(tmp_path / "tokens.dat.gz", gzip.compress(text))
    with pytest.raises(InputError, match=reason):
        list(lyrl.read_tokens([file]))


def test_a_topic_line_of_another_form_is_an_error_that_names_the_line(tmp_path):
    file = write(tmp_path / "qrels.gz", gzip.compress(b"CCAT 1 1\nCCAT one 1\n"))
    with pytest.raises(InputError, match="line 2"):
        lyrl.read_topics(file, ("CCAT",))
