import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans

from dekm.clustering import lloyd
from dekm.metrics import label_change


def best(X, k, *, n_init=10, seed=0, max_iter=300, tol=1e-4):
    generator = torch.Generator().manual_seed(seed)
    return lloyd.best_of_restarts(
        torch.as_tensor(X), k, n_init=n_init, max_iter=max_iter, tol=tol, generator=generator
    )


def inertia_of(X, labels, centers):
    return ((np.asarray(X, np.float64) - centers.double().numpy()[labels]) ** 2).sum()


@pytest.mark.parametrize("seed", range(20))
def test_inertia_is_that_of_scikit_learn(seed, make_blobs):
    k = 2 + seed % 5
    X, _ = make_blobs(150 + 10 * seed, k, 2 + seed % 7, seed=seed, spread=3.0)
    reference = KMeans(k, n_init=20, random_state=seed).fit(X).inertia_
    assert best(X, k, n_init=20, seed=seed)[2] == pytest.approx(reference, rel=1e-3)


def squared(X, U):
    return ((X[:, None] - U) ** 2).sum(-1)


def plus_plus_of_numpy(X, k, n_runs, generator):
    """Greedy k-means++ of Arthur and Vassilvitskii (2007) with the draws of a generator, run by run."""
    chosen = torch.randint(len(X), (n_runs,), generator=generator).tolist()
    centers = [[X[i]] for i in chosen]
    for _ in range(1, k):
        draws = torch.rand(n_runs, 2 + int(np.log(k)), generator=generator, dtype=torch.float64).numpy()
        for run, draw in zip(centers, draws, strict=True):
            closest = squared(X, np.array(run)).min(1)
            trials = np.searchsorted(closest.cumsum(), draw * closest.sum())
            sums = [np.minimum(closest, squared(X, X[[i]])[:, 0]).sum() for i in trials]
            run.append(X[trials[int(np.argmin(sums))]])
    return np.array(centers)


def lloyd_of_numpy(X, U, tol):
    """One run of Lloyd's algorithm until the centers move little: labels, centers, inertia and iterations."""
    n_iter, shift = 0, np.inf
    while shift > tol * X.var(0).mean():
        labels = squared(X, U).argmin(1)
        moved = np.array([X[labels == j].mean(0) for j in range(len(U))])
        n_iter, shift, U = n_iter + 1, ((moved - U) ** 2).sum(), moved
    return squared(X, U).argmin(1), U, squared(X, U).min(1).sum(), n_iter


@pytest.mark.parametrize("k", [2, 4, 8])
def test_the_starts_are_those_of_k_means_plus_plus_in_numpy(k, noise):
    found = lloyd.plus_plus(torch.from_numpy(noise), k, 5, torch.Generator().manual_seed(k))
    expected = plus_plus_of_numpy(noise.astype(float), k, 5, torch.Generator().manual_seed(k))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("tol", [0.0, 1e-3, 0.05, 1.0])
def test_the_best_run_is_that_of_numpy(tol, noise):
    X = noise.astype(float)
    starts = lloyd.plus_plus(torch.from_numpy(noise), 6, 5, torch.Generator().manual_seed(1))
    runs = [lloyd_of_numpy(X, U.astype(float), tol) for U in starts.numpy()]
    expected = min(runs, key=lambda run: run[2])
    labels, centers, inertia, n_iter = lloyd.lloyd(torch.from_numpy(noise), starts, max_iter=300, tol=tol)
    assert n_iter == expected[3]
    np.testing.assert_array_equal(labels, expected[0])
    np.testing.assert_allclose(centers, expected[1], rtol=1e-4, atol=1e-5)
    assert inertia == pytest.approx(expected[2], rel=1e-5)
    assert len({round(run[2], 3) for run in runs}) > 1


