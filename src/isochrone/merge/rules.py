# SPDX-License-Identifier: BSD-3-Clause
"""Rules of several plans, in the levels and shapes of one topology.

The shape that a rule is for follows from ranks: some ranks of its survey have that shape by its topology,
and by the merged one they have another text. So no text of a shape is taken apart, except its part on the
root.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from msgspec import structs

from isochrone import _core
from isochrone.files import Place, Plan, Rule, Topology, topology_document
from isochrone.files.plan import laid_over, overlap, without
from isochrone.tune.collectives import collective, timed
from isochrone.tune.family import family

_Shape = tuple[bool, str]
"""Whether it is of a collective with a root, and its text: where nothing divides ranks, the texts are
alike.
"""

_MOST_JOBS = 4096
"""So many parts of a survey's ranks are looked at for the shapes of its rules."""


@dataclass(frozen=True)
class Source:
    """A plan to be merged.

    Attributes:
        name: for people.
        time: when it was made, in an order of texts; empty: not known.
        plan: with its rules, either found live or measured; what was measured before goes along with the
            newer live ones here.
        topology: that it was made for.
        level_of: the level of the merged topology that each of its own is.
    """

    name: str
    time: str
    plan: Plan
    topology: Topology
    level_of: Sequence[int]


@dataclass(frozen=True)
class MergedRules:
    """The rules, and what there is to say of them.

    Attributes:
        rules: those of one collective, shape and order do not overlap.
        notes: lines for people.
    """

    rules: tuple[Rule, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Difference:
    """Two rules for one thing whose measured gains exclude each other."""

    newer: Rule
    older: Rule
    names: tuple[str, str]

    @property
    def factor(self) -> float:
        gains = sorted((self.newer.evidence.speedup, self.older.evidence.speedup))
        return gains[1] / max(gains[0], 1e-9)


def merged_rules(sources: Sequence[Source], topology: Topology) -> MergedRules:
    """The rules of all for one topology. Where several speak of one collective, shape, order and size, the
    newest counts, of those that are as new the last.
    """
    notes: list[str] = []
    kept: dict[tuple[str, str, str | None], list[tuple[Rule, str]]] = defaultdict(list)
    differences: list[_Difference] = []
    shared = differing = 0
    newest_first = sorted(enumerate(sources), key=lambda item: (item[1].time, item[0]), reverse=True)
    # Where hosts are known to be in groups, it is not known which of them strangers are in.
    for_strangers = not any(_has_groups_of_hosts(source.topology) for source in sources)
    translated = [(source, _translated(source, topology, for_strangers)) for _, source in newest_first]
    orders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for _, found in translated:
        for rule in (*found.rules, *found.elsewhere):
            if rule.order is not None:
                orders[rule.collective, rule.shape].add(rule.order)
    for source, found in translated:
        if found.lost:
            rest = "1 shape" if found.lost == 1 else f"{found.lost} shapes"
            notes.append(f"rules of {source.name} for {rest} are left out: no part of its ranks is like that")
        for rule in _for_each_order(found.rules, orders):
            key = rule.collective, rule.shape, rule.order
            there = kept[key] = _laid_over(kept[key], rule)
            before = [(other, name) for other, name in there if overlap(rule, other)]
            # What was learned is a part of its own of a plan, beside what that has measured.
            of_others = [(other, name) for other, name in before if name != source.name]
            shared += bool(of_others)
            different = [
                _Difference(other, rule, (name, source.name))
                for other, name in of_others
                if _differ(rule, other)
            ]
            differing += bool(different)
            differences += different
            there += [(piece, source.name) for piece in without(rule, [other for other, _ in before])]
    for _, found in translated:
        for rule in _for_each_order(found.elsewhere, orders):
            key = rule.collective, rule.shape, rule.order
            there = kept[key] = _laid_over(kept[key], rule)
            there += [(piece, "") for piece in without(rule, [other for other, _ in there])]
    if differences:
        notes.append(_difference_line(differences, differing, shared))
    rules = [rule for group in kept.values() for rule, _ in group]
    rules.sort(key=lambda rule: (rule.collective, rule.shape, rule.order or "", rule.min_bytes))
    return MergedRules(tuple(rules), tuple(notes))


def _laid_over(newer: Sequence[tuple[Rule, str]], rule: Rule) -> list[tuple[Rule, str]]:
    """Newer rules, of which those that were found live for a reduction take along what this one has measured,
    unless they know of something newer.
    """
    if rule.collective not in timed() or not collective(rule.collective)["reduces"]:
        return list(newer)
    found: list[tuple[Rule, str]] = []
    for other, name in newer:
        if other.basis == "live" and other.surveyed is None and overlap(other, rule):
            found += [(piece, name) for piece in (*without(other, [rule]), laid_over(other, rule))]
        else:
            found.append((other, name))
    return found


def _for_each_order(rules: Sequence[Rule], orders: Mapping[tuple[str, str], Set[str]]) -> Iterable[Rule]:
    """The rules of one plan, those for any order also for each order that another plan has rules for: in
    that they would not hold any more.
    """
    own = {(rule.collective, rule.shape, rule.order) for rule in rules}
    for rule in rules:
        yield rule
        if rule.order is None:
            for order in sorted(orders[rule.collective, rule.shape]):
                if (rule.collective, rule.shape, order) not in own:
                    yield structs.replace(rule, order=order)


@dataclass(frozen=True)
class _Translated:
    """Rules of one plan for the merged topology.

    Attributes:
        rules: for the ranks that they were measured on.
        elsewhere: for as many ranks on hosts that no survey had, of the same kind, if the plan held there.
        lost: how many shapes no part of its ranks has.
    """

    rules: Sequence[Rule]
    elsewhere: Sequence[Rule]
    lost: int


def _has_groups_of_hosts(topology: Topology) -> bool:
    """Whether it divides its hosts into groups of which one has several."""
    return any(
        len(level.groups) > 1 and any(len({topology.places[p].host for p in g}) > 1 for g in level.groups)
        for level in topology.levels
    )


def _translated(source: Source, topology: Topology, for_strangers: bool) -> _Translated:
    names = source.plan.level_names or tuple(level.name for level in source.topology.levels)
    levels = zip(source.topology.levels, names, strict=True)
    named = tuple(structs.replace(level, name=name) for level, name in levels)
    before = json.dumps(topology_document(structs.replace(source.topology, levels=named)))
    after = json.dumps(topology_document(topology))
    places = [source.topology.places[place] for place in source.topology.ranks]
    wanted = {_shape_of(rule) for rule in source.plan.rules}
    words = [(place.host, place.cpus, place.signature) for place in places]
    shapes = _shapes(wanted, _core.match(before, words), _core.match(after, words), places)
    new_names = [topology.levels[at].name for at in source.level_of]
    rules = _renamed(source.plan, shapes, dict(zip(names, new_names, strict=True)))
    strangers = [(f"like {host}", cpus, signature) for host, cpus, signature in words]
    elsewhere: list[Rule] = []
    if for_strangers and all(place.signature for place in places):
        old, new = _core.match(before, strangers), _core.match(after, strangers)
        same = _same_levels(old, new, source.level_of)
        if same is not None:
            there = _shapes(wanted, old, new, places)
            elsewhere = _renamed(
                source.plan,
                there,
                {name: topology.levels[at].name for name, at in zip(names, same, strict=True)},
            )
    return _Translated(rules, elsewhere, len(wanted - shapes.keys()))


def _renamed(plan: Plan, shapes: Mapping[_Shape, _Known], names: dict[str, str]) -> list[Rule]:
    """The rules whose shapes are known by another text, with that, and with other names for levels."""
    found = []
    for rule in plan.rules:
        known = shapes.get(_shape_of(rule))
        if known is not None:
            recipe = _core.rename_levels(rule.recipe, names)
            order = known.orders.get(rule.order, rule.order) if rule.order is not None else None
            found.append(structs.replace(rule, shape=known.shape, order=order, recipe=recipe))
    return found


def _same_levels(old: _core.Layout, new: _core.Layout, usual: Sequence[int]) -> list[int] | None:
    """Levels of one layout that divide ranks as those of the other do, `usual` ones where these do; None
    where there are none for some.
    """
    found: list[int] = []
    for groups, level in zip(old.group_of, usual, strict=True):
        begin = found[-1] + 1 if found else 0
        alike = [at for at in range(begin, len(new.levels)) if new.group_of[at] == groups]
        if not alike:
            return None
        found.append(level if level in alike else alike[0])
    return found


def _shape_of(rule: Rule) -> _Shape:
    known = rule.collective in timed()
    return known and collective(rule.collective)["rooted"], rule.shape


@dataclass(frozen=True)
class _Known:
    """Ranks of a shape, by another layout.

    Attributes:
        shape: its text there.
        orders: what the order of these ranks is there; others are taken to be the same.
    """

    shape: str
    orders: Mapping[str, str]


def _shapes(
    wanted: set[_Shape], old: _core.Layout, new: _core.Layout, places: Sequence[Place]
) -> dict[_Shape, _Known]:
    """What shapes by the one layout are by the other."""
    found: dict[_Shape, _Known] = {}
    for number, ranks in enumerate(_jobs(old, places)):
        if number == _MOST_JOBS or len(found) == len(wanted):
            break
        before, after = old.restricted_to(ranks), new.restricted_to(ranks)
        orders = {before.order(): after.order()}
        without_root = before.shape()
        if (False, without_root) in wanted:
            found.setdefault((False, without_root), _Known(after.shape(), orders))
        left = [shape for rooted, shape in wanted - found.keys() if rooted]
        if any(shape.startswith(without_root) for shape in left):
            for shape, other in zip(before.shapes(), after.shapes(), strict=True):
                if shape in left:
                    found.setdefault((True, shape), _Known(other, orders))
    return found


def _jobs(layout: _core.Layout, places: Sequence[Place]) -> Iterator[Sequence[int]]:
    """Parts of the ranks that plans are made for: all, what a tuning takes of them, then any number of ranks
    of each of the first hosts, by their order and by turns from the groups around them.
    """
    yield range(layout.size)
    on: dict[str, list[int]] = defaultdict(list)
    for rank, place in enumerate(places):
        on[place.host].append(rank)
    yield from family(places, layout.group_of[1:])
    orders = [list(on)]
    for group_of in layout.group_of:
        groups: dict[int, list[str]] = defaultdict(list)
        for host, ranks in on.items():
            groups[group_of[ranks[0]]].append(host)
        turns = sorted(
            ((turn, at, host) for at, group in enumerate(groups.values()) for turn, host in enumerate(group))
        )
        order = [host for _, _, host in turns]
        if order not in orders:
            orders.append(order)
    for order in orders:
        for count in range(len(order), 0, -1):
            few = order[:count]
            for most in range(max(len(on[host]) for host in few), 0, -1):
                chosen = {rank for host in few for rank in on[host][:most]}
                yield sorted(chosen)


def _differ(a: Rule, b: Rule) -> bool:
    (low, high), (other_low, other_high) = a.evidence.speedup_ci, b.evidence.speedup_ci
    return low > other_high or other_low > high


def _difference_line(differences: Sequence[_Difference], differing: int, shared: int) -> str:
    most = max(differences, key=lambda one: one.factor)
    newer, older = (_gain(rule) for rule in (most.newer, most.older))
    return (
        f"{differing} of {shared} rules that two plans have differ beyond their intervals, most for "
        f"{most.newer.collective} of {most.newer.min_bytes} to {most.newer.max_bytes} bytes on "
        f"'{most.newer.shape}': {newer} in {most.names[0]}, which is newer and counts, "
        f"{older} in {most.names[1]}"
    )


def _gain(rule: Rule) -> str:
    low, high = rule.evidence.speedup_ci
    return f"{rule.recipe} {rule.evidence.speedup:.2f}x [{low:.2f}, {high:.2f}]"
