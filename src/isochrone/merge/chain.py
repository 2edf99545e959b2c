# SPDX-License-Identifier: BSD-3-Clause
"""The levels of two surveys as one row of levels, each a refinement of the one before.

Levels are known to be one and the same by how they divide what both surveys have in common, and, where that
does not tell, by their names. What only one survey has a level for lies in it as the other one measured it:
undivided.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from isochrone.errors import IsochroneError
from isochrone.files.place import PlaceKey

Item = str | PlaceKey
"""A host, or a place."""

Labels = Mapping[Item, int]
FIRST, SECOND, BOTH = "first", "second", "both"
_UNNAMED = re.compile(r"group-\d+")


@dataclass(frozen=True)
class Step:
    """A level of one or several surveys.

    Attributes:
        name: what the first survey that has a name for it calls it; empty: none has.
        of: its index in the topology of each survey that has it, by the number of the survey.
        group: of each host or place that these surveys, or others before them, have.
    """

    name: str
    of: Mapping[int, int]
    group: Labels


def name_of_level(name: str) -> str:
    """The name, or empty for one that only counts the levels."""
    return "" if _UNNAMED.fullmatch(name) else name


@dataclass(frozen=True)
class Chain:
    """Levels, outermost first, and the hosts or places that they are of."""

    steps: Sequence[Step]
    items: Collection[Item]


def joined(first: Chain, second: Chain, parent: Labels, says: Callable[[Step], str]) -> list[Step]:
    """One row of levels of two.

    Args:
        first, second: levels of some hosts or places.
        parent: groups of all that is in either, within which the first level divides.
        says: whose level one is, for people.

    Raises:
        IsochroneError: the surveys contradict each other.
    """
    common = [item for item in parent if item in first.items and item in second.items]
    found: list[Step] = []
    i = j = 0
    while i < len(first.steps) or j < len(second.steps):
        rest, others = first.steps[i:], second.steps[j:]
        whose = _next(rest, others, common, not found, says)
        have = [*(rest[:1] if whose != SECOND else ()), *(others[:1] if whose != FIRST else ())]
        lacking, inside = {
            FIRST: (second.items, others),
            SECOND: (first.items, rest),
            BOTH: ((), ()),
        }[whose]
        group = _column([step.group for step in have], lacking, inside[0].group if inside else {}, parent)
        name = next((step.name for step in have if step.name), "")
        found.append(Step(name, {s: level for step in have for s, level in step.of.items()}, group))
        parent = group
        i += whose != SECOND
        j += whose != FIRST
    return found


def _next(
    first: Sequence[Step],
    second: Sequence[Step],
    common: Sequence[Item],
    outermost: bool,
    says: Callable[[Step], str],
) -> str:
    """Whose level is the next one inside; BOTH: it is the same."""
    if not first or not second:
        return FIRST if first else SECOND
    a, b = first[0], second[0]
    for one, others in ((a, second), (b, first)):
        same_name = next((step for step in others if one.name and step.name == one.name), None)
        if same_name is not None and not _equal(one.group, same_name.group, common):
            raise _contradiction(one, same_name, common, says)
    if _equal(a.group, b.group, common):
        if a.name and a.name == b.name:
            return BOTH
        if a.name and any(step.name == a.name for step in second):
            return SECOND
        if b.name and any(step.name == b.name for step in first):
            return FIRST
        tells = 1 < len({a.group[item] for item in common}) < len(common)
        return BOTH if tells or outermost or not a.name or not b.name else FIRST
    if _refines(b.group, a.group, common):
        return FIRST
    if _refines(a.group, b.group, common):
        return SECOND
    raise _contradiction(a, b, common, says)


def _column(
    have: Sequence[Labels], lacking: Collection[Item], units: Labels, parent: Labels
) -> dict[Item, int]:
    """Groups of all items at a level that some have.

    Args:
        have: groups of those that have it.
        lacking: items of a survey that does not have it.
        units: groups of its next level inside, which stay whole; empty where there is none.
        parent: groups of the level outside.
    """
    of = {item: item for item in parent}

    def top(item: Item) -> Item:
        while of[item] != item:
            of[item] = of[of[item]]
            item = of[item]
        return item

    def unite(items: Iterable[Item]) -> None:
        first = None
        for item in items:
            first = top(item) if first is None else first
            of[top(item)] = first

    covered = {item for labels in have for item in labels}
    for labels in [*have, units]:
        for group in groups_of(labels):
            unite(item for item in group if item in of)
    # What the survey measured as alike: with those of it whose group is known, if that is one.
    alike = groups_of({item: parent[item] for item in lacking})
    for items in alike:
        known = {top(item) for item in items if item in covered}
        unknown = [item for item in items if top(item) not in known]
        unite([*unknown, *known] if len(known) == 1 else unknown)
    numbers: dict[Item, int] = {}
    return {item: numbers.setdefault(top(item), len(numbers)) for item in parent}


def groups_of(labels: Labels) -> list[list[Item]]:
    """The items of each group, in order of first appearance."""
    found: dict[int, list[Item]] = defaultdict(list)
    for item, label in labels.items():
        found[label].append(item)
    return list(found.values())


def _equal(a: Labels, b: Labels, common: Sequence[Item]) -> bool:
    return _refines(a, b, common) and _refines(b, a, common)


def _refines(inner: Labels, outer: Labels, common: Sequence[Item]) -> bool:
    return next(_apart(outer, inner, common), None) is None


def _apart(outer: Labels, inner: Labels, common: Sequence[Item]) -> Iterator[tuple[Item, Item]]:
    """Items that are in one group of `inner` and in two of `outer`."""
    seen: dict[int, Item] = {}
    for item in common:
        other = seen.setdefault(inner[item], item)
        if outer[item] != outer[other]:
            yield other, item


def _contradiction(a: Step, b: Step, common: Sequence[Item], says: Callable[[Step], str]) -> IsochroneError:
    together, apart = (a, b) if next(_apart(b.group, a.group, common), None) is not None else (b, a)
    one, other = next(_apart(apart.group, together.group, common))
    what = (
        f"{_text(one)} and {_text(other)} are in one group of level {says(together)}, "
        f"and apart in level {says(apart)}"
    )
    return IsochroneError(what, None, "survey again what is not so any more, and merge the rest")


def _text(item: Item) -> str:
    if isinstance(item, str):
        return item
    host, ranges = item
    if ranges is None:
        return host
    cpus = ",".join(f"{low}-{high}" if low < high else str(low) for low, high in ranges)
    return f"CPU {cpus} of {host}"
