"""REUTERS-10K: 10,000 newswire documents of four topics.

There are three versions: "dec" takes the first 10,000 of all documents after a random permutation (Xie,
Girshick and Farhadi, 2016); "dec_keras" takes the first 10,000 without a permutation; the MATLAB file of VaDE
is a third party's copy of such a set.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
from scipy import sparse

from dekm.datasets.dataset import Dataset, RawSet
from dekm.datasets.labels import encode_labels
from dekm.datasets.paper.lyrl import LICENCE, PARTS, QRELS, QRELS_FILE, TOKEN_FILES, read_tokens, read_topics
from dekm.datasets.raw_file import RawFile
from dekm.datasets.tfidf import N_TERMS, Scaling, scale_rows
from dekm.errors import InputError, shown

TOPICS = ("CCAT", "GCAT", "MCAT", "ECAT")  # in the order of the labels
N_SAMPLES = 10_000
SEED = 1234  # of DEC's scripts


def from_mat(raw_dir: Path, *, scaling: Scaling = "unit") -> tuple[sparse.csr_matrix, np.ndarray]:
    """Load REUTERS-10K from the MATLAB file of VaDE: float32 csr_matrix (10000, 2000) and int64 labels.

    Raises `InputError` if the file is damaged, or its variables have another shape or values that are not
    finite.
    """
    from dekm.datasets.raw.matlab import read_mat

    file = raw_dir / "reuters10k/reuters10k.mat"
    X, labels = (read_mat(file, name) for name in ("X", "Y"))
    if not all(isinstance(part, np.ndarray) and part.dtype.kind in "buif" for part in (X, labels)):
        raise InputError(f"{file}: X and Y should be dense matrices of numbers.")
    if X.ndim != 2 or labels.size != len(X):
        raise InputError(
            f"{file}: X of shape {X.shape} should have one row for each of {labels.size} labels."
        )
    if not np.isfinite(X).all():
        raise InputError(f"{file}: X has values that are not finite.")
    return scale_rows(sparse.csr_matrix(X.astype(np.float32)), scaling), encode_labels(labels, file)


def from_tokens(
    raw_dir: Path, *, subset: Literal["dec", "dec_keras"] = "dec", scaling: Scaling = "unit"
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Load REUTERS-10K from the token files, as DEC prepares it, see `rebuild`."""
    return rebuild(raw_dir, subset=subset, scaling=scaling)


def rebuild(
    raw_dir: Path,
    *,
    subset: Literal["dec", "dec_keras"],
    scaling: Scaling = "unit",
    n_samples: int = N_SAMPLES,
    n_terms: int = N_TERMS,
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Tf-idf of documents with exactly one of the four topics, with term frequencies 1 + ln(count).

    The terms and their document frequencies are those of all documents with one topic. The files are read
    twice, so that only the selected documents are kept in memory. Returns a float32 csr_matrix (n, d), see
    `scale_rows` for `scaling`, and int64 labels; `InputError` if an option is invalid, a file has another
    format, or there are fewer than `n_samples` documents.
    """
    if subset not in ("dec", "dec_keras"):
        raise InputError(f"subset={shown(subset)} should be 'dec' or 'dec_keras'.")
    topics = read_topics(raw_dir / QRELS, TOPICS)
    documents, counts, frequencies = _count_stems(raw_dir, topics)
    if len(documents) < n_samples:
        raise InputError(
            f"The token files hold {len(documents)} documents with one topic, fewer than {n_samples}."
        )
    order = np.arange(len(documents))
    if subset == "dec":
        order = np.random.RandomState(SEED).permutation(len(documents))
    selected = [documents[i] for i in order[:n_samples]]
    wanted = set(selected)
    texts = {document: text for document, text in _with_topic(raw_dir, topics) if document in wanted}
    terms = sorted(sorted(counts, key=lambda term: (-counts[term], term))[:n_terms])
    idf = np.log((1 + len(documents)) / (1 + np.array([frequencies[term] for term in terms]))) + 1
    X = _sublinear_tfidf([texts[document] for document in selected], terms, idf)
    y = np.array([TOPICS.index(topics[document]) for document in selected], np.int64)
    return scale_rows(X, scaling), y


def _count_stems(raw_dir: Path, topics: dict[int, str]) -> tuple[list[int], Counter[str], Counter[str]]:
    """Numbers of the documents, and counts and document frequencies of their stems."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer().build_analyzer()
    documents, counts, frequencies = [], Counter[str](), Counter[str]()
    for document, text in _with_topic(raw_dir, topics):
        stems = words(text)
        counts.update(stems)
        frequencies.update(set(stems))
        documents.append(document)
    return documents, counts, frequencies


def _sublinear_tfidf(texts: list[str], terms: list[str], idf: np.ndarray) -> sparse.csr_matrix:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(vocabulary=terms, norm=None, sublinear_tf=True, dtype=np.float32)
    vectorizer.idf_ = idf
    return vectorizer.transform(texts)


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
            max_bytes=2**29,
        ),
    ),
    alternatives=(RawSet("dekm.datasets.paper.reuters10k:from_tokens", (*TOKEN_FILES, QRELS_FILE)),),
)
