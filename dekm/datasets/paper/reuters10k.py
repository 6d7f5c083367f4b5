"""REUTERS-10K: 10,000 newswire documents of four topics.

Three sets go by this name. "dec" permutes all documents and takes 10,000 (Xie, Girshick and Farhadi, 2016);
"dec_keras" takes the first 10,000; VaDE's MATLAB file is a third party's copy of such a set.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
from scipy import sparse

from dekm.datasets.dataset import Dataset, Source
from dekm.datasets.labels import encode_labels
from dekm.datasets.paper.lyrl import LICENCE, PARTS, QRELS, QRELS_FILE, TOKEN_FILES, read_tokens, read_topics
from dekm.datasets.raw.hdf5 import read_hdf5
from dekm.datasets.raw_file import RawFile
from dekm.datasets.reading import readable
from dekm.datasets.tfidf import N_TERMS, Scaling, scale_rows
from dekm.errors import InputError

TOPICS = ("CCAT", "GCAT", "MCAT", "ECAT")  # in the order of their numbers
N_SAMPLES = 10_000
SEED = 1234  # of DEC's scripts
MAT_LIMIT = 2**30


def from_mat(raw_dir: Path, *, scaling: Scaling = "unit") -> tuple[sparse.csr_matrix, np.ndarray]:
    """VaDE's copy, variables X (10000, 2000) and Y of a MATLAB file."""
    file = raw_dir / "reuters10k/reuters10k.mat"
    X, labels = read_mat(file)
    if X.ndim != 2 or labels.size != len(X):
        raise InputError(f"{file}: X of shape {X.shape} and {labels.size} labels do not belong together.")
    if not np.isfinite(X).all():
        raise InputError(f"{file}: X holds values that are not finite.")
    return scale_rows(sparse.csr_matrix(X.astype(np.float32)), scaling), encode_labels(labels, file)


def read_mat(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Dense variables X and Y of a MATLAB file of version 5 or 7.3.

    Raises
    ------
    InputError
        If the file is damaged, or has not these variables as arrays of numbers.
    """
    import h5py
    from scipy.io import loadmat, whosmat
    from scipy.io.matlab import MatReadError

    with readable(file, "MATLAB file", MatReadError), file.open("rb") as stream:
        if h5py.is_hdf5(file):
            X, labels = read_hdf5(file, "X", "Y", limit=MAT_LIMIT)
            return X.T, labels  # MATLAB stores columns first
        shapes = {name: shape for name, shape, _ in whosmat(stream, appendmat=False)}
        if not {"X", "Y"} <= set(shapes):
            raise InputError(f"{file} has variables {sorted(shapes)}; X and Y are needed.")
        if any(np.prod(shapes[name], dtype=float) * 8 > MAT_LIMIT for name in ("X", "Y")):
            raise InputError(f"{file}: X of shape {shapes['X']} is larger than {MAT_LIMIT} bytes.")
        variables = loadmat(stream, appendmat=False, variable_names=["X", "Y"])
    X, labels = variables["X"], variables["Y"]
    if not (isinstance(X, np.ndarray) and isinstance(labels, np.ndarray) and X.dtype.kind in "buif"):
        raise InputError(f"{file}: X and Y should be full matrices of numbers.")
    return X, labels


def from_tokens(
    raw_dir: Path, *, subset: Literal["dec", "dec_keras"] = "dec", scaling: Scaling = "unit"
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """The set rebuilt from the corpus by DEC's recipe; `subset` names which 10,000 documents."""
    return rebuild(raw_dir, subset=subset, scaling=scaling)


def rebuild(
    raw_dir: Path,
    *,
    subset: Literal["dec", "dec_keras"],
    scaling: Scaling = "unit",
    n_samples: int = N_SAMPLES,
    n_terms: int = N_TERMS,
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Documents with exactly one of the four topics as tf-idf of the most frequent stems, 1 + ln(count) each.

    Terms and document frequencies come from all documents, which are read twice and never held at once.

    Raises
    ------
    InputError
        If a file has another form, or there are fewer than `n_samples` documents.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    if subset not in ("dec", "dec_keras"):
        raise InputError(f"subset={subset!r} should be 'dec' or 'dec_keras'.")
    topics = read_topics(raw_dir / QRELS, TOPICS)
    words = TfidfVectorizer().build_analyzer()
    documents, counts, frequencies = [], Counter[str](), Counter[str]()
    for document, text in _with_topic(raw_dir, topics):
        stems = words(text)
        counts.update(stems)
        frequencies.update(set(stems))
        documents.append(document)
    if len(documents) < n_samples:
        raise InputError(f"The token files hold {len(documents)} documents with one topic, not {n_samples}.")
    order = np.arange(len(documents))
    if subset == "dec":
        order = np.random.RandomState(SEED).permutation(len(documents))
    selected = [documents[i] for i in order[:n_samples]]
    terms = sorted(sorted(counts, key=lambda term: (-counts[term], term))[:n_terms])
    vectorizer = TfidfVectorizer(vocabulary=terms, norm=None, sublinear_tf=True, dtype=np.float32)
    n_with_term = np.array([frequencies[term] for term in terms])
    vectorizer.idf_ = np.log((1 + len(documents)) / (1 + n_with_term)) + 1
    wanted = set(selected)
    texts = {document: text for document, text in _with_topic(raw_dir, topics) if document in wanted}
    X = vectorizer.transform([texts[document] for document in selected])
    y = np.array([TOPICS.index(topics[document]) for document in selected], np.int64)
    return scale_rows(X, scaling), y


def _with_topic(raw_dir: Path, topics: dict[int, str]) -> Iterator[tuple[int, str]]:
    files = [raw_dir / f"rcv1/lyrl2004_tokens_{part}.dat.gz" for part in PARTS]
    for document, text in read_tokens(files):
        if document in topics:
            yield document, text


REUTERS10K = Dataset(
    label="REUTERS-10K",
    kind="text",
    n_samples=10_000,
    n_clusters=4,
    shape=(2000,),
    loader="dekm.datasets.paper.reuters10k:from_mat",
    licence=LICENCE,
    raw=(
        RawFile(
            "reuters10k/reuters10k.mat",
            (
                "https://github.com/slim1017/VaDE/raw/eca52b4b57e32a68f578de7a54eda5d39907b0fe/"
                "dataset/reuters10k/reuters10k.mat",
            ),
            sha256="aa0774a824889efe0597f0d42c6a795c99f312f89819afde957746fb7f0588b1",
            content=None,
        ),
    ),
    alternatives=(Source("dekm.datasets.paper.reuters10k:from_tokens", (*TOKEN_FILES, QRELS_FILE)),),
)
