import numpy as np
import pytest
import torch
from scipy.special import expit
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import GaussianMixture
from torch import nn
from torch.distributions import Categorical, Independent, Normal, kl_divergence

from dekm import Autoencoder, VaDE
from dekm.errors import InputError
from dekm.methods.variational import divergence, log_joint
from tests.helpers.linear import linear_start

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def normal(means, log_variances):
    """Independent normal distributions of the last axis."""
    return Independent(Normal(means, (log_variances / 2).exp()), 1)


@pytest.fixture
def mixture():
    """Logarithms of the weights, means and logarithms of the variances of 3 Gaussians in 2 dimensions."""
    rng = np.random.default_rng(0)
    logits, U, log_lambda = (torch.from_numpy(rng.normal(size=size)) for size in (3, (3, 2), (3, 2)))
    return logits.log_softmax(0), U, log_lambda


def test_the_joint_density_is_that_of_the_mixture_but_for_a_constant(mixture):
    Z = torch.from_numpy(np.random.default_rng(1).normal(size=(5, 2)))
    log_weights, U, log_lambda = mixture
    expected = log_weights + normal(U, log_lambda).log_prob(Z[:, None])
    torch.testing.assert_close(log_joint(Z, *mixture) - np.log(2 * np.pi), expected)


def test_the_divergence_is_that_of_the_clusters_and_of_the_embedding_within_them(mixture):
    rng = np.random.default_rng(2)
    means, log_variances = (torch.from_numpy(rng.normal(size=(5, 2))) for _ in range(2))
    log_gamma = torch.from_numpy(rng.normal(size=(5, 3))).log_softmax(1)
    within = kl_divergence(normal(means[:, None], log_variances[:, None]), normal(*mixture[1:]))
    of_clusters = kl_divergence(Categorical(logits=log_gamma), Categorical(logits=mixture[0]))
    expected = ((log_gamma.exp() * within).sum(1) + of_clusters).mean()
    torch.testing.assert_close(divergence(means, log_variances, log_gamma, mixture), expected)


def test_three_iterations_are_those_of_the_evidence_lower_bound():
    """In float64 by automatic differentiation, with the divergences of torch.distributions."""
    n, d, e, k, b, lr = 60, 5, 3, 4, 20, 0.02
    rng = np.random.default_rng(5)
    X = (1.5 * rng.normal(size=(k, d))[np.arange(n) % k] + rng.normal(size=(n, d))).astype(np.float32)
    states, start = [], linear_start(X, e)
    given = {"max_iter": 3, "epochs_per_iter": 2, "batch_size": b, "device": "cpu", "random_state": 7}
    rates = {"lr": lr, "decay": 0.5, "min_lr": 0.006}
    vade = VaDE(k, autoencoder=start, **given, **rates, on_iteration=states.append).fit(X)
    module, x = start.estimator.module_.double(), torch.from_numpy(X).double()
    random_state = np.random.RandomState(7)
    generator = torch.Generator().manual_seed(int(random_state.randint(2**31 - 1)))
    spread = nn.Linear(d, e)
    nn.init.xavier_uniform_(spread.weight, generator=generator)
    nn.init.zeros_(spread.bias)
    spread.double()
    fitted = GaussianMixture(k, covariance_type="diag", random_state=random_state).fit(states[0].H.double())
    values = np.zeros(k), fitted.means_, np.log(fitted.covariances_)
    logits, U, log_lambda = (torch.from_numpy(value).requires_grad_() for value in values)
    adam = torch.optim.Adam([*module.parameters(), *spread.parameters(), logits, U, log_lambda], lr=lr)
    losses = []
    for rate in (0.02, 0.01, 0.006):
        adam.param_groups[0]["lr"] = rate
        draws = torch.Generator().manual_seed(int(random_state.randint(2**31 - 1)))
        found = []
        for index in (i for _ in range(2) for i in torch.randperm(n, generator=generator).split(b)):
            means, log_variances = module.encoder(x[index]), spread(x[index])
            noise = torch.randn(b, e, generator=draws, dtype=torch.float32)
            z = means + (log_variances / 2).exp() * noise
            joint = normal(U, log_lambda).log_prob(z[:, None]) + logits.log_softmax(0)
            posterior = Categorical(logits=joint)
            within = kl_divergence(normal(means[:, None], log_variances[:, None]), normal(U, log_lambda))
            of_clusters = kl_divergence(posterior, Categorical(logits=logits))
            error = ((module.decoder(z) - x[index]) ** 2).sum(1)
            loss = (error + (posterior.probs * within).sum(1) + of_clusters).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
            found.append(float(loss.detach()))
        losses.append(np.mean(found))
    np.testing.assert_allclose([row["loss"] for row in vade.history_[1:]], losses, rtol=1e-4)
    tolerance = {"rtol": 2e-3, "atol": 1e-4}
    np.testing.assert_allclose(vade.encoder_.weight.detach(), module.encoder.weight.detach(), **tolerance)
    np.testing.assert_allclose(vade.decoder_.weight.detach(), module.decoder.weight.detach(), **tolerance)
    np.testing.assert_allclose(vade.cluster_centers_, U.detach(), **tolerance)
    np.testing.assert_allclose(vade.variances_, log_lambda.detach().exp(), **tolerance)
    np.testing.assert_allclose(vade.weights_, logits.detach().softmax(0), **tolerance)
    joint = normal(U, log_lambda).log_prob(module.encoder(x)[:, None]) + logits.log_softmax(0)
    np.testing.assert_array_equal(vade.labels_, joint.argmax(1))
    np.testing.assert_allclose(vade.predict_proba(X), joint.softmax(1).detach(), rtol=1e-2, atol=1e-4)
    assert (states[0].labels != states[3].labels).any()


