"""What happens to the files of finished runs, by accident or by hand, is noticed and never printed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dekm.cli.outputs import known_labels
from dekm.datasets import DATASETS, preparation
from dekm.errors import InputError
from dekm.experiment.jobs import cluster_cell, pretrain_cell
from dekm.experiment.prediction import write_predictions
from dekm.figures import write_figure
from dekm.files import read_json, write_json, write_manifest
from dekm.results.advice import advice
from dekm.results.comparison import compare
from dekm.results.record import read_record
from dekm.results.result_set import ResultSet
from dekm.results.runs import read_runs
from dekm.results.status import read_status
from dekm.results.status_text import describe_status
from dekm.tables import write_table3
from dekm.tables.clusters import clusters
from dekm.tables.compare import read_means
from dekm.tables.publication import publish
from tests.helpers.handmade import write_facts, write_scores
from tests.helpers.loaded import read_results
from tests.helpers.prepared_files import files

pytestmark = pytest.mark.filterwarnings("ignore:The clusters (separate|are others)")
PAPER = Path(__file__).parents[1] / "resources" / "paper"
PRETRAINING = {"channels": (4, 8, 8), "n_epochs": 2, "batch_size": 32}
SETTINGS = {
    "k_means": {"n_init": 2},
    "dec": {"n_init": 2, "max_iter": 2, "tol": 1.0, "update_interval": 20, "lr": 0.1},
    "dekm": {"n_init": 2, "n_init_update": 2, "max_iter": 1, "tol": 1.0, "n_batches": 3},
}
RUN = "runs/digits/dekm/seed0"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three methods on 100 digits, with two seeds."""
    results = tmp_path_factory.mktemp("made") / "tiny"
    data = files(results / "data/digits")
    preparation.prepare(DATASETS["digits"], results / "raw", **data, subsample=100)
    pretrain_cell(results, "digits", "conv", [0, 1], PRETRAINING, device="cpu")
    pretrain_cell(results, "digits", "mlp", [0, 1], {"hidden": (8,), "n_epochs": 1}, device="cpu")
    for method, settings in SETTINGS.items():
        cluster_cell(results, "digits", method, [0, 1], settings, device="cpu")
    return results


@pytest.fixture
def results(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "tiny"))


def table(results: Path) -> pd.DataFrame:
    write_table3(results, ["digits"], list(SETTINGS), PAPER / "table3.csv", results / "tables")
    return pd.read_csv(results / "tables/table3.csv").query("metric == 'acc'").set_index("method")


