import copy
import itertools
import math
import warnings

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator

from dekm.clustering.kmeans import Partition
from dekm.clustering.scatter import sorted_eigenvectors, within_class_scatter
from dekm.errors import InputError
from dekm.methods import METHODS
from dekm.methods.dekm import DEKM
from dekm.methods.representation import move_to_centroids, representation_loss
from dekm.metrics import label_change
from dekm.nn.training import Step


@pytest.fixture(scope="module")
def start(tiny, blobs):
    """A pretrained autoencoder of the blobs."""
    return FrozenEstimator(tiny(embedding_dim=4).fit(blobs.X))


@pytest.fixture(scope="module")
def fit(start, blobs):
    """Fit DEKM on the blobs from the same pretrained weights; the limit of iterations is expected."""

    def run(X=blobs.X, **params):
        defaults = {"autoencoder": start, "n_init": 3, "n_init_update": 3, "batch_size": 64, "device": "cpu"}
        estimator = DEKM(3, **defaults | {"max_iter": 3, "tol": 0.0, "random_state": 0} | params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if estimator.tol == 0 else "error", ConvergenceWarning)
            return estimator.fit(X)

    return run


@pytest.fixture
def embedding():
    """In float64: an embedding (30, 4), labels, the means of 3 clusters, and V."""
    generator = torch.Generator().manual_seed(0)
    H = torch.randn(30, 4, generator=generator, dtype=torch.float64)
    labels = torch.arange(30) % 3
    U = torch.stack([H[labels == i].mean(0) for i in range(3)])
    return H, labels, U, sorted_eigenvectors(within_class_scatter(H, labels, U))


def losses(estimator):
    return [row["loss"] for row in estimator.history_[1:]]


def test_the_target_is_Y_with_the_last_coordinate_of_the_centroid():
    Y = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    M = torch.tensor([[10.0, 20.0], [30.0, 40.0]])
    target = move_to_centroids(Y, M, torch.tensor([1, 0, 1]), [1])
    assert target.tolist() == [[1.0, 40.0], [3.0, 20.0], [5.0, 40.0]]
    assert Y.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def test_the_target_of_all_coordinates_is_the_centroid():
    Y, M = torch.zeros(3, 2), torch.tensor([[10.0, 20.0], [30.0, 40.0]])
    labels = torch.tensor([1, 0, 1])
    assert torch.equal(move_to_centroids(Y, M, labels, [0, 1]), M[labels])


def test_L_4_is_the_double_sum_of_equation_6_in_a_rotated_basis(embedding):
    H, labels, U, V = embedding
    assert not torch.allclose(V.abs(), torch.eye(4, dtype=torch.float64), atol=0.1)
    target = move_to_centroids(H @ V.T, U @ V.T, labels, [3])
    moved = H + 0.1
    expected = 0.0
    for i in range(3):
        for h_now, h_then in zip(moved[labels == i].numpy(), H[labels == i].numpy(), strict=True):
            y_target = V.numpy() @ h_then
            y_target[-1] = (V.numpy() @ U[i].numpy())[-1]
            expected += ((V.numpy() @ h_now - y_target) ** 2).sum()
    assert representation_loss(moved, V, target).item() == pytest.approx(expected / 30, rel=1e-12)


def test_L_4_of_the_unchanged_embedding_is_the_scatter_of_the_last_coordinate(embedding):
    H, labels, U, V = embedding
    target = move_to_centroids(H @ V.T, U @ V.T, labels, [3])
    largest = torch.linalg.eigvalsh(within_class_scatter(H, labels, U))[-1]
    assert representation_loss(H, V, target).item() == pytest.approx(largest.item() / 30, rel=1e-10)


def test_gradient_of_L_4_is_2_times_the_residual_in_the_basis(embedding):
    H, labels, U, V = embedding
    target = move_to_centroids(H @ V.T, U @ V.T, labels, [3])
    h = H.clone().requires_grad_()
    representation_loss(h, V, target).backward()
    by_formula = 2 * (H @ V.T - target) @ V / len(H)
    torch.testing.assert_close(h.grad, by_formula, rtol=1e-12, atol=1e-14)
    differences = torch.empty_like(H)
    for i in range(H.shape[0]):
        for j in range(H.shape[1]):
            step = torch.zeros_like(H)
            step[i, j] = 1e-6
            ahead, behind = (representation_loss(H + s, V, target) for s in (step, -step))
            differences[i, j] = (ahead - behind) / 2e-6
    torch.testing.assert_close(differences, by_formula, rtol=1e-6, atol=1e-9)


