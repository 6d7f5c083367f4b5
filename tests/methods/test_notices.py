"""Which notices fire in which situation; the sound ones are silent."""

import math
import warnings

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator

from dekm import DEKM, AEKMeans
from dekm.methods.iteration import Iteration, effective_rank
from dekm.methods.notices import FinishedFit

SIGNS = {
    "unsettled": "do not settle",
    "merged": "clusters have merged",
    "small": "the smallest of iteration 0 held",
    "collapsed": "The embedding has collapsed",
    "collapsed before": "collapsed before the first update",
    "drifted": "separate the samples hardly better",
    "worse": "separate the samples worse",
}
N = 1000


def kinds(messages):
    """The kinds of some notices, in the order of `SIGNS`."""
    found = [kind for kind, sign in SIGNS.items() for message in messages if sign in message]
    assert len(found) == len(messages), messages
    return found


def row(sizes, rank=6.0, changed=0.01, ari_first=1.0):
    fractions = np.array(sizes) / sum(sizes)
    entropy = -sum(fraction * math.log(fraction) for fraction in fractions if fraction)
    return {
        "changed": changed,
        "smallest": min(sizes),
        "largest": max(sizes),
        "effective_clusters": math.exp(entropy),
        "effective_rank": rank,
        "ari_first": ari_first,
    }


EVEN = [100] * 10


def found(*, first=EVEN, last=None, ranks=(6.0, 6.0), changes=(0.01,), ari=0.9, e=10, **known):
    """Kinds of the notices of a fit of these cluster sizes, ranks and changed fractions of the labels."""
    sizes = last or first
    rows = [row(first, ranks[0], math.nan), *(row(sizes, ranks[1], value, ari) for value in changes)]
    fit = FinishedFit(rows, sum(first), len(first), e, **known)
    return kinds(fit.notices())


def four_of_twenty():
    return [240] * 4 + [2] * 8 + [3] * 8


SIZES = {
    "even": ({}, []),
    "one cluster of ten grows by half": ({"last": [150] + [95] * 4 + [94] * 5}, []),
    "two of ten merge": ({"last": [210] + [88] * 8 + [86]}, ["merged"]),
    "four of twenty hold 96 %": ({"first": [50] * 20, "last": four_of_twenty()}, ["merged", "small"]),
    "97 % in one of two": ({"first": [1000, 1000], "last": [1940, 60]}, ["merged"]),
    "one of two holds 4 %": ({"first": [1000, 1000], "last": [1960, 40]}, ["merged", "small"]),
    "80 % in one of two": ({"first": [500, 500], "last": [800, 200]}, []),
    "a largest cluster that doubles, of twenty": (
        {"first": [1672] + [904] * 19, "last": [3709] + [797] * 19},
        ["merged"],
    ),
    "unbalanced from the start": (
        {"first": [600] + [45] * 8 + [37, 3], "last": [700] + [33] * 8 + [34, 2]},
        [],
    ),
    "four samples in one of ten": ({"last": [4] + [110] * 8 + [116]}, ["small"]),
    "an empty cluster has its own warning": ({"last": [0] + [111] * 8 + [112]}, []),
}
CHANGES = {
    "a slow decrease": ({"changes": [0.2 * 0.9**i for i in range(60)], "passes": 1.0}, []),
    "few samples at the borders": ({"changes": [0.005, 0.004] * 30, "passes": 1.0}, []),
    "a fit of three iterations that converges": ({"changes": [0.3, 0.1, 0.0005], "passes": 10.0}, []),
    "a fit of six iterations that converges": (
        {"changes": [0.1, 0.08, 0.07, 0.06, 0.03, 0.0005], "passes": 10.0},
        [],
    ),
    "20 iterations of 5 passes": (
        {"changes": [0.1] + [0.08, 0.09] * 9 + [0.08], "passes": 5.0},
        ["unsettled"],
    ),
    "20 iterations of 5 passes that settle": (
        {"changes": [0.1 * 0.6**i for i in range(20)], "passes": 5.0},
        [],
    ),
    "5 iterations of 10 passes": ({"changes": [0.06, 0.05, 0.06, 0.05, 0.06], "passes": 10.0}, ["unsettled"]),
    "5 iterations of 10 passes that settle": (
        {"changes": [0.08, 0.03, 0.014, 0.012, 0.011], "passes": 10.0},
        [],
    ),
    "1,000 iterations of 3 steps, 40 % of them unsettled, then settled": (
        {"changes": [0.04] * 400 + [0.02 * 0.99**i for i in range(600)], "passes": 0.04},
        [],
    ),
    "1,000 iterations of 3 steps that never settle": (
        {"changes": [0.04] * 1000, "passes": 0.04},
        ["unsettled"],
    ),
    "40 iterations of 3 steps: too few to tell": ({"changes": [0.04] * 40, "passes": 0.04}, []),
    "100 iterations that end by chance": ({"changes": [0.2, 0.1] * 50 + [0.0], "passes": 0.5}, ["unsettled"]),
}
RANKS = {
    "as many dimensions as before": ({"ranks": (6.0, 5.0)}, []),
    "clusters at the corners of a simplex": ({"ranks": (16.0, 2.3), "first": [250] * 4}, []),
    "a line, another partition": ({"ranks": (6.0, 1.1), "ari": 0.3}, ["collapsed", "drifted"]),
    "two dimensions of nine, another partition": (
        {"ranks": (9.8, 2.0), "ari": 0.3},
        ["collapsed", "drifted"],
    ),
    "two dimensions of nine, nearly the same partition": ({"ranks": (7.9, 2.1), "ari": 0.75}, []),
    "six clusters on a line": ({"ranks": (2.6, 1.1), "first": [100] * 6, "ari": 0.97}, []),
    "data on a line": ({"ranks": (1.0, 1.0), "sample_rank": 1.0}, []),
    "an autoencoder that had collapsed": ({"ranks": (1.0, 1.0), "sample_rank": 9.0}, ["collapsed before"]),
    "the same, and nothing moved": (
        {"ranks": (1.0, 1.0), "sample_rank": 9.0, "changes": ()},
        ["collapsed before"],
    ),
    "a line for two clusters": ({"ranks": (6.0, 1.0), "first": [500, 500], "sample_rank": 6.0}, []),
    "an embedding of one dimension": ({"ranks": (1.0, 1.0), "e": 1, "sample_rank": 6.0}, []),
    "no rank, of samples that are wide": ({"ranks": (math.nan, math.nan)}, []),
}
SILHOUETTES = {
    "a little less": ({"silhouettes": (0.3, 0.21)}, []),
    "a third less": ({"silhouettes": (0.3, 0.19)}, ["worse"]),
    "a third less, of sentences": ({"silhouettes": (0.030, 0.018)}, ["worse"]),
    "a little less, of sentences": ({"silhouettes": (0.030, 0.027)}, []),
    "none to lose, of word counts": ({"silhouettes": (-0.0042, -0.0075)}, []),
    "hardly any to lose": ({"silhouettes": (0.004, 0.002)}, []),
    "not defined": ({"silhouettes": (None, 0.1)}, []),
    "structureless data": ({"silhouettes": (0.013, 0.014), "ari": 0.3}, ["drifted"]),
    "a poor start that is left for a better partition": ({"silhouettes": (0.1, 0.3), "ari": 0.3}, []),
}
SITUATIONS = {**SIZES, **CHANGES, **RANKS, **SILHOUETTES}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_notices_fire_where_a_fit_is_unsound_and_nowhere_else(situation):
    given, expected = SITUATIONS[situation]
    assert found(**given) == expected


