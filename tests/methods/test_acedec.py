import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

from dekm import ACeDeC
from dekm.clustering.kmeans import Partition, kmeans
from dekm.methods.subspaces import fill_clusters, first_rotation, move_centers, subspace_loss
from tests.helpers.linear import Reference, batches_of, distances, linear_start


def test_the_loss_of_two_points_by_hand():
    Y, U = torch.tensor([[1.0, 2.0], [6.0, 1.0]]), torch.tensor([[0.0, 0.0], [4.0, 0.0]])
    loss, labels = subspace_loss(Y, U, torch.tensor([3.0, 1.0]), torch.tensor([0.5, 0.25]))
    clustered = 0.25 * 1 + 0.0625 * 4 + 0.25 * 4 + 0.0625 * 1
    shared = 0.25 * 4 + 0.5625 * 1 + 0.25 * 9 + 0.5625 * 0
    assert float(loss) == pytest.approx((clustered + shared) / 4)
    assert labels.tolist() == [0, 1]


def test_a_dimension_without_weight_does_not_decide_the_cluster():
    U = torch.tensor([[0.0, 0.0], [4.0, 9.0]])
    for weight, expected in ((0.0, 0), (1.0, 1)):
        beta = torch.tensor([1.0, weight])
        assert subspace_loss(torch.tensor([[1.0, 9.0]]), U, U[0], beta)[1].tolist() == [expected]


def test_centers_move_to_the_means_of_a_batch_by_the_mean_sizes_of_their_clusters():
    U, counts = torch.tensor([[0.0], [10.0], [5.0]]), torch.tensor([0.0, 3.0, 8.0])
    move_centers(U, counts, torch.tensor([[2.0], [4.0], [12.0]]), torch.tensor([0, 0, 1]))
    assert counts.tolist() == [1.0, 2.0, 4.0]
    np.testing.assert_allclose(U[:, 0], [1.5, 10 + 2 / 3, 5.0], rtol=1e-6)


def test_an_empty_cluster_gets_samples_and_full_ones_stay():
    rng = np.random.default_rng(0)
    Y = torch.from_numpy(rng.normal(size=(90, 2)) + 20 * np.eye(3)[np.arange(90) % 3][:, :2]).float()
    means = torch.stack([Y[j::3].mean(0) for j in range(3)])
    U, beta = means + 0.1, torch.tensor([1.0, 0.5])
    fill_clusters(U, Y, beta, np.random.RandomState(0))
    np.testing.assert_array_equal(U, means + 0.1)
    U[2] = 1000.0
    fill_clusters(U, Y, beta, np.random.RandomState(0))
    np.testing.assert_allclose(U[distances(means.numpy(), U.numpy()).argmin(1)], means, atol=1e-4)


def test_the_first_rotation_separates_the_means_and_weighs_by_squared_scatters(make_blobs):
    H = torch.from_numpy(make_blobs(300, 3, 5).X)
    partition = kmeans(H, 3, n_init=2, random_state=np.random.RandomState(0))
    V, logits = first_rotation(H, partition)
    X, labels = H.double().numpy(), partition.labels.numpy()
    means = np.stack([X[labels == j].mean(0) for j in range(3)])[labels]
    vectors = np.linalg.eigh((means - X.mean(0)).T @ (means - X.mean(0))).eigenvectors
    np.testing.assert_allclose(V[:2].abs(), np.abs(vectors[:, [4, 3]].T), atol=1e-3)
    np.testing.assert_allclose(V @ V.T, np.eye(5), atol=1e-5)
    total, within = (((X - of) @ V.double().numpy().T).var(0) for of in (0, means))
    np.testing.assert_allclose(torch.sigmoid(logits), total**2 / (total**2 + within**2), atol=1e-4)
    np.testing.assert_allclose(torch.sigmoid(logits[2:]), 0.5, atol=1e-3)


