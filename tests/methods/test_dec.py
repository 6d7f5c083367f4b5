import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

from dekm import DEC
from dekm.errors import InputError
from dekm.methods.soft_assignment import kl_divergence, soft_assignment, target_distribution


def numpy_q(H, U):
    q = np.array([[1 / (1 + ((h - u) ** 2).sum()) for u in U] for h in H])
    return q / q.sum(1, keepdims=True)


def numpy_p(Q):
    p = np.zeros_like(Q)
    for i in range(len(Q)):
        total = sum(Q[i, j] ** 2 / Q[:, j].sum() for j in range(Q.shape[1]))
        for j in range(Q.shape[1]):
            p[i, j] = Q[i, j] ** 2 / Q[:, j].sum() / total
    return p


def numpy_kl(P, Q):
    return sum(p * np.log(p / q) for p, q in zip(P.ravel(), Q.ravel(), strict=True)) / len(P)


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    return torch.from_numpy(rng.normal(size=(10, 4))), torch.from_numpy(rng.normal(size=(3, 4)))


def still(tiny, **params):
    """Ten rows in batches of five, and a learning rate of 0: the logged loss is that of the start."""
    small = {"update_interval": 2, "batch_size": 5, "max_iter": 1, "tol": 1.0, "lr": 0.0, "n_init": 2}
    return DEC(3, autoencoder=tiny(), device="cpu", random_state=0, **small | params)


def test_soft_assignment_is_students_t(points):
    H, U = points
    np.testing.assert_allclose(soft_assignment(H, U), numpy_q(H.numpy(), U.numpy()), rtol=1e-12)


def test_target_distribution_of_three_points():
    Q = torch.tensor([[0.8, 0.2], [0.6, 0.4], [0.6, 0.4]], dtype=torch.float64)
    P = [[8 / 9, 1 / 9], [9 / 17, 8 / 17], [9 / 17, 8 / 17]]
    np.testing.assert_allclose(target_distribution(Q), P, rtol=1e-12)


def test_target_distribution_of_a_batch_differs_from_that_of_all_samples():
    Q = torch.tensor([[0.8, 0.2], [0.6, 0.4], [0.6, 0.4]], dtype=torch.float64)
    np.testing.assert_allclose(target_distribution(Q[:1]), [[0.8, 0.2]], rtol=1e-12)


def test_divergence_is_the_sum_over_clusters_and_the_mean_over_samples(points):
    Q = soft_assignment(*points)
    P = target_distribution(Q)
    assert float(kl_divergence(P, Q)) == pytest.approx(numpy_kl(P.numpy(), Q.numpy()), rel=1e-10)
    assert float(kl_divergence(P, P)) == pytest.approx(0.0, abs=1e-12)


def test_divergence_is_finite_where_the_target_is_zero():
    P = torch.tensor([[1.0, 0.0]])
    assert float(kl_divergence(P, torch.tensor([[0.5, 0.5]]))) == pytest.approx(np.log(2))


def test_gradients_of_the_divergence_are_those_of_finite_differences(points):
    H, U = (value.requires_grad_() for value in points)
    P = target_distribution(soft_assignment(H, U)).detach()
    assert torch.autograd.gradcheck(lambda H, U: kl_divergence(P, soft_assignment(H, U)), (H, U))


def test_the_target_is_that_of_the_whole_data_and_not_of_a_batch(blobs, tiny):
    X = blobs.X[:10]
    dec = still(tiny).fit(X)
    Q = numpy_q(dec.embedding_.astype(float), dec.cluster_centers_.astype(float))
    loss = dec.history_[1]["loss"]
    assert loss == pytest.approx(numpy_kl(numpy_p(Q), Q), rel=1e-4)
    halves = np.concatenate([numpy_p(Q[:5]), numpy_p(Q[5:])])
    assert abs(loss - numpy_kl(halves, Q)) > 1e-3 * loss


def test_the_loss_is_the_mean_squared_error_plus_gamma_times_the_divergence(blobs, tiny):
    X = blobs.X[:10]
    dec = still(tiny, reconstruction=True, gamma=0.5).fit(X)
    with torch.no_grad():
        X_hat = dec.autoencoder_.module_(torch.from_numpy(X)).numpy()
    Q = numpy_q(dec.embedding_.astype(float), dec.cluster_centers_.astype(float))
    expected = ((X_hat - X) ** 2).mean() + 0.5 * numpy_kl(numpy_p(Q), Q)
    assert dec.history_[1]["loss"] == pytest.approx(expected, rel=1e-4)


def test_gamma_zero_leaves_only_the_reconstruction(blobs, tiny):
    starts = []
    dec = still(tiny, reconstruction=True, gamma=0.0, lr=1e-3)
    dec.set_params(on_iteration=lambda iteration: starts.append(iteration.centers.numpy())).fit(blobs.X)
    np.testing.assert_array_equal(dec.cluster_centers_, starts[0])
    dec.set_params(lr=0.0).fit(blobs.X[:10])
    with torch.no_grad():
        X_hat = dec.autoencoder_.module_(torch.from_numpy(blobs.X[:10])).numpy()
    assert dec.history_[1]["loss"] == pytest.approx(((X_hat - blobs.X[:10]) ** 2).mean(), rel=1e-4)


