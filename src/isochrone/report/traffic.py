# SPDX-License-Identifier: BSD-3-Clause
"""What mapped ranks send one another, as numbers to draw: on the page, and in the figures' files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isochrone.mapping.graph import TaskGraph

Groups = Sequence[Sequence[int]]
"""[level][place], the number of the group of each place, outermost level first."""


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
