# SPDX-License-Identifier: BSD-3-Clause
"""Pairs that stand for all pairs of a level, and ranks that stand for all of a group."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence

import numpy as np

from isochrone.adaptive.table import Pair
from isochrone.detect.distance import Ints
from isochrone.detect.evidence import FEW
from isochrone.detect.partitions import members


def level_samples(levels: Sequence[Ints], random: np.random.Generator) -> list[Pair]:
    """For each level some pairs that meet there, in different groups and of different ranks where there are
    such.

    Args:
        levels: the group of each rank at each level, [rank], outermost first.
        random: chooses them.
    """
    ranks = np.arange(len(levels[0]))
    chosen: list[Pair] = []
    used = np.zeros(len(ranks), dtype=bool)
    for outer, inner in zip(levels, [*levels[1:], ranks], strict=True):
        shuffled = random.permutation(ranks)
        pairs = _some_pairs(outer, inner, shuffled[np.argsort(used[shuffled], kind="stable")])
        seen = np.zeros(len(ranks), dtype=bool)  # groups
        for _ in range(min(FEW, len(pairs))):
            low, high = pairs.T
            best = int(np.argmin(1 * used[low] + used[high] + seen[outer[low]]))
            chosen.append((int(pairs[best].min()), int(pairs[best].max())))
            used[pairs[best]] = seen[outer[pairs[best]]] = True
            pairs = np.delete(pairs, best, axis=0)
    return chosen


def _some_pairs(outer: Ints, inner: Ints, ranks: Ints) -> Ints:
    """[pair, 2], enough pairs of ranks that are together at one level and not at the next, out of the first
    of these ranks: all pairs would be too many to look at.
    """
    pairs: list[Pair] = []
    most = 2 * FEW
    groups = (ranks[each] for each in members(outer[ranks].tolist()))
    several = (group for group in groups if np.any(inner[group] != inner[group[0]]))
    for group in itertools.islice(several, most):
        parts = [group[each[:most]].tolist() for each in members(inner[group].tolist())[:most]]
        pairs += (pair for two in itertools.combinations(parts, 2) for pair in itertools.product(*two))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def share_of_groups(groups: Sequence[Hashable], share: float, seed: int) -> list[Pair]:
    """All pairs among some ranks of each group, chosen at random (the "fast" mode of Reinfjell 2023, section
    3.2).

    Args:
        groups: of each rank.
        share: of the ranks of each group, 0 to 1; at least one, and two where there is but one group.
        seed: of the choice.
    """
    random = np.random.default_rng(seed)
    parts = members(groups)
    least = 1 if len(parts) > 1 else 2
    chosen = [
        rank
        for ranks in parts
        for rank in random.permutation(ranks)[: max(least, math.ceil(share * len(ranks)))].tolist()
    ]
    return list(itertools.combinations(sorted(chosen), 2))