def flip(file: Path) -> None:
    """Change one digit or byte of a file and leave its size."""
    content = bytearray(file.read_bytes())
    at = next((i for i, byte in enumerate(content) if chr(byte) in "12345678"), len(content) // 2)
    content[at] ^= 1
    file.write_bytes(content)


def swap(results: Path, a: str, b: str) -> None:
    (results / a).rename(results / "swapped")
    (results / b).rename(results / a)
    (results / "swapped").rename(results / b)


def replace(results: Path, source: str, target: str) -> None:
    shutil.rmtree(results / target)
    shutil.copytree(results / source, results / target)


def edit_score(results: Path) -> None:
    file = results / RUN / "metrics.json"
    write_json(file, read_json(file) | {"acc": 0.123})


def run_under_other_settings(results: Path) -> None:
    """A seed of the same name from another experiment."""
    other = results.with_name("other")
    shutil.copytree(results, other)
    cluster_cell(other, "digits", "dekm", [0], SETTINGS["dekm"] | {"lr": 0.002}, device="cpu")
    shutil.rmtree(results / RUN)
    shutil.copytree(other / RUN, results / RUN)


def run_again_and_restore(results: Path) -> None:
    """The old folder of a seed in the place of the one that was made again under the same key."""
    shutil.copytree(results / RUN, results / "old")
    cluster_cell(results, "digits", "dekm", [0, 1], SETTINGS["dekm"], device="cpu", fresh=True)
    shutil.rmtree(results / RUN)
    (results / "old").rename(results / RUN)


CHANGES: dict[str, Callable[[Path], object]] = {
    "an edited score": edit_score,
    "an edited score without a manifest": lambda results: (
        edit_score(results),
        (results / RUN / "manifest.json").unlink(),
    ),
    "a seed of other settings": run_under_other_settings,
    "a seed of an earlier run": lambda results: run_again_and_restore(results),
    "a seed copied over another": lambda results: replace(results, "runs/digits/dekm/seed1", RUN),
    "two seeds swapped": lambda results: swap(results, RUN, "runs/digits/dekm/seed1"),
    "a run of another method": lambda results: replace(results, "runs/digits/k_means/seed0", RUN),
    "a pretraining": lambda results: replace(results, "pretrained/digits/conv/seed0", RUN),
    "two methods swapped": lambda results: swap(results, "runs/digits/dekm", "runs/digits/dec"),
    "no folder": lambda results: shutil.rmtree(results / RUN),
} | {
    f"{what} {name}": lambda results, name=name, change=change: change(results / RUN / name)
    for name in (
        *("facts.json", "metrics.json", "history.csv", "clusters.csv", "labels.npy", "embedding.npy"),
        *("model.safetensors", "manifest.json"),
    )
    for what, change in (("an edited", flip), ("no", Path.unlink))
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_run_is_named_and_not_counted(
    change: Callable[[Path], object], results: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = read_json(results / "runs/digits/dekm/seed1/metrics.json")["acc"]
    change(results)
    rows = table(results)
    assert f"warning: not counted: {results / RUN}" in caplog.text  # the workflow shows such a line
    assert str(results / RUN) in rows.loc["dekm", "reason"]
    assert rows.loc["dekm", "n_seeds"] <= 1
    if rows.loc["dekm", "n_seeds"] == 1:
        assert rows.loc["dekm", "mean"] == pytest.approx(100 * expected)
    assert rows.loc["k_means", "n_seeds"] == 2
    with pytest.raises(InputError, match=f"{results}/runs/digits/de"):
        publish(results, results.with_name("published"), PAPER, list(SETTINGS))
    if (results / RUN).exists():
        assert f"damaged  digits dekm, seed 0: {results / RUN}" in describe_status(read_status(results))
        images = results.with_name("images.npy")
        np.save(images, np.random.default_rng(0).random((3, 8, 8, 1), np.float32))
        if change not in (run_under_other_settings, CHANGES["a seed of an earlier run"]):  # whole in itself
            with pytest.raises(InputError, match=str(results / RUN)):
                write_predictions(results / RUN, {"path": str(images)}, results / "p.csv", device="cpu")
    means = read_means(results).query("method == 'dekm' and metric == 'acc'")
    assert (means["n_seeds"] <= 1).all()


def test_a_changed_run_is_kept_aside_and_made_again(results: Path) -> None:
    before = read_json(results / RUN / "metrics.json")
    swap(results, RUN, "runs/digits/dekm/seed1")
    cluster_cell(results, "digits", "dekm", [0, 1], SETTINGS["dekm"], device="cpu")
    assert table(results).loc["dekm", "n_seeds"] == 2
    assert read_json(results / RUN / "metrics.json")["acc"] == before["acc"]
    assert len(list((results / "runs/digits/dekm/damaged").iterdir())) == 2


def test_a_pretraining_in_the_place_of_another_is_not_started_from(results: Path) -> None:
    replace(results, "pretrained/digits/mlp/seed1", "pretrained/digits/mlp/seed0")
    with pytest.raises(InputError, match="pretrained/digits/mlp/seed0 holds digits mlp seed1"):
        cluster_cell(results, "digits", "dec", [0], SETTINGS["dec"], device="cpu")


def test_runs_on_other_data_than_those_prepared_now_do_not_count(
    results: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = files(results / "data/digits")
    preparation.prepare(DATASETS["digits"], results / "raw", **data, subsample=90)
    rows = table(results)
    assert (rows["n_seeds"] == 0).all()
    assert caplog.text.count("was made with other data than") == 2 * len(SETTINGS)
    with pytest.raises(InputError, match="was made with other data than"):
        publish(results, results.with_name("published"), PAPER, list(SETTINGS))
    with pytest.raises(InputError, match="was made with other data than"):
        write_figure("runs", [results / RUN], results / "drawn")


def test_a_summary_holds_no_score_that_could_be_printed(results: Path) -> None:
    before = table(results)
    file = results / "runs/digits/dekm/summary.json"
    assert read_json(file).keys() == {"seeds", "failed"}
    assert all(entry.keys() == {"key", "id"} for entry in read_json(file)["seeds"].values())
    write_json(file, read_json(file) | {"acc": 0.123, "label": "Other"})
    pd.testing.assert_frame_equal(table(results), before)
    shutil.copy(results / "runs/digits/dec/summary.json", file)
    assert table(results).loc["dekm", "n_seeds"] == 0


def test_a_cell_counts_what_it_has_until_a_seed_is_replaced(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise InputError("no memory")

    other = SETTINGS["dekm"] | {"lr": 0.002}
    with monkeypatch.context() as patch:
        patch.setattr("dekm.experiment.jobs.fit", fail)
        with pytest.raises(InputError, match="no memory"):
            cluster_cell(results, "digits", "dekm", [0, 1], other, device="cpu")
    assert table(results).loc["dekm", "n_seeds"] == 2
    cluster_cell(results, "digits", "dekm", [0], other, device="cpu")
    assert table(results).loc["dekm", "n_seeds"] == 1


@pytest.mark.parametrize("method", ["dec", "dekm", "k_means"])
def test_the_table_of_clusters_and_the_figure_name_the_same_samples(method: str, results: Path) -> None:
    run = read_record(results / "runs/digits" / method / "seed0")
    write_figure("runs", [run.path], results / "drawn")
    drawn = pd.read_csv(results / "drawn/samples.csv")
    written = pd.read_csv(run.file("clusters"))
    for row in clusters(run).itertuples():
        members = written[written["cluster"] == row.cluster]
        for kind, by in (("typical", "distance"), ("ambiguous", "margin")):
            shown = drawn.query("cluster == @row.cluster and kind == @kind and place <= 5")
            assert getattr(row, kind) == "; ".join(shown["name"].map(str))
            assert shown[by].tolist() == sorted(members[by])[: len(shown)]
    purity = pd.read_csv(results / "drawn/purity.csv").set_index("cluster").sort_index()
    ours = clusters(run).set_index("cluster").sort_index()[["n_samples", "main_class", "purity"]]
    pd.testing.assert_frame_equal(purity, ours.astype({"main_class": int}), check_dtype=False, rtol=1e-5)


def test_a_sample_of_no_cluster_is_typical_of_none(results: Path) -> None:
    run = read_record(results / RUN)
    table = pd.read_csv(run.file("clusters"), dtype=str)
    table.loc[:4, ["cluster", "distance", "margin"]] = ["-1", "", ""]
    table.to_csv(run.file("clusters"), index=False)
    write_manifest(run.path)
    assert (run.typical()["cluster"] >= 0).all()
    assert not run.typical()["sample"].isin(range(5)).any()


def test_equal_samples_are_typical_once(results: Path) -> None:
    run = read_record(results / RUN)
    table = pd.read_csv(run.file("clusters"))
    copies = table.index[table["cluster"] == 0][:2]
    table.loc[copies, ["distance", "margin"]] = [0.0, 1.0]
    table.to_csv(run.file("clusters"), index=False)
    write_manifest(run.path)
    typical = run.typical().query("cluster == 0 and kind == 'typical'")
    assert typical["sample"].isin(copies).tolist() == [True, *[False] * (len(typical) - 1)]
    assert len(typical) > 1


def test_a_run_outside_of_results_is_told_where_it_belongs(results: Path, tmp_path: Path) -> None:
    lone = tmp_path / "lone" / "moved" / "seed0"
    shutil.copytree(results / RUN, lone)
    dataset, method = Path(RUN).parts[1:3]
    with pytest.raises(
        InputError, match=rf"should be in a folder of results, as runs/{dataset}/{method}/seed0"
    ):
        read_record(lone)


def test_a_class_may_have_the_name_of_a_missing_value(results: Path) -> None:
    run = read_record(results / RUN)
    table = pd.read_csv(run.file("clusters"), dtype=str)
    table.assign(**{"class": "NA"}).to_csv(run.file("clusters"), index=False)
    write_manifest(run.path)
    assert set(run.composition()["main_class"]) == {"NA"}
    assert run.composition()["purity"].tolist() == [100.0] * len(run.composition())


def test_a_dataset_may_have_the_key_of_a_method(tmp_path: Path) -> None:
    write_facts(tmp_path, "dec", "Enzymes", class_counts=[1, 2])
    write_scores(tmp_path, "dec", "dec", [0.5, 0.6])
    rows = read_results(tmp_path, ["dec"], ["dec", "dekm"], labels=known_labels()).cells
    assert set(rows["dataset_label"]) == {"Enzymes"}
    assert list(dict.fromkeys(rows["method_label"])) == ["DEC", "DEKM"]


def test_the_advice_needs_no_damaged_run(results: Path) -> None:
    def told() -> str:
        runs = read_runs(ResultSet(results))
        return advice(runs, "digits", compare(runs, "digits"))

    edit_score(results)
    assert "DEKM" in told()
    (results / "runs/digits/dekm/seed1/metrics.json").unlink()
    assert "DEKM" not in told()


def test_a_figure_of_a_run_without_history_says_so(results: Path) -> None:
    (results / RUN / "history.csv").unlink()
    with pytest.raises(InputError, match=r"seed0/history\.csv does not exist"):
        write_figure("runs", [results / RUN], results / "drawn")


def test_publishing_again_leaves_no_file_of_earlier_results(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "published"
    publish(results, out, PAPER, list(SETTINGS))
    for name in ("config.yaml", "history/notes.txt", "models/old.safetensors", "models/old.md", "mine.md"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("old")
    (out / "verdicts.csv").write_text("old")
    shutil.rmtree(results / "runs/digits/dec")
    publish(results, out, PAPER, list(SETTINGS))
    assert sorted(file.name for file in (out / "history").iterdir()) == sorted(
        ["notes.txt", *(f"digits-{method}-s{seed}.csv" for method in ("dekm", "k_means") for seed in (0, 1))]
    )
    assert not list(out.glob("models/*"))
    assert (out / "config.yaml").read_text() == (out / "mine.md").read_text() == "old"
    fresh = tmp_path / "fresh"
    publish(results, fresh, PAPER, list(SETTINGS))
    names = {str(file.relative_to(out)) for file in out.rglob("*") if file.is_file()}
    assert names - {"config.yaml", "mine.md", "history/notes.txt"} == {
        str(file.relative_to(fresh)) for file in fresh.rglob("*") if file.is_file()
    }


def test_the_memory_of_a_run_is_measured_in_its_process(results: Path) -> None:
    metrics = read_json(results / RUN / "metrics.json")
    assert 50 < metrics["peak_memory"] < 100_000  # MiB; PyTorch alone needs more than 50
    assert json.loads((results / "pretrained/digits/conv/seed0/metrics.json").read_text())["peak_memory"] > 50
