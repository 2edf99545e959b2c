# SPDX-License-Identifier: BSD-3-Clause
"""Checks the tree with pairs that did not make it, and measures more where they do not fit.

Every rank is measured with one more rank of each group around it. That says whether the pairs of a level are
alike, and finds the ranks that one odd message has put in the wrong place; as does the size of the groups:
where a rank is wrong one group lacks it, and another one has it too many. Ranks in doubt are measured with
some members of each group that they could be in.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

import numpy as np

from isochrone.adaptive.table import Pair, Table
from isochrone.detect.distance import Ints
from isochrone.detect.evidence import EVIDENCE, FEW, LEAST_STEP, MOST_ROUNDS
from isochrone.detect.judge import LEAST_SHARE
from isochrone.detect.levels import find_levels
from isochrone.detect.partitions import level_means, meeting_level
from isochrone.statistics import scatter


def check_tree(table: Table, random: np.random.Generator) -> Generator[Sequence[Pair], None, list[Ints]]:
    """Asks for pairs that check the tree, then for those of ranks in doubt, until there are none. Nothing is
    asked for that was measured before.

    Returns:
        The group of each rank at each level, [rank], outermost first.
    """
    # Before each rank has pairs at each level, these alone would say too little.
    levels = list(find_levels(table.distances, filled=True))
    if sample := table.missing(_sample(levels, table, random)):
        yield sample
    asked: set[int] = set()
    for _ in range(MOST_ROUNDS):
        levels = list(find_levels(table.distances))
        misfits, odd = _misfits(table, levels), _of_odd_size(levels)
        doubtful = (misfits | odd.keys()) - asked
        asked |= doubtful
        missing = table.missing(
            [
                pair
                for rank in sorted(doubtful)
                for pair in _candidates(levels, rank, {} if rank in misfits else odd[rank], random)
            ]
        )
        if not missing:
            break
        yield missing
    return levels


def _sample(levels: Sequence[Ints], table: Table, random: np.random.Generator) -> list[Pair]:
    """For each rank and level one pair that was not measured, if there is one."""
    pairs = []
    for rank in range(table.ranks):
        inner = np.arange(table.ranks) == rank
        for labels in reversed(levels):
            outer = labels == labels[rank]
            left = np.flatnonzero(outer & ~inner & ~table.with_rank(rank))
            if len(left):
                pairs.append((rank, int(random.choice(left))))
            inner = outer
    return pairs


def _of_odd_size(levels: Sequence[Ints]) -> dict[int, dict[int, Ints]]:
    """Ranks in groups that differ in size from nearly all groups of their level, or, where sizes differ, are
    at most half as large as is usual. For each the levels where all groups but few have one size, by their
    number, and these few: what one of them lacks another one has.
    """
    found: dict[int, dict[int, Ints]] = {}
    for level, labels in enumerate(levels[1:], start=1):
        sizes = np.bincount(labels)[labels]
        odd = sizes != np.argmax(np.bincount(sizes))
        few = {level: np.unique(labels[odd])}
        # So few may have another size than all others by mishap.
        if np.count_nonzero(odd) > LEAST_SHARE * len(labels):
            odd = 2 * sizes <= np.median(sizes)
            few = {}
        for rank in np.flatnonzero(odd).tolist():
            found.setdefault(rank, {}).update(few)
    return found


def _misfits(table: Table, levels: Sequence[Ints]) -> set[int]:
    """Ranks with pairs that are much likelier of another level than of their own: for each pair the one that
    has more of them.
    """
    found = table.distances
    means = level_means(found, levels)
    i, j = found.first, found.second
    meets = meeting_level(levels, i, j)
    off = np.abs(found.log_s[:, None] - means[None, :])
    own = off[np.arange(len(meets)), meets]
    width = max(scatter(found.log_s - means[meets]), table.noise)
    wrong = own**2 - np.min(off, axis=1) ** 2 > max(2 * EVIDENCE * width**2, LEAST_STEP**2)
    count = np.bincount(i[wrong], minlength=table.ranks) + np.bincount(j[wrong], minlength=table.ranks)
    total = np.bincount(i, minlength=table.ranks) + np.bincount(j, minlength=table.ranks)
    share = count / np.maximum(total, 1)
    return {int(a if share[a] >= share[b] else b) for a, b in zip(i[wrong], j[wrong], strict=True)}


def _candidates(
    levels: Sequence[Ints], rank: int, only: Mapping[int, Ints], random: np.random.Generator
) -> list[Pair]:
    """Pairs of a rank with members of all groups that are in a group with it; of a level in `only` of those
    groups.
    """
    pairs = []
    around = np.full(len(levels[0]), True)
    for level, labels in enumerate(levels):
        groups = np.unique(labels[around])
        for group in np.intersect1d(groups, only[level]) if level in only else groups:
            others = random.permutation(np.setdiff1d(np.flatnonzero(labels == group), rank))[:FEW]
            pairs += [(rank, int(other)) for other in others]
        around = labels == labels[rank]
    return pairs
