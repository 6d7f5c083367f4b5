"""Methods that a configuration defines: estimators outside of the package, and variants of known methods."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from dekm import Clusterer, Iteration
from dekm.clustering.kmeans import kmeans
from dekm.errors import InputError
from dekm.experiment.checks import read_experiment
from dekm.experiment.estimators import build, fit
from dekm.experiment.history import History, Scorer
from dekm.experiment.records import final_metrics
from dekm.methods import METHODS, find_method

SCHEMA_FILE = Path(__file__).parents[2] / "config" / "config.schema.yaml"
MODULE = """
class Good:
    def __init__(self, n_clusters=8, step=1): pass
    def fit(self, X): pass

class NoFit:
    def __init__(self, n_clusters=8): pass

class NoNumber:
    def __init__(self, step=1): pass
    def fit(self, X): pass

value = 5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of a configuration with modules of its own."""
    folder = tmp_path_factory.mktemp("config")
    (folder / "outside_good.py").write_text(MODULE)
    (folder / "outside_broken.py").write_text("import nowhere_to_be_found")
    (folder / "outside_syntax.py").write_text("def :")
    return folder


@pytest.fixture
def read(folder, monkeypatch):
    monkeypatch.setattr("sys.path", [*sys.path])

    def read(methods, datasets=None):
        config = {"name": "x", "seeds": [0], "datasets": datasets or {"digits": {}}, "methods": methods}
        return read_experiment(config, SCHEMA_FILE, folder)

    return read


def test_a_variant_takes_the_settings_of_its_method_and_changes_some(read):
    methods = {
        "dekm": {"max_iter": 7, "n_batches": 3},
        "slow": {"method": "dekm", "label": "DEKM, 100 steps", "n_batches": 100},
    }
    datasets = {
        "digits": {"methods": {"dekm": {"max_iter": 5}, "slow": {"batch_size": 9}}},
        "topics": {"methods": {"slow": {"n_batches": 50}}},
    }
    experiment = read(methods, datasets)
    inherited = read({"dekm": {}}).method_settings("digits", "dekm")
    assert experiment.method_settings("digits", "slow") == {
        **inherited, "max_iter": 5, "n_batches": 100, "batch_size": 9
    }  # fmt: skip
    assert experiment.method_settings("topics", "slow") == {**inherited, "max_iter": 7, "n_batches": 50}
    row = experiment.method("slow")
    assert (row.label, row.estimator, row.in_table) == ("DEKM, 100 steps", METHODS["dekm"].estimator, True)
    assert experiment.pretraining("digits", "slow") == "conv"
    assert experiment.own_methods == ["slow"]


def test_a_variant_keeps_what_makes_its_method_what_it_is(read):
    experiment = read({"full": {"method": "dekm_f", "lr": 0.01}})
    assert experiment.method_settings("digits", "full")["n_batches"] == "pass"
    with pytest.raises(InputError, match=r"methods\.full: n_batches=40 should stay 'pass'"):
        read({"full": {"method": "dekm_f", "n_batches": 40}})


def test_a_variant_may_start_from_another_autoencoder(read):
    assert read({"flat": {"method": "dekm", "autoencoder": "mlp"}}).pretraining("digits", "flat") == "mlp"


def test_an_outside_method_and_a_variant_of_it(read):
    experiment = read(
        {
            "mine": {"estimator": "outside_good:Good", "autoencoder": "matching", "step": 3},
            "other": {"method": "mine", "label": "Other", "step": 4},
        }
    )
    assert experiment.method_settings("digits", "mine") == {"step": 3}
    assert experiment.method_settings("digits", "other") == {"step": 4}
    assert experiment.method("mine").label == "mine"
    assert [experiment.pretraining("digits", name) for name in ("mine", "other")] == ["conv", "conv"]


@pytest.mark.parametrize("name", ["slow", "mine"])
def test_a_job_finds_the_method_by_its_definition_alone(name, read):
    blocks = {"slow": {"method": "dekm"}, "mine": {"estimator": "outside_good:Good", "autoencoder": "mlp"}}
    row = read(blocks).method(name)
    found = find_method(name, {name: row.definition})
    assert (found.label, found.estimator, found.autoencoder) == (row.label, row.estimator, row.autoencoder)


@pytest.mark.parametrize(
    ("methods", "text"),
    [
        ({"kmeans": {}}, r"methods\.kmeans: unknown name; did you mean 'k_means'\?.*needs an estimator"),
        ({"a": {"method": "dekmm"}}, r"methods\.a\.method\.dekmm: unknown name; did you mean 'dekm'\?"),
        ({"a": {"method": "a"}}, r"methods\.a\.method\.a: unknown name"),
        ({"a": {"method": "b"}, "b": {"method": "dekm"}}, r"methods\.a\.method\.b: unknown name"),
        ({"a": {"method": "dekm", "estimator": "x:Y"}}, r"methods\.a: estimator and method exclude"),
        ({"strategy_1": {"method": "dekm"}}, r"methods\.strategy_1: give it another name"),
        ({"a/b": {"method": "dekm"}}, r"the name 'a/b' should be text of letters, digits and _ that"),
        ({"a": {"estimator": "mymod"}}, r"estimator='mymod' should be text such as module:attribute"),
        ({"a": {"method": "dekm", "label": ""}}, r"methods\.a\.label='' should be"),
        ({"a": {"method": "dekm", "autoencoder": "conv"}}, r"methods\.a\.autoencoder='conv' should be"),
        ({"a": {"method": "dekm", "tol": 5}}, r"methods\.a\.tol=5 should be a number >= 0 and <= 1"),
        ({"a": {"method": "dekm", "n_itr": 5}}, r"methods\.a\.n_itr: unknown name; did"),
        ({"a": {"estimator": "nowhere:A"}}, r"methods\.a: 'nowhere:A': the module nowhere cannot"),
        ({"a": {"estimator": "outside_broken:A"}}, r"ModuleNotFoundError: No module named 'nowhere_to_be_f"),
        ({"a": {"estimator": "outside_syntax:A"}}, r"methods\.a: .*cannot be imported: SyntaxError: invalid"),
        (
            {"a": {"estimator": "outside_good:Goood"}},
            r"outside_good\.py has no attribute 'Goood'; did you mean 'Good'\?",
        ),
        ({"a": {"estimator": "outside_good:value"}}, r"methods\.a: estimator=.* should be a class"),
        ({"a": {"estimator": "outside_good:NoFit"}}, r"methods\.a: estimator=.* should have the method fit"),
        ({"a": {"estimator": "outside_good:NoNumber"}}, r"methods\.a: .* with the parameter n_clusters"),
        ({"a": {"estimator": "outside_good:Good", "stp": 2}}, r"methods\.a: Good: stp: unknown name; did"),
        ({"a": {"estimator": "outside_good:Good", "n_clusters": 2}}, r"methods\.a: Good: n_clusters: unk"),
        ({"a": {"method": "k_means", "pretraining": {"n_epochs": 1}}}, r"methods\.a\.pretraining: "),
        (
            {"a": {"estimator": "outside_good:Good", "pretraining": {"n_epochs": 1}}},
            r"methods\.a\.pretraining: set autoencoder too; the method starts from none",
        ),
        ({"a": {"estimator": "sklearn.cluster:KMeans", "random_state": 1}}, r"KMeans: random_state: unknown"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_definition_of_a_method_is_one_line(methods, text, read):
    with pytest.raises(InputError, match=text) as caught:
        read(methods)
    assert str(caught.value).count("\n") == 1


def test_a_dataset_cannot_define_a_method(read):
    with pytest.raises(InputError, match=r"datasets\.digits\.methods\.other: unknown name"):
        read({"dekm": {}}, {"digits": {"methods": {"other": {"n_init": 2}}}})
    with pytest.raises(InputError, match=r"datasets\.digits\.methods\.a\.label should be in methods\.a"):
        read({"a": {"method": "dekm"}}, {"digits": {"methods": {"a": {"label": "A"}}}})
    with pytest.raises(InputError, match=r"datasets\.digits\.methods\.a\.tol=5 should be"):
        read({"a": {"method": "dekm"}}, {"digits": {"methods": {"a": {"tol": 5}}}})


class Parity(BaseEstimator):
    """A clusterer that has `fit_predict` and nothing else that a cell reads."""

    def __init__(self, n_clusters=2, labels=None):
        self.n_clusters = n_clusters
        self.labels = labels

    def fit(self, X):
        return self

    def fit_predict(self, X):
        assert isinstance(X, np.ndarray)
        assert X.ndim == 2
        return np.arange(len(X)) % self.n_clusters if self.labels is None else self.labels


class Halves(ClusterMixin, BaseEstimator):
    """A clusterer that has `fit` and `labels_`."""

    def __init__(self, n_clusters=2, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X, y=None):
        self.labels_ = (np.arange(len(X)) >= len(X) // 2).astype(np.int32) - (self.random_state == 1)
        return self


@pytest.mark.parametrize("X", [np.ones((6, 2, 2, 1), np.float32), sparse.csr_matrix(np.ones((6, 4)))])
def test_a_clusterer_without_the_additions_of_the_package_is_read(X):
    history = History()
    found = fit(Parity(), X, None, history)
    assert found.labels.tolist() == [0, 1] * 3
    assert found.embedding.shape == (6, 4)
    assert (found.inertia, found.n_iter) == (0, 0)
    (row,) = Scorer(np.array([0, 1] * 3), history).rows(found.history)
    assert row["acc"] == 1
    assert set(row) >= {"n_iter", "loss", "changed", "inertia", "seconds", "acc", "nmi", "ari"}


class Doubtful(Halves):
    """A clusterer from outside that warns as those of scikit-learn do."""

    def fit(self, X, y=None):
        warnings.warn("it did not converge", ConvergenceWarning, stacklevel=2)
        return super().fit(X)


def test_what_an_estimator_from_outside_warns_of_is_collected_and_still_shown():
    X = np.ones((6, 3), np.float32)
    with pytest.warns(ConvergenceWarning, match="it did not converge"):
        assert fit(Doubtful(), X, None, History()).warnings == ["it did not converge"]
    assert fit(Halves(), X, None, History()).warnings == []


def test_a_negative_label_is_that_of_no_cluster():
    found = fit(Halves(random_state=1), np.ones((6, 3), np.float32), None, History())
    assert found.labels.tolist() == [-1, -1, -1, 0, 0, 0]
    assert final_metrics(found, np.ones((6, 3), np.float32), None)["n_clusters_found"] == 1


def test_an_estimator_without_a_parameter_for_the_autoencoder_clusters_its_embedding(tiny, images):
    start = tiny().fit(images.X)
    found = fit(Halves(), images.X, start, History())
    np.testing.assert_array_equal(found.embedding, start.transform(images.X))


@pytest.mark.parametrize("labels", [[0, 1], [0.5] * 6, ["a"] * 6, [[0] * 6]])
def test_labels_that_are_not_one_integer_per_sample_are_refused(labels):
    with pytest.raises(InputError, match=r"Parity returned labels of shape .*they should be 6 integers"):
        fit(Parity(labels=np.array(labels)), np.ones((6, 4), np.float32), None, History())


class Silent(Clusterer):
    """A method on the base class that reports nothing."""

    def __init__(self, n_clusters=2, *, device="auto", random_state=None, on_iteration=None, n_reports=0):
        self.n_clusters = n_clusters
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration
        self.n_reports = n_reports

    def fit(self, X, y=None):
        random_state, _ = self.start_fit()
        H = self.embed(self.load_samples(X, reset=True))
        partition = kmeans(H, self.n_clusters, n_init=1, random_state=random_state)
        for i in range(self.n_reports):
            self.report(Iteration(i, H, *partition[:3]))
        return self.finish_fit(H, partition, self.n_reports)

    def embed(self, samples):
        return samples.flatten(1)


@pytest.mark.parametrize("n_reports", [0, 3])
def test_a_method_on_the_base_class_need_not_report_its_iterations(n_reports, blobs):
    row = find_method("silent", {"silent": {"estimator": f"{__name__}:Silent"}})
    estimator = build(row, 3, {"n_reports": n_reports}, None, "cpu", 5)
    assert (estimator.n_clusters, estimator.device, estimator.random_state) == (3, "cpu", 5)
    history = History()
    found = fit(estimator, blobs.X, None, history)
    assert len(Scorer(blobs.y, history).rows(found.history)) == max(1, n_reports)
    assert found.inertia == pytest.approx(estimator.inertia_)


NETWORKS = """
from torch import nn

