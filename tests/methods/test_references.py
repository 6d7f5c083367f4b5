"""Three iterations of the methods against NumPy in float64: weights, centers, labels and losses."""

import numpy as np
import pytest

from dekm import DCN, DEC, DEKM, DKM
from tests.helpers.linear import Reference, batches_of, distances, linear_start, lloyd

N, D, E, K, B = 60, 5, 3, 4, 20
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def X():
    """Points of four clusters that overlap, so that labels change."""
    rng = np.random.default_rng(5)
    return (1.5 * rng.normal(size=(K, D))[np.arange(N) % K] + rng.normal(size=(N, D))).astype(np.float32)


def fit(method, X, **params):
    """A fitted method and the states that it reported."""
    states = []
    given = {"device": "cpu", "random_state": 7, "n_init": 3, "batch_size": B, "on_iteration": states.append}
    start = linear_start(X, E)
    given["autoencoder"] = start.estimator if params.get("annealed") else start
    return method(K, **given | params).fit(X), states


def assert_same(fitted, states, reference, centers, labels, losses):
    """The final state and the losses of a fit are those of the reference."""
    modules = {"A": fitted.encoder_.weight, "a": fitted.encoder_.bias}
    modules |= {"B": fitted.decoder_.weight, "b": fitted.decoder_.bias}
    for name, value in modules.items():
        np.testing.assert_allclose(value.detach().numpy(), reference.values[name], rtol=2e-4, atol=2e-5)
    np.testing.assert_allclose(fitted.cluster_centers_, centers, rtol=2e-4, atol=2e-5)
    np.testing.assert_array_equal(fitted.labels_, labels)
    np.testing.assert_allclose([row["loss"] for row in fitted.history_[1:]], losses, rtol=1e-4)
    assert len(states) == len(losses) + 1
    assert (states[0].labels.numpy() != labels).any()  # a partition that stays would hide mistakes


