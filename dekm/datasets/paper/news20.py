"""20NEWS: 18,846 posts of twenty newsgroups, including headers, footers and quotes."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from dekm.datasets.dataset import Dataset, Loaded
from dekm.datasets.labels import label_vector
from dekm.datasets.raw.archives import tar_members
from dekm.datasets.raw_file import RawFile
from dekm.datasets.tfidf import Scaling, tfidf
from dekm.errors import InputError, shown

ARCHIVE = "20news/20news-bydate.tar.gz"
FOLDERS = ("20news-bydate-train", "20news-bydate-test")
UNPACKED_LIMIT = 2**28


def news20(raw_dir: Path, *, stem: bool = False, scaling: Scaling = "unit") -> Loaded:
    """Load 20NEWS as tf-idf, training and test posts together in the byte order of their paths.

    Returns a float32 csr_matrix (18846, 2000), see `tfidf` for `stem` and `scale_rows` for `scaling`, and the
    names of the newsgroups.
    """
    posts = read_posts(raw_dir / ARCHIVE)
    documents = [text.decode("latin-1") for _, text in posts]
    groups = label_vector([group for group, _ in posts], ARCHIVE)
    X, terms = tfidf(documents, stem=stem, scaling=scaling)
    return Loaded(X, groups, features=terms)


def read_posts(file: Path) -> list[tuple[str, bytes]]:
    """Newsgroup and text of each post of a compressed tar archive, in the byte order of their paths.

    Raises `InputError` if the archive is damaged or unsafe, or has a member that is not a post.
    """
    posts = {}
    for name, text in tar_members(file, UNPACKED_LIMIT):
        path = PurePosixPath(name)
        if len(path.parts) != 3 or path.parts[0] not in FOLDERS or path in posts:
            raise InputError(
                f"{file}: member {shown(name)} should be a post below {FOLDERS[0]} or {FOLDERS[1]}."
            )
        posts[path] = text
    if not posts:
        raise InputError(f"{file} has no posts.")
    return [(path.parts[1], posts[path]) for path in sorted(posts, key=os.fsencode)]


def content(file: Path) -> Iterator[bytes]:
    """Text of each post in the byte order of the paths; it does not depend on how the archive was packed."""
    for _, text in read_posts(file):
        yield text


NEWS20 = Dataset(
    label="20NEWS",
    kind="text",
    n_samples=18_846,
    n_clusters=20,
    shape=(2000,),
    loader="dekm.datasets.paper.news20:news20",
    licence="none stated by its collectors",
    raw=(
        RawFile(
            "20news/20news-bydate.tar.gz",
            ("https://ndownloader.figshare.com/files/5975967",),
            sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
            content_sha256="88d47f138a76b288e51d3a4cb39ec25c1e597acc17aa51f35663f40d24870235",
            content="dekm.datasets.paper.news20:content",
        ),
    ),
    class_counts=(
        *(799, 973, 985, 982, 963, 988, 975, 990, 996, 994),
        *(999, 991, 984, 990, 987, 997, 910, 940, 775, 628),
    ),
)
