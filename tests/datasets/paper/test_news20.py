from dekm.datasets.paper import news20
from tests.helpers.upstream import (
    posts,
)


def test_posts_come_in_the_byte_order_of_their_paths_with_the_group_as_label(tmp_path):
    members = {
        "20news-bydate-train/sci.med/9": b"doctor caf\xe9",
        "20news-bydate-test/sci.med/10": b"nurse",
        "20news-bydate-test/alt.atheism/2": b"church church",
    }
    file = posts(tmp_path / news20.ARCHIVE, members)
    X, y, _, features = news20.news20(tmp_path)
    assert y.tolist() == ["alt.atheism", "sci.med", "sci.med"]
    terms = sorted(["church", "nurse", "doctor", "café"])
    assert features == terms
    assert [sorted(terms[i] for i in X[[row]].indices) for row in range(3)] == [
        ["church"],
        ["nurse"],
        ["café", "doctor"],
    ]
    assert b"".join(news20.content(file)) == b"church churchnursedoctor caf\xe9"
