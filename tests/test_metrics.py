import itertools
import math

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, davies_bouldin_score, f1_score

from dekm.errors import InputError
from dekm.metrics import (
    accuracy,
    ari,
    contingency,
    davies_bouldin,
    label_change,
    macro_f1,
    mean_ari,
    nmi,
    purities,
)


def test_contingency_counts_pairs_of_class_and_cluster():
    assert contingency([0, 0, 1, 1, 1], [2, 2, 2, 7, 7]).tolist() == [[2, 0], [1, 2]]


def test_accuracy_of_a_renamed_labelling_is_one():
    y = np.arange(50) % 7
    assert accuracy(y, (y + 1) % 7) == 1.0


def test_accuracy_by_hand():
    assert accuracy([0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 0]) == 5 / 6


def test_accuracy_is_the_best_over_all_maps_of_clusters_to_classes():
    rng = np.random.default_rng(0)
    y, labels = rng.integers(4, size=40), rng.integers(4, size=40)
    best = max(np.mean(np.array(names)[labels] == y) for names in itertools.permutations(range(4)))
    assert accuracy(y, labels) == best


def test_accuracy_maps_one_to_one_and_does_not_merge_clusters():
    assert accuracy([0, 0, 0, 0], [0, 0, 1, 1]) == 0.5


def test_five_clusters_of_data_with_four_classes_are_scored():
    y = [0] * 5 + [1] * 5 + [2] * 5 + [3] * 5
    labels = [0] * 5 + [1] * 5 + [2] * 5 + [3] * 3 + [4] * 2
    assert accuracy(y, labels) == 18 / 20


def test_fewer_clusters_than_classes_are_scored():
    assert accuracy([0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1]) == 4 / 6


def test_labels_need_not_start_at_zero():
    assert accuracy([5, 5, 7, 7, -3, -3], [0, 0, 1, 2, 3, 3]) == 5 / 6


def test_labels_may_be_strings():
    assert accuracy(["b", "b", "a", "c"], [0, 0, 1, 1]) == 3 / 4
    assert nmi(["b", "b", "a"], [1, 1, 0]) == pytest.approx(1.0)


def test_random_clusters_score_about_one_in_k():
    rng = np.random.default_rng(0)
    assert accuracy(rng.integers(10, size=20_000), rng.integers(10, size=20_000)) == pytest.approx(
        0.1, abs=0.02
    )


@pytest.mark.parametrize(
    ("labels_true", "labels_pred"),
    [([], []), ([0, 1], [0]), ([[0, 1], [1, 0]], [[0, 1], [1, 0]]), ([0, 1, 2, 3], [[0, 1], [2, 3]]), (1, 1)],
)
def test_labellings_that_do_not_match_are_refused(labels_true, labels_pred):
    with pytest.raises(InputError, match=r"labels_true of shape \(.* and labels_pred of shape \("):
        accuracy(labels_true, labels_pred)


def test_nmi_divides_by_the_mean_of_the_entropies():
    y, labels = [0, 0, 1, 1], [0, 0, 1, 2]
    h_classes, h_clusters = math.log(2), 1.5 * math.log(2)
    information = math.log(2)
    assert nmi(y, labels) == pytest.approx(2 * information / (h_classes + h_clusters))


def test_nmi_of_independent_labels_is_zero():
    assert nmi([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(0.0, abs=1e-12)


def test_ari_by_hand():
    # Pairs together: 2 in both, 2 among classes, 4 of 6 expected by the sizes 3 and 1.
    assert ari([0, 0, 1, 1], [0, 0, 0, 1]) == pytest.approx(0.0)
    assert ari([0, 0, 1, 1], [1, 1, 0, 0]) == 1.0
    assert ari([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(-0.5)


@pytest.mark.parametrize(
    ("n", "n_classes", "n_clusters"), [(1, 1, 1), (2, 2, 2), (50, 1, 3), (300, 4, 7), (9, 9, 9)]
)
def test_ari_is_that_of_scikit_learn(n, n_classes, n_clusters):
    rng = np.random.default_rng(n)
    y, labels = rng.integers(n_classes, size=n), rng.integers(n_clusters, size=n)
    assert ari(y, labels) == adjusted_rand_score(y, labels)
    assert ari(y, -y) == 1.0


def test_mean_ari_is_that_of_all_pairs_of_the_same_length():
    a, b, c = [0, 0, 1, 1], [0, 1, 0, 1], [5, 5, 2, 2]
    assert mean_ari([a, b, c, [0, 1]]) == pytest.approx((ari(a, b) + ari(a, c) + ari(b, c)) / 3)
    assert math.isnan(mean_ari([a, [0, 1]]))


def change(previous, labels, *, match):
    return label_change(torch.tensor(previous), torch.tensor(labels), match=match)


def test_label_change_ignores_the_numbers_of_matched_clusters():
    assert change([0, 0, 1, 1], [1, 1, 0, 0], match=True) == 0.0


def test_label_change_is_the_fraction_of_samples_that_changed_their_cluster():
    assert change([0, 0, 0, 1, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0, 0, 0], match=True) == 1 / 8


def test_label_change_counts_a_cluster_that_became_empty():
    assert change([0, 0, 1, 2], [0, 0, 1, 1], match=True) == 1 / 4


def test_label_change_without_matching_compares_the_numbers_of_the_clusters():
    assert change([0, 0, 1, 1], [1, 1, 0, 0], match=False) == 1.0
    assert change([0, 0, 1, 2], [0, 0, 1, 1], match=False) == 1 / 4


@pytest.mark.parametrize("score", [accuracy, nmi, ari])
def test_columns_and_rows_of_labels_are_vectors(score):
    y, labels = np.array([0, 0, 1, 1, 2]), np.array([1, 1, 0, 2, 2])
    expected = score(y, labels)
    assert score(y[:, None], labels) == score(y[None], labels[:, None]) == score(y, labels[None]) == expected


@pytest.mark.parametrize("score", [accuracy, nmi, ari])
@pytest.mark.parametrize(
    ("y", "text"),
    [([0.0, np.nan], "labels_true should be finite"), (np.array(["a", 1], object), "labels of one type")],
)
def test_labels_that_are_no_classes_are_named(score, y, text):
    with pytest.raises(InputError, match=text):
        score(y, [0, 1])


def test_macro_f1_is_that_of_scikit_learn_under_the_best_mapping():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=300)
    clusters = np.where(rng.random(300) < 0.7, (labels + 1) % 4, rng.integers(4, size=300))
    assert macro_f1(labels, clusters) == pytest.approx(f1_score(labels, (clusters - 1) % 4, average="macro"))


def test_a_class_without_a_cluster_has_no_f1():
    assert macro_f1([0, 0, 1, 1], [5, 5, 5, 5]) == pytest.approx((2 * 2 / 6) / 2)
    assert macro_f1(["a", "b"], [1, 0]) == 1.0


def test_purity_is_the_share_of_the_largest_class_of_each_cluster():
    np.testing.assert_allclose(purities(["a", "a", "b", "b", "c"], [1, 1, 1, 0, 0]), [0.5, 2 / 3])


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, lambda X: X.reshape(-1, 2, 3, 1)])
def test_davies_bouldin_is_that_of_scikit_learn_on_a_few_samples(convert, make_blobs):
    X, y = make_blobs(90, 3, 6)
    assert davies_bouldin(convert(X), y) == pytest.approx(davies_bouldin_score(X, y), rel=1e-5)
    assert davies_bouldin(convert(X), np.zeros(90)) is None
