"""From embeddings back to samples, and soft assignments of samples to clusters."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from dekm.errors import InputError
from dekm.methods import METHODS
from tests.helpers.methods import deep_method, every_kind

soft_method = pytest.mark.parametrize(
    "name", [name for name, row in METHODS.items() if hasattr(row.load(), "predict_proba")]
)
TRAINS_ITS_DECODER = {"dcec": {"images"}, "idec": {"blobs", "images"}, "dcn": {"blobs", "images"}}
TRAINS_ITS_DECODER |= dict.fromkeys(("dkm", "edesc", "vade", "acedec"), TRAINS_ITS_DECODER["dcn"])


@every_kind
@deep_method
def test_an_embedding_is_decoded_into_samples_of_the_same_shape(name, kind, make_method, tmp_path, request):
    X = request.getfixturevalue(kind).X
    fitted = make_method(name).fit(X)
    decoded = fitted.inverse_transform(fitted.transform(X))
    assert decoded.shape[1:] == fitted.sample_shape_
    assert decoded.dtype == np.float32
    fitted.save(tmp_path / "m.safetensors")
    loaded = type(fitted).load(tmp_path / "m.safetensors", device="cpu")
    np.testing.assert_array_equal(loaded.inverse_transform(fitted.embedding_), decoded)
    given = fitted.points_ if name == "n2d" else fitted.embedding_
    pretrained = fitted.autoencoder_.inverse_transform(given)
    assert np.array_equal(decoded, pretrained) == (kind not in TRAINS_ITS_DECODER.get(name, set()))


def test_a_method_that_trains_its_decoder_decodes_better_than_before(make_method, blobs, tiny):
    start = FrozenEstimator(tiny(n_epochs=30, random_state=0).fit(blobs.X))
    dkm = make_method("dkm", autoencoder=start, lam=0.0, max_iter=10).fit(blobs.X)

    def error(decoded):
        return ((decoded - blobs.X) ** 2).mean()

    before = error(start.estimator.inverse_transform(start.estimator.transform(blobs.X)))
    assert error(dkm.inverse_transform(dkm.embedding_)) < before


def test_decoded_samples_are_in_the_units_of_the_samples(blobs, tiny):
    X = (blobs.X - blobs.X.min()) / np.ptp(blobs.X)
    fitted = tiny(scaling="symmetric", n_epochs=60, lr=0.01, random_state=0).fit(X)
    decoded = fitted.inverse_transform(fitted.transform(X))
    assert ((decoded - X) ** 2).mean() < 0.5 * X.var()


@pytest.mark.parametrize(
    ("H", "message"),
    [
        (np.zeros((2, 4)), r"H of shape \(2, 4\) should be \(n, 3\)\."),
        (np.full((2, 3), np.nan), "H contains NaN"),
        (np.zeros(3), "Expected 2D array"),
    ],
)
def test_an_array_that_is_no_embedding_is_refused(H, message, make_method, blobs, tiny):
    for fitted in (make_method("dekm").fit(blobs.X), tiny().fit(blobs.X)):
        with pytest.raises(InputError, match=message):
            fitted.inverse_transform(H)


@soft_method
def test_soft_assignments_are_probabilities_whose_largest_is_the_cluster(name, make_method, blobs):
    fitted = make_method(name).fit(blobs.X)
    Q = fitted.predict_proba(blobs.X)
    assert Q.shape == (len(blobs.X), fitted.n_clusters)
    assert Q.dtype == np.float32
    np.testing.assert_allclose(Q.sum(1), 1, rtol=1e-5)
    np.testing.assert_array_equal(Q.argmax(1), fitted.predict(blobs.X))
    np.testing.assert_array_equal(Q[:7], fitted.predict_proba(blobs.X)[:7])


def test_soft_assignments_of_dec_are_those_of_its_equation(make_method, blobs):
    fitted = make_method("dec").fit(blobs.X)
    distances = ((fitted.transform(blobs.X)[:, None] - fitted.cluster_centers_) ** 2).sum(2)
    similarity = 1 / (1 + distances)
    expected = similarity / similarity.sum(1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(blobs.X), expected, rtol=1e-4)


def test_methods_without_soft_assignments_have_no_probabilities(make_method):
    assert {name for name in METHODS if hasattr(make_method(name), "predict_proba")} == {
        "dec", "dcec", "idec", "dkm", "edesc", "vade",
    }  # fmt: skip


def test_a_clone_keeps_no_decoder(make_method, blobs):
    fitted = make_method("idec").fit(blobs.X)
    assert isinstance(fitted.decoder_, torch.nn.Module)
    assert not hasattr(clone(fitted), "decoder_")
