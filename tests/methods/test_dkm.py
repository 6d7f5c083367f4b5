import numpy as np
import pytest
import torch
from sklearn.frozen import FrozenEstimator

from dekm import DKM
from dekm.errors import InputError
from dekm.methods.soft_kmeans import annealed_alphas, soft_kmeans_loss


def numpy_loss(H, U, alpha):
    total = 0.0
    for h in H:
        d = np.array([((h - u) ** 2).sum() for u in U])
        s = np.exp(-alpha * (d - d.min()))
        total += (s / s.sum()) @ d
    return total / len(H)


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    return torch.from_numpy(rng.normal(size=(10, 4))), torch.from_numpy(rng.normal(size=(3, 4)))


def tensor(alpha):
    return torch.tensor(alpha, dtype=torch.float64)


def test_alphas_are_those_of_the_schedule():
    alphas = annealed_alphas(40)
    assert np.round(alphas[:5], 3).tolist() == [0.1, 0.423, 0.752, 1.078, 1.409]
    assert round(alphas[39], 2) == 28.13
    assert len(alphas) == 40


@pytest.mark.parametrize("alpha", [0.1, 1.0, 1000.0])
def test_loss_is_the_softmax_weighted_distance(points, alpha):
    H, U = points
    expected = numpy_loss(H.numpy(), U.numpy(), alpha)
    assert float(soft_kmeans_loss(H, U, tensor(alpha))) == pytest.approx(expected, rel=1e-10)


def test_large_alpha_far_from_all_centers_is_kmeans_without_overflow(points):
    H, U = points[0].float() + 100, points[1].float()
    loss = float(soft_kmeans_loss(H, U, torch.tensor(1000.0)))
    nearest = ((H[:, None] - U) ** 2).sum(-1).min(1).values.mean()
    assert loss == pytest.approx(float(nearest), rel=1e-6)


def test_gradients_of_the_loss_are_those_of_finite_differences(points):
    H, U = (value.requires_grad_() for value in points)
    assert torch.autograd.gradcheck(lambda H, U: soft_kmeans_loss(H, U, tensor(2.0)), (H, U))


def test_the_logged_loss_is_reconstruction_plus_lambda_times_the_soft_kmeans_loss(blobs, tiny):
    params = {"max_iter": 1, "epochs_per_iter": 1, "batch_size": 300, "lr": 0.0, "n_init": 2}
    dkm = DKM(3, autoencoder=tiny(), alpha=2.0, lam=0.7, device="cpu", random_state=0, **params).fit(blobs.X)
    with torch.no_grad():
        X_hat = dkm.autoencoder_.module_(torch.from_numpy(blobs.X)).numpy()
    soft = numpy_loss(dkm.embedding_.astype(float), dkm.cluster_centers_.astype(float), 2.0)
    expected = ((X_hat - blobs.X) ** 2).sum() / 300 + 0.7 * soft
    assert dkm.history_[1]["loss"] == pytest.approx(expected, rel=1e-4)


def test_annealing_starts_without_pretraining_from_uniform_centers(blobs, tiny):
    states = []
    params = {"epochs_per_iter": 1, "device": "cpu", "random_state": 0, "on_iteration": states.append}
    dkm = DKM(3, autoencoder=tiny(), annealed=True, lr=1e-2, **params).fit(blobs.X)
    assert dkm.autoencoder_.loss_curve_ == []
    assert states[0].centers.abs().max() <= 1
    assert states[0].centers.min() < 0 < states[0].centers.max()
    assert dkm.n_iter_ == 40
    assert dkm.history_[-1]["loss"] < dkm.history_[1]["loss"]


def test_pretrained_mode_has_twenty_iterations(make_method, blobs):
    assert make_method("dkm", max_iter="auto", epochs_per_iter=1).fit(blobs.X).n_iter_ == 20


def test_a_fitted_autoencoder_cannot_be_annealed(blobs, tiny):
    frozen = FrozenEstimator(tiny().fit(blobs.X))
    with pytest.raises(InputError, match="autoencoder is fitted; with annealed=True it should be unfitted"):
        DKM(3, autoencoder=frozen, annealed=True, device="cpu").fit(blobs.X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 0}, r"alpha=0 should be a number > 0\."),
        ({"annealed": "yes"}, r"annealed='yes' should be True or False\."),
        ({"max_iter": "all"}, r"max_iter='all' should be an integer >= 0 or 'auto'\."),
        ({"lam": None}, r"lam=None should be a number >= 0\."),
    ],
)
def test_an_invalid_parameter_is_refused_with_the_valid_values(params, message, make_method, blobs):
    dkm = make_method("dkm").set_params(**params)
    with pytest.raises(InputError, match=message):
        dkm.fit(blobs.X)
