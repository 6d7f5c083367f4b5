import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

from dekm.clustering.kmeans import assign, kmeans, kmeans_update, nearest_center
from dekm.errors import InputError


def run(X, k, *, n_init=3, seed=0):
    return kmeans(torch.as_tensor(X), k, n_init=n_init, random_state=np.random.RandomState(seed))


def test_two_pairs_of_points_are_two_clusters():
    labels, centers, inertia, n_iter = run([[0.0, 0.0], [0.0, 2.0], [10.0, 0.0], [10.0, 2.0]], 2)
    assert labels[0] == labels[1] != labels[2] == labels[3]
    assert sorted(centers.tolist()) == [[0.0, 1.0], [10.0, 1.0]]
    assert inertia == 4.0
    assert n_iter >= 1


def test_partition_is_that_of_scikit_learn(blobs):
    partition = run(blobs.X, 3, n_init=2)
    reference = KMeans(3, n_init=2, tol=1e-4, max_iter=300, random_state=0).fit(blobs.X)
    np.testing.assert_array_equal(partition.labels.numpy(), reference.labels_)
    assert partition.inertia == pytest.approx(reference.inertia_, rel=1e-6)


def test_labels_are_int64_and_centers_float32(blobs):
    partition = run(blobs.X, 3)
    assert partition.labels.dtype == torch.int64
    assert partition.centers.dtype == torch.float32


def test_more_starts_are_never_worse(make_blobs):
    X, _ = make_blobs(200, 8, 2, spread=3.0)
    assert run(X, 8, n_init=20).inertia <= run(X, 8, n_init=1).inertia


def test_same_random_state_gives_the_same_partition(noise):
    first, second = run(noise, 6), run(noise, 6)
    assert torch.equal(first.labels, second.labels)
    assert torch.equal(first.centers, second.centers)


def test_successive_calls_with_one_random_state_differ(noise):
    random_state = np.random.RandomState(0)
    starts = [kmeans(torch.from_numpy(noise), 6, n_init=1, random_state=random_state) for _ in range(4)]
    assert len({partition.inertia for partition in starts}) > 1


def test_the_points_are_summed_by_two_threads_at_most(noise, monkeypatch):
    fit, seen = KMeans.fit, []

    def counted(estimator, X):
        seen.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"})
        return fit(estimator, X)

    monkeypatch.setattr(KMeans, "fit", counted)
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        run(noise, 6)
        assert torch.get_num_threads() == 4
    finally:
        torch.set_num_threads(before)
    assert [max(pools) for pools in seen] == [2]  # other libraries may have pools of one


def test_fewer_points_than_clusters_are_refused():
    with pytest.raises(InputError, match=r"n_samples=3 should be >= n_clusters=10\."):
        run(np.zeros((3, 2), np.float32), 10)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_points_that_are_not_finite_are_refused(value, noise):
    X = noise.copy()
    X[5, 2] = value
    with pytest.raises(InputError, match="NaN or infinity"):
        run(X, 3)


def test_fewer_distinct_points_than_clusters_give_a_warning():
    X = np.repeat(np.eye(3, dtype=np.float32), 10, axis=0)
    with pytest.warns(
        ConvergenceWarning, match=r"distinct clusters \(3\) found smaller than n_clusters \(6\)"
    ):
        partition = run(X, 6)
    assert len(partition.labels.unique()) == 3
    assert partition.inertia == pytest.approx(0, abs=1e-6)


def test_as_many_clusters_as_points_leave_no_loss():
    assert run(np.eye(4, dtype=np.float32), 4).inertia == pytest.approx(0, abs=1e-6)


def test_nearest_center_by_hand():
    X = torch.tensor([[0.0, 0.0], [3.0, 0.0], [9.0, 9.0]])
    U = torch.tensor([[10.0, 10.0], [0.0, 1.0], [4.0, 0.0]])
    assert nearest_center(X, U).tolist() == [1, 2, 0]


def test_assign_keeps_the_centers_and_sums_the_squared_distances():
    X = torch.tensor([[0.0, 0.0], [3.0, 0.0]])
    U = torch.tensor([[0.0, 1.0], [5.0, 0.0]])
    labels, centers, inertia, n_iter = assign(X, U)
    assert labels.tolist() == [0, 1]
    assert torch.equal(centers, U)
    assert centers.data_ptr() != U.data_ptr()
    assert (inertia, n_iter) == (5.0, 0)


def test_nearest_center_agrees_with_the_labels_far_from_the_origin(make_blobs):
    X, _ = make_blobs(300, 3, 10, spread=1.0)
    X = X + np.float32(3000)
    partition = run(X, 3)
    distances = np.linalg.norm(X[:, None].astype(np.float64) - partition.centers.numpy(), axis=2)
    np.testing.assert_array_equal(nearest_center(torch.from_numpy(X), partition.centers), distances.argmin(1))


# Two pairs of points; BAD is the worse of two partitions into three clusters that Lloyd's algorithm keeps.
PAIRS = torch.tensor([[0.0], [1.0], [10.0], [14.0]])
GOOD = assign(PAIRS, torch.tensor([[0.5], [10.0], [14.0]]))  # inertia 0.5
BAD = assign(PAIRS, torch.tensor([[0.0], [1.0], [12.0]]))  # inertia 8


def update(previous, *, X=PAIRS, n_init=20, margin=1e-4, seed=0):
    return kmeans_update(X, previous, n_init=n_init, margin=margin, random_state=np.random.RandomState(seed))


def test_the_previous_partition_is_kept_with_its_numbers_where_fresh_starts_are_not_better():
    assert torch.equal(update(GOOD).labels, GOOD.labels)
    assert update(GOOD).inertia == 0.5


def test_a_fresh_start_better_by_the_margin_replaces_the_previous_partition():
    assert update(BAD).inertia == 0.5
    assert update(BAD, margin=0.93).inertia == 0.5  # 0.5 is smaller than 7 % of 8
    assert update(BAD, margin=0.94).inertia == 8
    assert torch.equal(update(BAD, margin=0.94).labels, BAD.labels)


def test_no_fresh_start_leaves_the_run_from_the_previous_partition():
    assert update(BAD, n_init=0).inertia == 8


def test_the_start_is_the_mean_of_the_members_where_they_are_now():
    moved = PAIRS + 100
    assert torch.equal(update(GOOD, X=moved, n_init=0).labels, GOOD.labels)
    assert update(GOOD, X=moved, n_init=0).centers.tolist() == [[100.5], [110.0], [114.0]]


def test_an_update_repeats_bit_by_bit(noise):
    X = torch.from_numpy(noise)
    previous = run(noise, 6)
    first, second = (update(previous, X=X + 0.3 * X.sin(), n_init=2) for _ in range(2))
    assert torch.equal(first.labels, second.labels)
    assert torch.equal(first.centers, second.centers)


def test_a_negative_margin_is_refused():
    with pytest.raises(InputError, match=r"margin=-0\.1 should be >= 0\."):
        update(GOOD, margin=-0.1)


def test_a_partition_of_another_number_of_points_is_refused():
    with pytest.raises(InputError, match=r"previous is a partition of 4 points; X has 3\."):
        update(GOOD, X=PAIRS[:3])
