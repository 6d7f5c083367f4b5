import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator

from dekm import DCN, AEKMeans
from dekm.clustering.kmeans import kmeans
from dekm.methods.dcn import move_centers
from dekm.metrics import nmi
from dekm.nn.training import squared_error


def test_the_update_of_two_centers_by_four_points_by_hand():
    U = torch.tensor([[0.0, 0.0], [10.0, 0.0]])
    counts = torch.tensor([100, 100])
    H = torch.tensor([[1.0, 2.0], [11.0, 0.0], [3.0, 2.0], [-1.0, -1.0]])
    move_centers(U, counts, H, torch.tensor([0, 1, 0, 0]))
    assert counts.tolist() == [103, 101]
    np.testing.assert_allclose(U, [[3 / 103, 3 / 103], [1011 / 101, 0.0]], rtol=1e-6)


def test_the_update_by_a_batch_equals_the_updates_by_its_samples_one_by_one():
    rng = np.random.default_rng(0)
    H, labels = rng.normal(size=(256, 5)), rng.integers(0, 4, 256)
    start = rng.normal(size=(4, 5))
    U, counts = torch.from_numpy(start.copy()), torch.tensor([100, 100, 7, 100])
    move_centers(U, counts, torch.from_numpy(H), torch.from_numpy(labels))
    centers, n = start.copy(), np.array([100, 100, 7, 100])
    for h, c in zip(H, labels, strict=True):
        n[c] += 1
        centers[c] = (1 - 1 / n[c]) * centers[c] + h / n[c]
    np.testing.assert_allclose(U, centers, atol=1e-6)
    np.testing.assert_array_equal(counts, n)


def test_the_center_of_a_cluster_without_samples_in_the_batch_does_not_move():
    U = torch.tensor([[0.0], [5.0]])
    move_centers(U, torch.tensor([100, 100]), torch.tensor([[1.0]]), torch.tensor([0]))
    assert U[1].item() == 5.0


def test_the_logged_loss_is_reconstruction_plus_half_lambda_times_the_kmeans_loss(blobs, tiny):
    params = {"max_iter": 1, "epochs_per_iter": 1, "batch_size": 300, "lr": 0.0, "n_init": 2}
    dcn = DCN(3, autoencoder=tiny(), lam=0.7, device="cpu", random_state=0, **params).fit(blobs.X)
    with torch.no_grad():
        X_hat = dcn.autoencoder_.module_(torch.from_numpy(blobs.X)).numpy()
    expected = ((X_hat - blobs.X) ** 2).sum() / 300 + 0.35 * dcn.history_[0]["inertia"] / 300
    assert dcn.history_[1]["loss"] == pytest.approx(expected, rel=1e-4)


def test_gradients_of_the_kmeans_term_are_those_of_finite_differences():
    rng = np.random.default_rng(1)
    H = torch.from_numpy(rng.normal(size=(6, 3))).requires_grad_()
    U, labels = torch.from_numpy(rng.normal(size=(2, 3))), torch.tensor([0, 1, 1, 0, 1, 0])
    assert torch.autograd.gradcheck(lambda H: squared_error(H, U[labels]), (H,))


def test_a_refresh_starts_from_the_given_centers(blobs):
    X, init = torch.from_numpy(blobs.X), torch.from_numpy(blobs.X[:3])
    partition = kmeans(X, 3, n_init=1, random_state=np.random.RandomState(0), init=init)
    expected = KMeans(3, init=blobs.X[:3], n_init=1).fit(blobs.X)
    np.testing.assert_array_equal(partition.labels, expected.labels_)
    np.testing.assert_array_equal(init, blobs.X[:3])


def test_every_refresh_is_reported_once(make_method, blobs):
    dcn = make_method("dcn", max_iter=3, epochs_per_iter=2).fit(blobs.X)
    assert [row["n_iter"] for row in dcn.history_] == [0, 1, 2, 3]
    assert dcn.n_iter_ == 3


def test_a_larger_lambda_gives_a_smaller_inertia(make_method, blobs):
    near, far = (make_method("dcn", lam=lam, lr=1e-3).fit(blobs.X) for lam in (10.0, 0.0))
    assert near.inertia_ < far.inertia_


def test_digits_trained_from_scratch_do_not_fall_below_kmeans_on_the_autoencoder(tiny):
    digits = load_digits()
    X = (digits.data[:600] / 16).astype(np.float32)
    y = digits.target[:600]
    before, after = [], []
    for seed in range(3):
        autoencoder = tiny(10, hidden=(64,), n_epochs=20, random_state=seed).fit(X)
        params = {"autoencoder": FrozenEstimator(autoencoder), "random_state": seed, "device": "cpu"}
        before.append(nmi(y, AEKMeans(10, n_init=3, **params).fit(X).labels_))
        after.append(nmi(y, DCN(10, max_iter=2, lr=1e-3, **params).fit(X).labels_))
    assert np.mean(after) > np.mean(before) - 0.05


@pytest.mark.parametrize(("embedding_dim", "n_clusters"), [(3, 5), (7, 2)])
def test_the_number_of_clusters_need_not_be_the_dimension_of_the_embedding(
    embedding_dim, n_clusters, tiny, blobs
):
    params = {"max_iter": 1, "epochs_per_iter": 1, "n_init": 2, "device": "cpu", "random_state": 0}
    dcn = DCN(n_clusters, autoencoder=tiny(embedding_dim), **params).fit(blobs.X)
    assert dcn.cluster_centers_.shape == (n_clusters, embedding_dim)
