# SPDX-License-Identifier: BSD-3-Clause
"""What has been measured so far, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from isochrone.detect.distance import scatter_of_least, spread_of

Floats = npt.NDArray[np.float64]
Pair = tuple[int, int]


class Table:
    """Distances of the pairs that were measured.

    Attributes:
        log_s: [rank, rank], logarithms of the distances in seconds, symmetric; NaN where not measured.
        spread: [rank, rank], how far the logarithm of the median is above them, likewise.
    """

    def __init__(self, ranks: int, repetitions: int) -> None:
        """``repetitions`` is the number of round trips of a pair, of which the least counts, where a pair
        does not say otherwise.
        """
        self.log_s: Floats = np.full((ranks, ranks), np.nan)
        self.spread: Floats = np.full((ranks, ranks), np.nan)
        self._spreads: list[float] = []
        self._repetitions = repetitions
        self._counts: list[int] = []

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.log_s)

    @property
    def pairs(self) -> int:
        """Number of pairs that were measured."""
        return int(np.count_nonzero(~np.isnan(self.log_s))) // 2

    @property
    def noise(self) -> float:
        """How far the logarithm of a distance scatters from message to message."""
        if not self._spreads:
            return 0.0
        return scatter_of_least(int(np.median(self._counts))) * float(np.median(self._spreads))

    def add(self, pair: Pair, least_s: float, median_s: float, repetitions: int | None = None) -> None:
        """Takes in a pair: the least and the median of the one-way times of its smallest message, seconds,
        and how many round trips they are of.
        """
        low, high = pair
        self.log_s[low, high] = self.log_s[high, low] = np.log(least_s)
        self._counts.append(self._repetitions if repetitions is None else repetitions)
        spread = float(spread_of(least_s, median_s))
        self.spread[low, high] = self.spread[high, low] = spread
        self._spreads.append(spread)

    def missing(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Those of the pairs that were not measured, each once, the lesser rank first, in their order."""
        wanted = dict.fromkeys((min(pair), max(pair)) for pair in pairs)
        return [(low, high) for low, high in wanted if low != high and np.isnan(self.log_s[low, high])]
