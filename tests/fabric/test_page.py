# SPDX-License-Identifier: BSD-3-Clause
"""The server's page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fat_trees import mixed, three_level, two_level

pytest.importorskip("fastapi", reason="isochrone[serve] is not installed")
from browsers import WINDOWS, complaints, show, wait
from served import Server, serving, write_generation

ROUTE = "return [...document.querySelectorAll('#route td:nth-child(2)')].map((cell) => cell.textContent)"
LIT = "return [...document.querySelectorAll('.switch.on title')].map((each) => each.textContent).sort()"
CLICK = """
for (const host of document.querySelectorAll(`rect.host[data-name="${arguments[0]}"]`))
  host.dispatchEvent(new MouseEvent("click", { bubbles: true }));
"""
BEYOND = """
return [...document.querySelectorAll("header *, aside *, #legend *")].filter((each) => {
  const { right, width } = each.getBoundingClientRect();
  return width && right > document.documentElement.clientWidth + 1;
}).map((each) => each.outerHTML.slice(0, 100));
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(two_level(4, 4, 2, 2, speed=mixed).dump(tmp_path_factory.mktemp("fabric"))) as running:
        yield running


def opened(browser: Any, server: Server, width: int = 1280, scheme: str = "light") -> None:
    assert server.http is not None
    show(browser, server.http, width, scheme)
    wait(browser, "return document.querySelectorAll('.switch').length")


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_all_of_the_fabric_is_drawn(browser: Any, server: Server, width: int, scheme: str) -> None:
    opened(browser, server, width, scheme)
    counts = browser.execute_script(
        "return ['.switch', '.host', '.cable'].map((each) => document.querySelectorAll(each).length)"
    )
    assert counts == [6, 16, 16]
    # Every host is below its leaf, and within the drawing.
    assert browser.execute_script(
        "const all = document.getElementById('drawing').getBoundingClientRect();"
        "return [...document.querySelectorAll('.host, .switch rect')].every((each) => {"
        "  const at = each.getBoundingClientRect();"
        "  return at.width > 0 && at.left >= all.left && at.right <= all.right"
        "    && at.top >= all.top && at.bottom <= all.bottom; })"
    )
    assert browser.execute_script("return document.getElementById('health').textContent") == "ok"
    assert browser.execute_script(BEYOND) == []
    assert complaints(browser) == []


def test_a_click_on_two_hosts_shows_the_route(browser: Any, server: Server) -> None:
    opened(browser, server)
    browser.execute_script(CLICK, "node-000-001")
    browser.execute_script(CLICK, "node-002-003")
    shown = wait(browser, f"const shown = (() => {{ {ROUTE} }})(); return shown.length && shown")
    _, told = server.get("/route?from=node-000-001&to=node-002-003")
    assert shown == [step["name"] for step in told["path"]]
    lit = [f"{step['name']} {step['switch']}" for step in told["path"]]
    assert browser.execute_script(LIT) == sorted(lit)
    # Between two switches exactly the cable that is used.
    cables = browser.execute_script(
        "return [...document.querySelectorAll('.cable.on title')].map((each) => each.textContent)"
    )
    assert len(cables) == len(told["path"]) - 1
    for one, other in zip(told["path"], told["path"][1:], strict=False):
        ends = [f"{one['name']} port {one['out_port']} ", f"{other['name']} port {other['in_port']} "]
        assert any(all(end in text for end in ends) for text in cables)


def test_what_is_not_there_is_said(browser: Any, server: Server) -> None:
    opened(browser, server)
    browser.execute_script(
        "document.getElementById('from').value = 'node-000-001';"
        "document.getElementById('to').value = '<b>nowhere</b>';"
        "document.querySelector('#ask button').click();"
    )
    said = wait(browser, "return document.querySelector('#route .error')?.textContent")
    assert said == "'<b>nowhere</b>' is not on this fabric"


def test_names_cannot_be_markup(browser: Any, tmp_path: Path) -> None:
    net = two_level(2, 2, 1)
    folder = net.dump(tmp_path)
    text = (folder / "ibnetdiscover.txt").read_text()
    (folder / "ibnetdiscover.txt").write_text(text.replace('# "leaf-00"', '# "<img src=x onerror=alert(1)>"'))
    with serving(folder) as server:
        opened(browser, server)
        assert browser.execute_script("return document.querySelectorAll('img').length") == 0
        assert "<img src=x" in browser.execute_script("return document.querySelector('svg').textContent")
    complaints(browser)


def test_a_new_generation_is_drawn_without_asking(browser: Any, tmp_path: Path) -> None:
    write_generation(tmp_path, two_level(2, 2, 1), 1)
    with serving(tmp_path) as server:
        opened(browser, server)
        write_generation(tmp_path, three_level(2, 2, 2, 2, 1), 2)
        wait(browser, "return document.querySelectorAll('.switch').length === 10")
        net = two_level(2, 2, 1)
        write_generation(tmp_path, net, 3, tables=net.tables()[10:])
        wait(browser, "return document.getElementById('health').textContent.startsWith('alarm')")
        assert browser.execute_script("return document.querySelectorAll('.switch').length") == 10
    wait(browser, "return document.getElementById('health').textContent === 'the server does not answer'")
    complaints(browser)
