import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dekm.datasets import DATASETS
from dekm.errors import InputError
from dekm.methods import METHODS
from dekm.tables import write_table2, write_table3
from dekm.tables.cells import table3
from dekm.tables.rendering.grid import Cell, Grid
from dekm.tables.rendering.html import to_html
from dekm.tables.rendering.latex import to_latex
from dekm.tables.rendering.markdown import to_markdown
from dekm.tables.scores import further_cells, further_grid, score_grid
from dekm.tables.verdicts import origins, origins_grid
from tests.helpers.handmade import (
    make_history,
    write_data,
    write_facts,
    write_run,
    write_scores,
    write_seed,
    write_summary,
)
from tests.helpers.loaded import read_results

PAPER_FILE = Path(__file__).parents[2] / "resources" / "paper" / "table3.csv"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two datasets, two methods, two seeds."""
    for dataset, label in (("mnist", "MNIST"), ("digits", "digits")):
        write_facts(tmp_path, dataset, label)
        for method, acc in (("k_means", 0.5), ("dekm_f", 0.9)):
            write_scores(tmp_path, dataset, method, [acc, acc + 0.02], nmi=0.25)
    return tmp_path


def cells(results: Path, methods: tuple[str, ...] = ("k_means", "dekm_f")) -> pd.DataFrame:
    return table3(read_results(results, ["mnist", "digits"], methods), pd.read_csv(PAPER_FILE))


def cell(results: Path, method: str, metric: str = "acc", dataset: str = "mnist") -> pd.Series:
    table = cells(results, tuple(folder.name for folder in sorted((results / "runs" / dataset).iterdir())))
    return table.query("dataset == @dataset and method == @method and metric == @metric").iloc[0]


def test_a_cell_is_the_mean_and_standard_deviation_of_its_seeds(results: Path) -> None:
    found = cell(results, "k_means")
    assert found["mean"] == pytest.approx(51)
    assert found["sd"] == pytest.approx(2**0.5)
    assert found["n_seeds"] == 2
    assert found["paper"] == 53.40
    assert found["difference"] == pytest.approx(-2.40)


def test_a_dataset_not_in_the_paper_has_no_paper_number(results: Path) -> None:
    assert cells(results).query("dataset == 'digits'")["paper"].isna().all()


def test_best_is_decided_on_unrounded_means(results: Path) -> None:
    write_scores(results, "mnist", "dekm", [0.910001, 0.910001])
    assert cell(results, "dekm")["place"] == 1
    assert cell(results, "dekm_f")["place"] == 2
    assert pd.isna(cell(results, "k_means")["place"])


def test_equal_means_share_a_place(results: Path) -> None:
    write_scores(results, "mnist", "dekm", [0.91, 0.91])
    assert cell(results, "dekm")["place"] == cell(results, "dekm_f")["place"] == 1


def test_a_method_that_does_not_differ_significantly_from_the_best_is_tied(results: Path) -> None:
    write_scores(results, "mnist", "dekm_f", [0.95, 0.96, 0.97])
    write_scores(results, "mnist", "k_means", [0.5, 0.52, 0.51])
    write_scores(results, "mnist", "dekm", [0.94, 0.97, 0.96])
    write_scores(results, "mnist", "dec", [0.96])
    methods = ("dekm_f", "k_means", "dekm", "dec")
    tied = cells(results, methods).query("dataset == 'mnist' and metric == 'acc'").set_index("method")["tied"]
    assert tied.to_dict() == {"dekm_f": False, "k_means": False, "dekm": True, "dec": False}


def test_markdown_shows_ours_and_the_papers_in_the_given_order(results: Path) -> None:
    header, _, first, second, *_ = to_markdown(score_grid(cells(results))).splitlines()
    assert [column.strip() for column in header.strip("|").split("|")] == [
        "Method",
        "MNIST ACC",
        "MNIST NMI",
        "digits ACC",
        "digits NMI",
    ]
    assert "51.00 ± 1.41_ [53.40, −2.40]" in first
    assert first.strip("| ").startswith("K-means")
    assert second.strip("| ").startswith("DEKM_F")
    assert "**91.00 ± 1.41** [94.23, −3.23]" in second


def test_the_papers_asterisks_and_dashes_stay_with_its_numbers(results: Path) -> None:
    table = cells(results)
    table.loc[0, ["paper", "paper_quoted"]] = [84.0, "yes"]
    table.loc[1, ["paper", "difference", "paper_quoted"]] = [float("nan"), float("nan"), "no"]
    grid = score_grid(table)
    assert r"[84.00\*" in to_markdown(grid)
    assert "[–]" in to_markdown(grid)
    assert "[84.00$^*$]" in to_latex(grid)
    assert "84.00* (" in to_html("page", [grid])


def test_a_remark_on_a_number_of_the_paper_is_a_footnote(results: Path) -> None:
    table = cells(results)
    table.loc[0, "paper_remark"] = "misprinted"
    grid = score_grid(table)
    assert "[53.40 (1), −2.40]" in to_markdown(grid)
    assert "[53.40$^{(1)}$]" in to_latex(grid)
    assert "53.40<sup>1</sup> (" in to_html("page", [grid])
    assert grid.notes == ["The paper's number: misprinted."]


def test_a_method_that_the_paper_does_not_have_is_marked_in_the_table_and_named_by_the_ranks(
    results: Path, tmp_path: Path
) -> None:
    write_scores(results, "mnist", "n2d", [0.95, 0.96])
    write_table3(results, ["mnist"], ["k_means", "dekm_f", "n2d"], PAPER_FILE, tmp_path)
    table = (tmp_path / "table3.md").read_text()
    assert re.search(r"^\| N2D \(1\) +\| \*\*95.50 ± 0.71\*\* +\|", table, re.MULTILINE)
    assert "\n1. Not a method of the paper's table; the marks of best and the mean ranks count it.\n" in table
    assert "Ranked too, though not in the paper's table: N2D." in (tmp_path / "ranks.md").read_text()


def test_a_table_without_numbers_of_the_paper_marks_no_method(results: Path) -> None:
    found = read_results(results, ["digits"], ["k_means", "n2d"])
    assert "Not a method" not in to_markdown(score_grid(table3(found, pd.read_csv(PAPER_FILE))))


def test_one_seed_has_no_standard_deviation(results: Path) -> None:
    for dataset in ("mnist", "digits"):
        write_scores(results, dataset, "k_means", [0.5])
        write_scores(results, dataset, "dekm_f", [0.6])
    text = to_markdown(score_grid(cells(results)))
    assert "_50.00_ [53.40" in text
    assert "over 1 seed." in text
    assert "≈" not in "".join(text.splitlines()[:4])


def test_latex_has_the_two_level_header_and_escapes_names(results: Path) -> None:
    text = to_latex(score_grid(cells(results)))
    assert r" & \multicolumn{2}{c}{MNIST} & \multicolumn{2}{c}{digits} \\" in text
    assert r"\cmidrule(lr){2-3}\cmidrule(lr){4-5}" in text
    assert r"Method & ACC & NMI & ACC & NMI \\" in text
    assert r"DEKM\_F & \textbf{91.00 $\pm$ 1.41} [94.23]" in text
    assert text.count(r"\\") == 4


def test_html_is_one_escaped_page_that_loads_nothing(results: Path) -> None:
    page = to_html("a < b", [score_grid(cells(results)), Grid("x", "<X>", [("", "&")], [[Cell("<")]], "c")])
    assert "<title>a &lt; b</title>" in page
    assert '<h2 id="x">&lt;X&gt;</h2>' in page
    assert '<th colspan="2" scope="colgroup">MNIST</th>' in page
    assert "http" not in page
    assert "src=" not in page


def test_seconds_and_memory_are_shown_beside_ari(results: Path) -> None:
    write_summary(
        results,
        "mnist",
        "dekm",
        [
            {"acc": acc, "nmi": 0.9, "ari": 0.8, "f1": 0.7, "n_clusters_found": 9, "seconds": 10.0}
            | {"peak_memory": memory}
            for acc, memory in ((0.9, 470.0), (0.91, 481.6))
        ],
    )
    benchmark = results / "benchmarks" / "cluster" / "mnist" / "dekm.tsv"  # of a job that kept the seeds
    benchmark.parent.mkdir(parents=True)
    benchmark.write_text("s\th:m:s\tmax_rss\n20.0\t0:00:20\t99.9\n")
    found = further_cells(read_results(results, ["mnist"], ["dekm", "k_means"]))
    assert found.query("method == 'dekm'")["mean"].tolist() == pytest.approx([80, 70, 9, 10.0, 481.6])
    text = to_markdown(further_grid(found))
    assert "| **80.00 ± 0.00** | **70.00 ± 0.00** | 9 ± 0" in text
    assert "482" in text
    assert "| K-means | –" in text


def test_all_files_are_written_and_reproducible(results: Path) -> None:
    written = []
    for folder in (results / "one", results / "two"):
        write_table3(results, ["mnist"], ["k_means", "dekm_f"], PAPER_FILE, folder)
        written.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert written[0] == written[1]
    derived = ("further", "ranks", "claims", "verdicts", "origins")
    names = {f"{name}.{kind}" for name in derived for kind in ("csv", "md")}
    assert set(written[0]) == names | {f"table3.{kind}" for kind in ("csv", "md", "tex", "html")}
    assert len(pd.read_csv(results / "one" / "table3.csv")) == 4


def test_files_of_the_paper_that_are_missing_or_lack_columns_raise(results: Path) -> None:
    file = results / "table3.csv"
    with pytest.raises(InputError, match=r"table3\.csv does not exist"):
        write_table3(results, ["mnist"], ["k_means"], file, results / "tables")
    pd.read_csv(PAPER_FILE).drop(columns="origin").to_csv(file)
    with pytest.raises(InputError, match=r"lacks the columns \['origin'\]"):
        write_table3(results, ["mnist"], ["k_means"], file, results / "tables")


def test_the_origins_of_the_papers_numbers_are_grouped() -> None:
    paper = pd.read_csv(PAPER_FILE)
    found = read_results(Path("nowhere"), ["mnist", "usps"], ["dekm", "dec", "idec"])
    rows = origins(table3(found, paper)).set_index("numbers")
    assert rows["method"].tolist() == ["dekm", "dec", "dec", "dec", "dec", "idec", "idec"]
    assert rows.loc["mnist, usps", "origin"].startswith("DEKM authors, mean of three runs")
    assert rows.loc["usps ACC", "remark"] == "the ACC of DEC on REUTERS-10K; on USPS it is 74.1"
    text = to_markdown(origins_grid(origins(table3(found, paper))))
    assert "| dec    | mnist ACC" in text
    assert "|        | mnist NMI" in text


def test_the_papers_table_is_complete() -> None:
    paper = pd.read_csv(PAPER_FILE)
    assert paper["origin"].notna().all()
    assert (paper["origin"] == "not reported").equals(paper["value"].isna())
    assert len(paper) == 10 * 7 * 2
    assert {name for name, row in METHODS.items() if row.of_paper} == set(paper["method"])
    assert set(paper["dataset"]) < set(DATASETS)
    assert paper["dataset"].nunique() == 7
    assert paper["value"].isna().sum() == 2 * 7
    best = (
        paper.query("metric == 'acc'").set_index(["dataset", "method"])["value"].groupby("dataset").idxmax()
    )
    assert [method for _, method in best[["mnist", "usps", "coil20", "news20"]]] == [
        "dekm",
        "dekm",
        "dcn",
        "dkm",
    ]


def test_labels_are_text_and_no_markup_in_any_table(results: Path, tmp_path: Path) -> None:
    label = r"=a|b\|<script>$\foo$*"
    write_data(results, "digits", np.zeros((2, 1)), None)
    write_facts(results, "digits", label)
    shutil.rmtree(results / "runs/digits")
    write_run(results, "digits", "k_means", [0, 1], [[0.0], [1.0]], make_history([0.5]))
    write_summary(results, "digits", "k_means", [{"acc": 0.5, "nmi": 0.5}])
    write_table3(results, ["digits"], ["k_means"], PAPER_FILE, tmp_path / "tables")
    markdown = (tmp_path / "tables/table3.md").read_text(encoding="utf-8").splitlines()
    cells_of_lines = [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in markdown[:3]]
    assert len(set(cells_of_lines)) == 1, markdown
    assert "<script>" not in markdown[0]
    assert "<script>" not in (tmp_path / "tables/table3.html").read_text(encoding="utf-8")
    assert r"\$\textbackslash{}foo\$" in (tmp_path / "tables/table3.tex").read_text(encoding="utf-8")
    rows = (tmp_path / "tables/table3.csv").read_text(encoding="utf-8").splitlines()
    assert all(f"'{label}" in row for row in rows[1:])


def test_seeds_that_agree_to_the_last_digit_have_a_footnote(results: Path) -> None:
    note = "all 3 seeds agree to the last digit: each finds the same partition, or random_state is ignored"
    write_scores(results, "mnist", "dekm", [0.9, 0.9, 0.9])
    assert note in to_markdown(score_grid(cells(results, ("k_means", "dekm"))))
    write_scores(results, "mnist", "dekm", [0.9, 0.9, 0.9 + 1e-12])
    assert note not in to_markdown(score_grid(cells(results, ("k_means", "dekm"))))
    write_scores(results, "mnist", "dekm", [0.9])
    assert "agree" not in to_markdown(score_grid(cells(results, ("dekm",))))


def test_what_the_preparation_warned_of_is_in_every_rendering(results: Path) -> None:
    write_facts(results, "mnist", "MNIST", warnings=["3 of 9 texts are copies", "20 terms are stop words"])
    write_table3(results, ["mnist"], ["k_means"], PAPER_FILE, results / "tables")
    write_table2(results, ["mnist"], PAPER_FILE.with_name("table2.csv"), results / "tables")
    told = "Warnings of the preparation of MNIST: 3 of 9 texts are copies; 20 terms are stop words."
    for table in ("table2", "table3"):
        for suffix in ("md", "html", "tex"):
            assert told in (results / "tables" / f"{table}.{suffix}").read_text(), suffix


def test_what_the_seeds_warn_of_is_a_footnote(results: Path) -> None:
    write_scores(results, "mnist", "dekm", [0.9, 0.8, 0.7])
    assert "warn" not in to_markdown(score_grid(cells(results, ("dekm",))))
    for seed, lost in ((1, "A cluster holds 4 samples."), (2, "The embedding has collapsed.")):
        write_seed(results, "mnist", "dekm", seed, {"acc": 0.8, "nmi": 0.5}, warnings=[lost])
    text = to_markdown(score_grid(cells(results, ("dekm",))))
    assert "2 of 3 seeds warn, seed 1: A cluster holds 4 samples\n" in text
