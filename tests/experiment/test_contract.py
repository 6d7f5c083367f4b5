"""The checks of a method, on the methods of the package, on foreign ones and on broken ones."""

import gc
import inspect

import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import BisectingKMeans, KMeans

from dekm import Clusterer, Iteration
from dekm.cli import main
from dekm.clustering.kmeans import kmeans
from dekm.experiment.contract import CHECKS, CheckSkippedError, Subject, run_checks
from dekm.methods import METHODS
from dekm.nn.checkpoint import NO_CHECKPOINT

pytestmark = pytest.mark.usefixtures("restored_logging")
DISTINCT = sorted(METHODS.keys() - {"dekm_f", "idec"})  # what only their parameters make another method
SUBJECTS = {name: Subject(row.load(), row.params) for name, row in METHODS.items()}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", DISTINCT)
def test_a_method_of_the_package_fulfils_the_check(name, check):
    check(SUBJECTS[name])


class Sorted(ClusterMixin, BaseEstimator):
    """A good method: the samples by their first value, in equal parts."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None):
        X = np.asarray(X, dtype=float)
        if not 1 <= self.n_clusters <= len(X) or not np.isfinite(X).all():
            raise ValueError("X should be finite, and n_clusters at most its number of samples.")
        self.labels_ = self.parts(X, y)
        return self

    def parts(self, X, y):
        return np.argsort(np.argsort(X[:, 0], kind="stable")) * self.n_clusters // len(X)


class Random(Sorted):
    def parts(self, X, y):
        return np.random.default_rng().integers(self.n_clusters, size=len(X))


class Cheating(Sorted):
    def parts(self, X, y):
        return super().parts(X, y) if y is None else np.asarray(y)


class Own(Clusterer):
    """A good method on the base class: K-means, and what a subclass makes of its result."""

    def __init__(self, n_clusters=2, *, device="auto", random_state=None, on_iteration=None):
        self.n_clusters = n_clusters
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration

    def fit(self, X, y=None):
        random_state, _ = self.start_fit()
        H = self.embed(self.load_samples(X, reset=True))
        partition = self.changed(kmeans(H, self.n_clusters, n_init=1, random_state=random_state))
        self.report(Iteration(0, H, *partition[:3]))
        return self.finish_fit(H, partition, 0)

    def embed(self, samples):
        return samples.flatten(1)

    def changed(self, partition):
        return partition


class Reading(Own):
    def changed(self, partition):
        y = getattr(self.on_iteration, "y", None)
        return partition if y is None else partition._replace(labels=torch.from_numpy(y))


class Guessing(Own):
    def changed(self, partition):
        partition.labels.numpy()[getattr(self.on_iteration, "target", None) == 0] = 0
        return partition


class Searching(Own):
    def changed(self, partition):
        vars(self.on_iteration or self)
        return partition


class Collecting(Own):
    def changed(self, partition):
        found = gc.get_referents(self.on_iteration)
        found += gc.get_referents(*found)
        truth = [value for value in found if isinstance(value, np.ndarray)]
        return partition._replace(labels=torch.from_numpy(truth[0])) if truth else partition


class Keeping(Own):
    def fit(self, X, y=None, *, checkpoint=NO_CHECKPOINT):
        getattr(checkpoint, "labels_true", None)
        return super().fit(X)


class Cloning(Own):
    def changed(self, partition):
        clone(self)
        return partition


class Filling(Own):
    def __init__(self, n_clusters=2, *, device="auto", random_state=None):
        self.n_clusters = n_clusters
        self.device = device
        self.random_state = 0 if random_state is None else random_state


class Seeding(Sorted):
    def __init__(self, n_clusters=2, random_state=None):
        super().__init__(n_clusters)
        self.random_state = random_state

    def parts(self, X, y):
        np.random.seed(0)  # noqa: NPY002
        np.random.rand()  # noqa: NPY002
        return super().parts(X, y)


class Careless(Sorted):
    def fit(self, X, y=None):
        self.labels_ = np.arange(len(X)) % self.n_clusters
        return self


class Changing(Sorted):
    def parts(self, X, y):
        X[:, 0] = -X[:, 0]
        return super().parts(X, y)

    def fit(self, X, y=None):
        if isinstance(X, np.ndarray) and X.dtype == np.float32:
            X[0, 0] += 1
        return super().fit(X, y)


class Short(Sorted):
    def parts(self, X, y):
        return super().parts(X, y)[1:]


def failures(estimator):
    return {text.partition(".")[0] for result, text in run_checks(Subject(estimator)) if result == "failed"}


def what(*names):
    return {inspect.getdoc(check).partition(".")[0] for check in CHECKS if check.__name__ in names}


@pytest.mark.parametrize(
    ("estimator", "failed"),
    [
        (Sorted, ()),
        (Random, ("check_deterministic", "check_truth", "check_refit", "check_forms")),
        (Cheating, ("check_truth",)),
        (Careless, ("check_too_few_samples", "check_nan", "check_n_clusters")),
        (Changing, ("check_samples_unchanged",)),
        (Own, ()),
        (Cloning, ()),
        (Reading, ("check_bait",)),
        (Guessing, ("check_bait",)),
        (Searching, ("check_bait",)),
        (Collecting, ("check_bait",)),
        (Keeping, ("check_bait",)),
        (Filling, ("check_parameters",)),
        (Seeding, ("check_seeds",)),
        (KMeans, ()),
        (BisectingKMeans, ()),
    ],
)
def test_what_a_method_does_not_fulfil_is_found(estimator, failed):
    assert failures(estimator) >= what(*failed)
    assert (failures(estimator) == set()) == (failed == ())


@pytest.mark.parametrize(
    ("estimator", "line"),
    [
        (Reading, "Failed: fit reads y of its hook or checkpoint, which it should only call."),
        (Keeping, "Failed: fit reads labels_true of its hook or checkpoint, which it should only call."),
        (Collecting, "Failed: labels with and without a hook that carries labels: "),
        (Filling, "Failed: the constructor changes random_state=None to 0."),
        (Seeding, "Failed: random_state=0 to 3 give the same labels, bit for bit: fit ignores it."),
    ],
)
def test_a_failed_check_says_what_is_wrong(estimator, line):
    assert any(line in text for _, text in run_checks(Subject(estimator)))


class Demanding(Sorted):
    def __init__(self, width, n_clusters=2):
        super().__init__(n_clusters)
        self.width = width


def test_a_parameter_without_a_default_is_given_by_the_settings():
    assert not [text for result, text in run_checks(Subject(Demanding, {"width": 3})) if result == "failed"]


def test_a_check_of_what_a_method_lacks_is_skipped():
    for check in CHECKS:
        if check.__name__ in (
            "check_predict",
            "check_saved",
            "check_iterations",
            "check_images",
            "check_bait",
            "check_seeds",
        ):
            with pytest.raises(CheckSkippedError):
                check(Subject(Sorted))


def test_the_report_has_a_line_for_each_check_and_a_sum(capsys):
    assert main(["check", f"{__name__}:Sorted"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{__name__}:Sorted"
    assert len(lines) == len(CHECKS) + 2
    assert lines[-1] == "11 passed, 0 failed, 6 skipped"
    assert main(["check", f"{__name__}:Short"]) == 1
    captured = capsys.readouterr()
    assert "failed   A fit finds one label per sample" in captured.out
    assert "Short returned labels of shape (149,)" in captured.out
    assert captured.err.startswith(f"dekm: error: {__name__}:Short fails ")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nowhere:A"], "'nowhere:A': the module nowhere cannot be imported"),
        (["nowhere.py:A"], "'nowhere.py:A' should be nowhere:A, without .py"),
        (["nowhere"], "A method of your own is module:Class."),
        ([f"{__name__}:Missing"], "has no attribute 'Missing'"),
        ([f"{__name__}:failures"], "should be a class"),
        (["dekmm"], "dekmm: unknown name; did you mean 'dekm'?"),
        ([f"{__name__}:Sorted", "--set", "x=1"], "Sorted: x: unknown name"),
    ],
)
def test_what_cannot_be_checked_is_one_line(arguments, text, capsys):
    assert main(["check", *arguments]) == 1
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1
