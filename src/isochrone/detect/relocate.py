# SPDX-License-Identifier: BSD-3-Clause
"""Moves places to the groups that their distances fit best, given what each level's distances are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.distance import Booleans, Floats, Ints
from isochrone.detect.partitions import meeting

_MOST_ROUNDS = 50

# Gains below this share of the cost are rounding.
_LEAST_GAIN = 1e-9


def relocate(log_s: Floats, known: Booleans, levels: Sequence[Ints]) -> list[Ints]:
    """The levels after every place has moved to the innermost group, and so to all around it, that it fits
    best.

    A place fits a group if the logarithms of its distances to all other places are near the median of the
    level that they would meet at. What counts is the sum of absolute differences, as in k-medians: squares
    would let one message that was held up outweigh all others.

    Args:
        log_s: [place, place], logarithms of distances.
        known: [place, place], which of them count.
        levels: partitions, outermost first, each a refinement of the one before.
    """
    path = np.stack(levels)
    weight = (known & ~np.eye(len(known), dtype=bool)).astype(np.float64)
    for _ in range(_MOST_ROUNDS):
        moved = _move(path, weight, log_s)
        if moved is None:
            break
        path = moved
    return _distinct(path)


def _move(path: Ints, weight: Floats, mean: Floats) -> Ints | None:
    """[level, place] after the best moves that do not upset each other; None where no place gains by one."""
    medians = _level_medians(meeting(path), weight, mean)
    if medians is None:
        return None
    _, members, group = np.unique(path[-1], return_index=True, return_inverse=True)
    between = meeting(path[:, members])
    membership = (group[:, None] == np.arange(len(members))[None, :]).astype(float)
    cost = np.zeros_like(membership)
    for level, median in enumerate(medians):
        cost += (weight * np.abs(mean - median)) @ membership @ (between == level).T
    best = np.argmin(cost, axis=1)
    everyone = np.arange(len(group))
    gain = cost[everyone, group] - cost[everyone, best]
    gaining = np.flatnonzero(gain > _LEAST_GAIN * np.sum(weight * np.abs(mean - medians[0]), axis=1))
    # Partners that move at once may swap places for ever: one move for each group that is touched.
    touched: set[int] = set()
    result = path.copy()
    for place in gaining[np.argsort(-gain[gaining], kind="stable")]:
        groups = {int(group[place]), int(best[place])}
        if not touched & groups:
            touched |= groups
            result[:, place] = path[:, members[best[place]]]
    return result if touched else None


def _level_medians(meets: Ints, weight: Floats, mean: Floats) -> list[float] | None:
    """Median logarithm of the distances at each level; None where there are no two levels to choose
    between.
    """
    measured = weight > 0
    medians: list[float] = []
    filled = 0
    for level in range(int(meets.max()) + 1):
        here = mean[(meets == level) & measured]
        filled += len(here) > 0
        # A level whose groups are single places has no distances; it is as near as the one around it.
        medians.append(
            float(np.median(here)) if len(here) else medians[-1] if medians else float(np.max(mean))
        )
    return medians if filled > 1 else None


def _distinct(path: Ints) -> list[Ints]:
    """The partitions with groups numbered from 0, without those that are the same as the one before."""
    result: list[Ints] = []
    for labels in path:
        numbered = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        if not result or numbered.max() > result[-1].max():
            result.append(numbered)
    return result
