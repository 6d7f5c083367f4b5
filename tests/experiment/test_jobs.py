import contextlib
import csv
import errno
import resource
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from sklearn.exceptions import ConvergenceWarning

from dekm.datasets import DATASETS, preparation, prepared
from dekm.errors import DivergedError, InputError
from dekm.experiment.cells import Cell
from dekm.experiment.history import History, scores
from dekm.experiment.jobs import cluster_cell, pretrain_cell
from dekm.experiment.prediction import write_predictions
from dekm.files import read_json, write_json, write_manifest
from dekm.files.samples import StoredSamples, write_samples
from dekm.methods import METHODS
from dekm.results.record import read_record
from dekm.results.result_set import ResultSet
from dekm.tables.publication import publish_pretrained
from dekm.tables.seed_rows import row as row_of
from tests.helpers.prepared_files import files
from tests.helpers.temporaries import number_of_an_ended_process, written_by

# The networks are hardly trained, so that iteration 0 may be the best.
pytestmark = pytest.mark.filterwarnings("ignore:The clusters (separate|are others)")

PRETRAINING = {"channels": (4, 8, 8), "hidden": (32, 16), "n_epochs": 2, "batch_size": 32}
SETTINGS = {
    "k_means": {"n_init": 2},
    "pca_k_means": {"n_init": 2},
    "ae_k_means": {"n_init": 2},
    "dec": {"n_init": 2, "max_iter": 2, "tol": 1.0, "update_interval": 2},
    "dcec": {"n_init": 2, "max_iter": 2, "tol": 1.0, "update_interval": 2},
    "idec": {"n_init": 2, "max_iter": 2, "tol": 1.0, "update_interval": 2},
    "dcn": {"n_init": 2, "max_iter": 1, "epochs_per_iter": 1},
    "dkm": {"n_init": 2, "max_iter": 1, "epochs_per_iter": 1},
    "dekm": {"n_init": 2, "n_init_update": 2, "max_iter": 2, "tol": 1.0, "n_batches": 3},
    "dekm_f": {"n_init": 2, "n_init_update": 2, "max_iter": 2, "tol": 1.0},
    "spectral": {"n_init": 2},
    "umap_gmm": {"n_epochs": 30},
    "n2d": {"n_epochs": 30},
    "edesc": {"n_init": 2, "max_iter": 1},
    "vade": {"max_iter": 1, "epochs_per_iter": 1, "lr": 1e-5},
    "acedec": {"n_init": 2, "max_iter": 1},
}


@pytest.fixture
def results(tmp_path):
    """A folder of results with 100 prepared digits."""
    preparation.prepare(
        DATASETS["digits"], tmp_path / "raw", **files(tmp_path / "data/digits"), subsample=100
    )
    return tmp_path


def pretrain(results, seeds=(0,), architecture="conv", **options):
    settings = PRETRAINING | options.pop("settings", {})
    pretrain_cell(results, "digits", architecture, list(seeds), settings, device="cpu", **options)
    return results / "pretrained/digits" / architecture


def cluster(results, method, seeds=(0,), **options):
    settings = SETTINGS[method] | options.pop("settings", {})
    cluster_cell(results, "digits", method, list(seeds), settings, device="cpu", **options)
    return results / "runs/digits" / method


def ids(cell):
    """The id that every seed's run drew: another one after another run."""
    return {path.parent.name: read_json(path)["id"] for path in sorted(cell.glob("seed*/facts.json"))}


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def rows(file):
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def relabel(results, y):
    """Prepared digits with other true labels under the digest of the old ones' samples."""
    X, _, facts = prepared.load(**files(results / "data/digits"))
    write_samples(results / "data/digits/data.npz", StoredSamples(X, y))
    write_json(results / "data/digits/facts.json", facts | {"digest": prepared.samples_digest(X, y)})


