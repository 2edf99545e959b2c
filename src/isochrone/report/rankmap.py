# SPDX-License-Identifier: BSD-3-Clause
"""A mapping of a program's ranks, at the places of the topology that a report is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from isochrone.files import Graph, MappingFile, Topology, distinct_places
from isochrone.mapping.graph import TaskGraph
from isochrone.report.traffic import Share, shares


@dataclass(frozen=True, eq=False)
class RankMap:
    """A mapping that fits the topology.

    Attributes:
        file: as it is kept.
        at: [rank], the number of the surveyed rank at whose place it goes.
        graph: what the ranks send one another; None where that is not here, or not what was mapped.
    """

    file: MappingFile
    at: tuple[int, ...]
    graph: Graph | None

    @property
    def rank_count(self) -> int:
        """Number of the program's ranks."""
        return len(self.at)

    @cached_property
    def tasks(self) -> TaskGraph | None:
        """All messages; None where they are not known, or there are none."""
        if self.graph is None:
            return None
        tasks = self.graph.task_graph()
        return tasks if tasks.volume_bytes.any() else None

    @property
    def shares(self) -> tuple[Share, ...]:
        """What meets at each level, outermost first."""
        return shares(self.file.levels)


def at_places(mapping: MappingFile, topology: Topology) -> tuple[int, ...] | None:
    """[rank], the number of the surveyed rank whose place it has; None where the mapping has other places or
    levels, or more ranks at a place than were surveyed there.
    """
    names = [level.name for level in mapping.levels]
    if names and names != [*(level.name for level in topology.levels), "place"]:
        return None
    # Where only the form of a tree was known, there are none.
    if not mapping.places or not mapping.identity:
        return None
    _, numbers = distinct_places((*topology.places, *mapping.identity, *mapping.places))
    known = len(topology.places)
    if max(numbers) >= known:
        return None
    free: list[list[int]] = [[] for _ in topology.places]
    for surveyed, place in reversed(list(enumerate(topology.ranks))):
        free[place].append(surveyed)
    return _taken(free, numbers[known + len(mapping.identity) :])


def _taken(free: list[list[int]], places: Sequence[int]) -> tuple[int, ...] | None:
    at = []
    for place in places:
        if not free[place]:
            return None
        at.append(free[place].pop())
    return tuple(at)
