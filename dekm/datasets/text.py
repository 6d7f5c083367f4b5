"""Loaders of text datasets: sparse float32 tf-idf rows (n, d) and int64 labels (n,)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

N_TERMS = 2000


def tfidf(documents: Sequence[str], *, n_terms: int = N_TERMS) -> sparse.csr_matrix:
    """Tf-idf of the most frequent terms, rows of unit length; a document without a term is a row of zeros."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(max_features=n_terms, dtype=np.float32).fit_transform(documents)


def topics(raw_dir: Path) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Documents drawn from a topic model with a fixed seed: 2,000 documents, 4 topics, 2,000 terms.

    A topic is a Dirichlet draw around a power law over 4,000 words that all topics share. A
    document mixes its own topic with the others (latent Dirichlet allocation; Blei, Ng and Jordan, 2003).
    """
    rng = np.random.default_rng(20210930)
    n_documents, n_topics, n_words = 2000, 4, 4000
    common = np.arange(1.0, n_words + 1) ** -0.7
    words_of_topic = rng.dirichlet(400 * common / common.sum(), size=n_topics)
    labels = rng.integers(n_topics, size=n_documents)
    weights = rng.dirichlet(np.full(n_topics, 0.5), size=n_documents)
    weights = 0.5 * weights + 0.5 * np.eye(n_topics)[labels]
    lengths = rng.poisson(80, size=n_documents) + 20
    counts = rng.multinomial(lengths, weights @ words_of_topic)
    words = np.array([f"w{i:04d}" for i in range(n_words)])
    return tfidf([" ".join(words.repeat(row)) for row in counts]), labels.astype(np.int64)