def test_pretraining_writes_weights_losses_and_facts(results):
    cell = pretrain(results, seeds=(0, 1))
    assert names(cell) == ["seed0", "seed1", "summary.json"]
    assert names(cell / "seed0") == [
        "autoencoder.safetensors",
        "facts.json",
        "loss.csv",
        "manifest.json",
        "metrics.json",
    ]
    assert [row["epoch"] for row in rows(cell / "seed0/loss.csv")] == ["1", "2"]
    loss = float(rows(cell / "seed0/loss.csv")[-1]["loss"])
    assert read_json(cell / "seed0/metrics.json")["loss"] == loss
    facts = read_json(cell / "seed0/facts.json")
    assert facts["settings"]["embedding_dim"] == 10
    assert (facts["seed"], facts["device"], facts["dataset"]) == (0, "cpu", "digits")
    summary = read_json(cell / "summary.json")
    assert summary["failed"] == {}
    assert set(summary["seeds"]) == {"0", "1"}
    assert summary["seeds"]["0"] == {"key": facts["key"], "id": facts["id"]}
    assert summary["seeds"]["1"]["key"] != facts["key"]
    with safe_open(cell / "seed0/autoencoder.safetensors", framework="np") as file:
        assert "encoder.1.weight" in set(file.keys())


def test_a_cell_whose_seeds_all_diverge_is_an_error_and_fits_none_of_them_again(results):
    pretrain(results, [0, 1], "mlp")

    def fail(**options):
        with pytest.raises(InputError, match=r"seed 0 failed: The training diverged with lr=1e\+25"):
            cluster(results, "dec", [0, 1], settings={"lr": 1e25}, **options)
        return ids(results / "runs/digits/dec")

    made = fail()
    assert list(made) == ["seed0", "seed1"]
    assert fail() == made
    assert set(fail(fresh=True).values()).isdisjoint(made.values())


def test_what_a_failed_fit_recorded_until_then_is_kept(results, monkeypatch):
    pretrain(results, architecture="mlp")
    keep = History.__call__

    def diverge(history, iteration):
        keep(history, iteration)
        if iteration.n_iter == 1:
            raise DivergedError("The training diverged.")

    monkeypatch.setattr(History, "__call__", diverge)
    with pytest.raises(InputError, match="seed 0 failed: The training diverged"):
        cluster(results, "dec")
    record = read_record(results / "runs/digits/dec/seed0")
    assert [row["n_iter"] for row in record.history()] == [0, 1]
    assert {"loss", "acc"} <= set(record.history()[0])
    assert sorted(record.metrics) == ["peak_memory", "seconds"]
    assert not record.is_finite
    with pytest.raises(InputError, match=r"labels\.npy does not exist\. seed 0 failed: The training"):
        record.labels()


def test_what_a_fit_warns_of_is_in_the_facts_of_its_seed(results):
    pretrain(results)
    with pytest.warns(ConvergenceWarning, match="still changed at max_iter=1"):
        cell = cluster(results, "dekm", settings={"max_iter": 1, "tol": 1e-6})
    found = read_record(cell / "seed0").warnings
    assert any("of the labels still changed at max_iter=1" in text for text in found)
    assert read_record(cluster(results, "k_means") / "seed0").warnings == []


def test_a_cell_of_every_method_writes_scores_labels_and_history(results):
    pretrain(results)
    pretrain(results, architecture="mlp")
    for method in METHODS:
        cell = cluster(results, method)
        assert names(cell) == ["seed0", "summary.json"]
        assert names(cell / "seed0") == [
            "clusters.csv",
            "embedding.npy",
            "facts.json",
            "history.csv",
            "iterations.npz",
            "labels.npy",
            "manifest.json",
            "metrics.json",
            "model.safetensors",
        ]
        labels, found = np.load(cell / "seed0/labels.npy"), read_json(cell / "seed0/metrics.json")
        y = prepared.load(**files(results / "data/digits"))[1]
        assert {key: found[key] for key in ("acc", "nmi", "ari")} == scores(y, labels)
        assert set(found) == {
            "acc",
            "f1",
            "nmi",
            "ari",
            "silhouette",
            "davies_bouldin",
            "silhouette_embedding",
            "davies_bouldin_embedding",
            "inertia",
            "n_clusters_found",
            "smallest",
            "largest",
            "n_iter",
            "seconds",
            "peak_memory",
        }
        assert 20 < found["peak_memory"] < 100_000
        history = rows(cell / "seed0/history.csv")
        assert len(history) == found["n_iter"] + 1
        assert history[0]["changed"] == ""
        assert float(history[-1]["acc"]) == found["acc"]
        facts = read_json(cell / "seed0/facts.json")
        assert (facts["label"], facts["in_table"]) == (METHODS[method].label, METHODS[method].in_table)
        counted = {"0": {"key": facts["key"], "id": facts["id"]}}
        assert read_json(cell / "summary.json") == {"seeds": counted, "failed": {}}