def test_a_dimension_without_any_scatter_has_a_finite_weight():
    H = torch.zeros(6, 3)
    H[3:, 0] = 1.0
    partition = Partition(torch.arange(6) // 3, H[::3].clone(), 0.0, 1)
    weights = first_rotation(H, partition)[1].sigmoid()
    np.testing.assert_allclose(weights, [1.0, 0.5, 0.5], atol=1e-6)


class Epochs:
    """ACe/DeC in NumPy, in float64, with gradients by hand and two logits for each dimension."""

    def __init__(self, start, rotation, weights, U, center, lr, variance):
        self.network = Reference(start, lr, V=rotation)
        self.logits = Reference(start, 10 * lr, clustered=np.log(weights), shared=np.log(1 - weights))
        self.variance = variance
        self.U, self.center, self.counts = U, center, np.zeros(len(U))

    def beta(self):
        both = np.exp([self.logits.values["clustered"], self.logits.values["shared"]])
        return both[0] / both.sum(0)

    def step(self, x):
        values, beta, (b, d) = self.network.values, self.beta(), x.shape
        h = self.network.encode(x)
        y = h @ values["V"].T
        z = y @ values["V"]
        rest = z @ values["B"].T + values["b"] - x
        near = (((y[:, None] - self.U) * beta) ** 2).sum(2)
        labels = near.argmin(1)
        apart, details = y - self.U[labels], y - self.center
        loss = (rest**2).mean() / self.variance + (
            near.min(1) + (((1 - beta) * details) ** 2).sum(1)
        ).mean() / 2
        of_rest = 2 * rest / (b * d * self.variance)
        of_z = of_rest @ values["B"]
        of_y = of_z @ values["V"].T + (beta**2 * apart + (1 - beta) ** 2 * details) / b
        of_h = of_y @ values["V"]
        of_beta = (beta * apart**2 - (1 - beta) * details**2).sum(0) / b
        gradients = {"A": of_h.T @ x, "a": of_h.sum(0), "B": of_rest.T @ z, "b": of_rest.sum(0)}
        self.network.adam(gradients | {"V": y.T @ of_z + of_y.T @ h})
        of_logits = of_beta * beta * (1 - beta)
        self.logits.adam({"clustered": of_logits, "shared": -of_logits})
        self.move(y, labels)
        return loss

    def move(self, y, labels):
        for j in range(len(self.U)):
            members = y[labels == j]
            self.counts[j] = (self.counts[j] + len(members)) / 2
            if len(members):
                rate = 1 / (1 + self.counts[j])
                self.U[j] = (1 - rate) * self.U[j] + rate * members.mean(0)
        self.center = (self.center + y.mean(0)) / 2


@pytest.mark.filterwarnings("ignore:The clusters separate")
def test_three_iterations_are_those_of_the_published_loss():
    """The means are nearly in a plane, so the third dimension has a gradient, but is not clustered."""
    n, d, e, k, b, lr = 120, 6, 3, 4, 20, 0.01
    rng = np.random.default_rng(6)
    means = 4.0 * rng.normal(size=(k, 2)) @ rng.normal(size=(2, d))
    X = (means[np.arange(n) % k] + rng.normal(size=(n, d))).astype(np.float32)
    given = {"autoencoder": linear_start(X, e), "batch_size": b, "lr": lr, "n_init": 3, "device": "cpu"}
    states = []
    first = ACeDeC(k, **given, max_iter=0, random_state=7).fit(X)
    fitted = ACeDeC(k, **given, max_iter=3, random_state=7, on_iteration=states.append).fit(X)
    draws = np.random.RandomState(7)
    draws.randint(2**31 - 1)
    V = first.rotation_.astype(np.float64)
    x = X.astype(np.float64)
    start = given["autoencoder"]
    H = Reference(start, lr).encode(x)
    U = kmeans(torch.from_numpy(H).float(), k, n_init=3, random_state=draws).centers.double().numpy() @ V.T
    epochs = Epochs(start, V, first.weights_.astype(np.float64), U, H.mean(0) @ V.T, lr, x.var())
    stream = batches_of(7, n, b, reshuffle=True)
    losses = [np.mean([epochs.step(x[next(stream)]) for _ in range(n // b)]) for _ in range(3)]
    np.testing.assert_allclose([row["loss"] for row in fitted.history_[1:]], losses, rtol=1e-4)
    values = epochs.network.values
    tolerance = {"rtol": 2e-3, "atol": 1e-4}
    np.testing.assert_allclose(fitted.encoder_.weight.detach(), values["A"], **tolerance)
    np.testing.assert_allclose(fitted.decoder_.weight.detach(), values["B"], **tolerance)
    np.testing.assert_allclose(fitted.rotation_, values["V"], **tolerance)
    np.testing.assert_allclose(fitted.weights_, epochs.beta(), **tolerance)
    np.testing.assert_allclose(fitted.shared_center_, epochs.center, **tolerance)
    clustered = 1 - epochs.beta() <= 0.45
    assert 0 < clustered.sum() < e
    Y = epochs.network.encode(x) @ values["V"].T * clustered
    np.testing.assert_allclose(fitted.embedding_, Y, **tolerance)
    np.testing.assert_allclose(fitted.cluster_centers_, epochs.U * clustered, **tolerance)
    np.testing.assert_array_equal(fitted.labels_, distances(Y, epochs.U * clustered).argmin(1))
    assert (states[0].labels != states[3].labels).any()


def test_a_center_is_decoded_with_the_details_of_all_samples(make_method, blobs):
    fitted = make_method("acedec").fit(blobs.X)
    clustered = fitted.weights_ >= 0.55
    assert 0 < clustered.sum() < len(clustered)
    assert not fitted.embedding_[:, ~clustered].any()
    y = np.where(clustered, fitted.cluster_centers_, fitted.shared_center_)
    with torch.no_grad():
        expected = fitted.decoder_(torch.from_numpy(y @ fitted.rotation_))
    np.testing.assert_allclose(fitted.inverse_transform(fitted.cluster_centers_), expected, rtol=1e-5)
    np.testing.assert_allclose(fitted.inverse_transform(y + ~clustered), expected, rtol=1e-5)


def test_the_rotation_stays_close_to_orthonormal(make_method, blobs):
    V = make_method("acedec", max_iter=20).fit(blobs.X).rotation_
    np.testing.assert_allclose(V @ V.T, np.eye(3), atol=0.05)
    assert np.abs(V @ V.T - np.eye(3)).max() > 1e-6  # it is trained


def test_the_units_of_the_samples_do_not_matter(blobs):
    """A linear autoencoder of samples in other units, with the same embedding."""
    losses = []
    for unit in (1.0, 4.0):
        start = linear_start(unit * blobs.X, 3)
        module = start.estimator.module_
        with torch.no_grad():
            module.encoder.weight /= unit
            module.decoder.weight *= unit
        module.decoder.bias.data *= unit
        given = {"max_iter": 1, "batch_size": 300, "lr": 0.0, "n_init": 2, "device": "cpu", "random_state": 0}
        losses.append(ACeDeC(3, autoencoder=start, **given).fit(unit * blobs.X).history_[1]["loss"])
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_samples_without_any_variance_are_fitted(make_method):
    with pytest.warns(ConvergenceWarning, match="Only 1 of n_clusters=3"):
        assert make_method("acedec").fit(np.ones((20, 4), dtype=np.float32)).labels_.shape == (20,)
