# SPDX-License-Identifier: BSD-3-Clause
"""Debian's Chromium, for pages that people look at: wide and narrow, light and dark."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from libraries import missing

PROGRAMS = ("chromium", "chromedriver")
WINDOWS = [(width, scheme) for width in (1280, 420) for scheme in ("light", "dark")]
_QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT_S = 60
TOO_WIDE = """
const wide = [], scrolls = (element) => {
  for (; element !== document.body; element = element.parentElement) {
    if (["auto", "scroll"].includes(getComputedStyle(element).overflowX)) return true;
  }
  return false;
};
for (const element of document.querySelectorAll(":is(header, nav, main, footer) *")) {
  const { left, right, width } = element.getBoundingClientRect();
  const beyond = left < -1 || right > document.documentElement.clientWidth + 1;
  if (width && beyond && !scrolls(element)) wide.push(element.outerHTML.slice(0, 120));
}
return wide;
"""
CLIPPED = """
return [...document.querySelectorAll("caption span")].filter((caption) =>
  caption.getBoundingClientRect().right > caption.closest(".scroll").getBoundingClientRect().right + 1
).map((caption) => caption.textContent);
"""


def start(folder: Path) -> Any:
    """A browser with a profile of its own; to be quit."""
    pytest.importorskip("selenium", reason="selenium is not installed")
    from selenium import webdriver

    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    if absent:
        missing(f"{' and '.join(absent)} is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in (*_QUIET, f"--user-data-dir={folder}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def show(browser: Any, page: str, width: int, scheme: str) -> None:
    """Opens the page anew, and waits until it is loaded."""
    # A window has a least width, which is more than that of a phone.
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(page)
    wait(browser, "return document.readyState === 'complete'")


def wait(browser: Any, script: str) -> Any:
    """Waits until a script returns what is true, and gives it."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, WAIT_S).until(lambda driver: driver.execute_script(script))


def complaints(browser: Any) -> list[Any]:
    """What the browser itself says is wrong."""
    return [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
