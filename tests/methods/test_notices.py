import warnings

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

from dekm.methods.iteration import Iteration
from dekm.methods.notices import notices

SOUND = {"changed": 0.01, "smallest": 80, "largest": 130, "effective_rank": 6.0}


def found(*rows, k=10, n=1000, e=10, silhouettes=(0.2, 0.2)):
    """The notices of a fit whose first iteration is sound and whose later ones differ by `rows`."""
    return notices([SOUND, *(SOUND | row for row in rows)], n, k, e, *silhouettes)


def changes(*values):
    return [{"changed": value} for value in values]


def test_a_sound_fit_gives_no_notice():
    assert found({}) == []


@pytest.mark.parametrize(
    "rows",
    [
        changes(*[0.2 * 0.9**i for i in range(60)]),  # a slow decrease
        changes(*[0.005 if i % 2 else 0.004 for i in range(60)]),  # a few samples at the borders
        changes(0.3, 0.01, *[0.2] * 19, 0.001),  # a short unrest
    ],
)
def test_labels_that_settle_give_no_notice(rows):
    assert found(*rows) == []


@pytest.mark.parametrize("end", [[], [0.0]])
def test_labels_that_keep_changing_give_one_even_if_they_settle_at_last(end):
    (notice,) = found(*changes(0.1, *[0.2, 0.1] * 12, *end))
    assert notice.startswith("For 24 iterations 15.0% of the labels changed")


def test_a_merged_cluster_is_named_with_its_sizes():
    (notice,) = found({"largest": 310})
    assert "A cluster holds 310 of 1,000 samples; the largest of iteration 0 held 130." in notice


def test_a_cluster_of_almost_nothing_is_named_with_its_sizes():
    (notice,) = found({"smallest": 4})
    assert "A cluster holds 4 of 1,000 samples; the smallest of iteration 0 held 80." in notice


def test_data_that_are_unbalanced_from_the_start_give_no_notice():
    start = SOUND | {"smallest": 3, "largest": 600}
    assert notices([start, start | {"smallest": 2, "largest": 700}], 1000, 10, 10, 0.2, 0.2) == []


def test_half_of_the_samples_in_one_of_two_clusters_is_no_notice():
    assert found({"largest": 800, "smallest": 200}, k=2) == []


def test_an_empty_cluster_is_left_to_its_own_warning():
    assert found({"smallest": 0}) == []


@pytest.mark.parametrize("rank", [1.1, 1.4])
def test_a_collapsed_embedding_gives_a_notice(rank):
    (notice,) = found({"effective_rank": rank})
    assert f"it uses {rank} dimensions (effective rank), 6.0 in iteration 0" in notice


@pytest.mark.parametrize(
    ("k", "first", "last"), [(5, 1.0, 1.0), (3, 1.3, 1.1), (3, 11.3, 2.2), (4, 16.0, 2.9)]
)
def test_data_on_a_line_and_clusters_at_the_corners_of_a_simplex_give_no_notice(k, first, last):
    start = SOUND | {"effective_rank": first}
    assert notices([start, start | {"effective_rank": last}], 1000, k, 20, 0.2, 0.2) == []


@pytest.mark.parametrize("sizes", [{"k": 2}, {"e": 1}, {"e": 2}])
def test_a_small_embedding_and_two_clusters_may_be_a_line(sizes):
    assert found({"effective_rank": 1.0}, **sizes) == []


@pytest.mark.parametrize(
    ("first", "last", "count"),
    [
        (0.3, 0.21, 0),
        (0.3, 0.19, 1),
        (0.004, -0.015, 0),
        (0.004, -0.017, 1),
        (-0.1, -0.12, 0),
        (None, 0.1, 0),
    ],
)
def test_a_clearly_smaller_silhouette_gives_a_notice(first, last, count):
    assert len(found(silhouettes=(first, last))) == count


def test_sound_fits_are_silent(make_blobs, make_method, tiny):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        for name in ("k_means", "pca_k_means", "ae_k_means", "dec", "idec", "dcn", "dkm", "dekm", "dekm_f"):
            X = make_blobs(300, 4, 10, spread=20.0).X
            make_method(name, n_clusters=4, **({"tol": 0.5} if name.startswith("dekm") else {})).fit(X)


def iteration(H, labels, k, **values):
    H = torch.as_tensor(H, dtype=torch.float32)
    labels = torch.as_tensor(labels)
    centers = torch.stack([H[labels == i].mean(0) for i in range(k)])
    inertia = float(((H - centers[labels]) ** 2).sum())
    return Iteration(3, H, labels, centers, inertia, **values)


def test_the_measures_of_an_iteration_are_those_of_numpy(noise):
    labels = np.arange(200) % 4
    seen = iteration(noise, labels, 4, first_labels=torch.as_tensor(np.arange(200) % 3))
    centered = noise.astype(float) - noise.mean(0, dtype=float)
    within = sum(((noise[labels == i] - noise[labels == i].mean(0)) ** 2).sum() for i in range(4))
    variances = np.linalg.eigvalsh(np.cov(centered.T))
    fractions = variances / variances.sum()
    assert seen.inertia_fraction == pytest.approx(within / (centered**2).sum(), rel=1e-5)
    assert seen.effective_rank == pytest.approx(np.exp(-(fractions * np.log(fractions)).sum()), rel=1e-5)
    assert seen.cluster_sizes.tolist() == [50, 50, 50, 50]
    assert abs(seen.ari_first) < 0.05
    assert set(seen.row()) >= {"smallest", "largest", "ari_first", "effective_rank", "inertia_fraction"}


def test_a_line_has_rank_one_and_equal_points_have_none():
    line = iteration(np.outer(np.arange(6.0), [1, 2, 3]), [0, 0, 0, 1, 1, 1], 2)
    assert line.effective_rank == pytest.approx(1)
    assert line.ari_first == 1
    assert np.isnan(iteration(np.ones((4, 3)), [0, 0, 1, 1], 2).effective_rank)
    assert np.isnan(iteration(np.ones((4, 3)), [0, 0, 1, 1], 2).inertia_fraction)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_the_rank_does_not_depend_on_the_scale_of_the_points(noise, scale):
    ranks = [
        iteration(factor * noise, np.arange(200) % 4, 4).effective_rank for factor in (1, np.float32(scale))
    ]
    assert ranks[0] == pytest.approx(ranks[1], rel=1e-5)


def test_samples_of_many_dimensions_have_no_rank_and_need_no_square_matrix():
    wide = iteration(np.random.default_rng(0).random((4, 200_000)), [0, 0, 1, 1], 2)
    assert np.isnan(wide.effective_rank)
    assert 0 < wide.inertia_fraction < 1