def test_strategies_3_and_5_share_one_objective(embedding):
    H, labels, U, V = embedding
    I = torch.eye(4, dtype=torch.float64)  # noqa: E741
    everything = list(range(4))
    h = (H + 0.3).requires_grad_()
    third = representation_loss(h, V, move_to_centroids(H @ V.T, U @ V.T, labels, everything))
    fifth = representation_loss(h, I, move_to_centroids(H, U, labels, everything))
    torch.testing.assert_close(third, fifth, rtol=1e-13, atol=0)
    gradients = [torch.autograd.grad(loss, h)[0] for loss in (third, fifth)]
    torch.testing.assert_close(*gradients, rtol=1e-11, atol=1e-15)


def test_strategies_3_and_5_train_alike_with_the_same_seed(fit):
    third, fifth = fit(space="Y", dims="all"), fit(space="H", dims="all")
    assert losses(third) == pytest.approx(losses(fifth), rel=1e-5)
    np.testing.assert_array_equal(third.labels_, fifth.labels_)


def test_strategies_1_2_3_and_4_differ(fit):
    curves = [
        losses(fit(space=space, dims=dims))
        for space, dims in (("Y", "last"), ("Y", "random"), ("Y", "all"), ("H", "random"))
    ]
    assert len({tuple(curve) for curve in curves}) == 4


def test_strategy_1_is_strategy_2_where_the_last_coordinate_is_drawn(fit, tiny, blobs):
    start = FrozenEstimator(tiny(embedding_dim=2).fit(blobs.X))
    drawn_last = []
    for seed in range(8):
        first, second = (
            fit(autoencoder=start, dims=dims, max_iter=1, random_state=seed) for dims in ("last", "random")
        )
        drawn_last.append(losses(first) == losses(second))
        if drawn_last[-1]:
            np.testing.assert_array_equal(first.embedding_, second.embedding_)
    assert 0 < sum(drawn_last) < 8


def test_a_random_coordinate_is_drawn_in_every_iteration():
    estimator, random_state = DEKM(dims="random"), np.random.RandomState(0)
    drawn = [estimator._columns(3, random_state) for _ in range(60)]
    assert {tuple(columns) for columns in drawn} == {(0,), (1,), (2,)}


def test_the_loss_starts_above_zero_and_decreases(fit):
    estimator = fit(max_iter=6, n_batches=5)
    assert all(loss > 0 for loss in losses(estimator))
    assert losses(estimator)[-1] < losses(estimator)[0]


def test_the_scatter_of_the_last_coordinate_decreases(fit):
    seen = []
    fit(on_iteration=lambda iteration: seen.append(copy.deepcopy(iteration)), max_iter=5)
    largest = [torch.linalg.eigvalsh(within_class_scatter(s.H, s.labels, s.centers))[-1].item() for s in seen]
    assert largest[-1] < largest[0]


def test_the_first_loss_is_that_of_the_recorded_state(fit, blobs):
    seen = []
    fit(on_iteration=lambda s: seen.append(copy.deepcopy(s)), n_batches=1, batch_size=300, max_iter=1)
    H, labels, U, V = seen[0].H.numpy(), seen[0].labels.numpy(), seen[0].centers.numpy(), seen[0].V.numpy()
    expected = (((H - U[labels]) @ V[-1]) ** 2).mean()
    assert seen[1].loss == pytest.approx(expected, rel=1e-4)


def test_an_iteration_that_a_hook_keeps_does_not_change_afterwards(fit):
    seen, copies = [], []

    def keep(iteration):
        seen.append(iteration)
        copies.append(copy.deepcopy(iteration))

    fit(on_iteration=keep)
    for kept, copied in zip(seen, copies, strict=True):
        for name in ("H", "labels", "centers", "V"):
            assert torch.equal(getattr(kept, name), getattr(copied, name)), name


