"""RCV1-10K: the 10,000 documents of RCV1-v2 that Deep k-Means uses (Fard, Thonet and Gaussier, 2020)."""

import io
import pickle
from pathlib import Path

import numpy as np
from scipy import sparse

from dekm.datasets.dataset import Dataset, RawSet
from dekm.datasets.paper.lyrl import FIGSHARE_URL, LICENCE, PARTS, QRELS, QRELS_FILE, read_topics
from dekm.datasets.raw.archives import unpacked
from dekm.datasets.raw_file import RawFile
from dekm.datasets.tfidf import N_TERMS, Scaling, scale_rows
from dekm.errors import InputError
from dekm.files.reading import readable

TOPICS = ("CCAT", "ECAT", "GCAT", "MCAT")  # in the order of the labels
N_FEATURES = 47_236
UNPACKED_LIMIT = 2**31


def from_vectors(raw_dir: Path, *, scaling: Scaling = "unit") -> tuple[sparse.csr_matrix, np.ndarray]:
    """Load RCV1-10K from the published vector files; only the selected lines are kept in memory.

    Rows are numbered as in scikit-learn's ``fetch_rcv1``: training documents first. Returns a float32
    csr_matrix (10000, 2000), see `scale_rows` for `scaling`, and int64 labels; `InputError` if a file is
    damaged, or a document does not have exactly one of the four topics.
    """
    from sklearn.datasets import load_svmlight_file

    rows = read_rows(raw_dir)
    files = [raw_dir / f"rcv1/lyrl2004_vectors_{part}.dat.gz" for part in ("train", *PARTS[:-1])]
    text = b"".join(_lines(files, rows))
    with readable(files[0].parent, "folder of RCV1 vectors"):
        X, documents = load_svmlight_file(io.BytesIO(text), n_features=N_FEATURES, zero_based=False)
    if len(documents) != len(rows) or not np.isfinite(X.data).all():
        raise InputError(f"{files[0].parent}: the vector files have lines that are not vectors.")
    topics = read_topics(raw_dir / QRELS, TOPICS)
    without = [int(document) for document in documents if int(document) not in topics]
    if without:
        raise InputError(f"{raw_dir / QRELS}: document {without[0]} does not have exactly one of {TOPICS}.")
    y = np.array([TOPICS.index(topics[int(document)]) for document in documents], np.int64)
    return scale_rows(top_columns(X), scaling), y


def from_scikit_learn(raw_dir: Path, *, scaling: Scaling = "unit") -> tuple[sparse.csr_matrix, np.ndarray]:
    """Load RCV1-10K with ``fetch_rcv1``, from a copy of its cache at ``rcv1/RCV1``, as `from_vectors`."""
    from sklearn.datasets import fetch_rcv1

    rows, folder = read_rows(raw_dir), raw_dir / "rcv1"
    unpickling = (pickle.PickleError, AttributeError, ImportError)
    with readable(folder / "RCV1", "cache of scikit-learn", *unpickling):
        corpus = fetch_rcv1(data_home=str(folder), download_if_missing=False)
        names = list(corpus.target_names)
        columns = [names.index(topic) for topic in TOPICS]
        X, topics = sparse.csr_matrix(corpus.data), sparse.csr_matrix(corpus.target)
    if X.shape[0] != topics.shape[0] or rows.max() >= X.shape[0]:
        raise InputError(f"{folder / 'RCV1'} holds {X.shape[0]} documents; row {rows.max()} does not exist.")
    chosen = topics[rows][:, columns].toarray() != 0
    if (chosen.sum(axis=1) != 1).any():
        row = rows[np.flatnonzero(chosen.sum(axis=1) != 1)[0]]
        raise InputError(f"{folder / 'RCV1'}: row {row} does not have exactly one of {TOPICS}.")
    return scale_rows(top_columns(X[rows]), scaling), chosen.argmax(axis=1).astype(np.int64)


def read_rows(raw_dir: Path) -> np.ndarray:
    """Row numbers in the corpus, from 0, of the test set of Deep k-Means and then of its validation set.

    Raises `InputError` if a line is not a row number, or there are none.
    """
    rows: list[int] = []
    for part in ("test", "validation"):
        file = raw_dir / "rcv1_10k_index" / part
        with readable(file, "list of row numbers"):
            lines = file.read_text(encoding="ascii").split()
        for number, line in enumerate(lines, 1):
            if not line.isdigit() or len(line) > 9:
                raise InputError(f"{file}: line {number} is {line[:60]!r}, not a row number.")
            rows.append(int(line))
    if not rows:
        raise InputError(f"{raw_dir / 'rcv1_10k_index'} lists no rows.")
    return np.array(rows)


def top_columns(X: sparse.csr_matrix, n_terms: int = N_TERMS) -> sparse.csr_matrix:
    """The columns with the largest sums, in their order; among equal sums, the first columns."""
    sums = np.asarray(X.sum(axis=0)).reshape(-1)
    return X[:, np.sort(np.argsort(-sums, kind="stable")[:n_terms])]


def _lines(files: list[Path], rows: np.ndarray) -> list[bytes]:
    wanted, kept, n_lines = set(rows.tolist()), {}, 0
    for file in files:
        with unpacked(file, UNPACKED_LIMIT) as stream:
            for line in stream:
                if n_lines in wanted:
                    kept[n_lines] = line.rstrip() + b"\n"
                n_lines += 1
    if len(kept) < len(wanted):
        raise InputError(f"The vector files hold {n_lines} documents; row {max(wanted)} does not exist.")
    return [kept[row] for row in rows.tolist()]


DEEP_KMEANS_URL = "https://raw.githubusercontent.com/MaziarMF/deep-k-means/3872869/split/rcv1/"
VECTORS = {
    "test_pt0": ("5976069", "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374"),
    "test_pt1": ("5976066", "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6"),
    "test_pt2": ("5976063", "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5"),
    "test_pt3": ("5976060", "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39"),
    "train": ("5976057", "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae"),
}
SPLIT = {
    "test": "26c22ad47eda2c283a5481c2f705da61f862c0b7b457941a1564b07f605133bf",
    "validation": "a1a689eb7f808e80d57dab694e57d98fe92a9ba3ef2b787e7f33547a03e9cf92",
}

_VECTOR_FILES = tuple(
    RawFile(
        f"rcv1/lyrl2004_vectors_{part}.dat.gz",
        (FIGSHARE_URL + number,),
        sha256,
        content=None,
        max_bytes=2**29,
    )
    for part, (number, sha256) in VECTORS.items()
)
_SPLIT_FILES = tuple(
    RawFile(f"rcv1_10k_index/{part}", (DEEP_KMEANS_URL + part,), sha256=sha256, content=None)
    for part, sha256 in SPLIT.items()
)
_CACHE_FILES = tuple(
    RawFile(f"rcv1/RCV1/{name}_py3.pkl", (), content=None)
    for name in ("samples", "sample_id", "sample_topics", "topics_names")
)

RCV1_10K = Dataset(
    label="RCV1-10K",
    kind="text",
    n_samples=10_000,
    n_clusters=4,
    shape=(2000,),
    loader="dekm.datasets.paper.rcv1:from_vectors",
    licence=LICENCE,
    raw=(*_SPLIT_FILES, *_VECTOR_FILES, QRELS_FILE),
    alternatives=(RawSet("dekm.datasets.paper.rcv1:from_scikit_learn", (*_SPLIT_FILES, *_CACHE_FILES)),),
)
