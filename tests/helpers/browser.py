"""A browser without network."""

import json
import os
import shutil
from collections.abc import Iterator

import pytest
from selenium import webdriver

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)

needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and not os.environ.get("CI"),
    reason="needs chromium and chromedriver on the PATH",
)


def start_browser() -> Iterator[webdriver.Chrome]:
    """A browser that keeps its console and the requests of its pages."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in OPTIONS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield chrome
    chrome.quit()


def show(browser: webdriver.Chrome, *, width: int, height: int = 1000, **features: str) -> None:
    """Set the size of the screen, and media features such as ``prefers_color_scheme="dark"``."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    pairs = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": pairs})


def requests(browser: webdriver.Chrome) -> list[str]:
    """The addresses that pages requested since the last call."""
    events = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
