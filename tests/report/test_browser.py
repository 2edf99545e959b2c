# SPDX-License-Identifier: BSD-3-Clause
"""The page in a real browser, Debian's Chromium: wide and narrow, light and dark."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from browsers import CLIPPED, TOO_WIDE, WINDOWS, complaints, show, wait
from msgspec import structs

from isochrone.report import read_facts, write_page
from isochrone.units import format_ratio, format_ratio_interval, format_time

DRAWN = """
return Object.fromEntries([...document.querySelectorAll(".chart")].map((chart) => {
  const drawing = chart.querySelector("svg.main-svg")?.getBoundingClientRect();
  return [chart.id, Boolean(drawing && Math.min(drawing.width, drawing.height) > 200 && chart.data.length)];
}));
"""


@pytest.fixture(scope="module")
def pages(
    survey_of: Callable, machine_of: Callable, map_in: Callable, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Of a small machine and a large one, of one with long names and little to show, and with mappings."""
    uneven = survey_of("uneven")
    times = {
        key: values
        for key, values in uneven.bench.slowest_s.items()
        if not key.recipe.startswith("native:") or key.size_bytes in (1, 16, 1 << 20)
    }
    levels = [("machine", 1, 2e-6), ("rack", 2, 1e-6), ("node", 30, 6e-7), ("core", 1, 0)]
    named = survey_of(machine_of(levels, host="a-rather-long-name-of-a-cluster-{:05}"))
    made = {
        "some sizes": replace(uneven, bench=replace(uneven.bench, slowest_s=times)),
        "large": survey_of("large"),
        "names": replace(
            named,
            bench=replace(named.bench, elapsed_s=None),
            survey=structs.replace(named.survey, target="mpiexec --with-option=" + "x" * 200, cores=1),
            measurements=replace(named.measurements, simulated=False),
        ),
    }
    made |= {"mapped": survey_of("cluster"), "names, mapped": named}
    folder = tmp_path_factory.mktemp("pages")
    for name, survey in made.items():
        survey.write(folder / name)
        if "mapped" in name:
            map_in(folder / name, 4, seconds=12.0)
    return {name: write_page(read_facts(folder / name, lambda _: ())).as_uri() for name in made}


