# SPDX-License-Identifier: BSD-3-Clause
"""The page of a survey: its sections, and the data and scripts that draw the charts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import resources

from isochrone.report.chartdata import chart_data
from isochrone.report.facts import Facts
from isochrone.report.frame import asset, document
from isochrone.report.headline import found
from isochrone.report.html import Html, data_block, tag
from isochrone.report.sections.accuracy import accuracy
from isochrone.report.sections.collective import collective, not_compared
from isochrone.report.sections.dendrogram import dendrogram
from isochrone.report.sections.findings import findings
from isochrone.report.sections.latency import latency
from isochrone.report.sections.mapping import mapping
from isochrone.report.sections.overview import overview
from isochrone.report.sections.plan import plan
from isochrone.report.sections.provenance import provenance
from isochrone.report.sections.topology import topology
from isochrone.words import capitalised

_Sections = dict[str, tuple[str, Callable[[Facts], Html]]]
"""By what a link to it ends in: what the link says, and what makes it."""
_BEFORE: _Sections = {
    "topology": ("Topology", topology),
    "latency": ("Latency", latency),
    "tree": ("Tree", dendrogram),
    "accuracy": ("What is known", accuracy),
    "findings": ("What is slow", findings),
}
_PLAN: _Sections = {"plan": ("Plan", plan)}
_MAPPING: _Sections = {"mapping": ("Mapping", mapping)}
_LAST: _Sections = {"provenance": ("Provenance", provenance)}


def _sections(facts: Facts) -> _Sections:
    """All of them, with one for each collective that was compared. Who maps no ranks is not told of it."""
    bench = facts.bench
    compared: _Sections = {}
    if bench is not None:
        compared = {
            comparison.stem: (
                capitalised(comparison.words),
                partial(collective, bench=bench, comparison=comparison),
            )
            for comparison in facts.comparisons
            if comparison.compared
        }
    collectives: _Sections = compared or {"collectives": ("Collectives", not_compared)}
    mapped = facts.mapping is not None or "mapping.json" in facts.not_shown
    return {**_BEFORE, **collectives, **_PLAN, **(_MAPPING if mapped else {}), **_LAST}


def page(facts: Facts) -> str:
    """The whole HTML document."""
    sections = _sections(facts)
    return document(
        f"Isochrone: {found(facts)}",
        overview(facts),
        {identifier: title for identifier, (title, _) in sections.items()},
        [tag("noscript", _without_scripts()), [section(facts) for _, section in sections.values()]],
        "Made by Isochrone. The page is complete in itself. Plotly (MIT licence) draws the charts.",
        data_block("isochrone-data", chart_data(facts)),
        [_plotly(), asset("report.js")],
    )


def _without_scripts() -> Html:
    return tag(
        "p",
        "The charts need scripts, which are off here. The same figures are files in the folder “figures”.",
        class_="absent",
    )


def _plotly() -> str:
    """Plotly's library as its Python package brings it."""
    return resources.files("plotly").joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8")