def test_the_learning_rate_falls_after_every_iteration_to_its_smallest_value(make_method, blobs):
    rates = {"lr": 0.01, "decay": 1e-30}
    one, more, floor = (
        make_method("vade", max_iter=max_iter, min_lr=min_lr, **rates).fit(blobs.X)
        for max_iter, min_lr in ((1, 0.0), (3, 0.0), (3, 0.001))
    )
    np.testing.assert_array_equal(more.embedding_, one.embedding_)
    assert np.any(floor.embedding_ != one.embedding_)


def test_images_are_decoded_to_means_between_0_and_1(make_method, images, blobs):
    vade = make_method("vade").fit(images.X)
    decoded = vade.inverse_transform(vade.cluster_centers_)
    with torch.no_grad():
        expected = expit(4 * (vade.decoder_(torch.from_numpy(vade.cluster_centers_)).numpy() - 0.5))
    np.testing.assert_allclose(decoded, expected, rtol=1e-5)
    assert not make_method("vade").fit(blobs.X).is_bernoulli_
    assert not make_method("vade").fit(2 * images.X).is_bernoulli_


def test_the_error_of_images_is_their_cross_entropy(make_method, images, tiny):
    """Equal Gaussians and a posterior that training does not change leave the error and one divergence."""
    start = FrozenEstimator(tiny().fit(images.X))
    losses = [
        make_method("vade", autoencoder=start, likelihood=name, lr=0.0, max_iter=1, batch_size=60)
        .fit(images.X)
        .history_[1]["loss"]
        for name in ("bernoulli", "gaussian")
    ]
    assert losses[0] > losses[1]
    vade = make_method("vade", autoencoder=start).fit(images.X)
    x, x_hat = torch.from_numpy(images.X[:9]), torch.rand(9, 8, 8, 1)
    p = torch.sigmoid(4 * (x_hat - 0.5)).double()
    entropy = -(x * p.log() + (1 - x) * (1 - p).log()).flatten(1).sum(1).mean()
    assert float(vade._error(x_hat, x)) == pytest.approx(float(entropy), rel=1e-5)


def test_a_bernoulli_likelihood_needs_values_between_0_and_1(make_method, blobs):
    with pytest.raises(
        InputError, match=r"likelihood='bernoulli' needs values in \[0, 1\]; X has values from -"
    ):
        make_method("vade", likelihood="bernoulli").fit(blobs.X)


class WithoutLinearEnd(nn.Module):
    def __init__(self, shape, embedding_dim):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(shape[0], embedding_dim), nn.Tanh())
        self.decoder = nn.Linear(embedding_dim, shape[0])


def test_an_encoder_without_a_linear_end_is_refused(make_method, blobs):
    autoencoder = Autoencoder(network=WithoutLinearEnd, embedding_dim=3, n_epochs=0, device="cpu")
    with pytest.raises(InputError, match="Sequential that ends with a Linear"):
        make_method("vade", autoencoder=autoencoder).fit(blobs.X)
