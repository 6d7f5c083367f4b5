import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans

from dekm.clustering.kmeans import kmeans
from dekm.clustering.lloyd import plus_plus
from dekm.clustering.restarts import part_size
from dekm.metrics import label_change

MANY = 20_001  # the smallest number of points with restarts on a part


def run(X, k, *, n_init=3, seed=0):
    return kmeans(torch.as_tensor(X), k, n_init=n_init, random_state=np.random.RandomState(seed))


def of_scikit_learn(X, k, n_init):
    return KMeans(k, n_init=n_init, random_state=np.random.RandomState(0)).fit(X)


def assert_bitwise_equal(partition, fitted):
    np.testing.assert_array_equal(partition.labels, fitted.labels_)
    np.testing.assert_array_equal(partition.centers, fitted.cluster_centers_)
    assert (partition.inertia, partition.n_iter) == (fitted.inertia_, fitted.n_iter_)


@pytest.fixture(scope="module")
def many(make_blobs):
    """As few points as are clustered on a part first, of clusters that overlap."""
    return make_blobs(MANY, 8, 4, spread=1.5).X


@pytest.mark.parametrize(
    ("n", "k", "size"),
    [
        (20_000, 10, 20_000),
        (MANY, 10, 10_000),
        (70_000, 10, 10_000),
        (10**6, 10, 10**5),
        (100_000, 100, 20_000),
        (12_000, 300, 12_000),
        (100_000, 300, 100_000),
    ],
)
def test_the_part_is_a_tenth_and_large_enough_for_the_clusters_or_everything(n, k, size):
    assert part_size(n, k) == size


@pytest.mark.parametrize("zeros", [0, 0.9])
@pytest.mark.parametrize("n_init", [1, 20, 100])
def test_few_points_give_the_bits_of_scikit_learn(n_init, zeros, make_blobs):
    X = make_blobs(400, 5, 10, spread=1.5).X
    X[np.random.default_rng(0).random(X.shape) < zeros] = 0
    assert_bitwise_equal(run(X, 5, n_init=n_init), of_scikit_learn(X, 5, n_init))


def test_all_restarts_on_20000_points_are_those_of_scikit_learn(many):
    assert_bitwise_equal(run(many[:20_000], 8), of_scikit_learn(many[:20_000], 8, 3))


def test_a_single_run_is_on_all_points(many):
    assert_bitwise_equal(run(many, 8, n_init=1), of_scikit_learn(many, 8, 1))


def test_restarts_on_a_part_find_the_inertia_of_restarts_on_all_points(many):
    partition = run(many, 8, n_init=20)
    assert partition.inertia == pytest.approx(of_scikit_learn(many, 8, 20).inertia_, rel=1e-4)
    assert len(partition.labels) == MANY
    distances = ((many - partition.centers.numpy()[partition.labels]).astype(float) ** 2).sum()
    assert partition.inertia == pytest.approx(distances, rel=1e-5)


def test_the_iterations_on_the_part_count(many):
    assert run(many, 8).n_iter > KMeans(8, init=run(many, 8).centers.numpy(), n_init=1).fit(many).n_iter_


@pytest.mark.parametrize("n_threads", [2, 4])
def test_the_number_of_threads_does_not_change_a_bit(n_threads, many):
    first = run(many, 8)
    torch.set_num_threads(n_threads)
    try:
        second = run(many, 8)
        assert torch.get_num_threads() == n_threads
    finally:
        torch.set_num_threads(1)
    assert torch.equal(first.labels, second.labels)
    assert torch.equal(first.centers, second.centers)
    assert first[2:] == second[2:]


def test_successive_calls_with_one_random_state_take_other_parts(many):
    random_state = np.random.RandomState(0)
    X = torch.from_numpy(many)
    starts = [kmeans(X, 8, n_init=2, random_state=random_state) for _ in range(2)]
    assert not torch.equal(starts[0].centers, starts[1].centers)


def test_a_common_offset_of_1e8_does_not_change_the_partition(many):
    moved = 1000 * many + np.float32(1e8)
    partition, near = run(moved, 8), run(moved - np.float32(1e8), 8)
    assert label_change(partition.labels, near.labels, match=False) < 0.01
    assert partition.inertia == pytest.approx(near.inertia, rel=1e-3)


def test_a_rare_point_that_the_part_lacks_gets_its_cluster():
    X = np.repeat(np.eye(4, dtype=np.float32), MANY // 4 + 1, axis=0)
    X[0] = 9
    partition = run(X, 5)
    assert (partition.labels == partition.labels[0]).sum() == 1
    assert partition.inertia == pytest.approx(0, abs=1e-3)


def test_centers_from_float32_are_those_from_float64(noise):
    X = torch.from_numpy(noise)
    centers = [
        plus_plus(X, 6, 5, torch.Generator().manual_seed(0), dtype=dtype)
        for dtype in (torch.float32, torch.float64)
    ]
    assert torch.equal(*centers)


def test_clusters_that_float32_products_cannot_tell_apart_get_a_center_each():
    # Two groups 20,000 apart, in each two clusters at distance 1: products of about 1e8 know it to +-8.
    where = torch.tensor([[-1e4, -1e4], [-1e4, -1e4 + 1], [1e4, 1e4], [1e4, 1e4 - 1]])
    X = where.repeat(100, 1) + 0.01 * torch.rand(400, 2, generator=torch.Generator().manual_seed(0))
    starts = plus_plus(X, 4, 8, torch.Generator().manual_seed(0), dtype=torch.float32)
    for start in starts:
        assert set(torch.cdist(where, start).argmin(1).tolist()) == {0, 1, 2, 3}