@pytest.mark.parametrize("name", ["some sizes", "large", "names", "mapped", "names, mapped"])
@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_the_page_is_drawn_whole_and_fits_the_window(
    browser: Any, pages: dict[str, str], name: str, width: int, scheme: str
) -> None:
    show(browser, pages[name], width, scheme)
    wait(browser, f"return Object.values((() => {{ {DRAWN} }})()).every(Boolean)")
    drawn = browser.execute_script(DRAWN)
    assert "dendrogram" in drawn
    assert {"mapping-found", "mapping-mapped", "mapping-levels"} <= set(drawn) or "mapped" not in name
    assert complaints(browser) == []
    browser.execute_script("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert browser.execute_script(TOO_WIDE) == []
    assert browser.execute_script(CLIPPED) == []


def test_the_page_is_dark_where_that_is_wanted(browser: Any, pages: dict[str, str]) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        show(browser, pages["some sizes"], 1280, scheme)
        seen[scheme] = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert seen == {"light": "rgb(252, 252, 250)", "dark": "rgb(20, 24, 28)"}


def test_no_line_of_a_chart_goes_over_sizes_that_were_not_measured(
    browser: Any, pages: dict[str, str]
) -> None:
    show(browser, pages["some sizes"], 1280, "light")
    points = browser.execute_script(
        "const drawn = document.getElementById('broadcast-time').data.find(({ mode, name }) => "
        "name === 'Best selectable' && mode.includes('markers'));"
        "return drawn.x.map((size, i) => [size, drawn.y[i], drawn.connectgaps]);"
    )
    assert [size for size, time, _ in points if time is not None] == [1, 16, 1 << 20]
    assert len(points) > 3
    assert not any(connected for _, _, connected in points)


@pytest.mark.parametrize("chart", ["mapping-found", "mapping-mapped"])
def test_what_is_pointed_at_in_a_matrix_of_bytes_is_said(
    browser: Any, pages: dict[str, str], chart: str
) -> None:
    show(browser, pages["mapped"], 1280, "light")
    lines = browser.execute_script(
        "const chart = document.getElementById(arguments[0]), said = [];"
        "for (let y = 0; y < 128; y += 9) for (let x = 0; x < 128; x += 1) {"
        "  chart.emit('plotly_hover', { points: [{ x, y }] });"
        "  said.push(document.getElementById('mapping-readout').textContent);"
        "}"
        "return said;",
        chart,
    )
    assert len(set(lines)) == 15 * 128
    for line in lines:
        said = re.fullmatch(r"rank (\d+) on n\d · to rank (\d+) on n\d · (.*)", line)
        assert said is not None
        a, b = int(said[1]), int(said[2])
        much, little = a % 4 == b % 4 and a != b, abs(a - b) == 1
        assert said[3] == ("1.91 MiB" if much else "2.93 KiB" if little else "nothing")


def test_what_is_pointed_at_is_said_as_the_rest_of_the_page_says_it(
    browser: Any, pages: dict[str, str], survey_of: Callable
) -> None:
    facts = survey_of("cluster").facts()
    assert facts.matrix_s is not None
    show(browser, pages["mapped"], 1280, "light")
    said = browser.execute_script(
        "const chart = document.getElementById('matrix-found'), said = [];"
        "for (let x = 0; x < 128; x += 1) {"
        "  chart.emit('plotly_hover', { points: [{ x, y: 5 }] });"
        "  said.push(document.getElementById('matrix-readout').textContent);"
        "}"
        "return said;"
    )
    for rank, line in enumerate(said):
        if rank != 5:
            time = format_time(float(f"{facts.matrix_s[5, rank]:.3g}"))
            assert re.fullmatch(rf"rank 5 on .* · rank {rank} on .* · {time}, in one [a-z]+", line)
    texts = "return Object.fromEntries(['broadcast-time', 'broadcast-speedup', 'mapping-levels'].map((id) => "
    texts += "[id, document.getElementById(id).data.flatMap(({ text }) => text ?? [])]));"
    texts = browser.execute_script(texts)
    (broadcast,) = facts.comparisons
    row = next(row for row in broadcast.sizes if row.size_bytes == 1 << 20)
    assert row.plan_s is not None
    assert row.speedup is not None
    low, high = format_time(row.plan_s.low), format_time(row.plan_s.high)
    assert (
        f"With the plan, 1 MiB: {format_time(row.plan_s.estimate)} [{low} – {high}]"
        in texts["broadcast-time"]
    )
    ratio = f"{format_ratio(row.speedup.estimate)} [{format_ratio_interval(row.speedup)}]"
    assert f"Against the library's own, 1 MiB: {ratio}" in texts["broadcast-speedup"]
    assert all(
        re.fullmatch(r"(In their order|Mapped): .* [KMGT]?i?B, [\d.]+ %", each)
        for each in texts["mapping-levels"]
    )


def test_a_bracket_of_the_tree_says_its_height_and_nothing_else_does(
    browser: Any, pages: dict[str, str], survey_of: Callable
) -> None:
    tree = survey_of("cluster").facts().tree
    assert tree is not None
    show(browser, pages["mapped"], 1280, "light")
    hover = "Plotly.Fx.hover('dendrogram', [{ curveNumber: 0, pointNumber: arguments[0] }]);"
    labels = (
        "return [...document.querySelectorAll('#dendrogram .hovertext')].map((label) => label.textContent)"
    )
    browser.execute_script(hover, 1)
    wait(browser, f"{labels}.length")
    assert browser.execute_script(labels) == [format_time(max(merge.height_s for merge in tree.merges))]
    # Where a bracket hangs on another, or at a rank.
    browser.execute_script(hover, 0)
    wait(browser, f"{labels}.length === 0")


def test_the_bars_of_a_mapping_are_outermost_first(browser: Any, pages: dict[str, str]) -> None:
    show(browser, pages["mapped"], 1280, "light")
    labels = browser.execute_script(
        "return [...document.querySelectorAll('#mapping-levels .ytick text')].map((label) => "
        "[label.getBoundingClientRect().top, label.textContent]);"
    )
    assert [label for _, label in sorted(labels)] == ["Machine", "Switch", "Node", "Socket"]
