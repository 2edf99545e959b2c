# SPDX-License-Identifier: BSD-3-Clause
"""The merge tree of the ranks as a drawing: where its brackets stand, and which level each belongs to."""

from __future__ import annotations

import math
from dataclasses import dataclass

from isochrone.files import Topology
from isochrone.report.ticks import Ticks, time_ticks
from isochrone.statistics import FloatArray


@dataclass(frozen=True)
class Merge:
    """A bracket over two branches: `left_x`, `right_x` along the leaves 0, 1, 2, …, heights in seconds.

    `level` is the index of the innermost level that has all ranks below the bracket in one group; `first` and
    `last` are the outermost leaves below it.
    """

    level: int
    first: int
    last: int
    left_x: float
    right_x: float
    left_s: float
    right_s: float
    height_s: float


@dataclass(frozen=True)
class Cut:
    """Where the tree is cut into the groups of a level: the index of the level, and the height in seconds."""

    level: int
    height_s: float


@dataclass(frozen=True)
class MergeTree:
    """The brackets, lowest first, and the cuts, outermost first; leaves stand at `floor_s`.

    `ranks` is the rank of each leaf, from left to right.
    """

    ranks: tuple[int, ...]
    merges: tuple[Merge, ...]
    cuts: tuple[Cut, ...]
    floor_s: float

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return len(self.ranks)

    @property
    def top_s(self) -> float:
        """The upper end of an axis that shows all of it."""
        return max(merge.height_s for merge in self.merges) * 1.12

    @property
    def ticks(self) -> Ticks:
        """Of that axis, in seconds."""
        return time_ticks(self.floor_s, self.top_s)


def merge_tree(linkage: FloatArray, topology: Topology) -> MergeTree | None:
    """Lays out a SciPy `linkage` of the ranks; None for a single rank.

    Of two branches the one that holds the least rank stands left. A cut lies half-way, by ratio, between the
    highest bracket within the groups of its level and the lowest above; a level whose brackets overlap with
    those above has no height at which one straight line would cut it, and gets none. Raises ValueError for a
    linkage of another number of ranks.

    Args:
        linkage: shape `[ranks - 1, 4]`, heights in seconds.
        topology: names the group of each rank at each level.
    """
    count = len(topology.ranks)
    if len(linkage) != count - 1:
        raise ValueError(f"a linkage of {len(linkage) + 1} ranks for a topology of {count}")
    if count < 2:
        return None
    floor = min((float(height) for height in linkage[:, 2] if height > 0), default=1e-9) * 0.8
    labels = [topology.labels(level) for level in topology.levels]
    common: list[tuple[int | None, ...]] = list(zip(*labels, strict=True))
    least, heights = list(range(count)), [floor] * count
    children: list[tuple[int, int]] = []
    for row in linkage:
        left, right = sorted((int(row[0]), int(row[1])), key=lambda node: least[node])
        children.append((left, right))
        least.append(least[left])
        heights.append(max(float(row[2]), floor))
        common.append(tuple(a if a == b else None for a, b in zip(common[left], common[right], strict=True)))
    x = _positions(children, count)
    first, last = [round(position) for position in x[:count]], [round(position) for position in x[:count]]
    merges = []
    for node, (left, right) in enumerate(children, start=count):
        level = sum(label is not None for label in common[node]) - 1
        first.append(first[left])
        last.append(last[right])
        merges.append(
            Merge(
                level,
                first[node],
                last[node],
                x[left],
                x[right],
                heights[left],
                heights[right],
                heights[node],
            )
        )
    ranks = tuple(sorted(range(count), key=lambda rank: x[rank]))
    return MergeTree(ranks, tuple(merges), _cuts(merges, len(topology.levels)), floor)


def _positions(children: list[tuple[int, int]], count: int) -> list[float]:
    """The position of every node, leaves from left to right.

    Without recursion: a tree may be as deep as it has leaves.
    """
    x = [0.0] * (count + len(children))
    placed = 0
    stack = [count + len(children) - 1]
    while stack:
        node = stack.pop()
        if node < count:
            x[node] = float(placed)
            placed += 1
        else:
            left, right = children[node - count]
            stack += [right, left]
    for node, (left, right) in enumerate(children, start=count):
        x[node] = (x[left] + x[right]) / 2
    return x


def _cuts(merges: list[Merge], levels: int) -> tuple[Cut, ...]:
    cuts = []
    for level in range(1, levels):
        above = min((merge.height_s for merge in merges if merge.level < level), default=None)
        if above is None:
            continue
        below = max((merge.height_s for merge in merges if merge.level >= level), default=above / 1.25)
        if below < above:
            cuts.append(Cut(level, math.sqrt(below * above)))
    return tuple(cuts)
