# SPDX-License-Identifier: BSD-3-Clause
"""How the levels found compare with what is known of the machine."""

from __future__ import annotations

from collections.abc import Mapping

from isochrone.report.facts import Facts
from isochrone.report.html import Html, table, tag
from isochrone.report.sections.parts import absent, section
from isochrone.report.words import capitalised, join_words, level_noun
from isochrone.units import format_percent

Entries = dict[str, Mapping[str, object]]


def accuracy(facts: Facts) -> Html:
    """The section on accuracy and disagreement."""
    judged, entries = facts.topology.accuracy, _entries(facts)
    content: list[Html] = []
    if judged:
        rows = [
            (capitalised(level_noun(name)), format_percent(share), _verdict(facts, share))
            for name, share in judged.items()
        ]
        explained = (
            f"Compared with {_judge(facts, entries)}. Accuracy is the share of ranks in the right group, "
            "each found group standing for at most one known group."
        )
        caption = "Accuracy at every known level"
        content = [
            tag("p", explained),
            table(("Known level", "Accuracy", "Result"), rows, caption, words={2}),
        ]
    else:
        unknown = (
            "Nothing is known of this machine to compare with: no names or hardware that tell groups apart."
        )
        content = [absent(unknown)]
    if entries:
        content += _said_elsewhere(entries)
    return section("accuracy", "Accuracy", *content)


def _entries(facts: Facts) -> Entries:
    """What is known from elsewhere, by level; anything of another form in the file is passed over."""
    return {name: entry for name, entry in facts.topology.agreement.items() if isinstance(entry, Mapping)}


def _judge(facts: Facts, entries: Entries) -> str:
    judged = facts.topology.accuracy
    if all(name in entries for name in judged):
        return f"what {join_words(sorted({_source(entries[name]) for name in judged}))} say"
    return (
        "the description of the simulated cluster" if facts.simulated else "the known groups of the machine"
    )


def _verdict(facts: Facts, share: float) -> str:
    if share >= 1.0:
        return "same groups"
    wrong = round((1.0 - share) * facts.rank_count)
    return f"{wrong:,} of {facts.rank_count:,} ranks in another group"


def _said_elsewhere(entries: Entries) -> list[Html]:
    rows = []
    for name, entry in entries.items():
        level, share = entry.get("level"), entry.get("accuracy")
        rows.append(
            (
                capitalised(level_noun(name)),
                _source(entry),
                level_noun(level) if isinstance(level, str) else "single places",
                format_percent(share) if isinstance(share, float | int) else "–",
                "agrees" if entry.get("agrees") is True else "disagrees",
            )
        )
    head = ("Groups", "Known from", "Nearest level found", "Ranks that fit", "Message times")
    caption = "What names, hardware and the fabric say. They had no say in finding the levels."
    return [tag("h3", "Known from elsewhere"), table(head, rows, caption, words={1, 2, 4})]


def _source(entry: Mapping[str, object]) -> str:
    return str(entry.get("source", "other sources"))