def test_V_of_an_iteration_belongs_to_its_partition(fit):
    seen = []
    fit(on_iteration=lambda s: seen.append(copy.deepcopy(s)))
    for s in seen:
        S_w = within_class_scatter(s.H, s.labels, s.centers).double()
        diagonal = s.V.double() @ S_w @ s.V.double().T
        assert (diagonal.diagonal().diff() >= 0).all()
        torch.testing.assert_close(
            diagonal, torch.diag(diagonal.diagonal()), rtol=0, atol=1e-4 * S_w.trace().item()
        )


@pytest.mark.parametrize("tol", [1e-9, 0.5, 1.0])
def test_the_first_partition_never_stops_a_fit(fit, tol, make_blobs):
    estimator = fit(make_blobs(300, 3, 10, spread=20.0).X, tol=tol, max_iter=20)
    assert 1 <= estimator.n_iter_ < 20
    assert np.isnan(estimator.history_[0]["changed"])
    assert not any(row["changed"] < tol for row in estimator.history_[:-1])
    assert estimator.history_[-1]["changed"] < tol


def test_changed_ignores_the_names_of_the_clusters(fit):
    seen = []
    estimator = fit(on_iteration=seen.append)
    for before, after, row in zip(seen, seen[1:], estimator.history_[1:], strict=False):
        assert row["changed"] == after.changed == label_change(before.labels, after.labels, match=True)


def test_noise_ends_at_max_iter_with_a_warning_that_names_max_iter_and_tol(tiny, noise):
    estimator = DEKM(
        8, autoencoder=tiny(), max_iter=2, tol=1e-3, n_init=2, n_init_update=1, device="cpu", random_state=0
    )
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2.*tol=0\.10%"):
        estimator.fit(noise)
    assert estimator.n_iter_ == 2


def test_labels_that_settle_give_no_warning(fit, make_blobs):
    estimator = fit(make_blobs(300, 3, 10, spread=20.0).X, tol=0.5, max_iter=20)
    assert estimator.n_iter_ < 20


def test_max_iter_0_is_ae_k_means(fit, make_method, start, blobs):
    estimator = fit(max_iter=0)
    baseline = make_method("ae_k_means", autoencoder=start, n_init=3).fit(blobs.X)
    np.testing.assert_array_equal(estimator.labels_, baseline.labels_)
    np.testing.assert_array_equal(estimator.embedding_, baseline.embedding_)
    assert estimator.inertia_ == baseline.inertia_
    assert estimator.n_iter_ == 0
    assert len(estimator.history_) == 1


def test_iteration_0_is_ae_k_means(fit, make_method, start, blobs):
    baseline = make_method("ae_k_means", autoencoder=start, n_init=3).fit(blobs.X)
    assert fit().history_[0]["inertia"] == baseline.inertia_


def test_history_has_the_loss_and_the_change_of_each_iteration(fit):
    estimator = fit(max_iter=3)
    assert [row["n_iter"] for row in estimator.history_] == [0, 1, 2, 3]
    assert math.isnan(estimator.history_[0]["loss"])
    for row in estimator.history_[1:]:
        assert row["loss"] > 0
        assert 0 <= row["changed"] <= 1


def test_a_pass_takes_every_sample_once(fit):
    in_a_pass = fit(n_batches="pass", batch_size=64)
    by_number = fit(n_batches=5, batch_size=64)
    one_less = fit(n_batches=4, batch_size=64)
    np.testing.assert_array_equal(in_a_pass.embedding_, by_number.embedding_)
    assert not np.array_equal(in_a_pass.embedding_, one_less.embedding_)


def test_iterations_continue_through_one_order_of_the_samples_that_repeats(fit):
    first, second, third, fourth = losses(fit(n_batches=2, batch_size=100, max_iter=4, lr=1e-30))
    assert fourth == pytest.approx(first, rel=1e-4)
    assert len({round(loss, 3) for loss in (first, second, third)}) == 3


def test_dekm_f_is_dekm_with_full_passes():
    assert METHODS["dekm_f"].estimator == METHODS["dekm"].estimator
    assert METHODS["dekm_f"].params == {"n_batches": "pass"}
    assert METHODS["dekm"].params == {}


def test_passes_are_taken_one_after_the_other(fit):
    twice = fit(n_batches="pass", n_passes=2, batch_size=64)
    np.testing.assert_array_equal(twice.embedding_, fit(n_batches=10, batch_size=64).embedding_)


