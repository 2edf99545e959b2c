# SPDX-License-Identifier: BSD-3-Clause
"""What several pairs get together that leave one group at once: shared uplinks and network cards show.

For each level, one, two, four and more disjoint pairs send at once from one group of the level below to other
groups, until twice as many get no more. A pair alone cannot tell a link of its own from one that all share.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from isochrone.adaptive.table import Pair
from isochrone.detect.distance import Ints
from isochrone.files.stream import Stream

# Twice the pairs that get less than so much more have found what there is.
_FLAT = 1.15

# Groups of a level that are tried: one might be out of order.
_GROUPS = 2

# Messages of a stream: at most so large, and as many as take about so long. Lesser ones fill no link.
_LEAST_BYTES, _MOST_BYTES = 1 << 16, 1 << 20
_STREAM_S = 0.02
_LEAST_MESSAGES, _MOST_MESSAGES = 4, 16

# Of a budget, which is for the pairs: where streams would take more, there are none.
_BUDGET_SHARE = 0.1

Measure = Callable[[Sequence[Pair]], Stream]
"""Has disjoint pairs send at once, sender first; returns what came of it."""


def measure_streams(levels: Sequence[Ints], random: np.random.Generator, measure: Measure) -> None:
    """Has streams measured of pairs that leave groups of each level.

    Args:
        levels: the group of each rank at each level, [rank], outermost first.
        random: chooses groups and ranks.
        measure: is called for one stream after the other.
    """
    for number, (outer, inner) in enumerate(itertools.pairwise(levels), 1):
        candidates = [
            group
            for group in random.permutation(np.unique(inner)).tolist()
            if np.any((inner != group) & (outer == outer[inner == group][0]))
        ]
        for group in candidates[:_GROUPS]:
            _until_flat(_ways_out(outer, levels[number:], group, random), measure)


def stream_bytes(sizes_bytes: Sequence[int]) -> int | None:
    """The message size of streams, of those that are measured; None where none of them would do."""
    return max((size for size in sizes_bytes if _LEAST_BYTES <= size <= _MOST_BYTES), default=None)


def stream_messages(message_s: float) -> int:
    """How many messages each pair of a stream sends, if one takes so long."""
    return int(np.clip(_STREAM_S / max(message_s, 1e-9), _LEAST_MESSAGES, _MOST_MESSAGES))


def streams_s(levels: Sequence[Ints], message_s: float) -> float:
    """What `measure_streams` takes at most, in seconds, if a message takes so long: where nothing is shared,
    and twice the pairs get twice as much.
    """
    asked: list[Sequence[Pair]] = []

    def get_all(pairs: Sequence[Pair]) -> Stream:
        asked.append(pairs)
        return Stream(tuple(pairs), 1, 1, (1.0,) * len(pairs))

    measure_streams(levels, np.random.default_rng(0), get_all)
    return len(asked) * stream_messages(message_s) * message_s


def within_budget(expected_s: float, budget_s: float | None) -> bool:
    """Whether there are streams, if they take so long, with that budget for the pairs or with none."""
    return budget_s is None or expected_s <= _BUDGET_SHARE * budget_s


def _until_flat(pairs: Sequence[Pair], measure: Measure) -> None:
    rate, count = 0.0, 1
    while (found := measure(pairs[:count]).rate_bytes_per_s) >= _FLAT * rate and count < len(pairs):
        rate, count = found, min(2 * count, len(pairs))


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
