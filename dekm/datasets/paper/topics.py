"""Topics: documents drawn from a topic model, so that text can be tried without a download."""

from pathlib import Path

import numpy as np
from scipy import sparse

from dekm.datasets.dataset import Dataset
from dekm.datasets.tfidf import Scaling, tfidf


def topics(
    raw_dir: Path, *, stem: bool = False, scaling: Scaling = "unit"
) -> tuple[sparse.csr_matrix, np.ndarray]:
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
    documents = [" ".join(words.repeat(row)) for row in counts]
    return tfidf(documents, stem=stem, scaling=scaling), labels.astype(np.int64)


TOPICS = Dataset(
    label="topics",
    kind="text",
    n_samples=2000,
    n_clusters=4,
    shape=(2000,),
    loader="dekm.datasets.paper.topics:topics",
    licence="drawn by this package",
)
