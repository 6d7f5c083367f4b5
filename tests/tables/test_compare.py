from pathlib import Path
from shutil import rmtree

import pandas as pd
import pytest

from dekm.cli import main
from dekm.datasets import DATASETS
from dekm.errors import InputError
from dekm.files import read_json
from dekm.tables import write_table2, write_table3
from dekm.tables.compare import DIFFER, compare, compare_grid, read_means
from dekm.tables.rendering.markdown import to_markdown
from dekm.tables.table2 import table2
from tests.helpers.handmade import write_facts, write_scores, write_summary

PAPER = Path(__file__).parents[2] / "resources" / "paper"


def write_set(results: Path, *, dekm: float) -> Path:
    write_facts(results, "mnist", "MNIST")
    write_scores(results, "mnist", "k_means", [0.50, 0.52, 0.51])
    write_scores(results, "mnist", "dekm", [dekm, dekm + 0.001, dekm + 0.002])
    return results


def differences(results: Path, reference: Path) -> list[tuple[str, ...]]:
    rows = compare(results, reference)
    rows = rows[rows["verdict"].isin(DIFFER)]
    return list(rows[["dataset", "method", "metric", "verdict"]].itertuples(index=False, name=None))


def test_a_set_of_results_does_not_differ_from_itself_or_from_its_table(tmp_path: Path) -> None:
    results = write_set(tmp_path / "new", dekm=0.9)
    write_table3(results, ["mnist"], ["k_means", "dekm"], PAPER / "table3.csv", results / "tables")
    for reference in (results, results / "tables", results / "tables" / "table3.csv"):
        assert set(compare(results, reference)["verdict"]) == {"no difference found"}


def test_a_significant_difference_is_listed(tmp_path: Path) -> None:
    old, new = write_set(tmp_path / "old", dekm=0.9), write_set(tmp_path / "new", dekm=0.8)
    write_scores(new, "mnist", "k_means", [0.49, 0.51, 0.53])
    assert differences(new, old) == [("mnist", "dekm", "acc", "lower")]
    assert differences(old, new) == [("mnist", "dekm", "acc", "higher")]


