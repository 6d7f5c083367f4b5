import numpy as np
import pytest
import torch

from dekm.clustering.scatter import sorted_eigenvectors, within_class_scatter


@pytest.fixture
def partition():
    """150 points of dimension 6 in float64, their labels in 4 clusters, and the means of the clusters."""
    generator = torch.Generator().manual_seed(0)
    H = torch.randn(150, 6, generator=generator, dtype=torch.float64) * torch.arange(1, 7)
    labels = torch.arange(150) % 4
    U = torch.stack([H[labels == i].mean(0) for i in range(4)])
    return H, labels, U


def test_scatter_of_four_points_is_the_sum_of_outer_products():
    H = torch.tensor([[0.0, 0.0], [2.0, 2.0], [5.0, 0.0], [5.0, 4.0]])
    labels = torch.tensor([0, 0, 1, 1])
    U = torch.tensor([[1.0, 1.0], [5.0, 2.0]])
    assert within_class_scatter(H, labels, U).tolist() == [[2.0, 2.0], [2.0, 10.0]]


def test_scatter_is_the_double_sum_of_equation_4(partition):
    H, labels, U = partition
    expected = np.zeros((6, 6))
    for i in range(4):
        for h in H[labels == i].numpy():
            expected += np.outer(h - U[i].numpy(), h - U[i].numpy())
    np.testing.assert_allclose(within_class_scatter(H, labels, U).numpy(), expected, rtol=1e-12)


def test_trace_of_scatter_is_the_kmeans_loss(partition):
    H, labels, U = partition
    loss = sum(((h - U[label]) ** 2).sum() for h, label in zip(H, labels, strict=True))
    torch.testing.assert_close(within_class_scatter(H, labels, U).trace(), loss, rtol=1e-12, atol=0)


def test_equations_2_3_and_4_are_one_loss(partition):
    H, labels, U = partition
    S_w = within_class_scatter(H, labels, U)
    V = sorted_eigenvectors(S_w)
    L_2 = ((H - U[labels]) ** 2).sum()
    L_3 = ((H @ V.T - (U @ V.T)[labels]) ** 2).sum()
    L_trace = (V @ S_w @ V.T).trace()
    torch.testing.assert_close(L_3, L_2, rtol=1e-12, atol=0)
    torch.testing.assert_close(L_trace, L_2, rtol=1e-12, atol=0)


def test_rows_of_V_are_the_eigenvectors_by_hand():
    V = sorted_eigenvectors(torch.tensor([[2.0, 1.0], [1.0, 2.0]]))
    half = 0.5**0.5
    torch.testing.assert_close(V[0].sign()[0] * V[0], torch.tensor([half, -half]))
    torch.testing.assert_close(V[1].sign()[0] * V[1], torch.tensor([half, half]))


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
def test_V_is_orthonormal(partition, dtype, tolerance):
    H, labels, U = partition
    V = sorted_eigenvectors(within_class_scatter(H, labels, U).to(dtype))
    assert V.dtype == dtype
    torch.testing.assert_close(V @ V.T, torch.eye(6, dtype=dtype), rtol=0, atol=tolerance)


def test_eigenvalues_ascend_along_the_rows_of_V(partition):
    H, labels, U = partition
    S_w = within_class_scatter(H, labels, U)
    V = sorted_eigenvectors(S_w)
    diagonal = V @ S_w @ V.T
    eigenvalues = diagonal.diagonal()
    assert (eigenvalues.diff() > 0).all()
    torch.testing.assert_close(diagonal, torch.diag(eigenvalues), rtol=0, atol=1e-9 * eigenvalues[-1].item())


def test_last_coordinate_of_Y_has_the_largest_within_class_scatter(partition):
    H, labels, U = partition
    V = sorted_eigenvectors(within_class_scatter(H, labels, U))
    spread = (((H - U[labels]) @ V.T) ** 2).sum(0)
    assert spread.argmax() == 5
    assert spread.argmin() == 0


def test_repeated_eigenvalues_give_a_real_orthonormal_V():
    S_w = 2 * torch.eye(5, dtype=torch.float64)
    S_w[0, 1] += 1e-17
    V = sorted_eigenvectors(S_w)
    assert not V.is_complex()
    torch.testing.assert_close(V.T @ V, torch.eye(5, dtype=torch.float64), rtol=0, atol=1e-6)


def test_an_asymmetric_rounding_error_does_not_reach_V():
    S_w = torch.tensor([[1.0, 1e-3], [0.0, 4.0]], dtype=torch.float64)
    mirrored = sorted_eigenvectors(S_w.T.contiguous())
    torch.testing.assert_close(sorted_eigenvectors(S_w), mirrored, rtol=0, atol=0)


def test_scatter_of_a_collapsed_embedding_gives_an_orthonormal_V():
    H, labels, U = torch.ones(4, 3), torch.tensor([0, 0, 1, 1]), torch.ones(2, 3)
    V = sorted_eigenvectors(within_class_scatter(H, labels, U))
    torch.testing.assert_close(V @ V.T, torch.eye(3))
