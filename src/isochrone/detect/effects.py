# SPDX-License-Identifier: BSD-3-Clause
"""What each rank adds to all its messages, told from what a step between groups does."""

from __future__ import annotations

import numpy as np

from isochrone.detect.distance import Booleans, Floats, Ints
from isochrone.detect.evidence import MOST_ROUNDS

_ROUNDS = 10
"""Of reweighting: least absolute values are reached to within a per cent."""

_PULL = 1e-3
"""Towards no effect, in pairs of a rank: where an effect and a step cannot be told apart it decides, and
nowhere else."""

_SMALL = 0.2
"""Residuals below this share of their median weigh alike: else a pair that fits by chance outweighs all."""


def rank_effects(log_s: Floats, own: Booleans, across: Booleans) -> Floats:
    """[rank], the logarithm of what each adds: log_s[i, j] = r[i] + r[j] + one of two means, by whether the
    pair is within a group or across.

    Of four ranks, two in each of two groups, the sum of two distances within less that of two across has no
    effect in it: that tells a step (the four-point condition; Buneman 1971). The fit is by least absolute
    values, so that odd pairs have no say, as reweighted least squares.

    Args:
        log_s: [rank, rank], logarithms of distances.
        own, across: [rank, rank], symmetric, which pairs are within and across.
    """
    n = len(log_s)
    first, second = np.nonzero(np.triu(own | across, 1))
    values, kind = log_s[first, second], across[first, second].astype(np.int64)
    weight = np.ones(len(values))
    found: Floats = np.zeros(n + 2)
    for _ in range(_ROUNDS):
        of_kind = sum(np.bincount(2 * each + kind, weight, minlength=2 * n) for each in (first, second))
        of_kind = np.reshape(of_kind, (n, 2))
        system = np.zeros((n + 2, n + 2))
        system[first, second] = weight
        system[:n, n:] = of_kind
        system += system.T
        ranks, kinds = of_kind.sum(axis=1) + _PULL, of_kind.sum(axis=0) / 2 + 1e-12
        np.fill_diagonal(system, np.concatenate([ranks, kinds]))
        of_pair = weight * values
        ends = sum(np.bincount(each, of_pair, minlength=n) for each in (first, second))
        right = np.concatenate([ends, np.bincount(kind, of_pair, minlength=2)])
        before, found = found, np.asarray(np.linalg.solve(system, right), dtype=np.float64)
        left = np.abs(values - found[n + kind] - found[first] - found[second])
        least = max(_SMALL * float(np.median(left)), 1e-6)
        if np.abs(found - before).max() < _SMALL * least:
            break
        weight = 1 / np.maximum(left, least)
        weight /= weight.mean()
    effects: Floats = found[:n] - np.median(found[:n])
    return effects


def effects_around(first: Ints, second: Ints, log_s: Floats, meets: Ints, ranks: int) -> Floats:
    """[rank], the same where the levels are known: the median of what is left of each rank's distances.

    Args:
        first, second: [pair], two different ranks each.
        log_s: [pair], logarithms of distances.
        meets: [pair], the level at which the two meet.
        ranks: how many there are.
    """
    medians = np.zeros(int(meets.max(initial=0)) + 1)
    effects = np.zeros(ranks)
    of_rank = GroupMedians(np.concatenate([first, second]), ranks)
    for _ in range(MOST_ROUNDS if len(log_s) else 0):
        left = log_s - effects[first] - effects[second]
        for level in range(len(medians)):
            if (here := meets == level).any():
                medians[level] = np.median(left[here])
        of_pair = log_s - medians[meets]
        effects = of_rank(np.concatenate([of_pair - effects[second], of_pair - effects[first]]))
        effects[of_rank.has_any] -= np.median(effects[of_rank.has_any])
    return effects


class GroupMedians:
    """Medians of values by the group that each is of.

    Attributes:
        has_any: [group], whether it has a value.
    """

    def __init__(self, group: Ints, groups: int) -> None:
        """``group`` is that of each value, [value], of so many."""
        self._order = np.argsort(group, kind="stable")
        self._count = np.bincount(group, minlength=groups)
        self._start = np.cumsum(self._count) - self._count
        self.has_any: Booleans = self._count > 0
        # Rows as long as the longest of like length, for few groups may have nearly all values.
        self._alike = np.frexp(self._count)[1]

    def __call__(self, values: Floats) -> Floats:
        """[group], the medians; 0 of a group that has no value."""
        found: Floats = np.zeros(len(self._count))
        ordered = np.append(values[self._order], np.inf)
        for length in np.unique(self._alike[self.has_any]):
            rows = np.flatnonzero(self._alike == length)
            count = self._count[rows][:, None]
            column = np.arange(count.max())[None, :]
            cells = np.where(column < count, self._start[rows][:, None] + column, len(values))
            found[rows] = row_medians(ordered[cells], column < count)
        return found


def row_medians(values: Floats, known: Booleans) -> Floats:
    """[row], the median of the values that are known in each; 0 where none is."""
    ordered = np.sort(np.where(known, values, np.inf), axis=1)
    count = known.sum(axis=1)
    rows = np.arange(len(values))
    middle = ordered[rows, np.maximum(count - 1, 0) // 2] + ordered[rows, count // 2]
    return np.where(count > 0, middle / 2, 0.0)