def test_the_reconstruction_trains_the_decoder_along(fit):
    without, added = (fit(reconstruction=value, max_iter=1, n_batches=1) for value in (False, True))
    assert losses(added)[0] > losses(without)[0]
    assert not np.array_equal(added.embedding_, without.embedding_)


def test_the_loss_of_june_2021_is_two_means_over_coordinates(fit, start, blobs):
    # The authors add a mean over the e elements of y to one over the d values of x; here both are times e.
    x = torch.from_numpy(blobs.X[:300])
    with torch.no_grad():
        x_hat = start.estimator.module_(x)
    settings = {"batch_size": 300, "max_iter": 1, "n_batches": 1}
    without, added = (losses(fit(reconstruction=value, **settings))[0] for value in (False, True))
    authors = without / 4 + ((x_hat - x) ** 2).mean().item()
    assert added / 4 == pytest.approx(authors, rel=1e-4)


def test_the_gradient_of_june_2021_is_that_of_two_means_over_coordinates(fit, start, blobs):
    """The first step of Adam is lr times the sign of the gradient, which is written out here."""
    settings = {"reconstruction": True, "batch_size": 300, "n_batches": 1}
    first, fitted = (fit(max_iter=n_iter, **settings) for n_iter in (0, 1))
    X, labels, U, H = map(
        torch.from_numpy, (blobs.X, first.labels_, first.cluster_centers_, first.embedding_)
    )
    V = sorted_eigenvectors(within_class_scatter(H, labels, U))
    target = H @ V.T
    target[:, -1] = (U @ V.T)[labels, -1]
    network = copy.deepcopy(start.estimator.module_)
    h = network.encoder(X)
    loss = ((h @ V.T - target) ** 2).mean(1).sum() + ((network.decoder(h) - X) ** 2).mean(1).sum()
    loss.backward()
    for part, trained in {"encoder": fitted.encoder_, "decoder": fitted.decoder_}.items():
        before = network.get_submodule(part).named_parameters()
        for (name, old), new in zip(before, trained.parameters(), strict=True):
            clear = old.grad.abs() > 1e-3 * old.grad.abs().max()
            assert torch.equal((new - old)[clear].sign(), -old.grad[clear].sign()), (part, name)


def test_without_shuffling_the_batches_take_the_samples_in_their_order(fit, monkeypatch):
    taken = []
    step = Step.__call__
    monkeypatch.setattr(Step, "__call__", lambda self, i: taken.append(i.tolist()) or step(self, i))
    fit(shuffle=False, max_iter=2, n_batches=3, batch_size=128)
    assert taken == [[i % 300 for i in range(start, start + 128)] for start in range(0, 6 * 128, 128)]
    taken.clear()
    fit(max_iter=1, n_batches=3, batch_size=100)
    assert sorted(itertools.chain(*taken)) == list(range(300))
    assert taken[0] != list(range(100))


