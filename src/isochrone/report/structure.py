# SPDX-License-Identifier: BSD-3-Clause
"""The tree of levels with identical branches put together, so that 512 ranks are described as briefly as
four.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from isochrone.files import Links
from isochrone.report.facts import Facts
from isochrone.words import counted, join_words, level_noun


@dataclass(frozen=True)
class Branch:
    """A group of `facts.levels[level]` with `ranks` ranks; `parts` are its different kinds of subgroups, with
    counts.

    Branches are equal when they have the same form, wherever they are. `parts` is empty at the innermost
    level.
    """

    level: int
    ranks: int
    parts: tuple[tuple[Branch, int], ...]


def branches(facts: Facts) -> Branch:
    """The outermost group. Time is proportional to places times levels. Raises ValueError if there is no
    level.
    """
    if not facts.levels:
        raise ValueError("a topology needs at least one level")
    ranks_at = Counter(facts.topology.ranks)
    inner: dict[int, Branch] = {}
    for index in range(len(facts.levels) - 1, -1, -1):
        outer: dict[int, Branch] = {}
        for group in facts.levels[index].groups:
            parts = Counter(inner[place] for place in group if place in inner)
            ordered = tuple(
                sorted(parts.items(), key=lambda item: (-item[1] * item[0].ranks, -item[0].ranks))
            )
            branch = Branch(index, sum(ranks_at[place] for place in group), ordered)
            outer[min(group)] = branch
        inner = outer
    return next(iter(inner.values()))


@dataclass(frozen=True)
class Bandwidth:
    """What one pair sees, beyond the latency, with messages of `size_bytes`."""

    bytes_per_s: float
    size_bytes: int


def bandwidth(links: Links) -> Bandwidth | None:
    """The bandwidth at the largest measured size; None where no size took longer than the latency."""
    points = [(size, gap_s) for size, gap_s in links.gap_s if size > 0 and gap_s > 0]
    return Bandwidth(points[-1][0] / points[-1][1], points[-1][0]) if points else None


def group_sizes(facts: Facts, level: int) -> tuple[int, ...]:
    """How many ranks each group of the level has, in the order of the groups."""
    ranks_at = Counter(facts.topology.ranks)
    return tuple(sum(ranks_at[place] for place in group) for group in facts.levels[level].groups)


def counted_levels(facts: Facts) -> str:
    """The number of groups of each level inside the whole: "2 switches, 4 nodes, 8 sockets"; empty for one
    flat level.
    """
    return join_words([counted(len(level.groups), level.name) for level in facts.levels[1:]])


def size_words(facts: Facts, level: int) -> str:
    """The ranks in a group of the level: "32", or "3 to 5" where groups differ."""
    sizes = group_sizes(facts, level)
    return f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"


def nesting_words(facts: Facts) -> str:
    """How the levels nest: "2 nodes, each with 2 sockets, each with 16 ranks"; "3 to 5" where they differ."""
    words = []
    for index, level in enumerate(facts.levels):
        if index + 1 < len(facts.levels):
            outer = level.group_of()
            inner = Counter(outer[group[0]] for group in facts.levels[index + 1].groups)
            inside = [inner[number] for number in range(len(level.groups))]
            name = facts.levels[index + 1].name
        else:
            inside, name = list(group_sizes(facts, index)), "rank"
        least, most = min(inside), max(inside)
        words.append(f"{least:,} to {most:,} {level_noun(name, 2)}" if least != most else counted(most, name))
    return ", each with ".join(words)