def test_every_parameter_of_a_run_and_of_its_pretraining_is_in_the_facts(results):
    pretrained = read_json(pretrain(results) / "seed0/facts.json")
    facts = read_json(cluster(results, "dekm") / "seed0/facts.json")
    assert facts["settings"].items() <= facts["parameters"].items()
    assert (facts["parameters"]["lr"], facts["parameters"]["dims"]) == (0.001, "last")
    assert facts["pretraining"] == pretrained["parameters"]
    assert (pretrained["parameters"]["lr"], pretrained["parameters"]["architecture"]) == (0.001, "conv")
    decided = {"autoencoder", "device", "n_clusters", "on_iteration", "progress", "random_state"}
    assert not decided & {*facts["parameters"], *facts["pretraining"]}


def test_clusters_lead_back_to_the_samples(results):
    cell = cluster(results, "k_means")
    table, seed = rows(cell / "seed0/clusters.csv"), read_record(cell / "seed0")
    data = ResultSet(results).data("digits")
    assert [int(row["cluster"]) for row in table] == seed.labels().tolist()
    assert [int(row["row"]) for row in table] == data.samples().rows.tolist()
    assert [row["class"] for row in table] == [str(label) for label in data.labels()]
    distances = np.array([float(row["distance"]) for row in table])
    np.testing.assert_allclose((distances**2).sum(), seed.metrics["inertia"], rtol=1e-4)
    assert all(-1e-3 <= float(row["margin"]) <= 1 for row in table)
    sizes = np.bincount(seed.labels())
    assert (seed.metrics["smallest"], seed.metrics["largest"]) == (sizes.min(), sizes.max())


def test_iteration_0_of_dekm_scores_as_ae_k_means(results):
    pretrain(results)
    baseline = read_json(cluster(results, "ae_k_means") / "seed0/metrics.json")
    start = rows(cluster(results, "dekm") / "seed0/history.csv")[0]
    assert float(start["acc"]) == baseline["acc"]
    assert float(start["inertia"]) == baseline["inertia"]


def test_complete_seeds_are_kept_and_a_new_seed_runs_alone(results):
    pretrained, clustered = pretrain(results, (0, 1, 2)), cluster(results, "ae_k_means", (0, 1, 2))
    before = ids(pretrained), ids(clustered)
    pretrain(results, (0, 1, 2, 3))
    cluster(results, "ae_k_means", (0, 1, 2, 3))
    for cell, old in zip((pretrained, clustered), before, strict=True):
        new = ids(cell)
        assert set(new) == {"seed0", "seed1", "seed2", "seed3"}
        assert {seed: new[seed] for seed in old} == old
        assert set(read_json(cell / "summary.json")["seeds"]) == {"0", "1", "2", "3"}


def test_a_changed_setting_runs_again(results):
    pretrained, clustered = pretrain(results), cluster(results, "ae_k_means")
    before = ids(pretrained), ids(clustered)
    cluster(results, "ae_k_means", settings={"n_init": 3})
    after_setting = ids(clustered)
    assert after_setting != before[1]
    pretrain(results, settings={"n_epochs": 3})
    assert ids(pretrained) != before[0]
    cluster(results, "ae_k_means", settings={"n_init": 3})
    assert ids(clustered) != after_setting


def test_k_means_does_not_run_again_after_another_pretraining(results):
    pretrain(results)
    before = ids(cluster(results, "k_means"))
    pretrain(results, settings={"n_epochs": 3})
    assert ids(cluster(results, "k_means")) == before


def test_fresh_recomputes_the_same_result(results):
    pretrained, clustered = pretrain(results), cluster(results, "dekm")
    before = ids(pretrained), ids(clustered)
    labels = np.load(clustered / "seed0/labels.npy")
    weights = (pretrained / "seed0/loss.csv").read_text()
    pretrain(results, fresh=True)
    cluster(results, "dekm", fresh=True)
    assert ids(pretrained) != before[0]
    assert ids(clustered) != before[1]
    np.testing.assert_array_equal(np.load(clustered / "seed0/labels.npy"), labels)
    assert (pretrained / "seed0/loss.csv").read_text() == weights


