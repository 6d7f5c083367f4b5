"""scikit-learn's estimator checks, and the estimators in scikit-learn's pipelines."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dekm.methods import METHODS
from dekm.methods.autoencoder import Autoencoder

TINY = {
    "autoencoder": Autoencoder(hidden=(8,), channels=(2, 2, 2), embedding_dim=3, n_epochs=1, device="cpu"),
    "n_init": 1,
    "n_init_update": 1,
    "max_iter": 1,
    "update_interval": 2,
    "n_batches": 2,
    "epochs_per_iter": 1,
    "n_epochs": 5,
    "device": "cpu",
}

every_method = pytest.mark.parametrize("name", METHODS)


def small(name):
    row = METHODS[name]
    names = row.load()._get_param_names()
    return row.load()(**{key: value for key, value in TINY.items() if key in names} | dict(row.params))


def expected_failed_checks(estimator):
    """scikit-learn takes every `predict_proba` for that of a classifier."""
    kinds = ("array", "matrix") if hasattr(estimator, "predict_proba") else ()
    return {f"check_estimator_sparse_{kind}": "predict_proba is that of a mixture" for kind in kinds}


CLASSES = {row.estimator: name for name, row in METHODS.items()}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [*map(small, CLASSES.values()), TINY["autoencoder"]], expected_failed_checks=expected_failed_checks
)
def test_an_estimator_passes_scikit_learns_check(estimator, check):
    check(estimator)


@pytest.fixture
def table(blobs):
    return pd.DataFrame(blobs.X, columns=[f"c{i}" for i in range(10)])


@every_method
def test_a_method_is_the_last_step_of_a_pipeline(name, make_method, table):
    pipeline = make_pipeline(MinMaxScaler(), make_method(name)).fit(table)
    np.testing.assert_array_equal(pipeline.predict(table), pipeline[-1].labels_)


@every_method
def test_a_method_returns_data_frames_when_set_to(name, make_method, table):
    estimator = clone(make_method(name)).set_output(transform="pandas").fit(table)
    embedded = estimator.transform(table)
    prefix = type(estimator).__name__.lower()
    assert embedded.columns.tolist() == [f"{prefix}{i}" for i in range(estimator.embedding_.shape[1])]
    assert embedded.columns.tolist() == estimator.get_feature_names_out().tolist()
    np.testing.assert_array_equal(estimator.predict(table), estimator.labels_)
    assert estimator.score(table) == pytest.approx(-estimator.inertia_, rel=1e-4)


@pytest.mark.filterwarnings("ignore:The graph of 10 nearest samples")
@every_method
def test_a_method_is_chosen_by_a_grid_search_on_its_score(name, make_method, blobs):
    search = GridSearchCV(make_method(name), {"n_clusters": [2, 3]}, cv=2).fit(blobs.X[:100])
    assert search.best_params_["n_clusters"] in {2, 3}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(blobs.X[:4]).shape == (4,)


def test_progress_bars_are_shown_when_asked(make_method, blobs, capsys):
    make_method("dekm", progress=True).fit(blobs.X)
    pretraining, iterations = capsys.readouterr().err.split("\n")[:2]
    assert "Pretraining: 100%" in pretraining
    assert "3/3 [" in pretraining
    assert "DEKM: " in iterations
    for shown in ("2 [", "loss=", "changed="):
        assert shown in iterations
    make_method("dekm").fit(blobs.X)
    assert capsys.readouterr().err == ""
