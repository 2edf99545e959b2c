# SPDX-License-Identifier: BSD-3-Clause
"""Which hosts and ranks are in which group: the parts of the machine by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from isochrone.export.slurm import host_list
from isochrone.files import parse_cpus
from isochrone.labels import natural
from isochrone.report.facts import Facts
from isochrone.words import capitalised, counted, level_noun

MOST_LINES = 25
"""Of the terminal's tree."""
_LONGEST_LIST = 36
_SHOWN_OF_MANY = 4

_Kind = tuple[str, Callable[[int], str]]
"""The name of a level, and the name of the group that a place is in."""


@dataclass(frozen=True)
class Group:
    """A part of the machine: a group of a level, or a host.

    Attributes:
        level: its kind: the name of a level; a host is a ``node``, or a ``host`` where a level of several
            hosts is called that.
        name: a host's name, or the number of the group in its level; None for the whole.
        hosts: that it has ranks on, without the domain that all of them share.
        ranks: by their numbers in the job.
        cpus: a list like ``0-3,8``; None where its ranks are not bound.
        parts: the groups within it; empty in the innermost ones.
    """

    level: str
    name: str | None
    hosts: tuple[str, ...]
    ranks: tuple[int, ...]
    cpus: str | None
    parts: tuple[Group, ...]

    @property
    def title(self) -> str:
        """What it is called: "Rack 0", "Node n3"."""
        noun = capitalised(level_noun(self.level))
        return noun if self.name is None else f"{noun} {self.name}"

    @cached_property
    def inside(self) -> str:
        """What is in it: "4 nodes of 2 sockets of 8 ranks"; "3 to 5 ranks" where they differ."""
        words = []
        groups: Sequence[Group] = [self]
        while groups[0].parts:
            counts = [len(group.parts) for group in groups]
            groups = [part for group in groups for part in group.parts]
            if max(counts) > 1:
                words.append(_from_to(counts, groups[0].level))
        return " of ".join([*words, _from_to([len(group.ranks) for group in groups], "rank")])

    @property
    def divided(self) -> bool:
        """Whether something in it has several parts."""
        return len(self.parts) > 1 or any(part.divided for part in self.parts)


@dataclass(frozen=True)
class Map:
    """The whole machine. Below the depth `shown` (the whole has 0) all is said in words: several hosts are
    shown down to the hosts, a single one down to its innermost groups.
    """

    whole: Group
    shown: int


def machine_map(facts: Facts) -> Map:
    """The levels of several hosts, then the hosts, then the levels within them."""
    topology = facts.topology
    short = without_domain(facts.hosts)
    hosts = [short[place.host] for place in topology.places]
    cpus = [None if place.cpus is None else parse_cpus(place.cpus) for place in topology.places]
    ranks: list[list[int]] = [[] for _ in topology.places]
    for rank, place in zip(topology.job_ranks, topology.ranks, strict=True):
        ranks[place].append(rank)
    outer: list[_Kind] = []
    inner: list[_Kind] = []
    for level in facts.levels:
        numbers = {place: str(number) for place, number in level.group_of().items()}
        if any(len({hosts[place] for place in group}) > 1 for group in level.groups):
            outer.append((level.name, numbers.__getitem__))
        elif len(facts.hosts) == 1 or len(level.groups) > len(facts.hosts):
            inner.append((level.name, numbers.__getitem__))
    if outer:
        outer.append(("host" if any(name == "node" for name, _ in outer) else "node", hosts.__getitem__))
    kinds = outer + inner

    def group(places: Sequence[int], depth: int, name: str | None) -> Group:
        parts: list[Group] = []
        if depth + 1 < len(kinds):
            of = kinds[depth + 1][1]
            ordered = sorted(places, key=lambda place: natural(of(place)))
            parts = [group(list(members), depth + 1, key) for key, members in groupby(ordered, key=of)]
        bound = [found for place in places if (found := cpus[place]) is not None]
        return Group(
            level=kinds[depth][0],
            name=name,
            hosts=tuple(sorted({hosts[place] for place in places}, key=natural)),
            ranks=tuple(sorted(rank for place in places for rank in ranks[place])),
            cpus=_ranges(sorted(frozenset().union(*bound))) if len(bound) == len(places) else None,
            parts=tuple(parts),
        )

    return Map(group(range(len(topology.places)), 0, None), len(outer or inner) - 1)


