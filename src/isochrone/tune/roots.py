# SPDX-License-Identifier: BSD-3-Clause
"""The shapes that the roots of a communicator give it, and which roots stand for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isochrone import _core

MOST_SHAPES = 3


@dataclass(frozen=True)
class ShapeRoots:
    """Roots that give the communicator one shape: some to tune on, one to verify on; 0 where a collective has
    no root.
    """

    shape: str
    tuned: tuple[int, ...]
    verified: int


def shapes_of(layout: _core.Layout, tuned: int = 1, rooted: bool = True) -> list[ShapeRoots]:
    """The shapes that the roots give, the most frequent first, at most `MOST_SHAPES`; those of a single
    rank: none. Each has up to `tuned` roots to tune on, far from each other.
    A collective that is not `rooted` knows one shape.
    """
    if layout.size < 2:
        return []
    if not rooted:
        return [ShapeRoots(layout.shape(), (0,), 0)]
    roots: dict[str, list[int]] = {}
    for root, shape in enumerate(layout.shapes()):
        roots.setdefault(shape, []).append(root)
    frequent = sorted(roots.items(), key=lambda item: -len(item[1]))[:MOST_SHAPES]
    return [ShapeRoots(shape, _far_apart(layout, ranks, tuned), ranks[-1]) for shape, ranks in frequent]


def _far_apart(layout: _core.Layout, ranks: Sequence[int], count: int) -> tuple[int, ...]:
    """The first of some ranks, and up to `count` in all that share the fewest groups with those before; of
    equal ones not the first, which often has the first's part in a group as well.
    """
    chosen = [ranks[0]]
    while len(chosen) < min(count, len(ranks)):
        shared = {
            rank: max(sum(group[rank] == group[other] for group in layout.group_of) for other in chosen)
            for rank in ranks
            if rank not in chosen
        }
        farthest = [rank for rank, groups in shared.items() if groups == min(shared.values())]
        chosen.append(farthest[len(farthest) * 2 // 3])
    return tuple(chosen)
