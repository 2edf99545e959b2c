# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a survey for the terminal: plain lines, some dozens of them however large the machine."""

from __future__ import annotations

from isochrone.files.text import printable
from isochrone.report.facts import Facts
from isochrone.report.headline import (
    MOST_FINDINGS,
    NOTHING_SLOW,
    accuracy_sentence,
    collective_sentences,
    found,
    mapping_sentences,
    nesting_sentence,
    oversubscription_sentence,
)
from isochrone.report.hosts import map_lines
from isochrone.report.structure import bandwidth, size_words
from isochrone.units import format_rate, format_time
from isochrone.words import level_noun

MOST_LEVELS = 8


def summary_lines(facts: Facts) -> list[str]:
    """What was found, and what is to be known of it."""
    lines = [
        f"{found(facts)}.",
        nesting_sentence(facts),
        *_level_lines(facts),
        *map_lines(facts),
        accuracy_sentence(facts),
        *collective_sentences(facts.comparisons, facts.plan),
        *mapping_sentences(facts.mapping),
        *facts.warnings,
        oversubscription_sentence(facts),
        *_finding_lines(facts),
    ]
    return [printable(line) for line in lines if line]


def _finding_lines(facts: Facts) -> list[str]:
    if facts.findings is None:
        return []
    if not facts.findings:
        return [NOTHING_SLOW]
    shown = [f"  {finding}" for finding in facts.findings[:MOST_FINDINGS]]
    more = len(facts.findings) - len(shown)
    rest = [f"  … {more:,} more; `isochrone doctor` lists them"] if more else []
    return ["Slower than its like:", *shown, *rest]


def _level_lines(facts: Facts) -> list[str]:
    """A line for each level; those in between are left out where there are too many."""
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
    if len(lines) > MOST_LEVELS:
        lines[MOST_LEVELS - 2 : -1] = [f"  … {len(lines) - MOST_LEVELS + 1} more levels"]
    return lines
