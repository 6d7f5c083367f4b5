"""Published runs of somebody else beside one's own."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from dekm.cli import main
from dekm.cli.outputs import known_labels
from dekm.errors import InputError
from dekm.files import write_manifest
from dekm.results.published import read_published
from dekm.tables import write_table3
from dekm.tables.compare import compare
from dekm.tables.publication import publish
from tests.helpers.handmade import make_history, write_facts, write_scores, write_seed

PAPER = Path(__file__).parents[2] / "resources" / "paper"
PROTOCOL = "paper-12345678"


def write_results(results: Path, cells: dict, *, dataset: str = "usps", digest: str = "usps") -> Path:
    """Results with these ACC by method, whose deep methods start from autoencoders "ae0", "ae1", ..."""
    write_facts(results, dataset, dataset.upper(), digest=digest)
    for method, acc in cells.items():
        write_scores(results, dataset, method, acc)
        for seed, value in enumerate(acc):
            start = f"ae{seed}" if method != "k_means" else ""
            facts = {"pretrained": start, "data": digest, "platform": "Linux", "threads": 2}
            folder = write_seed(results, dataset, method, seed, {"acc": value, "nmi": 0.5}, **facts)
            make_history([value]).to_csv(folder / "history.csv", index=False)
            write_manifest(folder)
    return results


def plan(results: Path, *, seeds: tuple[int, ...] = (0, 1, 2), protocol: str = PROTOCOL) -> Path:
    cell = {"stage": "cluster", "dataset": "usps", "subject": "mine", "label": "Mine", "seeds": list(seeds)}
    known = {"written": "now", "cells": [cell], "left_out": {}, "protocol": protocol}
    (results / "plan.json").write_text(json.dumps(known))
    return results


ACC = [0.70, 0.75, 0.80]
PAIRED = [0.71, 0.762, 0.809]  # a point above, seed by seed: paired tests find it, Welch's does not


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    theirs = plan(write_results(folder / "theirs", {"k_means": [0.5, 0.51, 0.52], "dec": ACC}))
    publish(theirs, folder / "field", PAPER, [])
    return folder / "field"


@pytest.fixture
def published(tmp_path: Path, field: Path) -> Path:
    return Path(shutil.copytree(field, tmp_path / "field"))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return plan(write_results(tmp_path / "mine", {"dekm": PAIRED}))


def table(results: Path, published: Path) -> pd.DataFrame:
    out = results / "tables"
    write_table3(results, ["usps"], ["dekm"], PAPER / "table3.csv", out, reference=published)
    return pd.read_csv(out / "table3.csv").set_index(["method", "metric"])


def test_published_rows_stand_below_ours_with_their_machine(mine: Path, published: Path) -> None:
    found = table(mine, published)
    assert list(found.index.get_level_values("method").unique()) == ["dekm", "dec@field", "k_means@field"]
    assert found.loc[("dec@field", "acc"), "mean"] == pytest.approx(75)
    assert found.loc[("dec@field", "acc"), "n_seeds"] == 3
    assert found.loc[("dec@field", "acc"), "reason"] == (
        "published in field, not run here: cpu, Linux, 2 threads"
    )
    assert found["paper"].notna().groupby(level="method").any().to_dict() == {
        "dekm": True,
        "dec@field": False,
        "k_means@field": False,
    }
    text = (mine / "tables" / "table3.md").read_text()
    assert "| DEC (published) " in text
    assert "published in field, not run here" in text
    assert "Not a method of the paper" not in text
    assert "DEKM, DEC (published)" in text  # start from the same autoencoders
    assert "DEC (published)" in (mine / "tables" / "ranks.md").read_text()
    assert "DEC (published)" in (mine / "tables" / "further.md").read_text()
    assert not list((mine / "runs" / "usps").glob("dec*"))


def test_runs_from_the_same_autoencoders_are_paired_and_others_tested_by_welch(
    mine: Path, published: Path, tmp_path: Path
) -> None:
    assert not table(mine, published).loc[("dec@field", "acc"), "tied"]
    others = write_results(tmp_path / "others", {"dec": ACC})
    for seed, value in enumerate(ACC):
        metrics = {"acc": value, "nmi": 0.5}
        folder = write_seed(others, "usps", "dec", seed, metrics, pretrained=f"b{seed}")
        make_history([value]).to_csv(folder / "history.csv", index=False)
        write_manifest(folder)
    publish(plan(others), tmp_path / "unpaired", PAPER, [])
    assert table(mine, tmp_path / "unpaired").loc[("dec@unpaired", "acc"), "tied"]


@pytest.mark.parametrize(
    ("digest", "planned", "reason"),
    [
        ("b" * 64, {}, "other data: digest usps instead of bbbbbbbbbbbb"),
        ("usps", {"protocol": "released-1"}, "protocol paper-12345678 instead of released-1"),
        ("usps", {"protocol": ""}, "protocol paper-12345678 instead of not known"),
        ("usps", {"seeds": (0, 1)}, "seeds 0, 1, 2 instead of 0, 1"),
        ("usps", {"seeds": (3, 4, 5)}, "seeds 0, 1, 2 instead of 3, 4, 5"),
    ],
)
def test_a_cell_of_another_experiment_says_why_it_is_empty(
    tmp_path: Path, published: Path, digest: str, planned: dict, reason: str
) -> None:
    mine = plan(write_results(tmp_path / "mine", {"dekm": PAIRED}, digest=digest), **planned)
    found = table(mine, published)
    assert found.loc[("dec@field", "acc"), "reason"] == f"not comparable with field: {reason}"
    assert pd.isna(found.loc[("dec@field", "acc"), "mean"])
    assert found.loc[("dekm", "acc"), "place"] == 1
    assert "DEC" not in (mine / "tables" / "ranks.md").read_text()


def test_a_published_seed_that_failed_is_named_and_its_method_stays_in_the_ranks(
    mine: Path, tmp_path: Path
) -> None:
    theirs = plan(write_results(tmp_path / "theirs", {"k_means": [0.5, 0.51, 0.52], "dec": ACC}))
    known = {"pretrained": "ae1", "data": "usps", "failed": "it diverged"}
    folder = write_seed(theirs, "usps", "dec", 1, {}, **known)
    write_manifest(folder)
    publish(theirs, tmp_path / "field", PAPER, [])
    found = table(mine, tmp_path / "field").loc[("dec@field", "acc")]
    assert (found["mean"], found["n_seeds"]) == (pytest.approx(75), 2)
    assert found["reason"].endswith("seed 1 failed: it diverged")
    assert "DEC (published)" in (mine / "tables" / "ranks.md").read_text()


def test_published_rows_have_the_order_of_our_methods(mine: Path, published: Path) -> None:
    labels = known_labels()
    write_table3(
        mine, ["usps"], ["dekm"], PAPER / "table3.csv", mine / "t", reference=published, labels=labels
    )
    found = pd.read_csv(mine / "t" / "table3.csv")["method"].unique()
    assert list(found) == ["dekm", "k_means@field", "dec@field"]


def test_results_without_a_plan_have_no_protocol_to_compare(mine: Path, published: Path) -> None:
    (mine / "plan.json").unlink()
    assert "instead of not known" in table(mine, published).loc[("dec@field", "acc"), "reason"]


def test_a_dataset_that_is_not_published_says_so_and_keeps_its_place_in_the_ranks(
    mine: Path, published: Path
) -> None:
    write_results(mine, {"dekm": PAIRED, "dcn": ACC}, dataset="mnist", digest="mnist")
    write_results(mine, {"dcn": ACC})
    out = mine / "tables"
    write_table3(mine, ["usps", "mnist"], ["dekm", "dcn"], PAPER / "table3.csv", out, reference=published)
    found = pd.read_csv(out / "table3.csv").set_index(["dataset", "method", "metric"])
    assert found.loc[("mnist", "dec@field", "acc"), "reason"] == "no run is published in field"
    ranks = pd.read_csv(out / "ranks.csv")
    assert set(ranks["n_datasets"]) == {2}
    assert set(ranks["method"]) == {"dekm", "dcn"}


def test_a_subsample_is_compared_by_its_digest_and_stays_out_of_the_ranks(
    mine: Path, published: Path
) -> None:
    write_facts(mine, "usps", "USPS", digest="usps", subsample=100)
    found = table(mine, published)
    assert found.loc[("dec@field", "acc"), "reason"].startswith("a stratified subsample of 100 samples; publ")
    assert len(pd.read_csv(mine / "tables" / "ranks.csv")) == 0


def test_the_command_takes_a_reference_and_says_what_is_wrong_with_it(
    mine: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = mine / "tables"
    arguments = ["table", "--results", str(mine), "--datasets", "usps", "--methods", "dekm"]
    arguments += ["--paper", str(PAPER / "table3.csv"), "--out", str(out), "--reference"]
    assert main([*arguments, str(published)]) == 0
    assert "DEC (published)" in (out / "table3.md").read_text()
    before = (out / "table3.md").read_bytes()
    (published / "runs.csv").write_text((published / "runs.csv").read_text().replace("0.75", "0.95"))
    assert main([*arguments, str(published)]) == 1
    assert "runs.csv is damaged: its content is not the one in manifest.json" in capsys.readouterr().err
    assert main([*arguments, str(mine)]) == 1
    assert "mine should be a published set of results; it holds no runs.csv." in capsys.readouterr().err
    assert (out / "table3.md").read_bytes() == before


def change(published: Path, column: str, value: object) -> None:
    """Change a column of the set, as somebody who writes the manifest too can do."""
    runs = pd.read_csv(published / "runs.csv", dtype=str)
    runs[column] = value
    runs.to_csv(published / "runs.csv", index=False)
    write_manifest(published)


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("acc", "1.5", r"acc=1\.5 should be in \[0, 1\]"),
        ("acc", "high", "not a readable table with numbers in the column acc"),
        ("acc", "9" * 400, "acc"),
        ("nmi", "-0.1", "nmi"),
        ("nmi", "inf", r"nmi=inf should be in \[0, 1\]"),
        ("seconds", "1e300", r"seconds=1e\+300 should be in \[0, 1e\+10\]"),
        ("seed", "0.5", r"seed=0\.5 should be an integer"),
        ("seed", "-1", "seed"),
        ("seed", "9" * 30, "seed"),
        ("seed", "0", "it has seed 0 of dec on usps twice"),
        ("seed", "", "the column seed has an empty field"),
        ("dataset", "../usps", r"dataset='\.\./usps' should be a name"),
        ("subject", "<b>dec</b>", "subject='<b>dec</b>' should be a name"),
        ("subject", "dec@field", "should be a name"),
        ("subject", "x" * 5000, "should be a name"),
        ("label", "DEC\x1b[31m", "should be one line of at most 300 characters"),
        ("label", "D\nC", "should be one line"),
        ("label", "x" * 5000, "should be one line"),
        ("label", "", "the column label has an empty field"),
        ("machine", "a\x00b", "machine"),
        ("stage", "other", "should be cluster or pretrain"),
        ("in_table", "yes", "should be True or False"),
    ],
)
def test_values_that_no_run_can_have_are_one_clear_error(
    published: Path, column: str, value: str, text: str
) -> None:
    change(published, column, value)
    with pytest.raises(InputError, match=text) as error:
        read_published(published)
    assert str(published / "runs.csv") in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff" * 50, b"a,b\n1\n1,2,3\n", b'stage,"dataset\n', b"stage\n"]
)
def test_a_damaged_file_is_one_clear_error(published: Path, content: bytes) -> None:
    (published / "runs.csv").write_bytes(content)
    write_manifest(published)
    with pytest.raises(InputError, match=r"runs\.csv.*Write the set again"):
        read_published(published)


def test_a_file_without_a_seed_is_damaged(published: Path) -> None:
    header = (published / "runs.csv").read_text().splitlines()[0]
    (published / "runs.csv").write_text(header + "\n")
    write_manifest(published)
    with pytest.raises(InputError, match=r"runs\.csv is damaged: it has no seed\. Write the set again"):
        read_published(published)


def test_a_set_whose_manifest_lacks_or_misses_the_runs_is_not_whole(published: Path) -> None:
    manifest = published / "manifest.json"
    manifest.write_text(json.dumps({"files": {}}))
    with pytest.raises(InputError, match=r"runs\.csv is not in .*manifest\.json\. Write the set"):
        read_published(published)
    manifest.write_text("{")
    with pytest.raises(InputError, match=r"manifest\.json is not a readable JSON file.*Write the set again"):
        read_published(published)
    manifest.unlink()
    with pytest.raises(
        InputError, match=r"is an incomplete set: it holds no manifest\.json\. Write the set again"
    ):
        read_published(published)


def test_a_table_that_was_changed_is_not_compared(mine: Path, published: Path) -> None:
    scores = pd.read_csv(published / "table3.csv")
    scores.assign(mean=scores["mean"] + 20).to_csv(published / "table3.csv", index=False)
    with pytest.raises(InputError, match=r"table3\.csv is damaged: .*Write the set again"):
        compare(mine, published)


def test_a_set_that_is_the_folder_here_is_named(
    mine: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(published)
    table(mine, Path())
    assert f"published in {published.name}, not run here" in (mine / "tables" / "table3.md").read_text()


def test_a_set_with_none_of_the_datasets_of_a_table_gives_no_rows_and_a_warning(
    mine: Path, published: Path, caplog: pytest.LogCaptureFixture
) -> None:
    change(published, "dataset", "coil20")
    assert set(table(mine, published).reset_index()["method"]) == {"dekm"}
    assert "field has no run on one of usps" in caplog.text


def test_a_table_beside_the_manifest_of_another_thing_is_compared(mine: Path, published: Path) -> None:
    lone = published.with_name("lone")
    lone.mkdir()
    shutil.copy(published / "table3.csv", lone)
    (lone / "manifest.json").write_text('{"name": "a web page"}')
    assert len(compare(published, lone))


def test_a_set_of_an_earlier_version_says_what_it_lacks(published: Path) -> None:
    runs = pd.read_csv(published / "runs.csv").drop(columns=["protocol", "machine"])
    runs.to_csv(published / "runs.csv", index=False)
    write_manifest(published)
    with pytest.raises(InputError, match="is of another version: it lacks the columns protocol, machine"):
        read_published(published)


def test_markup_in_names_is_shown_as_text(mine: Path, published: Path) -> None:
    change(published, "label", '<script>alert("|")</script> **DEC**')
    change(published, "machine", "=cmd|' /C calc'!A0")
    table(mine, published)
    html = (mine / "tables" / "table3.html").read_text()
    assert "<script>" not in html
    assert "&lt;script&gt;alert" in html
    assert r"&lt;script>alert(" in (mine / "tables" / "table3.md").read_text()
    assert r"\*\*DEC\*\*" in (mine / "tables" / "table3.md").read_text()


def test_compare_pairs_runs_from_the_same_autoencoders_and_tells_other_data(
    mine: Path, published: Path, tmp_path: Path
) -> None:
    again = write_results(tmp_path / "again", {"dec": PAIRED, "k_means": [0.51, 0.5, 0.52]})
    found = compare(again, published).set_index(["method", "metric"])["verdict"]
    assert found["dec", "acc"] == "higher"
    assert found["k_means", "acc"] == "no difference found"
    other = write_results(tmp_path / "other", {"dec": PAIRED}, digest="other")
    with pytest.raises(InputError, match="have no cell with the same data in both"):
        compare(other, published)
    table(mine, published)
    assert not compare(mine / "tables", mine)["method"].str.contains("@").any()


def test_a_set_is_published_with_what_a_reference_needs(published: Path) -> None:
    found = read_published(published)
    assert set(found["protocol"]) == {PROTOCOL}
    assert set(found["machine"]) == {"cpu, Linux, 2 threads"}
    assert found.groupby("method")["label"].first().to_dict() == {"dec": "DEC", "k_means": "K-means"}
    assert found["seed"].tolist() == [0, 1, 2, 0, 1, 2]
    assert found["pretrained"].tolist() == ["ae0", "ae1", "ae2", "", "", ""]
    assert "runs.csv" in (published / "manifest.json").read_text()
