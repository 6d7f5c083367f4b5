"""The iterations that a run keeps."""

import numpy as np
import pytest
import torch

from dekm.experiment.frames import MAX_FRAMES, MAX_POSITIONS, MIN_FRAMES, Frames, principal_map
from dekm.methods.iteration import RANK_DIMS, Iteration


def iteration(n_iter, e=2, V=None):
    labels, centers = torch.tensor([0, 1, 1]), torch.full((2, e), float(n_iter))
    return Iteration(n_iter, torch.full((3, e), float(n_iter)), labels, centers, 1.0, V=V)


def saved(frames, file, decoded=None):
    frames.save(file, np.zeros((2, 3), np.float32), decoded)
    with np.load(file) as arrays:
        return dict(arrays)


def test_a_long_run_keeps_its_first_its_last_and_some_iterations_between(tmp_path):
    frames = Frames()
    for n_iter in range(351):
        frames.add(iteration(n_iter, V=torch.eye(2)))
    found = saved(frames, tmp_path / "iterations.npz")
    kept = found["n_iter"].tolist()
    assert found["H"][:, 0, 0].tolist() == kept
    assert kept[:21] == list(range(21))
    assert kept[-1] == 350
    assert len(kept) <= MAX_FRAMES
    assert max(np.diff(kept)) <= 16


@pytest.mark.parametrize("n_samples", [MAX_POSITIONS // 21, MAX_POSITIONS])
def test_many_samples_keep_few_iterations(monkeypatch, n_samples):
    monkeypatch.setattr(
        "dekm.experiment.frames.MAX_POSITIONS", MAX_POSITIONS * 3 // n_samples
    )  # of 3 samples
    frames, most = Frames(), max(MAX_POSITIONS // n_samples, MIN_FRAMES)
    for n_iter in range(100):
        frames.add(iteration(n_iter, e=3))
        assert len(frames.kept) <= most
    kept = [int(frame["n_iter"]) for frame in frames.kept]
    assert kept[:2] == [0, 1]
    assert kept[-1] == 99
    assert len(kept) > most / 3


def test_a_method_without_eigenvectors_saves_none_of_them(tmp_path):
    frames = Frames()
    frames.add(iteration(0))
    assert np.isnan(saved(frames, tmp_path / "iterations.npz")["V"]).all()


def test_samples_that_no_method_embedded_have_no_map(tmp_path):
    frames = Frames()
    frames.add(iteration(0, e=RANK_DIMS + 1))
    frames.save(tmp_path / "iterations.npz", np.zeros((2, 3), np.float32), None)
    assert not (tmp_path / "iterations.npz").exists()


def test_a_map_moves_only_as_far_as_its_embedding(make_blobs):
    H, labels = make_blobs(200, 3, 5)
    H = H * np.array([2, 1.99, 1, 1, 1], np.float32)  # two components that are nearly exchangeable
    U = np.stack([H[labels == c].mean(0) for c in range(3)])
    P, centers = principal_map(H, U, None)
    np.testing.assert_allclose(centers, np.stack([P[labels == c].mean(0) for c in range(3)]), atol=0.05)
    mirrored = P * np.array([-1, 1], np.float32)
    again, _ = principal_map(H, U, mirrored)
    np.testing.assert_allclose(again, mirrored, atol=0.05)
    turned = principal_map(H[:, ::-1].copy(), U[:, ::-1].copy(), P)[0]
    np.testing.assert_allclose(turned, P, atol=0.05)


def test_an_embedding_of_one_dimension_lies_on_a_line():
    P, _ = principal_map(np.arange(4, dtype=np.float32)[:, None], np.ones((1, 1), np.float32), None)
    np.testing.assert_allclose(P, [[-1.5, 0], [-0.5, 0], [0.5, 0], [1.5, 0]])


def test_a_checkpoint_gives_the_frames_back():
    frames, again = Frames(), Frames()
    for n_iter in range(70):
        frames.add(iteration(n_iter, e=3))
    again.restore(frames.tensors(), frames.stride)
    for one in (frames, again):
        one.add(iteration(70, e=3))
    assert [frame["n_iter"] for frame in again.kept] == [frame["n_iter"] for frame in frames.kept]
    for first, second in zip(frames.kept, again.kept, strict=True):
        for name in first:
            np.testing.assert_array_equal(first[name], second[name])
