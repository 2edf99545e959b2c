# SPDX-License-Identifier: BSD-3-Clause
"""The places of a target that a study puts ranks on, and the topology of those that take part.

What is known of the places comes from the target (a simulation and a lab know their levels) or from host
names and hwloc; nothing is probed.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isochrone import _core
from isochrone.detect.hardware import hardware_partitions
from isochrone.detect.known import host_partitions
from isochrone.detect.partitions import numbered, refines
from isochrone.errors import UsageError
from isochrone.files import Level, Place, Topology, distinct_places, provenance
from isochrone.lab.target import LabTarget
from isochrone.launch.target import Target
from isochrone.sim.system import cores_of_ranks, node_name
from isochrone.sim.target import SimTarget
from isochrone.words import level_noun

GIVEN, CORE, SOCKET, NODE = "given", "core", "socket", "node"
"""Placements: the target's own, and Open MPI's ``--map-by``: node after node; the same, but dealt out to the
sockets of each node in turn; dealt out to the nodes in turn."""
SCATTERED, ALIKE = "scattered", "alike"
"""With a number, ``scattered-2``: node after node, the nodes in one of the random orders that a job may get
them in. ``alike-2``: in the same order, where all cables of a simulation are as they should be."""


@dataclass(frozen=True, order=True)
class Arrangement:
    """How many ranks take part, and where they are.

    Attributes:
        placement: ``given``, ``core``, ``socket``, ``node``, ``scattered-N`` or ``alike-N``.
        per_node: so many on each of as few nodes as that takes; None: as many as fit.
    """

    placement: str
    ranks: int
    per_node: int | None = None


@dataclass(frozen=True)
class Machine:
    """A target and the places of its ranks.

    Attributes:
        places: [rank] of the target as it is.
        levels: name and [rank] group of each level that is known, outermost first; one of them is ``node``.
        seats: [rank], what tells places apart where ranks may be put anywhere: numbers of cores of a
            simulation, of hosts of a lab; empty where they cannot be.
    """

    target: Target
    places: tuple[Place, ...]
    levels: tuple[tuple[str, tuple[int, ...]], ...]
    seats: tuple[int, ...]

    @property
    def size(self) -> int:
        """Ranks that there are places for."""
        return len(self.places)

    @cached_property
    def _label(self) -> dict[str, tuple[int, ...]]:
        return dict(self.levels)

    @property
    def nodes(self) -> int:
        """How many there are."""
        return len(set(self._label[NODE]))

    @property
    def per_node(self) -> int:
        """Places of the node that has fewest."""
        return int(np.bincount(self._label[NODE]).min())

    def placements(self) -> tuple[str, ...]:
        """Those that differ here."""
        if not self.seats:
            return (GIVEN,)
        candidates = [CORE]
        sockets = self._label.get(SOCKET, ())
        if sockets and len(set(sockets)) > self.nodes:
            candidates.append(SOCKET)
        if 1 < self.nodes < self.size:
            candidates.append(NODE)
        return tuple(candidates)

    def ranks_of(self, arrangement: Arrangement) -> tuple[int, ...]:
        """Which of the target's own ranks have the places of an arrangement, in its order.

        Raises:
            UsageError: it has more ranks than there are places.
        """
        order = self._order(arrangement.placement)
        if arrangement.per_node is not None:
            nodes = self._label[NODE]
            rising = self._order(CORE)
            turn = _turns(rising, nodes)
            wanted = list(dict.fromkeys(nodes[rank] for rank in rising))
            wanted = wanted[: -(-arrangement.ranks // arrangement.per_node)]
            order = [rank for rank in order if nodes[rank] in wanted and turn[rank] < arrangement.per_node]
        if not 1 <= arrangement.ranks <= len(order):
            raise UsageError(
                f"{arrangement.ranks} ranks are asked for, and there are places for {len(order)}",
                "--ranks",
                f"ask for 2 to {len(order)}",
            )
        return tuple(order[: arrangement.ranks])

    def target_for(self, arrangement: Arrangement) -> Target:
        """The target with the ranks of an arrangement, or the whole one where it cannot move any."""
        ranks = self.ranks_of(arrangement)
        seats = [self.seats[rank] for rank in ranks] if self.seats else []
        if isinstance(self.target, SimTarget):
            placed = self.target.arranged(seats)
            return placed.without_faults() if arrangement.placement.startswith(ALIKE) else placed
        if isinstance(self.target, LabTarget):
            return self.target.arranged(seats, arrangement.placement)
        return self.target

    def members_of(self, arrangement: Arrangement) -> str:
        """Who takes part of the ranks that ``target_for`` starts: empty for all of them."""
        all_start = bool(self.seats) or arrangement.ranks == self.size
        return "" if all_start else f"0-{arrangement.ranks - 1}" if arrangement.ranks > 1 else "0"

    def topology_of(self, arrangement: Arrangement) -> Topology:
        """The topology of the ranks that ``target_for`` starts; its levels have no link parameters."""
        ranks = range(self.size) if self.members_of(arrangement) else self.ranks_of(arrangement)
        places, place_of = distinct_places(self.places[rank] for rank in ranks)
        levels = []
        for name, labels in self._nested(ranks):
            groups: dict[int, dict[int, None]] = {}
            for label, place in zip(labels, place_of, strict=True):
                groups.setdefault(label, {})[place] = None
            levels.append(Level(name, tuple(tuple(sorted(group)) for group in groups.values()), None, None))
        return Topology(places, place_of, tuple(levels), provenance=provenance())

    def layout_of(self, arrangement: Arrangement) -> _core.Layout:
        """The groups of the ranks that take part."""
        levels = self._nested(self.ranks_of(arrangement))
        names, labels = [name for name, _ in levels], [labels for _, labels in levels]
        return _core.layout(names, labels, [None] * len(names))

    def region_of(self, arrangement: Arrangement) -> str:
        """The innermost that holds all ranks of an arrangement: "inside a socket", "across nodes"."""
        levels = self._nested(self.ranks_of(arrangement))
        at = max(number for number, (_, labels) in enumerate(levels) if max(labels) == 0)
        whole = levels[at][0]
        if at == 0 and whole != NODE:
            return f"across {level_noun(levels[1][0], 2)}"
        article = "an" if level_noun(whole)[0] in "LN" else "a"
        return f"inside {article} {level_noun(whole)}"

    def boundaries(self) -> list[int]:
        """Numbers of ranks at which one more, core after core, goes into another group of some level."""
        order = self._order(self.placements()[0])
        found = set()
        for _, labels in self.levels:
            first = labels[order[0]]
            found.add(next((at for at, rank in enumerate(order) if labels[rank] != first), self.size))
        return sorted(found - {1, self.size})

    def _order(self, placement: str) -> list[int]:
        own = list(range(self.size))
        if placement == GIVEN:
            return own
        rising = sorted(own, key=lambda rank: self.seats[rank])
        if placement == CORE:
            return rising
        nodes, sockets = self._label[NODE], self._label.get(SOCKET, self._label[NODE])
        kind, _, draw = placement.partition("-")
        if kind in (SCATTERED, ALIKE):
            places = list(range(self.nodes))
            random.Random(int(draw)).shuffle(places)  # noqa: S311 - for repetition, not for secrets
            return sorted(rising, key=lambda rank: places[nodes[rank]])
        node_turn = _turns(rising, nodes)
        socket_turn = _turns(rising, sockets)
        if placement == NODE:
            return sorted(rising, key=lambda rank: node_turn[rank])
        first = {nodes[rank]: at for at, rank in reversed(list(enumerate(rising)))}
        return sorted(rising, key=lambda rank: (first[nodes[rank]], socket_turn[rank]))

    def _nested(self, ranks: Sequence[int]) -> list[tuple[str, list[int]]]:
        """The levels among some ranks, numbered anew, after one of all."""
        named = {name for name, _ in self.levels}
        one_node = len({self._label[NODE][rank] for rank in range(self.size)}) == 1
        whole = NODE if one_node else "site" if "machine" in named else "machine"
        levels = [(whole, [0] * len(ranks))]
        for name, labels in self.levels:
            if name != whole:
                levels.append((name, numbered([labels[rank] for rank in ranks]).tolist()))
        return levels


def _turns(order: Sequence[int], labels: Sequence[int]) -> dict[int, int]:
    """For each rank how many before it, in this order, are of its group."""
    count: dict[int, int] = defaultdict(int)
    turns = {}
    for rank in order:
        turns[rank] = count[labels[rank]]
        count[labels[rank]] += 1
    return turns


def simulated_machine(target: SimTarget) -> Machine:
    """The machine of a simulated cluster."""
    system = target.system
    cores = tuple(cores_of_ranks(system))
    places = []
    for core in cores:
        node, index = divmod(core, system.cores_per_node)
        places.append(Place(node_name(system, node), str(index), "simulated"))
    return Machine(target, tuple(places), _levels(places, target.truth or {}), cores)


def machine_of(target: Target, places: Sequence[Place]) -> Machine:
    """The machine of any other target, whose ranks said at which places they are."""
    known: dict[str, Sequence[Hashable]] = {
        each.name: each.labels.tolist() for each in host_partitions(places)
    }
    known |= hardware_partitions(places)
    known |= target.truth or {}
    seats = target.ranks.hosts if isinstance(target, LabTarget) else ()
    return Machine(target, tuple(places), _levels(places, known), tuple(seats))


def _levels(
    places: Sequence[Place], known: dict[str, Sequence[Hashable]] | dict[str, list[int]]
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The partitions that nest, outermost first; nodes by host where nobody says otherwise."""
    by_name = {name: numbered(labels) for name, labels in known.items()}
    by_name.setdefault(NODE, numbered([place.host for place in places]))
    chosen = [(NODE, by_name.pop(NODE))]
    for name, labels in sorted(by_name.items(), key=lambda item: int(item[1].max())):
        inner = all(refines(labels, one) or refines(one, labels) for _, one in chosen)
        if inner and all(len(set(labels)) != len(set(one)) for _, one in chosen):
            chosen.append((name, labels))
    chosen.sort(key=lambda item: int(item[1].max()))
    return tuple((name, tuple(labels.tolist())) for name, labels in chosen if _tells(name, labels.tolist()))


def _tells(name: str, labels: Sequence[int]) -> bool:
    """Whether a level is neither one group nor all single ranks; nodes are always told of."""
    return name == NODE or 0 < max(labels) < len(labels) - 1