def test_the_best_of_several_groups_is_that_of_all_runs(noise, monkeypatch):
    X, generator = torch.from_numpy(noise), torch.Generator().manual_seed(3)
    monkeypatch.setattr(lloyd, "ELEMENTS_CPU", 2 * len(X))  # two runs at once
    found = best(noise, 6, n_init=6, seed=3)[2]
    groups = [lloyd.plus_plus(X, 6, 2, generator) for _ in range(3)]
    inertias = [
        lloyd_of_numpy(noise.astype(float), U.astype(float), 1e-4)[2] for U in torch.cat(groups).numpy()
    ]
    assert found == pytest.approx(min(inertias), rel=1e-5)
    assert max(min(pair) for pair in np.reshape(inertias, (3, 2))) > 1.001 * min(inertias)


def test_labels_centers_and_inertia_belong_together(blobs):
    labels, centers, inertia, n_iter = best(blobs.X, 3)
    np.testing.assert_array_equal(
        labels, lloyd.squared_distances(torch.from_numpy(blobs.X), centers).argmin(1)
    )
    assert inertia == pytest.approx(inertia_of(blobs.X, labels, centers), rel=1e-5)
    for i in range(3):
        np.testing.assert_allclose(centers[i], blobs.X[labels == i].mean(0), rtol=1e-4, atol=1e-5)
    assert 1 <= n_iter <= 300


def test_an_offset_of_the_data_does_not_change_the_partition(make_blobs):
    X, _ = make_blobs(300, 3, 10, spread=2.0)
    labels, _, inertia, _ = best(X, 3)
    moved_labels, moved_centers, moved_inertia, _ = best(X + np.float32(2000), 3)
    assert label_change(labels, moved_labels, match=True) == 0
    assert moved_inertia == pytest.approx(inertia, rel=1e-3)
    np.testing.assert_allclose(moved_centers.mean(), X.mean() + 2000, rtol=1e-3)


def test_the_same_seed_gives_a_bitwise_equal_result(noise):
    first, second = best(noise, 6), best(noise, 6)
    assert torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1])
    assert first[2:] == second[2:]


def test_another_seed_draws_other_starts(noise):
    assert len({best(noise, 8, n_init=1, seed=seed)[2] for seed in range(4)}) > 1


@pytest.mark.parametrize("elements", [1, 7, 64, 1000])
def test_blocks_smaller_than_the_data_change_nothing(elements, make_blobs, monkeypatch):
    X = torch.from_numpy(make_blobs(50, 3, 4).X)
    starts = lloyd.plus_plus(X, 3, 2, torch.Generator().manual_seed(0))
    whole = lloyd.lloyd(X, starts[:1].clone(), max_iter=300, tol=1e-4)
    monkeypatch.setattr(lloyd, "ELEMENTS_CPU", elements)
    assert torch.equal(lloyd.plus_plus(X, 3, 2, torch.Generator().manual_seed(0)), starts)
    blocked = lloyd.lloyd(X, starts[:1].clone(), max_iter=300, tol=1e-4)
    assert torch.equal(whole[0], blocked[0])
    torch.testing.assert_close(whole[1], blocked[1])
    assert whole[2:] == pytest.approx(blocked[2:])


@pytest.mark.parametrize("elements", [1, 70, 120])
def test_restarts_in_small_groups_find_the_same_loss(elements, make_blobs, monkeypatch):
    X, _ = make_blobs(50, 3, 4)
    inertia = best(X, 3, n_init=5)[2]
    monkeypatch.setattr(lloyd, "ELEMENTS_CPU", elements)
    assert best(X, 3, n_init=5)[2] == pytest.approx(inertia)


@pytest.mark.parametrize("elements", [1, 3, 4, 2**27])
def test_an_empty_cluster_takes_the_farthest_point(elements, monkeypatch):
    monkeypatch.setattr(lloyd, "ELEMENTS_CPU", elements)
    X = torch.tensor([[0.0], [1.0], [2.0], [9.0], [20.0]])
    U = torch.tensor([[[1.0], [100.0], [200.0]]])
    means = lloyd.updated_centers(X, U)
    torch.testing.assert_close(means[0], torch.tensor([[6.4], [20.0], [9.0]]))