def test_a_deleted_seed_runs_again(results):
    cell = cluster(results, "k_means", (0, 1))
    before = ids(cell)
    (cell / "seed1/facts.json").unlink()
    after = ids(cluster(results, "k_means", (0, 1)))
    assert after["seed0"] == before["seed0"]
    assert after["seed1"] != before["seed1"]


@pytest.fixture
def published(results, tmp_path):
    """A published set with the autoencoder of seed 0, of the data in `results`."""
    pretrain(results)
    publish_pretrained(results, tmp_path / "published", "conv")
    shutil.rmtree(results / "pretrained")
    return tmp_path / "published"


def test_a_published_autoencoder_is_taken_and_the_other_seeds_are_pretrained(results, published, caplog):
    caplog.set_level("INFO")
    cell = pretrain(results, (0, 1), pretrained=published)
    taken, made = (read_record(cell / f"seed{seed}") for seed in (0, 1))
    source = read_record(published / "pretrained/digits/conv/seed0")
    assert source.checked("autoencoder").read_bytes() == taken.checked("autoencoder").read_bytes()
    assert taken.facts["key"] == source.facts["key"]
    assert taken.facts["origin"]["id"] == source.facts["id"] != taken.facts["id"]
    assert taken.metrics["seconds"] == source.metrics["seconds"]
    assert "origin" not in made.facts
    assert f"seed 0 is taken from {source.path}" in caplog.text
    assert f"seed 1 is not in {published}: there is none of these data and seed" in caplog.text


def test_an_autoencoder_that_is_taken_twice_tells_who_trained_it(results, published, tmp_path):
    trained = read_record(published / "pretrained/digits/conv/seed0").facts
    first = read_record(pretrain(results, pretrained=published) / "seed0")
    publish_pretrained(results, tmp_path / "again", "conv")
    shutil.rmtree(results / "pretrained")
    second = read_record(pretrain(results, pretrained=tmp_path / "again") / "seed0")
    assert second.facts["id"] != first.facts["id"]
    assert second.facts["origin"] == first.facts["origin"]
    assert {name: trained[name] for name in second.facts["origin"]} == second.facts["origin"]
    row = row_of(second, {})
    assert (row["commit"], row["created"]) == (trained["commit"], trained["created"])
    assert row["versions"] == ", ".join(f"{name} {version}" for name, version in trained["versions"].items())


def test_runs_from_a_published_autoencoder_are_those_of_its_own_folder(results, published):
    pretrain(results)
    own = read_record(cluster(results, "ae_k_means") / "seed0")
    before = own.facts["pretrained"], own.facts["key"], own.labels()
    pretrain(results, pretrained=published, fresh=True)
    cell = cluster(results, "ae_k_means")
    again = read_record(cell / "seed0")
    assert (again.facts["pretrained"], again.facts["key"]) == before[:2]
    np.testing.assert_array_equal(again.labels(), before[2])


def test_a_taken_autoencoder_is_kept_and_one_of_other_parameters_is_not_taken(results, published, caplog):
    caplog.set_level("INFO")
    cell = pretrain(results, pretrained=published)
    before = ids(cell)
    assert ids(pretrain(results, pretrained=published)) == before
    pretrain(results, pretrained=published, settings={"n_epochs": 1})
    assert ids(cell) != before
    assert f"seed 0 is not in {published}: those there differ: conv (n_epochs)" in caplog.text
    assert "origin" not in read_record(cell / "seed0").facts


def test_an_autoencoder_of_other_data_is_not_taken(results, published, tmp_path):
    preparation.prepare(DATASETS["digits"], tmp_path / "raw", **files(tmp_path / "data/digits"), subsample=90)
    assert "origin" not in read_record(pretrain(results, pretrained=published) / "seed0").facts


def test_a_published_autoencoder_that_lacks_a_later_parameter_has_its_default(results, published):
    source = published / "pretrained/digits/conv/seed0"
    facts = read_json(source / "facts.json")
    del facts["parameters"]["noise"]
    write_json(source / "facts.json", facts)
    write_manifest(source)
    assert "origin" in read_record(pretrain(results, pretrained=published) / "seed0").facts


