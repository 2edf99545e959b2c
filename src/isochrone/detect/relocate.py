# SPDX-License-Identifier: BSD-3-Clause
"""Moves places to the groups that their distances fit best, given what each level's distances are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.distance import Floats, Ints
from isochrone.detect.effects import group_medians
from isochrone.detect.partitions import meeting_level
from isochrone.detect.place_pairs import PlacePairs

_MOST_CELLS = 1 << 22
"""Of places and groups whose costs are known at the same time."""


def relocate(pairs: PlacePairs, levels: Sequence[Ints]) -> list[Ints]:
    """The levels after every place has moved to the innermost group, and so to all around it, that it fits
    best.

    A place fits a group if the logarithms of its distances to all other places are near the median of the
    level that they would meet at. What counts is the sum of absolute differences, as in k-medians: squares
    would let one message that was held up outweigh all others.

    Args:
        pairs: the distances that count.
        levels: partitions, outermost first, each a refinement of the one before.
    """
    path = np.stack(levels)
    seen: set[bytes] = set()
    # Medians follow the moves: that they come back to where they were is not ruled out.
    while path.tobytes() not in seen:
        seen.add(path.tobytes())
        path = _move(path, *pairs.of_two)
    numbered = [np.unique(labels, return_inverse=True)[1].astype(np.int64) for labels in path]
    # Moves may make a level the same as the one around it.
    more = np.diff([labels.max() for labels in numbered], prepend=-1)
    return [labels for labels, groups in zip(numbered, more, strict=True) if groups > 0]


def _move(path: Ints, first: Ints, second: Ints, log_s: Floats) -> Ints:
    """[level, place] after the best moves that do not upset each other; as it is where no place gains."""
    medians = _level_medians(meeting_level(path, first, second), log_s, len(path))
    if medians is None:
        return path
    n = path.shape[1]
    _, members, group = np.unique(path[-1], return_index=True, return_inverse=True)
    row, column = np.concatenate([first, second]), np.concatenate([second, first])
    off = [np.abs(log_s - median) for median in medians]
    # What all pairs would cost at the outermost level is the same wherever a place is. With each group that
    # it has in common with another place, that pair is of a level further in.
    order = np.argsort(row, kind="stable")
    row, column, pair = row[order], column[order], order % len(first)
    best, change, change_of_best = np.empty(n, np.int64), np.empty(n), np.empty(n)
    some = max(1, _MOST_CELLS // len(members))
    for begin in range(0, n, some):  # of all places at once there may be gigabytes
        end = min(n, begin + some)
        part = slice(*np.searchsorted(row, [begin, end]))
        cost = np.zeros((end - begin, len(members)))
        for labels, inner, outer in zip(path[1:], off[1:], off, strict=False):
            count = int(labels.max()) + 1
            cell = (row[part] - begin) * count + labels[column[part]]
            changes = np.bincount(cell, (inner - outer)[pair[part]], minlength=len(cost) * count)
            cost += changes.reshape(len(cost), count)[:, labels[members]]
        here = np.arange(len(cost))
        best[begin:end] = np.argmin(cost, axis=1)
        change[begin:end] = cost[here, group[begin:end]]
        change_of_best[begin:end] = cost[here, best[begin:end]]
    whole = np.bincount(row, off[0][pair], minlength=n)
    own, better = whole + change, whole + change_of_best
    gain = own - better
    gaining = np.flatnonzero(~np.isclose(own, better))
    # Partners that move at once may swap places for ever: one move for each group that is touched.
    touched: set[int] = set()
    result = path.copy()
    for place in gaining[np.argsort(-gain[gaining], kind="stable")]:
        groups = {int(group[place]), int(best[place])}
        if not touched & groups:
            touched |= groups
            result[:, place] = path[:, members[best[place]]]
    return result


def _level_medians(meets: Ints, log_s: Floats, levels: int) -> Floats | None:
    """Median logarithm of the distances at each level; None where there are no two levels to choose
    between.
    """
    filled = np.bincount(meets, minlength=levels) > 0
    if np.count_nonzero(filled) < 2:
        return None
    medians = group_medians(meets, log_s, levels)
    # A level whose groups are single places has no distances; it is as near as the one around it.
    around = np.maximum.accumulate(np.where(filled, np.arange(levels), 0))
    return np.where(filled.cumsum() > 0, medians[around], log_s.max())