class Good(nn.Module):
    def __init__(self, shape, embedding_dim, lost=0):
        super().__init__()
        d = shape[0] * shape[1] if len(shape) == 3 else shape[0]
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(d, embedding_dim))
        self.decoder = nn.Sequential(nn.Linear(embedding_dim, d - lost), nn.Unflatten(1, (d - lost,)))
        if len(shape) == 3:
            self.decoder.append(nn.Unflatten(1, shape))

def bad(shape, embedding_dim):
    return Good((shape[0] * shape[1],), embedding_dim, lost=1)
"""


@pytest.fixture
def networks(folder):
    (folder / "outside_networks.py").write_text(NETWORKS)


@pytest.mark.usefixtures("networks")
def test_a_method_may_have_a_pretraining_of_its_own(read):
    own = {"pretraining": {"n_epochs": 50}}
    experiment = read(
        {
            "dekm": {},
            "dkm": own,
            "dcn": own,
            "same": {"method": "dekm", "pretraining": {"init": "xavier"}},
            "net": {"method": "dekm", "pretraining": {"network": "outside_networks:Good", "n_epochs": 0}},
            "flat": {"method": "dkm", "pretraining": {"network": "outside_networks:Good", "n_epochs": 0}},
            "k_means": {},
        }
    )
    keys = {name: experiment.pretraining("digits", name) for name in experiment.methods}
    assert (keys["dekm"], keys["same"], keys["k_means"]) == ("conv", "conv", None)
    assert keys["dkm"] == keys["dcn"]
    assert keys["dkm"].startswith("mlp-")
    assert keys["net"].startswith("network-")
    assert keys["flat"] == keys["net"]  # a network has no other architecture
    assert experiment.pretraining_settings("digits", keys["dkm"])["n_epochs"] == 50
    assert experiment.pretraining_settings("digits", "conv") == {"init": "xavier", "embedding_dim": None}
    network = {"network": "outside_networks:Good", "n_epochs": 0, "embedding_dim": None}
    assert experiment.pretraining_settings("digits", keys["net"]) == network
    assert experiment.method_settings("digits", "dkm") == {}


def test_a_pretraining_that_nothing_starts_from_is_refused_at_a_dataset_too(read):
    block = {"methods": {"mine": {"pretraining": {"n_epochs": 1}}}}
    with pytest.raises(
        InputError, match=r"datasets\.digits\.methods\.mine\.pretraining: set autoencoder too"
    ):
        read({"mine": {"estimator": "outside_good:Good"}}, {"digits": block})


@pytest.mark.usefixtures("networks")
@pytest.mark.parametrize(
    ("network", "text"),
    [
        ("outside_networks:bad", r"methods\.dekm\.pretraining: network=.*:bad': the decoder .* of digits"),
        ("outside_networks:lost", r"dekm\.pretraining: network='outside_networks:lost': .* attribute 'lost'"),
        ("nowhere:net", r"dekm\.pretraining: network='nowhere:net': the module nowhere cannot be imported"),
        ("net", r"methods\.dekm\.pretraining\.network='net' should be"),
    ],
)
def test_a_network_that_cannot_be_used_is_found_before_a_job_runs(network, text, read):
    with pytest.raises(InputError, match=text):
        read({"dekm": {"pretraining": {"network": network}}})


def test_a_loader_is_imported_before_a_job_runs(read):
    block = {"loader": "nowhere:load", "kind": "table", "n_clusters": 2}
    with pytest.raises(InputError, match=r"datasets\.mine: loader='nowhere:load': the module nowhere cannot"):
        read({"k_means": {}}, {"mine": block})
    with pytest.raises(InputError, match=r"datasets\.mine: loader='outside_good:value' should be a function"):
        read({"k_means": {}}, {"mine": block | {"loader": "outside_good:value"}})
