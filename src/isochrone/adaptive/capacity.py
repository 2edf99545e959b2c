# SPDX-License-Identifier: BSD-3-Clause
"""What several pairs get together that leave one group at once: shared uplinks and network cards show.

For each level, one, two, four and more disjoint pairs send at once from one group of the level below to other
groups, until twice as many get no more. A pair alone cannot tell a link of its own from one that all share.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence

import numpy as np

from isochrone.adaptive.table import Pair
from isochrone.detect.distance import Ints
from isochrone.files.stream import Stream

# Twice the pairs that get less than so much more have found what there is.
_FLAT = 1.15

# Groups of a level that are tried: one might be out of order.
_GROUPS = 2

Streaming = Generator[Sequence[Pair], Stream, None]
"""Yields disjoint pairs, sender first; is sent what came of them."""


def streams(levels: Sequence[Ints], random: np.random.Generator) -> Streaming:
    """Asks for streams of pairs that leave groups of each level.

    Args:
        levels: the group of each rank at each level, [rank], outermost first.
        random: chooses groups and ranks.
    """
    for number, (outer, inner) in enumerate(itertools.pairwise(levels), 1):
        candidates = [
            group
            for group in random.permutation(np.unique(inner)).tolist()
            if np.any((inner != group) & (outer == outer[inner == group][0]))
        ]
        for group in candidates[:_GROUPS]:
            yield from _until_flat(_ways_out(outer, levels[number:], group, random))


def _until_flat(pairs: Sequence[Pair]) -> Streaming:
    rate = 0.0
    count = 1
    while True:
        found = (yield pairs[:count]).rate_bytes_per_s
        if found < _FLAT * rate or count == len(pairs):
            return
        rate = found
        count = min(2 * count, len(pairs))


def _ways_out(outer: Ints, inner: Sequence[Ints], group: int, random: np.random.Generator) -> list[Pair]:
    """Disjoint pairs from a group to the others around it, in an order in which no part of either side is
    what is short.

    Args:
        outer: the level around the group.
        inner: its own level and those within.
        group: of the first of these.
        random: orders what is alike.
    """
    senders = np.flatnonzero(inner[0] == group)
    receivers = np.flatnonzero((outer == outer[senders[0]]) & (inner[0] != group))
    return list(zip(_in_turn(senders, inner[1:], random), _in_turn(receivers, inner, random), strict=False))


def _in_turn(ranks: Ints, levels: Sequence[Ints], random: np.random.Generator) -> list[int]:
    """The ranks, one of each group of the outermost level after the other, and within these likewise."""
    shuffled = random.permutation(ranks)
    if not levels:
        return [int(rank) for rank in shuffled]
    groups = dict.fromkeys(levels[0][shuffled].tolist())
    parts = [_in_turn(shuffled[levels[0][shuffled] == group], levels[1:], random) for group in groups]
    return [rank for ranks in itertools.zip_longest(*parts) for rank in ranks if rank is not None]