def test_a_damaged_or_replaced_published_autoencoder_is_one_line(results, published):
    file = published / "pretrained/digits/conv/seed0/autoencoder.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"autoencoder\.safetensors"):
        pretrain(results, pretrained=published)
    other = pretrain(results, settings={"lr": 0.5}) / "seed0/autoencoder.safetensors"
    shutil.copyfile(other, file)
    write_manifest(file.parent)
    with pytest.raises(InputError, match=r"should be what its facts\.json says; it has another lr"):
        pretrain(results, pretrained=published)


def test_missing_pretraining_is_named(results):
    with pytest.raises(
        InputError, match=r"seed0 does not exist: run 'python -m dekm pretrain digits conv' first"
    ):
        cluster(results, "dekm")


def test_a_seed_without_pretraining_is_named(results):
    pretrain(results, (0,))
    with pytest.raises(InputError, match="seed1 does not exist"):
        cluster(results, "ae_k_means", (0, 1))


def test_permuted_true_labels_leave_labels_and_embedding_identical(results):
    y = prepared.load(**files(results / "data/digits"))[1]
    learned = {}
    for permuted in (False, True):
        if permuted:
            relabel(results, np.random.default_rng(0).permutation(y))
        pretrain(results)
        pretrain(results, architecture="mlp")
        for method in METHODS:
            folder = cluster(results, method) / "seed0"
            learned[method, permuted] = np.load(folder / "labels.npy"), np.load(folder / "embedding.npy")
            found = read_json(folder / "metrics.json")["acc"]
            assert (found < 0.35) == permuted
    for method in METHODS:
        for original, after in zip(learned[method, False], learned[method, True], strict=True):
            np.testing.assert_array_equal(original, after)


def test_an_unknown_parameter_is_named(results):
    with pytest.raises(InputError, match="n_innit"):
        cluster(results, "k_means", settings={"n_innit": 3})


def test_an_unknown_parameter_of_the_pretraining_is_named(results):
    with pytest.raises(InputError, match="epochs"):
        pretrain(results, settings={"epochs": 3})


@pytest.mark.filterwarnings("ignore:Only . of n_clusters:sklearn.exceptions.ConvergenceWarning")
def test_dkm_with_annealing_runs_without_a_pretraining(results):
    cell = cluster(results, "dkm", (0,), settings={"annealed": True, "max_iter": 1, "n_init": 1})
    facts = read_json(cell / "seed0/facts.json")
    assert facts["pretrained"] is None
    assert facts["parameters"]["annealed"] is True


def test_an_error_leaves_complete_seeds_and_no_leftovers(results):
    cell = cluster(results, "k_means", (0,))
    before = ids(cell)
    with pytest.raises(ValueError, match="n_init"):
        cluster(results, "k_means", (1,), settings={"n_init": 0})
    assert ids(cell) == before
    assert names(cell) == ["seed0", "summary.json"]


