# SPDX-License-Identifier: BSD-3-Clause
"""The pages of studies in a real browser: wide and narrow, light and dark."""

from __future__ import annotations

from typing import Any

import pytest
from browsers import CLIPPED, TOO_WIDE, WINDOWS, complaints, show, wait
from made_bench import MadeBench

from isochrone.cli.main import main
from isochrone.studies.table import STUDIES

NAMES = [study.name for study in STUDIES]
LOADED = "return [...document.images].every((image) => image.complete && image.naturalWidth > 300)"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("isochrone.steps.rounds.run_bench", MadeBench(noise=0.1))
        for name in NAMES:
            assert main(["study", name, "--sim", "demo", "--noise", "0.1", "-o", str(folder / name)]) == 0
    return {name: (folder / name / "report.html").as_uri() for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_the_page_fits_the_window_and_has_nothing_to_complain_of(
    browser: Any, pages: dict[str, str], name: str, width: int, scheme: str
) -> None:
    show(browser, pages[name], width, scheme)
    wait(browser, LOADED)
    assert browser.execute_script("return document.images.length") >= 4
    assert complaints(browser) == []
    assert browser.execute_script(TOO_WIDE) == []
    assert browser.execute_script(CLIPPED) == []


def test_a_narrow_window_scrolls_figures_rather_than_making_them_too_small_to_read(
    browser: Any, pages: dict[str, str]
) -> None:
    show(browser, pages["decision"], 420, "light")
    wait(browser, LOADED)
    widths = browser.execute_script("return [...document.images].map((image) => image.clientWidth)")
    assert min(widths) >= 640
