# SPDX-License-Identifier: BSD-3-Clause
"""The system graph: places for ranks, the tree of groups that they are in, and the links of each level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from isochrone import _core
from isochrone.errors import IsochroneError, UsageError
from isochrone.fabric.switches import Switches, tier_name
from isochrone.files import Links, Topology
from isochrone.files.fields import MOST_RANKS
from isochrone.files.place import Place
from isochrone.labels import numbered

_MOST_LEVELS = 32


@dataclass(frozen=True)
class System:
    """Places for ranks.

    Attributes:
        levels: their names, outermost first.
        groups: [level][place], the number of the group of each; the first level has one group, each of the
            others refines the one before.
        capacities: [place], how many ranks it holds.
        links: [level], of pairs that meet there; None where nothing was measured.
        places: [place], host and CPUs; empty where only the form of the tree is known.
        cores: that ranks at all places share; None where each has one of its own, or that is not known.
    """

    levels: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    capacities: tuple[int, ...]
    links: tuple[Links | None, ...]
    places: tuple[Place, ...] = ()
    cores: int | None = None

    @property
    def count(self) -> int:
        """Number of places."""
        return len(self.capacities)

    @property
    def is_measured(self) -> bool:
        """Whether the links of every level that pairs meet at are known."""
        return all(
            links is not None or max(_sizes(groups)) < 2
            for links, groups in zip(self.links, self.groups, strict=True)
        )

    def layout(self) -> _core.Layout:
        """The core's view of the places, in their order."""
        return _core.layout(
            self.levels,
            self.groups,
            [None if links is None else links.for_core for links in self.links],
        )

    def with_room_for(self, ranks: int, imbalance: float) -> System:
        """The same, where each place holds its share of so many ranks and `imbalance` (a ratio) more, as
        graph partitioners count it; unchanged where the places hold all as they are.
        """
        if ranks <= sum(self.capacities):
            return self
        most = max(math.ceil(ranks / self.count), int((1 + imbalance) * math.ceil(ranks / self.count)))
        return replace(self, capacities=(most,) * self.count)


def _sizes(labels: Sequence[int]) -> list[int]:
    found: dict[int, int] = {}
    for label in labels:
        found[label] = found.get(label, 0) + 1
    return list(found.values())


def system_of_topology(topology: Topology, cores: int | None = None) -> System:
    """A place for each rank that was surveyed, in the order of the ranks; `cores` as in `System`."""
    return System(
        levels=tuple(level.name for level in topology.levels),
        groups=tuple(topology.labels(level) for level in topology.levels),
        capacities=(1,) * len(topology.ranks),
        links=tuple(level.links for level in topology.levels),
        places=tuple(topology.places[place] for place in topology.ranks),
        cores=cores,
    )


def system_of_tree(arity: Sequence[int]) -> System:
    """Places of a regular tree.

    Args:
        arity: into how many each group is divided, innermost first: 4:8:6 are 6 groups of 8 groups of 4
            places.

    Raises:
        UsageError: a number below 1, or more places than can be.
    """
    if not arity or min(arity) < 1:
        raise UsageError("a tree needs whole numbers from 1", "--tree", "write the innermost first: 4:8:6")
    if len(arity) > _MOST_LEVELS:
        raise UsageError(f"a tree of {len(arity)} levels is too deep", "--tree", f"at most {_MOST_LEVELS}")
    count = 1
    for number in arity:
        count *= number
        # Before the product is longer than can be told.
        if count > MOST_RANKS:
            raise UsageError("a tree of so many places is too large", "--tree", f"at most {MOST_RANKS:,}")
    spans = [math.prod(arity[: len(arity) - level]) for level in range(len(arity))]
    return System(
        levels=tuple(f"level-{len(arity) - level}" for level in range(len(arity))),
        groups=tuple(tuple(place // span for place in range(count)) for span in spans),
        capacities=(1,) * count,
        links=(None,) * len(arity),
    )


def system_of_hosts(hosts: Sequence[tuple[str, int]], switches: Switches | None = None) -> System:
    """A place for each core of a list of hosts with their numbers of cores, in the list's order: levels of
    which nothing is measured, of the hosts and of the switches that they are below.

    Raises:
        IsochroneError: no host has a core, or one is below no switch.
    """
    owners = [number for number, (_, cores) in enumerate(hosts) for _ in range(cores)]
    if not owners:
        raise IsochroneError("no host has a core", "--hosts")
    tiers = switches.tiers([hosts[owner][0] for owner in owners]) if switches is not None else []
    names = [tier_name(number) for number in range(1, len(tiers) + 1)]
    groups = [tuple(numbered(tier)) for tier in tiers]
    return System(
        levels=("machine", *reversed(names), "node"),
        groups=((0,) * len(owners), *reversed(groups), tuple(owners)),
        capacities=(1,) * len(owners),
        links=(None,) * (len(tiers) + 2),
        places=tuple(Place(hosts[owner][0], None, "") for owner in owners),
    )


def on_hosts(system: System, hosts: Sequence[tuple[str, int]]) -> System:
    """The places of a system that are on some of its hosts, as many on each as it has cores there, in the
    order of the list.

    Raises:
        IsochroneError: a host is none of the system's, or has fewer places than that.
    """
    there: dict[str, list[int]] = {}
    for number, place in enumerate(system.places):
        there.setdefault(place.host, []).append(number)
    chosen: list[int] = []
    for host, cores in hosts:
        if host not in there:
            raise IsochroneError(
                f"{host!r} is no host of the topology",
                "--hosts",
                f"its hosts are {', '.join(sorted(there)[:4])}",
            )
        if cores > len(there[host]):
            raise IsochroneError(
                f"{host} has {len(there[host])} places in the topology, not {cores}",
                "--hosts",
                "probe with a rank on every core, or ask for fewer",
            )
        chosen += there[host][:cores]
    return replace(
        system,
        groups=tuple(tuple(numbered(groups[place] for place in chosen)) for groups in system.groups),
        capacities=tuple(system.capacities[place] for place in chosen),
        places=tuple(system.places[place] for place in chosen),
    )
