# SPDX-License-Identifier: BSD-3-Clause
"""What mapped ranks send one another, as numbers to draw: on the page, and in the figures' files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone.files import LevelTraffic
from isochrone.mapping.graph import TaskGraph
from isochrone.report.ticks import Ticks, byte_ticks
from isochrone.words import capitalised, level_noun

Groups = Sequence[Sequence[int]]
"""[level][place], the number of the group of each place, outermost level first."""


@dataclass(frozen=True, eq=False)
class Sent:
    """What ranks send one another.

    Attributes:
        order: [position], the rank there, by place.
        found, mapped: [sender, receiver], bytes, with ranks in their order, and by place.
        outlines: [level], the corners along the diagonal, in cells, of what is outlined in ``mapped``: groups
            of several cells, but not of all.
        low_bytes, high_bytes: the least and the most that is sent.
    """

    order: NDArray[np.int64]
    found: NDArray[np.float64]
    mapped: NDArray[np.float64]
    outlines: tuple[tuple[tuple[float, float], ...], ...]
    low_bytes: int
    high_bytes: int
    ticks: Ticks

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.order)

    @property
    def side(self) -> int:
        """Of the matrices, in cells."""
        return len(self.found)


@dataclass(frozen=True)
class Share:
    """What meets at a level: bytes with ranks in their order and mapped, and ratios of all bytes."""

    title: str
    before_bytes: int
    after_bytes: int
    before: float
    after: float


def sent(tasks: TaskGraph | None, groups: Groups, at: Sequence[int], most_cells: int) -> Sent | None:
    """What there is to draw; None where nothing is sent, or known of it.

    Args:
        tasks: what ranks send.
        groups: of the places.
        at: [rank], its place.
        most_cells: on a side of a matrix; more ranks than that share cells.
    """
    if tasks is None or not tasks.volume_bytes.any():
        return None
    order = by_place(groups, at)
    found, mapped = (byte_matrix(tasks, ranks, most_cells) for ranks in (np.arange(tasks.ranks), order))
    some = np.concatenate([matrix[matrix > 0] for matrix in (found, mapped)])
    low_bytes, high_bytes = int(some.min()), int(some.max())
    cells = len(found) / tasks.ranks
    outlines = tuple(
        tuple(
            (start * cells, end * cells)
            for start, end in runs
            if (end - start) * cells > 1 and end - start < tasks.ranks
        )
        for runs in blocks_by_place(groups, at)
    )
    ticks = byte_ticks(low_bytes, high_bytes)
    return Sent(order, found, mapped, outlines, low_bytes, high_bytes, ticks)


def shares(levels: Sequence[LevelTraffic]) -> tuple[Share, ...]:
    """The levels at which anything meets, in their order."""
    met = [level for level in levels if level.before_bytes or level.after_bytes]
    total = max(1, sum(level.before_bytes for level in met))
    return tuple(
        Share(
            capitalised(level_noun(level.name)),
            level.before_bytes,
            level.after_bytes,
            level.before_bytes / total,
            level.after_bytes / total,
        )
        for level in met
    )


def byte_matrix(graph: TaskGraph, order: NDArray[np.int64], most_cells: int) -> NDArray[np.float64]:
    """[sender, receiver], bytes, with ranks in this order; with more ranks than cells, several share one."""
    side = min(graph.ranks, most_cells)
    cell = np.empty(graph.ranks, np.int64)
    cell[order] = np.arange(graph.ranks) * side // graph.ranks
    found = np.bincount(
        cell[graph.sources] * side + cell[graph.targets], graph.volume_bytes.astype(np.float64), side * side
    )
    return np.asarray(found, dtype=np.float64).reshape(side, side)


def by_place(groups: Groups, at: Sequence[int]) -> NDArray[np.int64]:
    """The ranks with those of every group of every level together, groups in the order of their least place.

    Args:
        groups: of the places.
        at: [rank], its place.
    """
    place = np.asarray(at, dtype=np.int64)
    keys = [place]
    for labels in reversed(groups):
        _, first, inverse = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
        keys.append(first[inverse][place])
    return np.lexsort(keys).astype(np.int64)


def blocks_by_place(groups: Groups, at: Sequence[int]) -> list[list[tuple[int, int]]]:
    """[level], the first and the end of each group's run of ranks in their order by place."""
    place = np.asarray(at, dtype=np.int64)[by_place(groups, at)]
    found = []
    for labels in groups:
        here = np.asarray(labels)[place]
        starts = [0, *(int(i) + 1 for i in np.flatnonzero(np.diff(here)))]
        found.append(list(zip(starts, [*starts[1:], len(here)], strict=True)))
    return found