def test_parallel_runs_are_independent(noise):
    X = torch.from_numpy(noise)
    U = torch.stack([X[:4], X[50:54], X[100:104]])
    together = lloyd.updated_centers(X, U)
    for run, alone in zip(together, U, strict=True):
        torch.testing.assert_close(run, lloyd.updated_centers(X, alone[None])[0])


def test_no_cluster_stays_empty_where_points_are_distinct(noise):
    for seed in range(3):
        assert len(best(noise, 20, n_init=1, seed=seed)[0].unique()) == 20


def test_duplicated_points_end_with_as_many_clusters_as_distinct_points():
    X = np.repeat(np.eye(3, dtype=np.float32), 10, axis=0)
    labels, centers, inertia, _ = best(X, 6)
    assert len(labels.unique()) == 3
    assert torch.isfinite(centers).all()
    assert inertia == pytest.approx(0, abs=1e-6)


def test_points_that_are_all_equal_are_one_cluster():
    labels, centers, inertia, n_iter = best(np.full((20, 2), 7, np.float32), 3)
    assert labels.unique().numel() == 1
    assert inertia == 0
    assert n_iter == 1
    assert torch.equal(centers, torch.full((3, 2), 7.0))


def test_starts_are_distinct_points_of_the_data(blobs):
    X = torch.from_numpy(blobs.X)
    starts = lloyd.plus_plus(X, 5, 4, torch.Generator().manual_seed(0))
    assert starts.shape == (4, 5, 10)
    rows = {tuple(row) for row in blobs.X.tolist()}
    for start in starts.tolist():
        assert len({tuple(center) for center in start}) == 5
        assert all(tuple(center) in rows for center in start)


def test_starts_fall_into_different_clusters_where_clusters_are_far_apart(make_blobs):
    X, y = make_blobs(100, 4, 3, spread=300.0)
    starts = lloyd.plus_plus(torch.from_numpy(X), 4, 8, torch.Generator().manual_seed(0))
    for start in starts:
        nearest = torch.cdist(start, torch.from_numpy(X)).argmin(1)
        assert set(y[nearest]) == {0, 1, 2, 3}


def test_max_iter_ends_the_run(noise):
    assert best(noise, 8, max_iter=1, tol=0.0)[3] == 1


def test_one_cluster_is_the_mean(noise):
    labels, centers, inertia, _ = best(noise, 1)
    assert (labels == 0).all()
    np.testing.assert_allclose(centers[0], noise.mean(0), atol=1e-6)
    assert inertia == pytest.approx(noise.var(0, dtype=np.float64).sum() * len(noise), rel=1e-5)


@pytest.mark.parametrize("elements", [1, 7, 2**18])
def test_an_empty_cluster_of_a_partition_takes_the_farthest_point(elements, monkeypatch):
    monkeypatch.setattr(lloyd, "ELEMENTS_CPU", elements)
    X = torch.tensor([[0.0], [1.0], [2.0], [9.0], [20.0]])
    means = lloyd.cluster_means(X, torch.tensor([2, 2, 2, 2, 2]), 4)
    torch.testing.assert_close(means, torch.tensor([[20.0], [0.0], [6.4], [1.0]]))


def test_cluster_means_are_those_of_the_members(noise):
    labels = np.arange(200) % 7
    means = lloyd.cluster_means(torch.from_numpy(noise), torch.from_numpy(labels), 7).numpy()
    expected = [noise[labels == i].mean(0, dtype=np.float64) for i in range(7)]
    np.testing.assert_allclose(means, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("gib", "elements"), [(8, 2**33 // 192), (80, 2**27)])
def test_the_distances_at_once_on_a_gpu_take_an_eighth_of_its_memory(gib, elements, monkeypatch):
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda device: (0, gib * 2**30))
    assert lloyd.elements_of_gpu.__wrapped__(torch.device("cuda", 0)) == elements
    assert elements * lloyd.DISTANCE_BYTES <= gib * 2**30 / 8
