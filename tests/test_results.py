import json
from pathlib import Path

import numpy as np
import pytest

from dekm.errors import InputError
from dekm.files import write_manifest
from dekm.results.record import Record, read_record
from dekm.results.result_set import ResultSet, result_folders
from dekm.results.seed import SeedFolder
from tests.helpers.handmade import make_history, write_facts, write_run, write_summary


@pytest.fixture
def seed(tmp_path: Path) -> Record:
    """A complete run of DEKM on three samples."""
    write_facts(tmp_path, "digits", "digits", n_clusters=2)
    embedding = np.zeros((3, 2), np.float32)
    return read_record(
        write_run(tmp_path, "digits", "dekm", np.array([0, 1, 1]), embedding, make_history([0.5, 0.75]))
    )


def test_a_seed_finds_its_data_from_any_working_directory(
    seed: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(seed.path)
    relative = read_record(Path())
    assert relative.data.facts["n_clusters"] == 2
    assert (relative.stage, relative.name) == ("cluster", "digits/dekm/s0")
    assert relative.labels().tolist() == [0, 1, 1]


def test_an_empty_field_of_a_history_is_nan(seed: Record) -> None:
    seed.file("history").write_text("n_iter,loss,acc\n0,,0.5\n1,0.25,0.75\n")
    write_manifest(seed.path)
    first, last = seed.history()
    assert np.isnan(first["loss"])
    assert last == {"n_iter": 1.0, "loss": 0.25, "acc": 0.75}


def test_a_seed_without_iterations_has_an_empty_history(tmp_path: Path) -> None:
    assert SeedFolder(tmp_path).history() == []


def test_a_folder_without_metrics_is_not_a_complete_run(seed: Record) -> None:
    assert seed.metrics["acc"] == 0.75
    seed.file("metrics").unlink()
    with pytest.raises(InputError, match=r"complete run; it holds no metrics\.json"):
        read_record(seed.path)


def test_a_cell_needs_a_summary(seed: Record, tmp_path: Path) -> None:
    cell = ResultSet(tmp_path).cell("digits", "dekm")
    with pytest.raises(InputError, match=r"folder of a cell; it holds no summary\.json"):
        cell.seeds()
    write_summary(tmp_path, "digits", "dekm", [{"acc": 0.75}])
    assert [found.path for found in cell.seeds()] == [seed.path]
    assert [found.path for found in ResultSet(tmp_path).finished_cells()] == [cell.path]


def test_result_sets_are_the_folders_with_runs(seed: Record, tmp_path: Path) -> None:
    (tmp_path.parent / "mlartifacts").mkdir(exist_ok=True)
    assert tmp_path in result_folders(tmp_path.parent)
    (tmp_path / "new" / "pretrained").mkdir(parents=True)
    assert result_folders(tmp_path) == [tmp_path / "new"]
    assert ResultSet(tmp_path).has_runs()
    assert not ResultSet(tmp_path / "data").has_runs()


def test_the_error_of_the_last_failed_job_is_found(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "cluster" / "digits" / "dekm.log"
    log.parent.mkdir(parents=True)
    log.write_text("12:00:00 iteration 1\n")
    assert ResultSet(tmp_path).error_of_job("digits", "dekm") == ""
    log.write_text("12:00:00 iteration 1\ndekm: error: no memory\n\n")
    assert ResultSet(tmp_path).error_of_job("digits", "dekm") == "dekm: error: no memory"


def test_seeds_are_sorted_by_the_time_at_which_they_ended(seed: Record, tmp_path: Path) -> None:
    other = write_run(
        tmp_path, "digits", "dec", np.array([0]), np.zeros((1, 2), np.float32), make_history([0.5])
    )
    for path, created in ((seed.path, "2026-01-02"), (other, "2026-01-01")):
        facts = json.loads((path / "facts.json").read_text())
        (path / "facts.json").write_text(json.dumps(facts | {"created": created}))
        write_manifest(path)
    assert [found.path for found in ResultSet(tmp_path).seeds()] == [other, seed.path]
