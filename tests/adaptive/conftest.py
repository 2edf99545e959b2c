# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic clusters that answer at once what a probe would have to measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from isochrone.adaptive.choose_pairs import choose_pairs
from isochrone.adaptive.table import Pair, Table
from isochrone.detect.distance import Ints
from isochrone.detect.levels import find_levels

REPETITIONS = 20


@dataclass
class Machine:
    """Ranks in nested groups: a number of children at each depth, and the latency of the pairs that part
    there.

    Messages take lognormal times around that; a pair's own bias comes on top, and some pairs are held up.
    """

    counts: Sequence[int]
    latencies_s: Sequence[float]
    noise: float = 0.0
    bias: float = 0.0
    held_up: float = 0.0
    seed: int = 1
    asked: list[list[Pair]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        n = int(np.prod(self.counts))
        rank = self.random.permutation(n)
        sizes = [n // int(np.prod(self.counts[: k + 1])) for k in range(len(self.counts))]
        self.groups = [rank // size for size in sizes[: len(self.latencies_s) - 1]]

    @property
    def ranks(self) -> int:
        return int(np.prod(self.counts))

    def times_s(self, low: int, high: int) -> tuple[float, float]:
        """Least and median of the one-way times of a pair."""
        shared = sum(int(labels[low] == labels[high]) for labels in self.groups)
        base = self.latencies_s[shared] * np.exp(self.random.normal(0.0, self.bias))
        if self.random.random() < self.held_up:
            base *= 1 + self.random.exponential(1.0)
        both = np.exp(self.random.normal(0.0, self.noise, (2, REPETITIONS))).mean(axis=0)
        return float(base * both.min()), float(base * np.median(both))

    def found(self, hosts: Ints | None, seed: int = 1) -> tuple[list[Ints], Table]:
        """The levels that the chosen pairs tell, and those pairs."""
        table = Table(self.ranks)
        for pairs in choose_pairs(table, None if hosts is None else [str(host) for host in hosts], seed):
            self.asked.append(list(pairs))
            for low, high in pairs:
                table.add((low, high), *self.times_s(low, high), REPETITIONS)
        return self.levels(table), table

    def levels(self, table: Table) -> list[Ints]:
        return list(find_levels(table.distances))


@pytest.fixture
def make_machine() -> type[Machine]:
    return Machine