@contextlib.contextmanager
def files_up_to(n_bytes):
    """Limit the size of the files that this process writes, as a quota does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_model_for_which_there_is_no_room_fails_the_run_and_leaves_the_old_one(results):
    pretrain(results)
    cell = cluster(results, "dekm")
    before, seed = ids(cell), cell / "seed0"
    model = (seed / "model.safetensors").read_bytes()
    others = [file for file in seed.iterdir() if file.name != "model.safetensors"]
    limit = len(model) - 200  # the seconds in its history have more or fewer digits
    assert max(file.stat().st_size for file in others) < limit
    with (
        files_up_to(limit),
        pytest.raises(InputError, match=r"model\.safetensors cannot be written"),
    ):
        cluster(results, "dekm", fresh=True)
    assert ids(cell) == before
    assert (seed / "model.safetensors").read_bytes() == model
    assert names(cell) == ["seed0", "summary.json"]


@pytest.mark.parametrize(("error", "goes_on"), [(ValueError("no state"), True), (MemoryError(), False)])
def test_only_a_model_that_cannot_be_read_back_is_left_out(results, monkeypatch, error, goes_on):
    def fail(self, tensors, facts):
        raise error

    monkeypatch.setattr("dekm.methods.persistence.Saved._read_back", fail)
    if goes_on:
        assert not list(cluster(results, "k_means").glob("seed0/model.safetensors"))
    else:
        with pytest.raises(InputError, match="MemoryError"):
            cluster(results, "k_means")
        assert names(results / "runs/digits/k_means") == []


def test_a_kept_seed_loses_the_temporary_folders_of_a_killed_process(results):
    cell = cluster(results, "k_means")
    before = ids(cell)
    for kind in ("part", "replaced"):
        written_by(cell / "seed0", kind, pid=number_of_an_ended_process()).mkdir()
    cluster(results, "k_means")
    assert ids(cell) == before
    assert names(cell) == ["seed0", "summary.json"]


def test_scores_need_true_labels():
    labels = np.array([0, 0, 1])
    assert scores(None, labels) == {}
    assert scores(np.array([5, 5, 2]), labels) == {"acc": 1.0, "nmi": 1.0, "ari": 1.0}


def test_a_run_with_two_dimensions_keeps_its_iterations(results):
    pretrain(results, settings={"embedding_dim": 2})
    seed = cluster(results, "dekm") / "seed0"
    with np.load(seed / "iterations.npz") as saved:
        assert saved["n_iter"].tolist() == [int(row["n_iter"]) for row in rows(seed / "history.csv")]
        t = len(saved["n_iter"])
        shapes = {"H": (t, 100, 2), "labels": (t, 100), "centers": (t, 10, 2), "V": (t, 2, 2), "U": (10, 2)}
        assert {name: saved[name].shape for name in saved} == shapes | {
            "n_iter": (t,),
            "decoded": (10, 8, 8, 1),
        }
        np.testing.assert_array_equal(saved["labels"][-1], np.load(seed / "labels.npy"))
        np.testing.assert_array_equal(saved["H"][-1], np.load(seed / "embedding.npy"))
        assert len(np.unique(saved["H"], axis=0)) == t


def test_a_run_keeps_its_clusters_and_a_map_of_every_iteration(results):
    pretrain(results)
    seed = cluster(results, "dekm") / "seed0"
    with np.load(seed / "iterations.npz") as saved:
        assert saved["n_iter"].tolist() == [int(row["n_iter"]) for row in rows(seed / "history.csv")]
        assert "V" not in saved
        np.testing.assert_array_equal(saved["labels"][-1], np.load(seed / "labels.npy"))
        H, P = np.load(seed / "embedding.npy"), saved["H"][-1]
        distances = np.linalg.norm(H - saved["U"][saved["labels"][-1]], axis=1)
        decoded = saved["decoded"]
    with (seed / "clusters.csv").open(newline="") as stream:
        written = [float(row["distance"]) for row in csv.DictReader(stream)]
    np.testing.assert_allclose(distances, written, rtol=1e-4)
    variances = np.linalg.eigvalsh(np.cov(H.T, bias=True))[-2:]
    assert P.var(0).sum() == pytest.approx(variances.sum(), rel=1e-3)
    assert decoded.shape == (10, 8, 8, 1)


def test_a_seed_that_is_made_again_says_what_has_changed(results, caplog):
    before = ids(cluster(results, "k_means"))
    facts = read_json(results / "data/digits/facts.json")
    write_json(results / "data/digits/facts.json", facts | {"n_clusters": 4})
    with caplog.at_level("INFO", "dekm"):
        cell = cluster(results, "k_means", settings={"n_init": 3})
    assert ids(cell) != before
    assert read_json(cell / "seed0/metrics.json")["n_clusters_found"] == 4
    changes = "settings (n_init 2 -> 3), n_clusters 10 -> 4"
    assert f"digits k_means, seed 0: made again, since these have changed: {changes}\n" in caplog.text


def test_a_parameter_that_makes_a_row_another_method_is_refused(results):
    with pytest.raises(InputError, match=r"n_batches=3 should stay 'pass': it makes DEKM_F what it is\."):
        cluster(results, "dekm_f", settings={"n_batches": 3})


SEED_FILES = ["labels.npy", "model.safetensors", "metrics.json", "facts.json", "manifest.json"]


@pytest.mark.parametrize("name", SEED_FILES)
@pytest.mark.parametrize("content", [None, b"", b"{}"])
def test_a_damaged_seed_is_set_aside_and_made_again(results, name, content, caplog):
    caplog.set_level("WARNING", "dekm")
    cell = cluster(results, "k_means")
    before, labels = ids(cell), np.load(cell / "seed0/labels.npy")
    (cell / "seed0" / name).unlink()
    if content is not None:
        (cell / "seed0" / name).write_bytes(content)
    cluster(results, "k_means")
    assert ids(cell) != before
    np.testing.assert_array_equal(np.load(cell / "seed0/labels.npy"), labels)
    assert names(cell / "damaged") == ["seed0.1"]
    assert f"{cell / 'seed0' / name}" in caplog.text
    assert f"kept as {cell / 'damaged/seed0.1'} and made again" in caplog.text
    after = ids(cell)
    cluster(results, "k_means")
    assert ids(cell) == after


def test_a_seed_that_cannot_be_opened_now_is_not_set_aside(results, monkeypatch):
    cell = cluster(results, "k_means")
    before, read_text = ids(cell), Path.read_text

    def refuse(self, *arguments, **keywords):
        if self.parent == cell / "seed0":
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return read_text(self, *arguments, **keywords)

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(InputError, match=r"seed0/\w+\.json cannot be read: Permission denied"):
        cluster(results, "k_means")
    monkeypatch.undo()
    assert ids(cell) == before
    assert names(cell) == ["seed0", "summary.json"]


def test_a_job_that_makes_the_seed_with_other_settings_is_not_waited_for_and_gives_way(results):
    def make(settings):
        def write(job):
            if settings["n_init"] == 2:  # meanwhile the settings change and a second job starts
                second = partial(cell({"n_init": 3}).run, make({"n_init": 3}), device="cpu", fresh=False)
                with ThreadPoolExecutor() as pool:
                    pool.submit(second).result()
            write_json(job.folder.file("metrics"), {"seconds": 1.0})

        return write

    def cell(settings):
        folder = ResultSet(results).cell("digits", "k_means")
        inputs = {0: {"settings": settings, "seed": 0, "data": "d"}}
        return Cell(folder, {"dataset": "digits", "method": "k_means"}, inputs, 1)

    with pytest.raises(InputError, match="was made by a later job with other settings, and is kept"):
        cell({"n_init": 2}).run(make({"n_init": 2}), device="cpu", fresh=False)
    kept = ResultSet(results).cell("digits", "k_means").seed(0)
    assert kept.facts["settings"] == {"n_init": 3}


def test_an_autoencoder_of_another_architecture_is_one_line(results):
    conv, mlp = pretrain(results), pretrain(results, architecture="mlp")
    shutil.copy(mlp / "seed0/autoencoder.safetensors", conv / "seed0")
    write_manifest(conv / "seed0")  # otherwise its digest is found wrong first
    with pytest.raises(InputError, match="holds an autoencoder of another architecture"):
        cluster(results, "dekm")


@pytest.mark.parametrize("content", [None, b""])
def test_a_damaged_autoencoder_is_one_line(results, content):
    file = pretrain(results) / "seed0/autoencoder.safetensors"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(
        InputError, match=r"autoencoder\.safetensors .*Run 'python -m dekm pretrain digits conv'"
    ):
        cluster(results, "dekm")


@pytest.mark.parametrize(("keep_models", "kept"), [("all", [5, 2]), ("one", [5]), ("none", [])])
def test_models_are_kept_for_all_seeds_the_first_one_or_none(results, tmp_path, keep_models, kept):
    cell = cluster(results, "k_means", seeds=(5, 2), keep_models=keep_models)
    assert sorted(path.parent.name for path in cell.glob("seed*/model.safetensors")) == sorted(
        f"seed{seed}" for seed in kept
    )
    before = ids(cell)
    cluster(results, "k_means", seeds=(5, 2), keep_models="all")  # which decides no result
    assert ids(cell) == before
    if keep_models == "one":
        with pytest.raises(InputError, match=r"seed2 has no model: keep_models .* seed5 beside it has one"):
            write_predictions(cell / "seed2", {"path": "new.npy"}, tmp_path / "clusters.csv")
    if keep_models == "none":
        with pytest.raises(InputError, match="Run it again with keep_models=all fresh=true"):
            write_predictions(cell / "seed2", {"path": "new.npy"}, tmp_path / "clusters.csv")
