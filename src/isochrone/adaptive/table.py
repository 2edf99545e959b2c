# SPDX-License-Identifier: BSD-3-Clause
"""What has been measured so far, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from isochrone.detect.distance import (
    Booleans,
    Distances,
    Floats,
    distances_between,
    scatter_of_least,
    spread_of,
)

Pair = tuple[int, int]


class Table:
    """Distances of the pairs that were measured.

    Attributes:
        ranks: how many there are.
    """

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        # Of each rank: the other of a pair, and the logarithm of the distance. Most pairs are missing.
        self._log_s: list[dict[int, float]] = [{} for _ in range(ranks)]
        self._spreads: dict[Pair, float] = {}
        self._counts: list[int] = []

    @property
    def distances(self) -> Distances:
        """What was measured."""
        first, second = np.array(list(self._spreads), dtype=np.int64).reshape(-1, 2).T
        spread = np.array(list(self._spreads.values()))
        log_s = np.array([self._log_s[low][high] for low, high in self._spreads])
        return distances_between(first, second, log_s, self.noise, self.ranks, spread=spread)

    @property
    def measured(self) -> list[Pair]:
        """The pairs that were measured, the lesser rank first."""
        return list(self._spreads)

    def log_s(self, rank: int, others: Sequence[int]) -> Floats:
        """[other], logarithms of distances in seconds; all were measured."""
        known = self._log_s[rank]
        return np.array([known[other] for other in others])

    def with_rank(self, rank: int) -> Booleans:
        """[rank], which ones were measured with it."""
        found = np.zeros(self.ranks, dtype=bool)
        found[list(self._log_s[rank])] = True
        return found

    @cached_property
    def noise(self) -> float:
        """How far the logarithm of a distance scatters from message to message."""
        if not self._spreads:
            return 0.0
        usual = scatter_of_least(int(np.median(self._counts)))
        return usual * float(np.median(list(self._spreads.values())))

    def add(self, pair: Pair, least_s: float, median_s: float, repetitions: int) -> None:
        """Takes in a pair: the least and the median of the one-way times of its smallest message, seconds,
        and how many round trips they are of.
        """
        low, high = min(pair), max(pair)
        self._log_s[low][high] = self._log_s[high][low] = float(np.log(least_s))
        self._counts.append(repetitions)
        self._spreads[low, high] = float(spread_of(least_s, median_s))
        self.__dict__.pop("noise", None)  # which all pairs have a say in

    def missing(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Those of the pairs that were not measured, each once, the lesser rank first, in their order."""
        wanted = dict.fromkeys((min(pair), max(pair)) for pair in pairs)
        return [pair for pair in wanted if pair[0] != pair[1] and pair not in self._spreads]
