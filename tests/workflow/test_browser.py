"""What a person sees: the report and the MLflow UI in a real browser without network; and who may see it."""

import os
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from mlflow import MlflowClient
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from dekm.tracking.database import tracking_uri
from tests.helpers.ui import serving
from tests.helpers.workspace import Workspace

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
SECONDS = 60
OFFLINE = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--window-size=1500,1000",
)

needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and not os.environ.get("CI"),
    reason="needs chromium and chromedriver on the PATH",
)


class UI(NamedTuple):
    """A running MLflow UI: the folder of its store, and its address."""

    store: Path
    url: str


@pytest.fixture(scope="module")
def ui(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[UI]:
    store = Workspace.copied(finished, tmp_path_factory.mktemp("ui") / "copy").folder / "results"
    with serving(store) as url:
        yield UI(store, url)


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in OFFLINE:
        options.add_argument(argument)
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield chrome
    chrome.quit()


def shows(browser: webdriver.Chrome, text: str) -> None:
    """Wait until the page shows a text."""
    WebDriverWait(browser, SECONDS).until(
        lambda page: text in page.find_element(By.TAG_NAME, "body").text, message=f"{text!r} is not shown"
    )


@pytest.fixture(scope="module")
def report(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a finished run, in its folder of results."""
    workspace = Workspace.copied(finished, tmp_path_factory.mktemp("report") / "copy")
    file = workspace.results / "report.html"
    workspace.run("--report", str(file))
    return file


@needs_browser
def test_the_report_shows_its_categories_and_a_figure_without_network(
    report: Path, browser: webdriver.Chrome
) -> None:
    browser.get(report.as_uri())
    shows(browser, "Clustering results")
    heading = browser.find_element(By.XPATH, "//h1[text()='Clustering results']")
    assert 0 <= heading.location["y"] < 200  # the report opens on the table
    shows(browser, "Pooled silhouettes: ")
    for category in ("Figures", "Runs", "Tables"):
        shows(browser, category)
    browser.find_element(By.XPATH, "//*[text()='Tables']").click()
    shows(browser, "Clustering results, and derived tables")


@needs_browser
def test_the_first_page_of_the_report_has_all_figures_with_their_captions(
    report: Path, browser: webdriver.Chrome
) -> None:
    results = report.parent
    browser.get("about:blank")
    browser.get(report.as_uri())
    shows(browser, "Clustering results")
    figures = browser.find_elements(By.CSS_SELECTOR, ".results figure")
    pictures = [figure.find_element(By.TAG_NAME, "img") for figure in figures]
    drawn = [file for kind in ("png", "gif") for file in (results / "figures").rglob(f"*.{kind}")]
    assert sorted(Path(picture.get_attribute("alt") or "").name for picture in pictures) == sorted(
        file.name for file in drawn
    )
    assert all(int(picture.get_property("naturalWidth")) > 0 for picture in pictures)
    assert all(len(figure.find_element(By.TAG_NAME, "figcaption").text) > 40 for figure in figures)
    page = browser.find_element(By.LINK_TEXT, "DEKM on digits").get_attribute("href")
    assert page == (results / "explore" / "digits_dekm.html").as_uri()


@needs_browser
def test_the_ui_shows_the_runs_of_dekm_and_their_curves(ui: UI, browser: webdriver.Chrome) -> None:
    client = MlflowClient(tracking_uri(ui.store))
    experiment_id = client.get_experiment_by_name("tiny").experiment_id
    run = client.search_runs([experiment_id], "tags.method = 'dekm' and tags.seed = '0'")[0]
    browser.get(f"{ui.url}/#/experiments/{experiment_id}/runs")
    shows(browser, "digits/dekm/s0")
    browser.set_window_size(1400, 4000)  # the charts of the scores are the last, and drawn when in view
    browser.get(f"{ui.url}/#/experiments/{experiment_id}/runs/{run.info.run_id}/model-metrics")
    shows(browser, "acc")
    WebDriverWait(browser, SECONDS).until(lambda page: page.find_elements(By.CSS_SELECTOR, ".js-plotly-plot"))


def test_the_ui_answers_to_this_machine_only(ui: UI) -> None:
    url = f"{ui.url}/api/2.0/mlflow/experiments/get-by-name?experiment_name=tiny"
    port = ui.url.rpartition(":")[2]

    def ask(host: str) -> int:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers={"Host": host})) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    for name in ("127.0.0.1", "localhost", "[::1]"):  # at another port behind a tunnel
        assert [ask(f"{name}:{port}"), ask(f"{name}:8080"), ask(name)] == [200, 200, 200]
    for name in ("10.evil.example", "192.168.evil.example", "evil.example", "127.0.0.1.evil.example"):
        assert [ask(name), ask(f"{name}:{port}")] == [403, 403]


def test_the_ui_takes_no_orders_from_the_pages_of_others(ui: UI) -> None:
    url, order = f"{ui.url}/api/2.0/mlflow/experiments/create", b'{"name": "by a page"}'
    for origin in ("http://evil.example", "https://127.0.0.1.evil.example", "null"):
        headers = {"Origin": origin, "Content-Type": "application/json"}
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(urllib.request.Request(url, order, headers))


def test_the_ui_tells_its_addresses_when_it_answers_and_who_else_can_open_them(ui: UI) -> None:
    deadline = time.monotonic() + SECONDS
    while "Stop with Ctrl-C" not in (told := (ui.store / "ui.log").read_text()):
        assert time.monotonic() < deadline, told
        time.sleep(0.1)
    experiment = MlflowClient(tracking_uri(ui.store)).get_experiment_by_name("tiny").experiment_id
    view = f"{ui.url}/#/experiments/{experiment}/runs?viewStateShareKey=scores&workflowType=machine_learning"
    assert f"tiny, runs with their scores: {view}" in told
    assert "Every user of this machine can open these addresses" in told
    assert told.index("Application startup complete") < told.index(view)
    log = ui.store / "mlflow.log"
    assert log.is_file()
    assert f"what goes wrong with it is in {log}" in told