def test_encoder_and_centroids_are_trained_together(blobs, tiny):
    states = []
    dec = still(tiny, lr=1e-3, on_iteration=states.append).fit(blobs.X)
    assert not torch.equal(states[0].centers, states[1].centers)
    assert not torch.equal(states[0].H, states[1].H)
    np.testing.assert_array_equal(states[1].centers, dec.cluster_centers_)


def test_labels_are_the_largest_soft_assignments(blobs, tiny):
    dec = still(tiny, lr=1e-3).fit(blobs.X)
    Q = numpy_q(dec.embedding_.astype(float), dec.cluster_centers_.astype(float))
    np.testing.assert_array_equal(dec.labels_, Q.argmax(1))


@pytest.mark.parametrize(
    ("reconstruction", "by_name"),
    [
        (False, {"optimizer": "sgd", "lr": 0.01, "momentum": 0.9}),
        (True, {"optimizer": "adam", "lr": 0.001}),
    ],
)
def test_dec_takes_sgd_and_idec_adam_by_default(reconstruction, by_name, blobs, tiny):
    default, named, other = (
        still(tiny, reconstruction=reconstruction, **{"lr": "auto"} | params).fit(blobs.X).embedding_
        for params in ({}, by_name, {"optimizer": "adam" if by_name["optimizer"] == "sgd" else "sgd"})
    )
    np.testing.assert_array_equal(default, named)
    assert not np.array_equal(default, other)


def test_dcec_on_vectors_is_dec(make_method, blobs):
    dec, dcec = (make_method(name).fit(blobs.X) for name in ("dec", "dcec"))
    np.testing.assert_array_equal(dec.embedding_, dcec.embedding_)
    np.testing.assert_array_equal(dec.labels_, dcec.labels_)


def test_dcec_on_images_keeps_the_reconstruction(make_method, images):
    dcec = make_method("dcec", gamma=0.0, lr=0.0).fit(images.X)
    with torch.no_grad():
        X_hat = dcec.autoencoder_.module_(torch.from_numpy(images.X)).numpy()
    assert dcec.history_[1]["loss"] == pytest.approx(((X_hat - images.X) ** 2).mean(), rel=1e-4)


def test_it_stops_when_few_labels_change_but_never_at_the_first_refresh(blobs, tiny):
    dec = still(tiny, max_iter=5, tol=1.0).fit(blobs.X)
    assert dec.n_iter_ == 1
    assert np.isnan(dec.history_[0]["changed"])


@pytest.mark.filterwarnings("ignore:The clusters are others")
def test_data_without_clusters_end_at_max_iter_with_a_warning(noise, tiny):
    with pytest.warns(ConvergenceWarning, match=r"of the labels still changed at max_iter=2.*Increase"):
        assert (
            DEC(
                8,
                autoencoder=tiny(),
                lr=1.0,
                max_iter=2,
                update_interval=9,
                n_init=1,
                device="cpu",
                random_state=0,
            )
            .fit(noise)
            .n_iter_
            == 2
        )


def test_the_error_for_a_diverging_loss_names_the_learning_rate(blobs, tiny):
    with pytest.raises(InputError, match=r"diverged with lr=1e\+25.*Try a smaller lr"):
        still(tiny, lr=1e25).fit(blobs.X)
    with pytest.raises(InputError, match=r"diverged with lr=1e\+25"):
        tiny(lr=1e25).fit(blobs.X)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["k_means", "ae_k_means", "dec", "idec", "dcn", "dkm", "dekm"])
def test_fewer_distinct_points_than_clusters_warn_and_give_valid_labels(name, make_method, blobs):
    X = blobs.X[np.arange(60) % 3]
    with pytest.warns(ConvergenceWarning, match=r"Only 3 of n_clusters=6 clusters.* 3 distinct.*Try a small"):
        estimator = make_method(name, n_clusters=6).fit(X)
    assert estimator.n_clusters_found_ == 3
    assert set(estimator.labels_) <= set(range(6))
    assert np.isfinite(estimator.cluster_centers_).all()
    assert np.isfinite(estimator.inertia_)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"reconstruction": "text"}, r"reconstruction='text' should be True, False or 'images'\."),
        ({"gamma": -1}, r"gamma=-1 should be a number >= 0\."),
        ({"update_interval": 0}, r"update_interval=0 should be an integer >= 1\."),
        ({"lr": float("nan")}, r"lr=nan should be a number >= 0 or 'auto'\."),
        ({"lr": "fast"}, r"lr='fast' should be a number >= 0 or 'auto'\."),
        ({"optimizer": "adamw"}, r"optimizer='adamw' should be 'auto', 'sgd' or 'adam'\."),
        ({"momentum": 1}, r"momentum=1 should be a number between 0 and 1\."),
        ({"max_iter": 2.5}, r"max_iter=2.5 should be an integer >= 0\."),
        ({"n_init": True}, r"n_init=True should be an integer >= 1\."),
    ],
)
def test_an_invalid_parameter_is_refused_with_the_valid_values(params, message, tiny, blobs):
    dec = still(tiny).set_params(**params)
    with pytest.raises(InputError, match=message):
        dec.fit(blobs.X)