def notices_of(estimator, X):
    """Kinds of the notices of a real fit; other warnings do not count."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        estimator.fit(X)
    messages = [str(warning.message) for warning in caught]
    return kinds([message for message in messages if any(sign in message for sign in SIGNS.values())])


def test_sound_fits_are_silent(make_blobs, make_method, tiny):
    X = make_blobs(300, 4, 10, spread=20.0).X
    names = ["k_means", "pca_k_means", "ae_k_means", "dec", "idec", "dcn", "dkm", "dekm", "dekm_f"]
    for name in [*names, "vade", "acedec"]:
        assert notices_of(make_method(name, n_clusters=4), X) == [], name


def test_six_clusters_on_a_line_are_sound(tiny):
    rng = np.random.default_rng(0)
    X = 0.3 * rng.normal(size=(240, 10))
    X[:, 0] += 4 * (np.arange(240) % 6)
    autoencoder = tiny(embedding_dim=6, n_epochs=40)
    dekm = DEKM(6, autoencoder=autoencoder, max_iter=4, n_init_update=2, device="cpu", random_state=0)
    assert notices_of(dekm, X.astype(np.float32)) == []


def test_structureless_data_are_told(tiny):
    """Fresh starts leave the clusters of iteration 0 on a single Gaussian, and most fits never settle.

    How many labels change in a fit follows from the last bits of its products, which processors differ in.
    """
    X = np.random.default_rng(1).normal(size=(400, 20)).astype(np.float32)
    starts = {"init_update": "fresh", "n_init_update": 1, "max_iter": 12}
    found = []
    for seed in range(4):
        autoencoder = tiny(embedding_dim=10, hidden=(32, 32), n_epochs=20, random_state=seed)
        dekm = DEKM(10, autoencoder=autoencoder, **starts, device="cpu", random_state=seed)
        found.append(notices_of(dekm, X))
    assert all("drifted" in notices for notices in found)
    assert sum("unsettled" in notices for notices in found) >= 2


def test_an_autoencoder_that_had_collapsed_is_told(blobs, tiny):
    autoencoder = tiny(embedding_dim=4).fit(blobs.X)
    with torch.no_grad():  # all dimensions of the embedding are the same
        last = [module for module in autoencoder.module_.encoder.modules() if hasattr(module, "weight")][-1]
        last.weight.copy_(last.weight[:1].expand_as(last.weight))
    for estimator in (AEKMeans(3, device="cpu"), DEKM(3, max_iter=2, device="cpu", tol=1.0)):
        estimator.set_params(autoencoder=FrozenEstimator(autoencoder), random_state=0)
        assert notices_of(estimator, blobs.X)[:1] == ["collapsed before"]


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


def test_the_rank_of_samples_needs_no_matrix_larger_than_their_number():
    points = torch.randn(20, 300, generator=torch.Generator().manual_seed(0))
    narrow = torch.linalg.qr(points.T)[0]  # the same points in 20 dimensions, up to a rotation
    assert effective_rank(points) == pytest.approx(effective_rank(points @ narrow), rel=1e-5)


@pytest.mark.parametrize(("sizes", "number"), [([50] * 4, 4.0), ([200, 0, 0, 0], 1.0)])
def test_the_number_of_effective_clusters_is_that_of_equal_ones(noise, sizes, number):
    labels = np.repeat(np.arange(4), sizes)
    seen = Iteration(0, torch.as_tensor(noise), torch.as_tensor(labels), torch.zeros(4, 10), 1.0)
    assert seen.effective_clusters == pytest.approx(number)