def map_lines(facts: Facts) -> list[str]:
    """The tree for the terminal, at most `MOST_LINES` lines: where there are more, groups of one form are put
    together, the innermost first.
    """
    found = machine_map(facts)
    whole = found.whole
    ranks = counted(len(whole.ranks), "rank")
    divisions = [counted(len(whole.parts), whole.parts[0].level)] if whole.parts else []
    host = [] if whole.parts and len(whole.hosts) > 1 else [f"on {whole.hosts[0]}"]
    head = f"{whole.title} ({', '.join([*divisions, ' '.join([ranks, *host])])})"
    lines: list[str] = []
    for together in range(found.shown + 1, 0, -1):
        lines = [head, *_lines(whole, 1, found.shown, together)]
        if len(lines) <= MOST_LINES:
            return lines
    return [*lines[: MOST_LINES - 1], f"  … {len(lines) - MOST_LINES + 1:,} more"]


def rank_list(ranks: Sequence[int]) -> str:
    """Ranks as ranges: "ranks 0-7,12", "rank 3"."""
    return f"{level_noun('rank', len(ranks))} {_ranges(ranks)}"


def _lines(group: Group, depth: int, shown: int, together: int) -> Iterator[str]:
    """The parts of a group, which are at `depth`; those of one form together from the depth `together` on."""
    if depth > shown:
        return
    indent = "  " * depth
    if depth < together:
        for part in group.parts:
            uniform = depth + 1 >= together and len({below.inside for below in part.parts}) == 1
            closed = depth == shown or uniform
            yield f"{indent}{_line(part, with_inside=closed)}"
            if not closed:
                yield from _lines(part, depth + 1, shown, together)
        return
    forms: dict[str, list[Group]] = {}
    for part in group.parts:
        forms.setdefault(part.inside, []).append(part)
    for inside, alike in forms.items():
        if len(alike) == 1:
            yield f"{indent}{_line(alike[0], with_inside=True)}"
            continue
        hosts = sorted({host for part in alike for host in part.hosts}, key=natural)
        where = f": {_short_hosts(hosts)}" if len(group.hosts) > 1 else ""
        yield f"{indent}{len(alike):,} × {level_noun(group.parts[0].level)} with {inside}{where}"


def _line(group: Group, with_inside: bool) -> str:
    inside = f" ({group.inside})" if with_inside and group.divided else ""
    if len(group.hosts) > 1:
        return f"{group.title}{inside}: {_short_hosts(group.hosts)}"
    ranks = rank_list(group.ranks)
    if len(ranks) > _LONGEST_LIST:
        ranks = f"{ranks[: ranks.rindex(',', 0, _LONGEST_LIST)]},… ({counted(len(group.ranks), 'rank')})"
    cpus = f", CPUs {group.cpus}" if group.cpus is not None and group.name not in group.hosts else ""
    return f"{group.title}{inside}: {ranks}{cpus}"


def _short_hosts(hosts: Sequence[str]) -> str:
    words = host_list(hosts)
    if len(words) <= _LONGEST_LIST or len(hosts) <= _SHOWN_OF_MANY:
        return words
    return f"{', '.join(hosts[:_SHOWN_OF_MANY])}, … ({len(hosts):,} hosts)"


def _from_to(counts: Sequence[int], level: str) -> str:
    least, most = min(counts), max(counts)
    return counted(most, level) if least == most else f"{least:,} to {most:,} {level_noun(level, 2)}"


def _ranges(numbers: Sequence[int]) -> str:
    """Rising numbers: "0-7,12"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def without_domain(hosts: Sequence[str]) -> dict[str, str]:
    """Each host's name without the domain that all of them are in."""
    domains = {host.partition(".")[2] for host in hosts}
    if len(domains) > 1 or any(host.partition(".")[0].isdigit() for host in hosts):
        return {host: host for host in hosts}
    return {host: host.partition(".")[0] for host in hosts}
