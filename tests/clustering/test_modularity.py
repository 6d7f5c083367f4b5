import numpy as np
import pytest
from scipy.sparse import csr_matrix

from dekm.clustering.modularity import N_SAMPLES, NeighborGraph

RNG = np.random.default_rng(0)
PAIR = np.concatenate([RNG.normal(size=(30, 3)), 50 + RNG.normal(size=(30, 3))])
TWO = np.repeat([0, 1], 30)


def test_it_is_the_sum_over_pairs_of_newman_and_girvan():
    labels = RNG.integers(3, size=60)
    graph = NeighborGraph(PAIR)
    A, members = graph.links.toarray(), labels[graph.rows]
    degrees, twice = A.sum(1), A.sum()
    same = members[:, None] == members
    assert graph.modularity(labels) == pytest.approx(
        ((A - np.outer(degrees, degrees) / twice) * same).sum() / twice
    )
    assert (A == A.T).all()
    assert (degrees >= 10).all()


def test_separate_groups_have_the_largest_value_whatever_their_labels():
    graph = NeighborGraph(PAIR)
    assert graph.modularity(TWO) == pytest.approx(0.5, abs=0.01)
    assert graph.modularity(7 - TWO) == graph.modularity(TWO)
    assert graph.modularity(np.arange(60) % 2) < 0.1
    assert graph.modularity(np.arange(60) // 15) < graph.modularity(TWO)


def test_one_cluster_has_zero_and_samples_of_no_cluster_count_for_none():
    graph = NeighborGraph(PAIR)
    assert graph.modularity(np.zeros(60, int)) == pytest.approx(0)
    assert graph.modularity(np.full(60, -1)) == 0
    assert graph.modularity(np.where(TWO, 0, -1)) == pytest.approx(0.25, abs=0.01)


def test_the_shape_and_the_storage_of_samples_do_not_matter():
    images = PAIR.reshape(60, 3, 1, 1)
    assert NeighborGraph(images).modularity(TWO) == NeighborGraph(csr_matrix(PAIR)).modularity(TWO)


@pytest.mark.parametrize(
    "X", [np.ones((20, 2)), csr_matrix((20, 2)), np.ones((1, 3)), np.full((5, 2, 2, 1), 0.5)]
)
def test_equal_samples_have_no_neighbourhoods(X):
    assert NeighborGraph(X).modularity(np.arange(X.shape[0])) is None


def test_few_samples_have_fewer_neighbours():
    assert NeighborGraph([[0.0], [1.0]] * np.ones((2, 1))).modularity([0, 1]) == pytest.approx(-0.5)


def test_of_many_samples_the_same_are_drawn_every_time():
    X = RNG.normal(size=(N_SAMPLES + 500, 2)).astype(np.float32)
    graph = NeighborGraph(X)
    assert len(graph.rows) == N_SAMPLES
    labels = (X[:, 0] > 0).astype(int)
    assert graph.modularity(labels) == NeighborGraph(X.copy()).modularity(labels) > 0.3