@pytest.mark.parametrize("annealed", [False, True])
def test_dkm_trains_the_weights_and_the_centers_under_each_alpha(X, annealed):
    lam, lr = 0.4, 0.02
    params = {"max_iter": 3, "epochs_per_iter": 2, "alpha": 2.0, "lam": lam, "lr": lr}
    fitted, states = fit(DKM, X, annealed=annealed, **params)
    alphas = [0.1, 0.1 * 2 ** (1 / np.log(2) ** 2)] if annealed else [2.0, 2.0]
    alphas.append(alphas[-1] * 2 ** (1 / np.log(3) ** 2) if annealed else 2.0)
    reference = Reference(linear_start(X, E), lr, U=states[0].centers.numpy())
    stream, losses = batches_of(7, N, B, reshuffle=True, n_drawn=K * E if annealed else 0), []
    for alpha in alphas:
        found = []
        for _ in range(2 * N // B):
            x = X[next(stream)].astype(np.float64)
            h, U = reference.encode(x), reference.values["U"]
            d = distances(h, U)
            s = np.exp(-alpha * (d - d.min(1, keepdims=True)))
            s /= s.sum(1, keepdims=True)
            found.append(reference.reconstruction(x) + lam * (s * d).sum(1).mean())
            of_d = lam / B * s * (1 - alpha * (d - (s * d).sum(1, keepdims=True)))
            difference = 2 * of_d[..., None] * (h[:, None] - U)
            gradients = reference.gradients(x, difference.sum(1), 1.0)
            reference.adam(gradients | {"U": -difference.sum(0)})
        losses.append(np.mean(found))
    U = reference.values["U"]
    d = distances(reference.encode(X), U)
    assert_same(fitted, states, reference, U, d.argmin(1), losses)
    s = np.exp(-alphas[-1] * (d - d.min(1, keepdims=True)))
    np.testing.assert_allclose(fitted.predict_proba(X), s / s.sum(1, keepdims=True), rtol=2e-3, atol=1e-5)


def test_dcn_moves_the_centers_by_each_sample_and_takes_over_those_of_kmeans(X):
    lam, lr = 1.5, 0.02
    fitted, states = fit(DCN, X, max_iter=3, epochs_per_iter=2, lam=lam, lr=lr)
    reference = Reference(linear_start(X, E), lr)
    U, labels = states[0].centers.double().numpy(), states[0].labels.numpy().copy()
    counts = np.full(K, 100)
    stream, losses = batches_of(7, N, B, reshuffle=True), []
    for _ in range(3):
        found = []
        for _ in range(2 * N // B):
            index = next(stream)
            x = X[index].astype(np.float64)
            pull = reference.encode(x) - U[labels[index]]
            found.append(reference.reconstruction(x) + lam / 2 * (pull**2).sum(1).mean())
            reference.adam(reference.gradients(x, lam / B * pull, 1.0))
            h = reference.encode(x)
            labels[index] = distances(h, U).argmin(1)
            for sample, j in zip(h, labels[index], strict=True):
                counts[j] += 1
                U[j] += (sample - U[j]) / counts[j]
        losses.append(np.mean(found))
        labels, U, _ = lloyd(reference.encode(X.astype(np.float64)), U)
    assert_same(fitted, states, reference, U, labels, losses)


@pytest.mark.parametrize("reconstruction", [False, True])
def test_dekm_trains_towards_the_centroids_of_each_partition(X, reconstruction):
    lr = 0.05
    params = {"max_iter": 3, "n_batches": 4, "tol": 0.0, "n_init_update": 0}
    fitted, states = fit(DEKM, X, lr=lr, reconstruction=reconstruction, **params)
    reference = Reference(linear_start(X, E), lr)
    weight = E / D if reconstruction else 0.0
    labels, stream, losses = states[0].labels.numpy(), batches_of(7, N, B, reshuffle=False), []
    for _ in range(3):
        H = reference.encode(X.astype(np.float64))
        labels, U, _ = lloyd(H, np.stack([H[labels == j].mean(0) for j in range(K)]))
        deviations = H - U[labels]
        V = np.linalg.eigh(deviations.T @ deviations)[1].T
        target = H @ V.T
        target[:, -1] = (U[labels] @ V.T)[:, -1]
        found = []
        for _ in range(4):
            index = next(stream)
            x = X[index].astype(np.float64)
            rest = reference.encode(x) @ V.T - target[index]
            found.append((rest**2).sum(1).mean() + weight * reference.reconstruction(x))
            reference.adam(reference.gradients(x, 2 / B * rest @ V, weight))
        losses.append(np.mean(found))
    H = reference.encode(X.astype(np.float64))
    labels, U, _ = lloyd(H, np.stack([H[labels == j].mean(0) for j in range(K)]))
    assert_same(fitted, states, reference, U, labels, losses)


@pytest.mark.parametrize("reconstruction", [False, True])
def test_dec_and_idec_sharpen_the_soft_assignments(X, reconstruction):
    lr, gamma = (0.05, 0.3) if reconstruction else (0.5, 1.0)
    params = {"max_iter": 3, "update_interval": 4, "tol": 0.0, "gamma": gamma, "lr": lr}
    fitted, states = fit(DEC, X, reconstruction=reconstruction, **params)
    reference = Reference(linear_start(X, E), lr, U=states[0].centers.numpy())
    stream, losses = batches_of(7, N, B, reshuffle=False), []
    for _ in range(3):
        q = similarities(reference.encode(X.astype(np.float64)), reference.values["U"])[1]
        target = q**2 / q.sum(0)
        target /= target.sum(1, keepdims=True)
        found = []
        for _ in range(4):
            index = next(stream)
            x, p = X[index].astype(np.float64), target[index]
            h, U = reference.encode(x), reference.values["U"]
            t, q = similarities(h, U)
            divergence = (p * np.log(p / q)).sum(1).mean()
            found.append(gamma * divergence + (reference.reconstruction(x) / D if reconstruction else 0))
            difference = 2 * gamma / B * (t * (p - q))[..., None] * (h[:, None] - U)
            gradients = reference.gradients(x, difference.sum(1), 1 / D if reconstruction else 0.0)
            (reference.adam if reconstruction else reference.sgd)(gradients | {"U": -difference.sum(0)})
        losses.append(np.mean(found))
    H, U = reference.encode(X.astype(np.float64)), reference.values["U"]
    assert_same(fitted, states, reference, U, distances(H, U).argmin(1), losses)
    np.testing.assert_allclose(fitted.predict_proba(X), similarities(H, U)[1], rtol=2e-3, atol=1e-5)


def similarities(H, U):
    """Student's t of the distances, and its rows divided by their sums."""
    t = 1 / (1 + distances(H, U))
    return t, t / t.sum(1, keepdims=True)
