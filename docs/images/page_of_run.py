"""Take the README's picture of the page of a run, after make demo: python docs/images/page_of_run.py."""

import io
import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver

from dekm.figures.explore import TEMPLATE
from dekm.files.manifest import content_digest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "results" / "demo" / "explore" / "digits_dekm.html"
PICTURE = Path(__file__).with_suffix(".png")
SIZE = {"width": 1280, "height": 860, "deviceScaleFactor": 1, "mobile": False}
SAMPLE = 883
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")


def facts(page: Path = PAGE) -> dict[str, Any]:
    """What the picture shows, and the digest of the template, with which a test compares it."""
    found = re.search(
        r'<script type="application/json" id="meta">(.*?)</script>', page.read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    meta = json.loads(found[1])
    return {"template": content_digest(TEMPLATE), "title": meta["title"], "sample": SAMPLE, **meta["scores"]}


def take(page: Path, picture: Path) -> None:
    """Open a page at a sample in Chromium, and keep what a screen shows."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in OPTIONS:
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
        browser.get(f"{page.as_uri()}#{SAMPLE}")
        while browser.execute_script("return document.body.dataset.ready") != "yes":
            time.sleep(0.1)
        time.sleep(1)  # until the images are decoded and drawn
        with Image.open(io.BytesIO(browser.get_screenshot_as_png())) as shot:
            # A palette makes it half as large.
            shot.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)
    finally:
        browser.quit()


if __name__ == "__main__":
    take(PAGE, PICTURE)
    PICTURE.with_suffix(".json").write_text(json.dumps(facts(), indent=1) + "\n")
