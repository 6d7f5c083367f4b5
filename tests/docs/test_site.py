"""The site that `make docs` has built, opened from disk in a browser without network."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
SECONDS = 60
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND"
CUT = """return [...document.querySelectorAll('article table, article pre')].map(shown =>
    shown.closest('.pst-scrollable-table-container') || shown).filter(shown =>
    !shown.closest('.sphx-glr-script-out') && shown.scrollWidth > shown.clientWidth + 1).length"""
SCREENS = {
    "light": (1400, "light"),
    "laptop": (1280, "light"),
    "dark": (1400, "dark"),
    "narrow": (390, "light"),
}
PAGES = [
    "docs/index.html",
    "docs/gallery/index.html",
    "docs/gallery/plot_2_step_by_step.html",
    "docs/gallery/plot_3_table.html",
    "docs/how-to/index.html",
    "docs/reference/api/DEKM.html",
    "docs/reference/configuration.html",
    "docs/explanation/traceability.html",
    "docs/reference-results.html",
    "docs/deviations.html",
]
WIDE = [
    "docs/reference-results.html",
    "docs/reference/configuration.html",
    "docs/explanation/traceability.html",
]

pytestmark = [
    pytest.mark.docs,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER) and not os.environ.get("CI"),
        reason="needs chromium and chromedriver on the PATH",
    ),
]


@pytest.fixture
def browser() -> Iterator[webdriver.Chrome]:
    assert SITE.is_dir(), "Run 'make docs' first."
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in (*OPTIONS, OFFLINE):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield chrome
    chrome.quit()


def open_page(browser: webdriver.Chrome, page: str, query: str = "") -> None:
    browser.get((SITE / page).as_uri() + query)


def requested(browser: webdriver.Chrome) -> set[str]:
    """Addresses that the pages have requested so far."""
    events = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    return {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }


def wait_for(browser: webdriver.Chrome, selector: str) -> None:
    WebDriverWait(browser, SECONDS).until(
        lambda page: page.find_elements(By.CSS_SELECTOR, selector), message=f"{selector} is not shown"
    )


def shows(browser: webdriver.Chrome, text: str) -> None:
    """Wait until the results of a search, which appear one after the other, have a text."""
    WebDriverWait(browser, SECONDS).until(
        lambda page: text in page.find_element(By.ID, "search-results").text, message=f"{text!r} is not found"
    )


def test_the_site_works_from_disk(browser: webdriver.Chrome, tmp_path: Path) -> None:
    folder = Path(os.environ.get("SCREENSHOTS", tmp_path))
    for page in PAGES:
        open_page(browser, page)
        for name, (width, theme) in SCREENS.items():
            size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            browser.execute_script(f"document.documentElement.dataset.theme = '{theme}'")
            browser.save_screenshot(
                str(folder / f"{page.removesuffix('.html').replace('/', '-')}-{name}.png")
            )
            overflow = browser.execute_script(
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert overflow <= 0, f"{page} is {overflow} px wider than the {name} screen"
            if name == "laptop" and page not in WIDE:
                assert browser.execute_script(CUT) == 0, f"{page} has cut code or tables"
    open_page(browser, "index.html")
    wait_for(browser, "article h1")

    open_page(browser, "docs/reference/api/DEKM.html")
    wait_for(browser, "mjx-container")
    for word, found in {
        "eigenvectors": "scatter",
        "checkpoint": "Running",
        "subsample": "Configuration",
    }.items():
        open_page(browser, "search.html", f"?q={word}")
        shows(browser, found)
        wait_for(browser, "#search-results .context")
        excerpts = browser.find_elements(By.CSS_SELECTOR, "#search-results .context")
        assert any(word in excerpt.text.lower() for excerpt in excerpts), f"no excerpt has {word!r}"

    outside = {url for url in requested(browser) if not url.startswith((SITE.as_uri(), "data:", "blob:"))}
    assert outside == set()
