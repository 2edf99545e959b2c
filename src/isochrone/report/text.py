# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a survey for the terminal: plain lines, at most twelve of them."""

from __future__ import annotations

from isochrone.report.facts import Facts
from isochrone.report.headline import (
    accuracy_sentence,
    broadcast_sentence,
    found,
    nesting_sentence,
    oversubscription_sentence,
)
from isochrone.report.structure import bandwidth, size_words
from isochrone.report.words import level_noun
from isochrone.units import format_rate, format_time

MOST_LINES = 12


def summary_lines(facts: Facts) -> list[str]:
    """What was found, in at most twelve lines; the levels in between are left out first where there are too
    many.
    """
    opening = [f"{found(facts)}.", nesting_sentence(facts)]
    closing = [
        accuracy_sentence(facts),
        broadcast_sentence(facts.comparison),
        oversubscription_sentence(facts),
    ]
    before = [line for line in opening if line]
    after = [line for line in closing if line]
    levels = _level_lines(facts)
    room = MOST_LINES - len(before) - len(after)
    if len(levels) > room:
        levels = [*levels[: room - 2], f"  … {len(levels) - room + 1} more levels", levels[-1]]
    return [_printable(line) for line in [*before, *levels, *after]]


def _level_lines(facts: Facts) -> list[str]:
    rows = []
    for index, level in enumerate(facts.levels):
        ranks = f"{len(level.groups):,} × {size_words(facts, index)} ranks"
        pair = None if level.links is None else bandwidth(level.links)
        latency = "" if level.links is None else format_time(level.links.latency_s)
        rows.append(
            (level_noun(level.name), ranks, latency, "" if pair is None else format_rate(pair.bytes_per_s))
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for (name, *figures), step in zip(rows, facts.protocol_steps, strict=True):
        aligned = [f"{figure:>{width}}" for figure, width in zip(figures, widths[1:], strict=True)]
        lines.append(f"  {name:<{widths[0]}}  {'  '.join(aligned)}  {step or ''}".rstrip())
    return lines


def _printable(line: str) -> str:
    """Without control characters: names come from files, and a terminal obeys what it is sent."""
    return "".join(character if character.isprintable() else "?" for character in line)
