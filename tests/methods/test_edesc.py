import numpy as np
import pytest
import torch
from torch.nn.functional import kl_div

from dekm import EDESC
from dekm.clustering.kmeans import kmeans
from dekm.errors import InputError
from dekm.methods.edesc import basis_penalty, subspace_affinity
from tests.helpers.linear import batches_of, linear_start


def test_affinities_of_two_points_to_two_axes_by_hand():
    D = torch.tensor([[[1.0], [0.0]], [[0.0], [2.0]]])
    S = subspace_affinity(torch.tensor([[3.0, 1.0], [-3.0, 1.0]]), D, eta=2.0)
    np.testing.assert_allclose(S, [[11 / 17, 6 / 17]] * 2, rtol=1e-6)


def test_the_penalty_is_zero_for_orthonormal_columns_and_ignores_products_within_a_basis():
    Q = torch.linalg.qr(torch.from_numpy(np.random.default_rng(0).normal(size=(6, 6)))).Q
    D = Q.reshape(6, 3, 2).permute(1, 0, 2)
    assert basis_penalty(D) == pytest.approx(0, abs=1e-12)
    skew = D.clone()
    skew[0, :, 1] = (D[0, :, 0] + D[0, :, 1]) / np.sqrt(2)  # still of unit length, and in its subspace
    assert basis_penalty(skew) == pytest.approx(0, abs=1e-12)
    assert basis_penalty(2 * D) == pytest.approx(3 * np.sqrt(6))
    mixed = D.clone()
    mixed[0, :, 0] = D[1, :, 0]
    assert basis_penalty(mixed) == pytest.approx(np.sqrt(2))


def test_the_first_bases_are_the_singular_vectors_of_the_clusters_of_kmeans(make_method, tiny, blobs):
    edesc = make_method("edesc", autoencoder=tiny(6, random_state=1), max_iter=0).fit(blobs.X)
    assert edesc.subspaces_.shape == (3, 6, 2)
    H = edesc.embedding_.astype(np.float64)
    draws = np.random.RandomState(0)
    draws.randint(2**31 - 1)
    labels = kmeans(torch.from_numpy(edesc.embedding_), 3, n_init=2, random_state=draws).labels.numpy()
    for j in range(3):
        left = np.linalg.svd(H[labels == j].T)[0][:, :2]
        np.testing.assert_allclose(np.abs(edesc.subspaces_[j]), np.abs(left), atol=1e-4)


def test_three_iterations_are_those_of_the_published_loss():
    """In float64 by automatic differentiation, with the losses as the authors' code has them."""
    n, d, e, k, b, r, lr, eta, beta, alpha = 60, 5, 3, 4, 20, 2, 0.02, 2.0, 3.0, 0.05
    rng = np.random.default_rng(5)
    X = (1.5 * rng.normal(size=(k, d))[np.arange(n) % k] + rng.normal(size=(n, d))).astype(np.float32)
    states, start = [], linear_start(X, e)
    given = {"max_iter": 3, "epochs_per_iter": 2, "batch_size": b, "n_init": 3, "device": "cpu"}
    weights = {"subspace_dim": r, "eta": eta, "beta": beta, "alpha": alpha, "lr": lr}
    edesc = EDESC(k, autoencoder=start, **given, **weights, random_state=7, on_iteration=states.append)
    edesc.fit(X)
    first = (
        EDESC(k, autoencoder=start, **given | {"max_iter": 0}, **weights, random_state=7).fit(X).subspaces_
    )
    module, x = start.estimator.module_.double(), torch.from_numpy(X).double()
    D = torch.from_numpy(np.concatenate(list(first), axis=1)).double().requires_grad_()

    def affinity(h):
        s = ((h @ D).reshape(len(h), k, r) ** 2).sum(2) + eta * r
        return s / s.sum(1, keepdim=True)

    own = torch.block_diag(*[torch.ones(r, r)] * k)
    adam = torch.optim.Adam([*module.parameters(), D], lr=lr)
    stream, losses = batches_of(7, n, b, reshuffle=False), []
    for _ in range(3):
        with torch.no_grad():
            s = affinity(module.encoder(x))
            target = s**2 / s.sum(0)
            target /= target.sum(1, keepdim=True)
        found = []
        for _ in range(2 * n // b):
            index = next(stream)
            h = module.encoder(x[index])
            error = ((module.decoder(h) - x[index]) ** 2).mean()
            divergence = kl_div(affinity(h).log(), target[index], reduction="sum") / (
                b * k
            )  # over all elements
            products = D.T @ D
            bases = torch.norm(products * torch.eye(k * r) - torch.eye(k * r)) + torch.norm(
                products * (1 - own)
            )
            loss = error + beta * divergence + alpha * bases
            adam.zero_grad()
            loss.backward()
            adam.step()
            found.append(float(loss.detach()))
        losses.append(np.mean(found))
    np.testing.assert_allclose([row["loss"] for row in edesc.history_[1:]], losses, rtol=1e-4)
    np.testing.assert_allclose(
        edesc.encoder_.weight.detach(), module.encoder.weight.detach(), rtol=2e-3, atol=1e-4
    )
    np.testing.assert_allclose(
        edesc.decoder_.weight.detach(), module.decoder.weight.detach(), rtol=2e-3, atol=1e-4
    )
    side_by_side = np.concatenate(list(edesc.subspaces_), axis=1)
    np.testing.assert_allclose(side_by_side, D.detach(), rtol=2e-3, atol=1e-3)
    s = affinity(module.encoder(x)).detach()
    np.testing.assert_array_equal(edesc.labels_, s.argmax(1))
    np.testing.assert_allclose(edesc.predict_proba(X), s, rtol=1e-3)
    assert (states[0].labels != states[3].labels).any()


def test_the_centers_are_the_means_of_the_clusters_and_decide_no_label(make_method, blobs):
    edesc = make_method("edesc", max_iter=3).fit(blobs.X)
    for j in np.unique(edesc.labels_):
        np.testing.assert_allclose(
            edesc.cluster_centers_[j], edesc.embedding_[edesc.labels_ == j].mean(0), rtol=1e-4, atol=1e-5
        )
    assert edesc.score(blobs.X) == pytest.approx(-edesc.inertia_)


def test_a_subspace_of_more_dimensions_than_the_embedding_is_refused(make_method, blobs):
    with pytest.raises(InputError, match=r"subspace_dim=4 should be <= 3, the dimension of the embedding\."):
        make_method("edesc", subspace_dim=4).fit(blobs.X)


@pytest.mark.parametrize(("k", "e", "r"), [(2, 3, 1), (5, 3, 1), (3, 7, 2)])
def test_the_subspaces_share_the_dimensions_of_the_embedding(k, e, r, make_method, tiny, blobs):
    edesc = make_method("edesc", n_clusters=k, autoencoder=tiny(e), max_iter=0)
    assert edesc.fit(blobs.X).subspaces_.shape == (k, e, r)
