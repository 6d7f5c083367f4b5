"""The pages of real runs in a browser: images, a table with hostile names, texts, and no labels."""

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from dekm.datasets import DATASETS, preparation
from dekm.datasets.user.own import own_dataset
from dekm.experiment.jobs import cluster_cell, pretrain_cell
from dekm.figures.explore import write_page
from tests.helpers.browser import needs_browser, requests, show, start_browser
from tests.helpers.prepared_files import files

pytestmark = [needs_browser, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

SECONDS = 30
HOSTILE = (
    "</script><script>document.title = 'run'</script>",
    '"><img src=x onerror="document.title=1">',
    "c & d",
)
WORDS = {"sport": ["goal", "match", "team", "player"], "food": ["salt", "oven", "butter", "recipe"]}
DEKM = {"n_init": 2, "n_init_update": 2, "max_iter": 3, "tol": 0.0, "n_batches": 3}


class Page(NamedTuple):
    """A page, and its run's ``clusters.csv``."""

    file: Path
    table: list[dict[str, str]]


class Pages:
    """Makes the page of a method on data that are prepared once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def prepare(self, name: str) -> int:
        """Prepare data; return their number of clusters."""
        data, raw, own = files(self.folder / "data" / name), self.folder / "raw", self.folder / name
        if name == "digits":
            preparation.prepare(DATASETS["digits"], raw, **data, subsample=200)
            return 10
        block = {"n_clusters": 3, **getattr(self, f"write_{name}")(own)}
        preparation.prepare(own_dataset(name, block), raw, **data)
        return 3

    def write_table(self, own: Path) -> dict[str, object]:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(90, 4)) + 6 * (np.arange(90) % 3)[:, None]
        rows = [[*map(str, row), HOSTILE[i % 3]] for i, row in enumerate(X.round(3).tolist())]
        own.mkdir(parents=True)
        with (own / "rows.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows([["height", "width", HOSTILE[1], "depth", "kind"], *rows])
        return {"path": str(own / "rows.csv"), "label_column": "kind"}

    def write_plain(self, own: Path) -> dict[str, object]:
        return self.write_table(own) | {"ignore_columns": ["kind"], "label_column": None}

    def write_partly(self, own: Path) -> dict[str, object]:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(90, 2)) + 9 * (np.arange(90) % 3)[:, None]
        own.mkdir(parents=True)
        rows = [f"{x},{y},{'' if i % 9 > 2 else 'abc'[i % 3]}" for i, (x, y) in enumerate(X)]
        (own / "rows.csv").write_text("\n".join(["x,y,kind", *rows]))
        return {"path": str(own / "rows.csv"), "label_column": "kind"}

    def write_texts(self, own: Path) -> dict[str, object]:
        rng = np.random.default_rng(0)
        for kind, words in WORDS.items():
            (own / "notes" / kind).mkdir(parents=True)
            for i in range(20):
                (own / "notes" / kind / f"{i}.txt").write_text(" ".join(rng.choice(words, 12)))
        return {"path": str(own / "notes"), "n_clusters": 2}

    def make(self, dataset: str, method: str) -> Page:
        if not (self.folder / "data" / dataset).exists():
            self.prepare(dataset)
        if method == "dekm":
            settings = {"channels": (4, 8, 8), "hidden": (16,), "n_epochs": 3, "batch_size": 32}
            pretrain_cell(self.folder, dataset, "conv", [0], settings, device="cpu")
        given = DEKM if method == "dekm" else {"n_init": 2}
        cluster_cell(self.folder, dataset, method, [0], given, device="cpu")
        run, file = self.folder / "runs" / dataset / method / "seed0", self.folder / f"{dataset}.html"
        write_page(run, file)
        with (run / "clusters.csv").open(newline="") as stream:
            return Page(file, list(csv.DictReader(stream)))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return Pages(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def digits(pages: Pages) -> Page:
    return pages.make("digits", "dekm")


@pytest.fixture(scope="module")
def started() -> Iterator[webdriver.Chrome]:
    yield from start_browser()


@pytest.fixture
def browser(started: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """The browser; a test fails if its pages write to the console or ask for anything but themselves."""
    requests(started)
    started.get("about:blank")
    yield started
    assert started.get_log("browser") == []
    asked = {url.partition(":")[0] for url in requests(started)}
    assert asked <= {"about", "file", "data", "blob"}


def opened(browser: webdriver.Chrome, page: Page, address: str = "") -> None:
    show(browser, width=1280)
    browser.get("about:blank")
    browser.get(page.file.as_uri() + address)
    WebDriverWait(browser, SECONDS).until(
        lambda shown: shown.execute_script("return document.body.dataset.ready")
    )


def text(browser: webdriver.Chrome, id_: str) -> str:
    return browser.find_element(By.ID, id_).text


def panel(browser: webdriver.Chrome) -> str:
    return text(browser, "sample")


def choose(browser: webdriver.Chrome, select: str, label: str) -> None:
    Select(browser.find_element(By.ID, select)).select_by_visible_text(label)


def assert_agrees(browser: webdriver.Chrome, row: dict[str, str]) -> None:
    """The panel shows what the table of clusters has, to four digits."""
    shown = panel(browser)
    assert f"Cluster\n{row['cluster']}" in shown
    for name in ("distance", "margin"):
        assert float(text(browser, name)) == pytest.approx(float(row[name]), rel=1e-3)
    if row["class"]:
        assert f"Class\n{row['class']}" in shown


def test_a_click_on_a_point_shows_its_sample_with_the_numbers_of_the_run(
    browser: webdriver.Chrome, digits: Page
) -> None:
    opened(browser, digits)
    assert "Ask about a sample" in panel(browser)
    marks = browser.find_element(By.ID, "marks")
    for i in (3, 120):
        box = marks.rect
        x, y = browser.execute_script(f"return where({i})")
        offset = (round(x - box["x"] - box["width"] / 2), round(y - box["y"] - box["height"] / 2))
        ActionChains(browser).move_to_element_with_offset(marks, *offset).click().perform()
        chosen = browser.execute_script("return state.chosen")
        assert np.hypot(*np.subtract(browser.execute_script(f"return where({chosen})"), (x, y))) < 3
        row = digits.table[chosen]
        assert text(browser, "name") == f"Sample {row['sample']}"
        assert_agrees(browser, row)
        assert browser.current_url.endswith(f"#{row['row']}")


def test_every_sample_has_an_address_and_can_be_searched(browser: webdriver.Chrome, digits: Page) -> None:
    first, last = digits.table[5], digits.table[-1]
    opened(browser, digits, f"#{last['row']}")
    assert_agrees(browser, last)
    field = browser.find_element(By.ID, "find")
    field.send_keys(first["row"], Keys.ENTER)
    assert_agrees(browser, first)
    field.clear()
    field.send_keys("123456", Keys.ENTER)
    assert "no sample 123456" in text(browser, "found")


def test_the_arrow_keys_go_from_the_most_ambiguous_sample_to_the_clearest(
    browser: webdriver.Chrome, digits: Page
) -> None:
    opened(browser, digits)
    ranked = sorted(digits.table, key=lambda row: float(row["margin"]))
    marks = browser.find_element(By.ID, "marks")
    browser.execute_script("arguments[0].focus()", marks)
    for expected in (ranked[0], ranked[1], ranked[2]):
        marks.send_keys(Keys.ARROW_RIGHT)
        assert float(text(browser, "margin")) == pytest.approx(float(expected["margin"]), rel=1e-3)
    marks.send_keys(Keys.ARROW_LEFT)
    assert float(text(browser, "margin")) == pytest.approx(float(ranked[1]["margin"]), rel=1e-3)
    marks.send_keys(Keys.ESCAPE)
    assert "Ask about a sample" in panel(browser)


def test_paper_has_the_chosen_sample_and_no_invitation_to_click(
    browser: webdriver.Chrome, digits: Page
) -> None:
    for address, is_shown in (("", False), (f"#{digits.table[5]['row']}", True)):
        opened(browser, digits, address)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        shown = [browser.find_element(By.ID, name).is_displayed() for name in ("sample", "clusters")]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        assert shown == [is_shown, True]


def test_the_table_of_clusters_has_their_sizes_and_purities(browser: webdriver.Chrome, digits: Page) -> None:
    opened(browser, digits)
    rows = browser.find_elements(By.CSS_SELECTOR, "#clusters tbody tr")
    members: dict[str, list[str]] = {}
    for row in digits.table:
        members.setdefault(row["cluster"], []).append(row["class"])
    assert len(rows) == len(members)
    for row in rows:
        name, size, main, purity = row.text.replace("\n", " ").split()[:4]
        classes = members[name]
        assert int(size) == len(classes)
        assert classes.count(main) == max(map(classes.count, set(classes)))
        assert float(purity) == pytest.approx(100 * classes.count(main) / len(classes), abs=0.06)
    assert len(browser.find_elements(By.CSS_SELECTOR, "#clusters .picture.decoded")) == len(rows)
    thumb = browser.find_element(By.CSS_SELECTOR, "#clusters tbody tr:first-child .thumb")
    browser.execute_script("arguments[0].click()", thumb)
    nearest = min(
        (row for row in digits.table if row["cluster"] == rows[0].text.split()[0]),
        key=lambda row: float(row["distance"]),
    )
    assert text(browser, "name") == f"Sample {nearest['sample']}"


def test_iterations_play_and_colours_and_filters_change_the_map(
    browser: webdriver.Chrome, digits: Page
) -> None:
    opened(browser, digits)
    show(browser, width=1280, prefers_reduced_motion="reduce")
    picture = "return document.getElementById('points').toDataURL()"
    seen = {browser.execute_script(picture)}
    for step in range(3):
        browser.execute_script(
            f"document.getElementById('frame').value = {step}; document.getElementById('frame').oninput()"
        )
        seen.add(browser.execute_script(picture))
        assert text(browser, "when").startswith(f"{step} of 3 · ACC")
    for label in ("true class", "not of the main class", "margin"):
        choose(browser, "colour", label)
        seen.add(browser.execute_script(picture))
    choose(browser, "show", "margin below 0.1")
    seen.add(browser.execute_script(picture))
    count = sum(float(row["margin"]) < 0.1 for row in digits.table)
    assert f"{count} samples shown" in text(browser, "legend")
    choose(browser, "projection", "t-SNE")
    seen.add(browser.execute_script(picture))
    assert len(seen) == 9
    browser.find_element(By.ID, "play").click()
    WebDriverWait(browser, SECONDS).until(lambda _: text(browser, "when").startswith("3 of 3"))


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_screens_in_both_schemes(
    browser: webdriver.Chrome, digits: Page, tmp_path: Path, width: int, scheme: str
) -> None:
    opened(browser, digits, f"#{digits.table[0]['row']}")
    show(browser, width=width, prefers_color_scheme=scheme)
    WebDriverWait(browser, SECONDS).until(
        lambda shown: shown.execute_script("return points.clientWidth === points.width && points.width > 300")
    )
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(overflow) <= 0
    # From a copy: Chromium warns of a canvas that is read more than once.
    back = (
        "const copy = new OffscreenCanvas(1, 1).getContext('2d'); copy.drawImage(points, 0, 0);"
        "return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3)"
    )
    paper = [255, 255, 255] if scheme == "light" else [13, 17, 23]
    WebDriverWait(browser, SECONDS).until(lambda shown: shown.execute_script(back) == paper)
    folder = Path(os.environ.get("SCREENSHOTS", tmp_path))
    browser.save_screenshot(str(folder / f"explore-{width}-{scheme}.png"))


def test_names_of_classes_and_columns_are_text(browser: webdriver.Chrome, pages: Pages) -> None:
    page = pages.make("table", "k_means")
    opened(browser, page, "#0")
    assert browser.title == "K-means on table, seed 0"
    assert f"Class\n{HOSTILE[0]}" in panel(browser)
    assert HOSTILE[1] in panel(browser)
    assert "Columns that stand out" in panel(browser)
    value = float(page.table[0]["distance"])
    assert float(text(browser, "distance")) == pytest.approx(value, rel=1e-3)
    assert browser.find_elements(By.TAG_NAME, "img") == []
    assert not browser.find_element(By.ID, "times").is_displayed()


def test_data_without_labels_have_a_page_without_classes(browser: webdriver.Chrome, pages: Pages) -> None:
    page = pages.make("plain", "k_means")
    opened(browser, page, "#7")
    assert_agrees(browser, page.table[7])
    assert "Class" not in panel(browser)
    assert "Purity" not in text(browser, "clusters")
    assert "class" not in text(browser, "colour")


def test_samples_without_a_label_are_not_wrong(browser: webdriver.Chrome, pages: Pages) -> None:
    """In each cluster two thirds of the samples have no label, and all others are of the main class."""
    page = pages.make("partly", "k_means")
    opened(browser, page)
    assert "no label" in text(browser, "show")
    choose(browser, "show", "not of the main class")
    assert "0 samples shown" in text(browser, "legend")
    choose(browser, "show", "class no label")
    assert "60 samples shown" in text(browser, "legend")
    assert "no label" not in text(browser, "clusters")


def test_texts_show_their_terms_and_files(browser: webdriver.Chrome, pages: Pages) -> None:
    page = pages.make("texts", "k_means")
    opened(browser, page)
    browser.find_element(By.ID, "find").send_keys("sport/3.txt", Keys.ENTER)
    shown = panel(browser)
    assert "Sample sport/3.txt" in shown
    assert "Terms with the largest weights" in shown
    assert any(word in shown for word in WORDS["sport"])
