# SPDX-License-Identifier: BSD-3-Clause
"""How the levels found compare with what is known of the machine."""

from __future__ import annotations

from isochrone.report.facts import Facts
from isochrone.report.headline import accuracy_sentence
from isochrone.report.html import Html, table, tag
from isochrone.report.sections.parts import absent, section
from isochrone.units import format_percent
from isochrone.words import capitalised, level_noun


def accuracy(facts: Facts) -> Html:
    """The section on accuracy and disagreement."""
    title = "Against what is known"
    if not facts.accuracy:
        if not facts.checks:
            nothing = (
                "Nothing is known of this machine to compare with: no names or hardware that tell groups "
                "apart."
            )
            return section("accuracy", title, absent(nothing))
        unknown = "Nobody knows the true groups of this machine, so there is no accuracy to speak of."
        return section(
            "accuracy", title, tag("p", f"{accuracy_sentence(facts)} {unknown}"), _said_elsewhere(facts)
        )
    rows = [
        (capitalised(level_noun(name)), format_percent(share), _verdict(facts, share))
        for name, share in facts.accuracy.items()
    ]
    truth = (
        "the description of the simulated cluster" if facts.simulated else "the known groups of the machine"
    )
    explained = (
        f"Compared with {truth}. Accuracy is the share of ranks in the right group, "
        "each found group standing for at most one known group."
    )
    known = table(("Known level", "Accuracy", "Result"), rows, "Accuracy at every known level", words={2})
    elsewhere = [tag("h3", "Known from elsewhere"), _said_elsewhere(facts)] if facts.checks else None
    return section("accuracy", title, tag("p", explained), known, elsewhere)


def _verdict(facts: Facts, share: float) -> str:
    if share >= 1.0:
        return "same groups"
    wrong = round((1.0 - share) * facts.rank_count)
    return f"{wrong:,} of {facts.rank_count:,} ranks in another group"


def _said_elsewhere(facts: Facts) -> Html:
    rows = [
        (
            capitalised(level_noun(check.name)),
            check.source,
            "single places" if check.level is None else level_noun(check.level),
            format_percent(check.accuracy),
            "agrees" if check.accuracy >= 1.0 else "disagrees",
        )
        for check in facts.checks
    ]
    head = ("Groups", "Known from", "Nearest level found", "Ranks that fit", "Message times")
    caption = "What names, hardware and the fabric say. They had no say in finding the levels."
    return table(head, rows, caption, words={1, 2, 4})
