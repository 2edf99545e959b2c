# SPDX-License-Identifier: BSD-3-Clause
"""The one page: style, data and scripts inside, nothing loaded from elsewhere.

The page's own Content-Security-Policy holds it to that: only the scripts that were put in, by their hashes,
may run, and nothing may be fetched.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import partial
from importlib import resources

from isochrone.report.chartdata import chart_data
from isochrone.report.facts import Facts
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
from isochrone.report.words import capitalised

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
    scripts = [_plotly(), _asset("report.js")]
    policy = (
        f"default-src 'none'; script-src {' '.join(_hash(script) for script in scripts)}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"Isochrone: {found(facts)}"),
        tag("style", Html(_asset("report.css"))),
    )
    links = [
        tag("li", tag("a", title, href=f"#{identifier}"))
        for identifier, (title, _) in _sections(facts).items()
    ]
    sections = [section(facts) for _, section in _sections(facts).values()]
    body = tag(
        "body",
        overview(facts),
        tag("nav", tag("ul", links), aria_label="Sections"),
        tag("main", tag("noscript", _without_scripts()), sections),
        tag(
            "footer",
            tag(
                "p",
                "Made by Isochrone. The page is complete in itself. Plotly (MIT licence) draws the charts.",
            ),
        ),
        data_block("isochrone-data", chart_data(facts)),
        [tag("script", Html(script)) for script in scripts],
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en').markup}\n"


def _without_scripts() -> Html:
    return tag(
        "p",
        "The charts need scripts, which are off here. The same figures are files in the folder “figures”.",
        class_="absent",
    )


def _asset(name: str) -> str:
    return resources.files("isochrone.report").joinpath("assets", name).read_text(encoding="utf-8")


def _plotly() -> str:
    """Plotly's library as its Python package brings it."""
    return resources.files("plotly").joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
