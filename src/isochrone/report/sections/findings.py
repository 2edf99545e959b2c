# SPDX-License-Identifier: BSD-3-Clause
"""What is slower than its like."""

from __future__ import annotations

from isochrone.report.facts import Facts
from isochrone.report.headline import MOST_FINDINGS, NOTHING_SLOW
from isochrone.report.html import Html, tag
from isochrone.report.sections.parts import absent, section
from isochrone.words import capitalised


def findings(facts: Facts) -> Html:
    """The section on findings, worst first."""
    title = "What is slow"
    if facts.findings is None:
        unknown = "The measurements do not tell which pairs are alike, so nothing is said of what is slow."
        if facts.measurements.oversubscribed:
            unknown = "Ranks shared cores: what was slow then is who waited for one, and not named here."
        return section("findings", title, absent(unknown))
    if not facts.findings:
        return section("findings", title, tag("p", NOTHING_SLOW))
    explained = (
        "Each part below takes longer than others at the same level, beyond their scatter; worst first."
    )
    items = [tag("li", capitalised(str(finding))) for finding in facts.findings]
    shown, rest = items[:MOST_FINDINGS], items[MOST_FINDINGS:]
    more = tag("details", tag("summary", f"{len(rest):,} more"), tag("ol", rest, start=MOST_FINDINGS + 1))
    return section("findings", title, tag("p", explained), tag("ol", shown), more if rest else None)