def test_the_tests_allow_for_the_number_of_cells(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for dataset in ("mnist", "usps", "coil20", "news20"):
        write_scores(old, dataset, "dekm", [0.90, 0.91, 0.92])
        write_scores(new, dataset, "dekm", [0.90, 0.91, 0.92])
    write_scores(new, "mnist", "dekm", [0.93, 0.94, 0.95])  # p = 0.02
    assert differences(new, old) == []
    for folder in (old, new):
        for dataset in ("usps", "coil20", "news20"):
            rmtree(folder / "runs" / dataset)
    for folder in (old, new):
        runs = [read_json(file) for file in sorted((folder / "runs/mnist/dekm").glob("seed*/metrics.json"))]
        write_summary(folder, "mnist", "dekm", [{"acc": run["acc"]} for run in runs])
    assert differences(new, old) == [("mnist", "dekm", "acc", "higher")]


def test_a_cell_of_one_set_only_is_counted(tmp_path: Path) -> None:
    old, new = write_set(tmp_path / "old", dekm=0.9), write_set(tmp_path / "new", dekm=0.9)
    write_scores(new, "mnist", "dekm_f", [0.9])
    write_scores(old, "usps", "k_means", [0.6])
    found = compare(new, old)
    verdicts = found.set_index(["dataset", "method"])["verdict"]
    assert set(verdicts[("mnist", "dekm_f")]) == {"not in the reference"}
    assert set(verdicts[("usps", "k_means")]) == {"not in the results"}
    text = to_markdown(compare_grid(found))
    assert "4 cells were compared, and 0 differ" in text
    assert "1. Not tested, not in the reference: 2 of mnist." in text
    assert "2. Not tested, not in the results: 2 of usps." in text


def test_a_cell_with_one_seed_or_other_data_is_not_tested(tmp_path: Path) -> None:
    old, new = write_set(tmp_path / "old", dekm=0.9), write_set(tmp_path / "new", dekm=0.8)
    write_scores(new, "mnist", "dekm", [0.3])
    for folder, subsample in ((old, None), (new, 5000)):
        write_facts(folder, "usps", subsample=subsample)
        write_scores(folder, "usps", "dekm", [0.5, 0.51])
    text = to_markdown(compare_grid(compare(new, old)))
    assert "2 cells were compared, and 0 differ" in text
    assert "Not tested, one seed: 2 of mnist." in text
    assert "Not tested, other data: 2 of usps." in text


def test_sets_without_a_cell_that_can_be_tested_raise(tmp_path: Path) -> None:
    old, new = write_set(tmp_path / "old", dekm=0.9), tmp_path / "new"
    write_scores(new, "usps", "dekm", [0.9, 0.91])
    with pytest.raises(InputError, match="have no cell of the same dataset and method in common"):
        compare(new, old)
    write_scores(new, "mnist", "dekm", [0.9])
    with pytest.raises(InputError, match="have no cell with at least two seeds in both"):
        compare(new, old)


def test_data_without_labels_are_compared_by_inertia(tmp_path: Path) -> None:
    for name, inertia in (("old", 0.0010), ("new", 0.0012)):
        write_facts(tmp_path / name, "mine", class_counts=None)
        write_summary(tmp_path / name, "mine", "dekm", [{"inertia": inertia * x} for x in (1, 1.01, 0.99)])
    assert differences(tmp_path / "new", tmp_path / "old") == [("mine", "dekm", "inertia", "higher")]


@pytest.mark.filterwarnings("error")
def test_a_difference_from_zero_is_found_on_either_side(tmp_path: Path) -> None:
    for name, inertia in (("zero", 0.0), ("one", 1.0)):
        write_facts(tmp_path / name, "mine", class_counts=None)
        write_summary(tmp_path / name, "mine", "dekm", [{"inertia": inertia}] * 3)
    assert differences(tmp_path / "zero", tmp_path / "one") == [("mine", "dekm", "inertia", "lower")]
    assert differences(tmp_path / "one", tmp_path / "zero") == [("mine", "dekm", "inertia", "higher")]
    assert differences(tmp_path / "zero", tmp_path / "zero") == []


def test_a_path_that_is_no_set_of_results_raises(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"should be a folder with runs/ or table3\.csv"):
        compare(tmp_path, tmp_path)
    file = tmp_path / "table3.csv"
    file.write_text("dataset,method\nmnist,dekm\n")
    with pytest.raises(InputError, match="lacks the columns"):
        compare(tmp_path, tmp_path)
    (tmp_path / "runs" / "mnist" / "dekm").mkdir(parents=True)
    with pytest.raises(InputError, match="holds no finished cell"):
        compare(tmp_path, tmp_path)


def test_a_table_with_a_cell_twice_or_without_numbers_of_seeds_decides_nothing(tmp_path: Path) -> None:
    results, file = write_set(tmp_path / "new", dekm=0.9), tmp_path / "table3.csv"
    table = read_means(results).assign(reason="", n_seeds=None)
    table.to_csv(file, index=False)
    with pytest.raises(InputError, match="have no cell with at least two seeds in both"):
        compare(results, file)
    pd.concat([table, table]).to_csv(file, index=False)
    with pytest.raises(InputError, match="it has a cell twice"):
        compare(results, file)


@pytest.mark.usefixtures("restored_logging")
def test_the_command_prints_the_differences(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    old, new = write_set(tmp_path / "old", dekm=0.9), write_set(tmp_path / "new", dekm=0.8)
    assert main(["compare", str(new), str(old)]) == 0
    printed = capsys.readouterr().out
    assert "| mnist dekm ACC | 80.10 ± 0.10 | 90.10 ± 0.10 | -10.00" in printed
    assert "4 cells were compared, and 1 differ" in printed


def test_table_2_shows_the_papers_numbers_beside_ours(tmp_path: Path) -> None:
    whole = {"n_clusters": 10, "shape": [28, 28, 1]}
    write_facts(tmp_path, "mnist", "MNIST", n_samples=70000, subsample=None, **whole)
    write_facts(tmp_path, "usps", "USPS", n_samples=5000, subsample=5000, **whole)
    write_facts(tmp_path, "coil20", "COIL-20", n_samples=1440, **whole)
    datasets = ["mnist", "usps", "coil20", "frgc", "digits"]
    rows = table2(
        tmp_path, datasets, pd.read_csv(PAPER / "table2.csv"), left_out={"frgc": "needs a licence"}
    ).set_index("dataset")
    assert rows.loc["mnist", "shape"] == rows.loc["mnist", "paper_shape"] == "28x28x1"
    assert rows["reason"].tolist() == [
        "",
        "a stratified subsample of 5,000 samples",
        "differs from the paper in n_clusters",
        "skipped: needs a licence",
        "not prepared",
    ]
    write_table2(tmp_path, datasets, PAPER / "table2.csv", tmp_path / "tables")
    assert len(list((tmp_path / "tables").glob("table2.*"))) == 4
    text = (tmp_path / "tables" / "table2.md").read_text()
    assert "70,000 [70,000]" in text
    assert "28×28×1 [28×28×1]" in text
    assert "FRGC (3)" in text
    assert r"$\times$" in (tmp_path / "tables" / "table2.tex").read_text()


def test_the_papers_table_2_agrees_with_the_package() -> None:
    paper = pd.read_csv(PAPER / "table2.csv").set_index("dataset")
    for name, row in paper.iterrows():
        dataset = DATASETS[name]
        expected = (dataset.label, dataset.n_samples, dataset.n_clusters, "x".join(map(str, dataset.shape)))
        assert tuple(row.astype(object)) == expected
