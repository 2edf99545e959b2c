# SPDX-License-Identifier: BSD-3-Clause
"""One topology of several.

Levels of three kinds are joined apart: those of hosts, that of single hosts, and those within hosts. Hosts of
surveys that have none in common are joined by a level around all, at which nothing was measured.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from msgspec import structs

from isochrone.errors import IsochroneError
from isochrone.files import Level, Links, Place, Topology, distinct_places, provenance
from isochrone.merge.chain import Chain, Item, Step, filled, groups_of, joined, name_of_level


@dataclass(frozen=True)
class Merged:
    """Several topologies as one.

    Attributes:
        topology: with all places.
        level_of: for each survey the level of `topology` that each of its own is.
        rank_of: for each survey the rank of `topology` that each of its own is.
        apart: whether some hosts have no measured way to others.
        unknown: name of the level at which they meet; empty: all are joined.
    """

    topology: Topology
    level_of: tuple[tuple[int, ...], ...]
    rank_of: tuple[tuple[int, ...], ...]
    unknown: str = ""

    @property
    def apart(self) -> bool:
        """Whether some hosts have no measured way to others."""
        return bool(self.unknown)


def merged_topology(topologies: Sequence[Topology], names: Sequence[str]) -> Merged:
    """One topology of all.

    Args:
        topologies: of the surveys.
        names: what to call the surveys.

    Raises:
        IsochroneError: they contradict each other: what is together at a level of one is apart at the same
            level of another, or a host has other hardware.
    """
    _check_hardware(topologies, names)
    places = _ordered([place for topology in topologies for place in topology.places])
    number: dict[Item, int] = {place.key: index for index, place in enumerate(places)}
    steps = _all_steps(topologies, names)
    steps = [_on_places(step, places) for step in steps]
    around = not steps or len(set(steps[0].group.values())) > 1
    if around:
        steps.insert(0, Step("", {}, {place.key: 0 for place in places}))
    _check_refine(steps, names)
    _check_kept(steps, topologies, names)
    levels = []
    titles = _titles(steps, places)
    for step, title, inner in zip(steps, titles, [*steps[1:], None], strict=True):
        groups = tuple(tuple(sorted(number[item] for item in group)) for group in groups_of(step.group))
        of = [topologies[s].levels[level].confidence for s, level in step.of.items()]
        sure = [confidence for confidence in of if confidence is not None]
        levels.append(
            Level(
                title,
                tuple(sorted(groups)),
                min(sure) if sure and len(sure) == len(of) else None,
                _links(step, inner, topologies),
            )
        )
    if around:
        levels[0] = structs.replace(levels[0], links=_farthest(levels))
    ranks, rank_of = _ranks(topologies, number)
    level_of = tuple(
        tuple(
            next(at for at, step in enumerate(steps) if step.of.get(s) == level)
            for level in range(len(topology.levels))
        )
        for s, topology in enumerate(topologies)
    )
    merged = Topology(
        places=places,
        ranks=ranks,
        levels=tuple(levels),
        source={"merged": [topology.fingerprint for topology in topologies]},
        provenance=provenance(),
    )
    return Merged(merged, level_of, rank_of, titles[0] if around else "")


def _check_hardware(topologies: Sequence[Topology], names: Sequence[str]) -> None:
    seen: dict[str, tuple[str, str]] = {}
    for topology, name in zip(topologies, names, strict=True):
        for place in topology.places:
            signature, by = seen.setdefault(place.host, (place.signature, name))
            if signature != place.signature:
                what = f"host {place.host} is '{place.signature}' here, and was '{signature}' in {by}"
                raise IsochroneError(what, name, "its hardware has changed: survey it again")


def _ordered(places: Sequence[Place]) -> tuple[Place, ...]:
    """Distinct, those of hosts with most places first: a host of the same kind that no survey had gets the
    inner tree of the first.
    """
    distinct, _ = distinct_places(places)
    count = Counter(place.host for place in distinct)
    seen = {host: at for at, host in enumerate(count)}
    return tuple(sorted(distinct, key=lambda place: (-count[place.host], seen[place.host])))


def _all_steps(topologies: Sequence[Topology], names: Sequence[str]) -> list[Step]:
    """The levels of all, of hosts or of places."""

    def says(step: Step) -> str:
        s, level = next(iter(step.of.items()))
        return f"'{topologies[s].levels[level].name}' of {names[s]}"

    kinds = [_kinds(topology, s) for s, topology in enumerate(topologies)]
    order = _overlapping_first(topologies)
    host: dict[Item, int] = {}
    outer = Chain((), {})
    for s in order:
        here: dict[Item, int] = dict.fromkeys((place.host for place in topologies[s].places), 0)
        host |= here
        outer = joined(outer, Chain(kinds[s].outer, {s: here}), host, says)
    steps = [replace(step, group=group) for step, group in zip(outer.steps, filled(outer, host), strict=True)]
    single = {s: kind.single for s, kind in enumerate(kinds) if kind.single is not None}
    if single:
        title = name_of_level(next(topologies[s].levels[level].name for s, level in single.items()))
        steps.append(Step(title, single, {item: at for at, item in enumerate(host)}))
    around = steps[-1].group if steps else host
    place_in: dict[Item, int] = {}
    inner = Chain((), {})
    for s in order:
        inside: dict[Item, int] = {place.key: around[place.host] for place in topologies[s].places}
        place_in |= inside
        inner = joined(inner, Chain(kinds[s].inner, {s: inside}), place_in, says)
    groups = filled(inner, place_in)
    return [*steps, *(replace(step, group=group) for step, group in zip(inner.steps, groups, strict=True))]


@dataclass(frozen=True)
class _Kinds:
    """The levels of one survey: those that have several hosts in a group, the number of the one whose
    groups are single hosts, and those that divide hosts.
    """

    outer: Sequence[Step]
    single: int | None
    inner: Sequence[Step]


def _kinds(topology: Topology, survey: int) -> _Kinds:
    outer: list[Step] = []
    single: int | None = None
    inner: list[Step] = []
    for at, level in enumerate(topology.levels):
        of_place: dict[Item, int] = {}
        of_host: dict[Item, set[int]] = defaultdict(set)
        for number, group in enumerate(level.groups):
            for place in group:
                of_place[topology.places[place].key] = number
                of_host[topology.places[place].host].add(number)
        name = name_of_level(level.name)
        divides_hosts = any(len(numbers) > 1 for numbers in of_host.values())
        if not divides_hosts and len(of_host) > len(level.groups):
            # What is around all of one survey may be inside here.
            name = "" if at == 0 else name
            outer.append(Step(name, {survey: at}, {host: min(numbers) for host, numbers in of_host.items()}))
        elif not divides_hosts and single is None:
            single = at
        else:
            inner.append(Step(name, {survey: at}, of_place))
    return _Kinds(outer, single, inner)


def _overlapping_first(topologies: Sequence[Topology]) -> list[int]:
    """The order to join surveys in: those that have hosts in common with what is joined come first."""
    hosts = [{place.host for place in topology.places} for topology in topologies]
    order = [0]
    left = list(range(1, len(topologies)))
    joined_hosts = set(hosts[0])
    while left:
        found = next((s for s in left if hosts[s] & joined_hosts), left[0])
        left.remove(found)
        order.append(found)
        joined_hosts |= hosts[found]
    return order


def _on_places(step: Step, places: Sequence[Place]) -> Step:
    """The step with groups of places, also where it is of hosts, or lacks those of some survey."""
    group: dict[Item, int] = {}
    for place in places:
        group[place.key] = step.group[place.host if place.host in step.group else place.key]
    return replace(step, group=group)


def _check_refine(steps: Sequence[Step], names: Sequence[str]) -> None:
    for outer, inner in pairwise(steps):
        for items in groups_of(inner.group):
            if len({outer.group[item] for item in items}) > 1:
                hosts = sorted({str(item[0]) for item in items})[:2]
                raise IsochroneError(
                    f"{' and '.join(hosts)} are in one group of a level inside another that has them apart",
                    ", ".join(names),
                    "these surveys are not of one machine: detect them again",
                )


def _check_kept(steps: Sequence[Step], topologies: Sequence[Topology], names: Sequence[str]) -> None:
    for step in steps:
        for s, at in step.of.items():
            seen: dict[int, tuple[int, str]] = {}
            for number, group in enumerate(topologies[s].levels[at].groups):
                for place in group:
                    key = topologies[s].places[place].key
                    other, host = seen.setdefault(step.group[key], (number, str(key[0])))
                    if other != number:
                        raise IsochroneError(
                            f"{host} and {key[0]} are apart in level '{topologies[s].levels[at].name}', "
                            "and together by what the others say of hosts between them",
                            names[s],
                            "survey again what is not so any more, and merge the rest",
                        )


def _titles(steps: Sequence[Step], places: Sequence[Place]) -> list[str]:
    """Names of the levels: as the surveys have them, else as a detection would name them."""
    # Loaded here, because every program on a plan waits for it, and most plans are not merged.
    from isochrone.detect.known import host_partitions
    from isochrone.detect.labels import level_names, with_outermost

    partitions = [np.array([step.group[place.key] for place in places], dtype=np.int64) for step in steps]
    hosts = len({place.host for place in places})
    found = list(level_names(partitions, host_partitions(places), hosts))
    # What was around one survey's hosts may be inside now.
    given = [step.name for step in steps[1:]]
    inside = [
        name if name else (other if other not in given else f"group-{at}")
        for at, (name, other) in enumerate(zip(given, found[1:], strict=True), 1)
    ]
    return list(with_outermost(inside, hosts))


def _links(step: Step, inner: Step | None, topologies: Sequence[Topology]) -> Links | None:
    """Of the survey that measured most pairs among those whose pairs all meet at this level here too."""
    best: tuple[tuple[bool, int], Links] | None = None
    for s, level in step.of.items():
        topology = topologies[s]
        links = topology.levels[level].links
        if links is None:
            continue
        parts: list[int] = list(range(len(topology.places)))
        if level + 1 < len(topology.levels):
            for number, group in enumerate(topology.levels[level + 1].groups):
                for place in group:
                    parts[place] = number
        here = [at if inner is None else inner.group[place.key] for at, place in enumerate(topology.places)]
        alike = len(set(zip(parts, here, strict=True))) == len(set(parts)) == len(set(here))
        rank = (alike, links.pairs or 0)
        if best is None or rank > best[0]:
            best = rank, links
    return None if best is None else best[1]


def _farthest(levels: Sequence[Level]) -> Links | None:
    """Links of what was measured outermost, for a level at which nothing was."""
    known = [level.links for level in levels if level.links is not None]
    if not known:
        return None
    slowest = max(known, key=lambda links: links.latency_s)
    return structs.replace(slowest, capacity_bytes_per_s=None, pairs=None, spread=None)


def _ranks(
    topologies: Sequence[Topology], number: Mapping[Item, int]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """The ranks of the largest survey in their order, then what others have beyond; several may be at one
    place.
    """
    ranks: list[int] = []
    at: dict[tuple[int, int], int] = {}
    rank_of: list[tuple[int, ...]] = [()] * len(topologies)
    for s in sorted(range(len(topologies)), key=lambda s: -len(topologies[s].ranks)):
        copies: Counter[int] = Counter()
        mine = []
        for own in topologies[s].ranks:
            place = number[topologies[s].places[own].key]
            key = place, copies[place]
            copies[place] += 1
            if key not in at:
                at[key] = len(ranks)
                ranks.append(place)
            mine.append(at[key])
        rank_of[s] = tuple(mine)
    return tuple(ranks), tuple(rank_of)
