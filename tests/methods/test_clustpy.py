"""Losses and updates against those of ClustPy, where it is installed."""

import pytest
import torch

from dekm.methods.dcn import move_centers
from dekm.methods.soft_assignment import soft_assignment, target_distribution
from dekm.methods.soft_kmeans import annealed_alphas, soft_kmeans_loss

dec = pytest.importorskip("clustpy.deep.dec", reason="ClustPy is not installed")
dcn = pytest.importorskip("clustpy.deep.dcn")
dkm = pytest.importorskip("clustpy.deep.dkm")


@pytest.fixture
def points():
    """Embedded points H and centers U."""
    generator = torch.Generator().manual_seed(0)
    return 3 * torch.randn(50, 4, generator=generator), 3 * torch.randn(6, 4, generator=generator)


def test_soft_assignment_and_target_are_those_of_clustpy(points):
    H, U = points
    Q = soft_assignment(H, U)
    torch.testing.assert_close(Q, dec._dec_predict(U, H, 1.0, None))
    torch.testing.assert_close(target_distribution(Q), dec._dec_compression_value(Q))


@pytest.mark.parametrize("alpha", [0.1, 1.0, 1000.0])
def test_the_loss_of_dkm_and_its_gradients_are_those_of_clustpy(points, alpha):
    H, U = points
    theirs = dkm._DKM_Module(U.numpy(), [alpha])
    found = []
    for loss_of, centers in (
        (lambda h, u: soft_kmeans_loss(h, u, torch.tensor(alpha)), U.clone().requires_grad_()),
        (lambda h, _: theirs.dkm_loss(h, alpha), theirs.centers),
    ):
        h = H.clone().requires_grad_()
        loss = loss_of(h, centers)
        found.append([loss, *torch.autograd.grad(loss, [h, centers])])
    for mine, other in zip(*found, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-4)


def test_annealing_is_that_of_clustpy():
    assert annealed_alphas(40) == pytest.approx(dkm._get_default_alphas())


def test_moved_centers_of_dcn_are_those_of_clustpy(points):
    H, U = points
    labels = torch.cdist(H, U).argmin(1)
    ours, counts = U.clone(), torch.full((len(U),), 100)
    move_centers(ours, counts, H, labels)
    theirs, their_counts = dcn._compute_centroids(U.clone(), H, torch.full((len(U),), 100), labels)
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)
    assert torch.equal(counts, their_counts)
