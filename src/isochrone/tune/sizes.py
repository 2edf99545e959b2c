# SPDX-License-Identifier: BSD-3-Clause
"""Which sizes are raced: few first, then those between two for which different recipes are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil

import numpy as np

SIZES_BYTES = (1, 13, 64, 511, 2048, 8193, 32768, 65536, 131071, 262144, 524287, 1048576, 2097153, 4194304)
"""1 B to 4 MiB, odd ones among them: at which collectives are timed and tuned where the user names none."""
FIRST = 5
"""Sizes of a collective that are raced first, its least and its largest among them: with 14 sizes from 1 B to
4 MiB each is about 20 times the one before, and winners seldom change more than once between two."""

EVERY = 3
"""Of the sizes, in the collectives after the first, and wherever there is no time for all."""


def first_of(sizes: Sequence[int], most: int = FIRST) -> tuple[int, ...]:
    """Some of the sizes, evenly over their list."""
    ordered = sorted(sizes)
    if len(ordered) <= most:
        return tuple(ordered)
    if most == 1:
        return (ordered[len(ordered) // 2],)
    step = (len(ordered) - 1) / (most - 1)
    return tuple(dict.fromkeys(ordered[round(at * step)] for at in range(most)))


def few_of(sizes: Sequence[int]) -> tuple[int, ...]:
    """About every third, the least and the largest among them."""
    return first_of(sizes, max(2, ceil(len(sizes) / EVERY)))


def between(winners: Mapping[int, str], sizes: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Sizes to race next, with the winners beside them: the middle of those between two neighbours that have
    another winner each.

    Args:
        winners: of the sizes that were raced.
        sizes: all that the collective is tuned at.
    """
    found = {}
    for low, high in pairwise(sorted(winners)):
        inside = [size for size in sorted(sizes) if low < size < high]
        if inside and winners[low] != winners[high]:
            found[inside[len(inside) // 2]] = (winners[low], winners[high])
    return found


def winner_at(winners: Mapping[int, str], size: int) -> str:
    """The winner of a size that was raced; of one that was not, that of the nearest raced one in the ratio
    of sizes, the smaller of two.
    """
    if size in winners:
        return winners[size]
    return winners[min(winners, key=lambda raced: (max(raced, size, 1) / max(1, min(raced, size)), raced))]


def rounds_of(raced: Sequence[int], sizes: Sequence[int]) -> int:
    """How often ``between`` may find something at most, where some of the sizes were raced."""
    inside = (sum(low < size < high for size in sizes) for low, high in pairwise(sorted(raced)))
    return max(inside, default=0).bit_length()


def time_at(times_s: Mapping[int, float], size_bytes: int) -> float | None:
    """What a call of a size takes, in seconds, by what those of other sizes take: between two on a line of
    logarithms; None beyond them.
    """
    sizes_bytes = sorted(times_s)
    if not sizes_bytes or not sizes_bytes[0] <= size_bytes <= sizes_bytes[-1]:
        return None
    logs = np.log([times_s[size] for size in sizes_bytes])
    return float(np.exp(np.interp(np.log1p(size_bytes), np.log1p(sizes_bytes), logs)))
