"""How well a partition follows the neighbourhoods of the samples: a comparison that needs no true labels."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from sklearn.neighbors import kneighbors_graph

N_NEIGHBORS = 10
N_SAMPLES = 2000


class NeighborGraph:
    r"""Graph of the nearest neighbours of samples, in which partitions of them are compared.

    Two samples are linked if one is among the nearest neighbours of the other. The graph is that of the
    samples, so partitions from different embeddings, or into different numbers of clusters, have one measure.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, ...)
        The samples. Of more than 2,000, as many are drawn with a fixed seed.

    References
    ----------
    .. [1] Newman and Girvan (2004). Finding and evaluating community structure in networks. Phys. Rev. E.

    Examples
    --------
    >>> import numpy as np
    >>> from dekm.clustering.modularity import NeighborGraph
    >>> graph = NeighborGraph(np.repeat(np.eye(2), 20, axis=0) + 0.01 * np.arange(40)[:, None])
    >>> graph.modularity([0] * 20 + [1] * 20)
    0.5
    >>> graph.modularity([0, 1] * 20) < 0.1
    True
    """

    def __init__(self, X: Any) -> None:
        self.rows = np.random.default_rng(0).permutation(X.shape[0])[:N_SAMPLES]
        self._drawn = X[self.rows].reshape(len(self.rows), -1)

    @cached_property
    def links(self) -> csr_matrix | None:
        """Symmetric matrix of zeros and ones; None if no sample differs from another."""
        X = self._drawn
        n_neighbors = min(N_NEIGHBORS, len(self.rows) - 1)
        if n_neighbors < 1 or not abs(X - X[[0] * len(self.rows)]).max() > 0:
            return None
        nearest = kneighbors_graph(X, n_neighbors, include_self=False)
        return nearest.maximum(nearest.T)

    def modularity(self, labels: ArrayLike) -> float | None:
        r"""Modularity of a partition [1]_, in [-0.5, 1]; more is better.

        .. math:: \sum_{i=1}^k \left[ \frac{m_i}{m} - \left( \frac{d_i}{2 m} \right)^2 \right]

        where m is the number of links, :math:`m_i` that of links within cluster i and :math:`d_i` the sum of
        the degrees of its samples: the fraction of links within clusters less that expected of random links.

        Parameters
        ----------
        labels : array-like of shape (n,)
            Clusters of all samples; a negative label is that of no cluster.

        Returns
        -------
        float or None
            None if the graph has no links. One cluster has 0.
        """
        if self.links is None:
            return None
        clusters, members = np.unique(np.asarray(labels)[self.rows], return_inverse=True)
        degrees = np.asarray(self.links.sum(axis=1)).ravel()
        rows, columns = self.links.nonzero()
        within = np.bincount(members[rows], members[rows] == members[columns], len(clusters)) / degrees.sum()
        expected = (np.bincount(members, degrees, len(clusters)) / degrees.sum()) ** 2
        return float((within - expected)[clusters >= 0].sum())
