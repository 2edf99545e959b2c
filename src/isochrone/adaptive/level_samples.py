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
from isochrone.detect.partitions import meeting_level


def level_samples(levels: Sequence[Ints], random: np.random.Generator) -> list[Pair]:
    """For each level some pairs that meet there, in different groups and of different ranks where there are
    such.

    Args:
        levels: the group of each rank at each level, [rank], outermost first.
        random: chooses them.
    """
    i, j = np.triu_indices(len(levels[0]), 1)
    meets = meeting_level(levels, i, j)
    chosen: list[Pair] = []
    used = np.zeros(len(levels[0]), dtype=bool)
    for level, labels in enumerate(levels):
        here = random.permutation(np.flatnonzero(meets == level))
        seen = np.zeros(len(levels[0]), dtype=bool)  # groups
        for _ in range(min(FEW, len(here))):
            low, high = i[here], j[here]
            best = int(np.argmin(1 * used[low] + used[high] + seen[labels[low]]))
            chosen.append((int(low[best]), int(high[best])))
            used[[low[best], high[best]]] = seen[labels[low[best]]] = True
            here = np.delete(here, best)
    return chosen


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


def members(groups: Sequence[Hashable]) -> list[list[int]]:
    """The ranks of each group, given the group of each rank; the group of the least rank first."""
    found: dict[Hashable, list[int]] = {}
    for rank, group in enumerate(groups):
        found.setdefault(group, []).append(rank)
    return list(found.values())
