# SPDX-License-Identifier: BSD-3-Clause
"""The header: what was found, and the figures to remember."""

from __future__ import annotations

from isochrone.report.facts import Facts
from isochrone.report.headline import (
    collective_sentences,
    found,
    key_figures,
    latency_sentence,
    nesting_sentence,
    oversubscription_sentence,
)
from isochrone.report.html import Html, tag


def overview(facts: Facts) -> Html:
    """The page's header."""
    sentences = [_flat(facts), latency_sentence(facts), *collective_sentences(facts.comparisons, facts.plan)]
    cards = [
        tag("div", tag("dt", name), tag("dd", tag("strong", value), tag("span", note)), class_="card")
        for name, value, note in key_figures(facts)
    ]
    shared = oversubscription_sentence(facts)
    warnings = [*facts.warnings, *([shared] if shared else [])]
    kind = "simulated" if facts.simulated else "measured"
    name = (
        facts.survey.target.removesuffix(" (simulated)") if facts.survey else facts.measurements.mpi.library
    )
    return tag(
        "header",
        tag(
            "p",
            tag("span", "Isochrone", class_="brand"),
            tag("span", name),
            tag("span", kind, class_="kind"),
            class_="title",
        ),
        tag("h1", found(facts)),
        tag("p", " ".join(sentence for sentence in sentences if sentence), class_="lead"),
        [tag("p", warning, class_="warning", role="note") for warning in warnings],
        tag("dl", cards, class_="cards"),
    )


def _flat(facts: Facts) -> str | None:
    return nesting_sentence(facts) if len(facts.levels) < 2 else None
