"""Pretrainings that start at coordinates of the samples, from the configuration to the files of a run."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA

from dekm.datasets import DATASETS, preparation, prepared
from dekm.errors import InputError
from dekm.experiment.checks import read_experiment
from dekm.experiment.config import Experiment, with_embedding_dim
from dekm.experiment.jobs import cluster_cell, pretrain_cell
from dekm.files import read_json
from tests.helpers.prepared_files import files

SCHEMA_FILE = Path(__file__).parents[2] / "config/config.schema.yaml"
AT_PCA = {"init": "pca", "n_epochs": 0}


def config(**changes):
    methods = {"k_means": {}, "dekm": {}, "dec": {}}
    return {"name": "a", "seeds": [0], "datasets": {"topics": {}}, "methods": methods, **changes}


@pytest.mark.parametrize(
    ("settings", "most", "expected"),
    [
        ({}, 2000, 10),
        (AT_PCA, 2000, 50),
        (AT_PCA, 13, 13),
        (AT_PCA, None, 50),
        (AT_PCA | {"embedding_dim": 7}, 13, 7),
        (AT_PCA | {"embedding_dim": None}, 13, 13),
    ],
)
def test_the_embedding_has_fifty_components_or_as_many_as_there_are(settings, most, expected):
    assert with_embedding_dim(settings, "mlp", "text", 4, most)["embedding_dim"] == expected


def test_all_methods_share_the_autoencoders_that_start_at_pca():
    methods = {
        "dekm": {},
        "dec": {"pretraining": {"embedding_dim": 50}},
        "dkm": {"pretraining": {"embedding_dim": 4}},
    }
    experiment = Experiment(config(pretraining=AT_PCA, methods=methods))
    keys = [experiment.pretraining("topics", name) for name in methods]
    assert keys[:2] == ["mlp", "mlp"]
    assert keys[2].startswith("mlp-")
    assert experiment.pretraining_settings("topics", "mlp")["init"] == "pca"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"pretraining": {"init": "pcaa"}}, r"pretraining\.init='pcaa' should be .*'pca'"),
        (
            {"pretraining": AT_PCA, "datasets": {"digits": {}}},
            r"pretraining: init='pca' is for fully connected networks.* For digits: a variant of dekm with",
        ),
        (
            {"datasets": {"topics": {"pretraining": AT_PCA | {"layerwise": True}}}},
            r"datasets\.topics\.pretraining: init='pca' needs layerwise=False",
        ),
        (
            {"methods": {"dekm": {"pretraining": {"init": "spectral", "n_epochs": 0}}}},
            r"methods\.dekm\.pretraining: init='spectral' needs n_epochs >= 1",
        ),
    ],
)
def test_a_start_that_a_network_cannot_have_is_refused_before_any_job(changes, text):
    with pytest.raises(InputError, match=text):
        read_experiment(config(**changes), SCHEMA_FILE)


def test_a_start_at_umap_needs_its_package(monkeypatch):
    monkeypatch.setattr("dekm.experiment.own_code.find_spec", lambda name: None if name == "umap" else name)
    with pytest.raises(InputError, match=r"pretraining\.init: UMAP needs the package umap-learn"):
        read_experiment(config(pretraining={"init": "umap"}), SCHEMA_FILE)


def test_images_start_at_pca_where_their_network_is_fully_connected():
    methods = {"dec": {}, "flat": {"method": "dekm", "autoencoder": "mlp"}}
    given = config(pretraining=AT_PCA, datasets={"digits": {}}, methods=methods)
    experiment = read_experiment(given, SCHEMA_FILE)
    assert experiment.pretraining("digits", "flat") == "mlp"


@pytest.mark.filterwarnings("ignore:The clusters (separate|are others)")
def test_a_cell_starts_at_pca_without_an_epoch(tmp_path):
    preparation.prepare(
        DATASETS["topics"], tmp_path / "raw", **files(tmp_path / "data/topics"), subsample=120
    )
    pretrain_cell(tmp_path, "topics", "mlp", [0], AT_PCA | {"hidden": [8]}, device="cpu")
    seed = tmp_path / "pretrained/topics/mlp/seed0"
    assert read_json(seed / "facts.json")["parameters"]["embedding_dim"] == 50
    assert read_json(seed / "metrics.json")["loss"] is None
    cluster_cell(tmp_path, "topics", "ae_k_means", [0], {"n_init": 2}, device="cpu")
    found = np.load(tmp_path / "runs/topics/ae_k_means/seed0/embedding.npy")
    X = prepared.load(**files(tmp_path / "data/topics"))[0].toarray()
    expected = PCA(50, svd_solver="full").fit_transform(X)
    np.testing.assert_allclose(abs(found)[:, :5], abs(expected)[:, :5], atol=1e-3)