@pytest.fixture
def untrained(tiny, noise, monkeypatch):
    """Fractions of the labels that changed in five K-means of the same embedding, which has no clusters."""
    start = FrozenEstimator(tiny().fit(noise))

    def changes(*, margin=1.0, **params):
        monkeypatch.setattr("dekm.methods.dekm.MARGIN", margin)
        settings = {"max_iter": 5, "tol": 0.0, "n_init": 1, "n_init_update": 1, "lr": 1e-30}
        settings |= {"init_update": "previous"} | params
        estimator = DEKM(8, autoencoder=start, device="cpu", random_state=0, **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return [row["changed"] for row in estimator.fit(noise).history_[1:]]

    return changes


@pytest.mark.parametrize("n_init_update", [0, 1, 3, "2n_iter"])
def test_the_previous_partition_stays_where_no_start_is_better_by_the_margin(n_init_update, untrained):
    assert max(untrained(n_init_update=n_init_update)[1:]) < 0.01


def test_fresh_starts_alone_find_another_partition_each_time(untrained):
    assert min(untrained(init_update="fresh")) > 0.1


def test_a_better_fresh_start_replaces_the_previous_partition(untrained):
    assert max(untrained(margin=1e-4, n_init_update=20)) > 0.1


@pytest.mark.parametrize(("better", "taken"), [(0.5, True), (0.05, True), (1e-3, True), (1e-5, False)])
def test_a_start_is_taken_if_it_is_better_by_a_ten_thousandth(better, taken):
    """The corners of a rectangle, of which the previous partition joins those of the longer sides."""
    width = 2.0
    height = width * np.sqrt(1 - better)
    H = torch.tensor([[0, 0], [0, height], [width, 0], [width, height]], dtype=torch.float32)
    previous = Partition(torch.tensor([0, 1, 0, 1]), torch.zeros(2, 2), 0.0, 1)
    found = DEKM(2, n_init_update=5)._partition(H, previous, np.random.RandomState(0))
    assert (found.labels[0] == found.labels[1]).item() is taken


@pytest.mark.parametrize("init_update", ["previous", "fresh"])
def test_there_are_twice_as_many_starts_as_the_last_kmeans_had_iterations(init_update, noise):
    H = torch.from_numpy(noise)
    previous = Partition(torch.arange(200) % 8, torch.zeros(8, 10), 0.0, 3)

    def drawn(n_init_update):
        random_state = np.random.RandomState(0)
        DEKM(8, init_update=init_update, n_init_update=n_init_update)._partition(H, previous, random_state)
        return random_state.rand()

    assert drawn("2n_iter") == drawn(6) != drawn(5)


def test_fresh_starts_alone_need_at_least_one(fit):
    with pytest.raises(InputError, match=r"n_init_update=0 should be >= 1 with init_update='fresh'\."):
        fit(init_update="fresh", n_init_update=0, max_iter=0)


@pytest.mark.parametrize(("e", "k"), [(3, 5), (7, 2)])
def test_the_number_of_clusters_need_not_be_the_dimension_of_the_embedding(e, k, make_method, tiny, blobs):
    seen = []
    estimator = make_method("dekm", n_clusters=k, autoencoder=tiny(embedding_dim=e), on_iteration=seen.append)
    estimator.fit(blobs.X)
    assert estimator.cluster_centers_.shape == (k, e)
    assert estimator.embedding_.shape == (300, e)
    assert seen[-1].V.shape == (e, e)
    assert set(estimator.labels_) == set(range(k))


def test_an_embedding_may_have_one_dimension(make_method, tiny, blobs):
    estimator = make_method("dekm", autoencoder=tiny(embedding_dim=1)).fit(blobs.X)
    assert estimator.embedding_.shape == (300, 1)


def test_the_encoder_and_the_labels_are_of_the_same_iteration(fit, blobs):
    estimator = fit()
    np.testing.assert_array_equal(estimator.predict(blobs.X), estimator.labels_)
    H = estimator.encoder_(torch.from_numpy(blobs.X)).detach().numpy()
    np.testing.assert_allclose(H, estimator.embedding_, rtol=1e-5, atol=1e-6)


def test_two_fits_from_one_seed_have_the_same_V_loss_and_labels(fit):
    runs = []
    for _ in range(2):
        seen = []
        runs.append((fit(on_iteration=lambda s, seen=seen: seen.append(s.V.clone())), seen))
    assert losses(runs[0][0]) == losses(runs[1][0])
    np.testing.assert_array_equal(runs[0][0].labels_, runs[1][0].labels_)
    assert all(torch.equal(first, second) for first, second in zip(runs[0][1], runs[1][1], strict=True))


def test_fewer_samples_than_the_batch_size_are_clustered(fit, blobs):
    assert fit(blobs.X[:20], batch_size=256).labels_.shape == (20,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("space", "Z"),
        ("dims", "first"),
        ("n_batches", 0),
        ("n_batches", "epoch"),
        ("n_passes", 0),
        ("reconstruction", "yes"),
        ("shuffle", "yes"),
        ("max_iter", -1),
        ("batch_size", 0),
        ("batch_size", -5),
        ("lr", -1.0),
        ("n_init", 0),
        ("n_init_update", -1),
        ("init_update", "warm"),
    ],
)
def test_an_invalid_parameter_is_refused(name, value, start, blobs):
    estimator = DEKM(3, autoencoder=start, n_init=2, n_init_update=2, max_iter=1, tol=1.0, device="cpu")
    with pytest.raises(InputError, match=f"{name}={value!r} should be"):
        estimator.set_params(**{name: value}).fit(blobs.X)
