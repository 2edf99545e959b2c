# SPDX-License-Identifier: BSD-3-Clause
"""The levels of two surveys as one row of levels, each a refinement of the one before.

Levels are known to be one and the same by how they divide what both surveys have in common, and, where that
does not tell, by their names. What a survey says for sure of a level is what it has together and apart in it.
The rest is filled in at the end: what no survey has together is apart, and what a survey has no level for
lies in it as that survey measured it, undivided. A later survey may say otherwise.
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
        group: of each host or place that these surveys have.
    """

    name: str
    of: Mapping[int, int]
    group: Labels


def name_of_level(name: str) -> str:
    """The name, or empty for one that only counts the levels."""
    return "" if _UNNAMED.fullmatch(name) else name


@dataclass(frozen=True)
class Chain:
    """Levels, outermost first, and the hosts or places that each survey has, by its number."""

    steps: Sequence[Step]
    measured: Mapping[int, Collection[Item]]


def joined(first: Chain, second: Chain, parent: Labels, says: Callable[[Step], str]) -> Chain:
    """One row of levels of two.

    Args:
        first, second: levels of some hosts or places.
        parent: groups of all that is in either, within which the first level divides.
        says: whose level one is, for people.

    Raises:
        IsochroneError: the surveys contradict each other.
    """
    there = {item for items in first.measured.values() for item in items}
    common = [item for items in second.measured.values() for item in items if item in there]
    rests = [
        [
            _Division(step, group, chain.measured, common)
            for step, group in zip(chain.steps, filled(chain, parent), strict=True)
        ]
        for chain in (first, second)
    ]
    found: list[Step] = []
    i = j = 0
    while i < len(first.steps) or j < len(second.steps):
        whose = _next(rests[0][i:], rests[1][j:], not found, says)
        have = [*(first.steps[i : i + 1] if whose != SECOND else ())]
        have += second.steps[j : j + 1] if whose != FIRST else ()
        name = next((step.name for step in have if step.name), "")
        of = {s: level for step in have for s, level in step.of.items()}
        found.append(Step(name, of, _Sets(step.group for step in have).labels()))
        i += whose != SECOND
        j += whose != FIRST
    return Chain(found, {**first.measured, **second.measured})


def filled(chain: Chain, parent: Labels) -> list[Labels]:
    """Groups of all items at each level.

    Args:
        chain: the levels.
        parent: groups of the items, within which the first level divides.
    """
    found: list[Labels] = []
    for at, step in enumerate(chain.steps):
        inside = [each.group for each in chain.steps[at:]]
        sets = _Sets([*inside, {item: number for number, item in enumerate(parent)}])
        known = {sets.top(item) for item in step.group}
        for survey, items in chain.measured.items():
            if survey in step.of:
                continue
            # What the survey measured as alike: with those of it whose group is known, if that is one.
            for alike in groups_of({item: parent[item] for item in items}):
                tops = {sets.top(item) for item in alike}
                one = len(tops & known) == 1
                sets.unite(tops if one else tops - known)
                if one:
                    known = (known - tops) | {sets.top(alike[0])}
        labels = sets.labels()
        parent = {item: labels[item] for item in parent}
        found.append(parent)
    return found


class _Sets:
    """Items in sets that are united."""

    def __init__(self, divisions: Iterable[Labels]) -> None:
        self._of: dict[Item, Item] = {}
        for labels in divisions:
            for group in groups_of(labels):
                self.unite(group)

    def top(self, item: Item) -> Item:
        of = self._of
        while of.setdefault(item, item) != item:
            of[item] = of[of[item]]
            item = of[item]
        return item

    def unite(self, items: Iterable[Item]) -> None:
        first = None
        for item in items:
            first = self.top(item) if first is None else first
            self._of[self.top(item)] = first

    def labels(self) -> dict[Item, int]:
        numbers: dict[Item, int] = {}
        return {item: numbers.setdefault(self.top(item), len(numbers)) for item in self._of}


class _Division:
    """How a level divides what two rows of levels have in common.

    Attributes:
        step: the level.
        sure: what its own surveys say of it.
        likely: with what was filled in.
    """

    def __init__(
        self,
        step: Step,
        group: Labels,
        measured: Mapping[int, Collection[Item]],
        common: Sequence[Item],
    ) -> None:
        self.step = step
        own = {survey: items for survey, items in measured.items() if survey in step.of}
        self.sure = _Known(step.group, own, [item for item in common if item in step.group])
        self.likely = _Known(group, measured, common)


class _Known:
    """What is together, and what some survey has apart: the rest is unknown."""

    def __init__(
        self, group: Labels, measured: Mapping[int, Collection[Item]], common: Sequence[Item]
    ) -> None:
        self.group = group
        self.common = common
        self._surveys: dict[int, set[int]] = defaultdict(set)
        for survey, items in measured.items():
            for item in items:
                self._surveys[group[item]].add(survey)

    def apart(self, one: Item, other: Item) -> bool:
        a, b = self.group.get(one), self.group.get(other)
        if a is None or b is None or a == b:
            return False
        return not self._surveys[a].isdisjoint(self._surveys[b])

    def inside(self, outer: _Known) -> Iterator[tuple[Item, Item]]:
        """Items that are together here and apart there."""
        seen: dict[int, dict[int | None, Item]] = defaultdict(dict)
        for item in self.common:
            others = seen[self.group[item]]
            for other in others.values():
                if outer.apart(other, item):
                    yield other, item
            others.setdefault(outer.group.get(item), item)


def _next(
    first: Sequence[_Division], second: Sequence[_Division], outermost: bool, says: Callable[[Step], str]
) -> str:
    """Whose level is the next one inside; BOTH: it is the same."""
    if not first or not second:
        return FIRST if first else SECOND
    a, b = first[0], second[0]
    comes = []
    for one, others in ((a, second), (b, first)):
        same_name = next(
            (level for level in others if one.step.name and level.step.name == one.step.name), None
        )
        if same_name is not None and not _equal(one.sure, same_name.sure):
            raise _contradiction(one, same_name, says)
        comes.append(same_name is not None)
    if a.step.name and a.step.name == b.step.name:
        return BOTH
    if comes[0] != comes[1]:
        outer, inner, whose = (b, a, SECOND) if comes[0] else (a, b, FIRST)
        if not _refines(inner.sure, outer.sure):
            raise _contradiction(a, b, says)
        return whose
    for mine, other in ((a.likely, b.likely), (a.sure, b.sure)):
        if _equal(mine, other):
            tells = 1 < len({mine.group[item] for item in mine.common}) < len(mine.common)
            return BOTH if tells or outermost or not a.step.name or not b.step.name else FIRST
        if _refines(other, mine):
            return FIRST
        if _refines(mine, other):
            return SECOND
    raise _contradiction(a, b, says)


def groups_of(labels: Labels) -> list[list[Item]]:
    """The items of each group, in order of first appearance."""
    found: dict[int, list[Item]] = defaultdict(list)
    for item, label in labels.items():
        found[label].append(item)
    return list(found.values())


def _equal(a: _Known, b: _Known) -> bool:
    return _refines(a, b) and _refines(b, a)


def _refines(inner: _Known, outer: _Known) -> bool:
    return next(inner.inside(outer), None) is None


def _contradiction(a: _Division, b: _Division, says: Callable[[Step], str]) -> IsochroneError:
    together, apart = (b, a) if _refines(a.sure, b.sure) else (a, b)
    one, other = next(together.sure.inside(apart.sure))
    what = (
        f"{_text(one)} and {_text(other)} are in one group of level {says(together.step)}, "
        f"and apart in level {says(apart.step)}"
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
