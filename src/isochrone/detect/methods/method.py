# SPDX-License-Identifier: BSD-3-Clause
"""What a clustering method is given, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isochrone.detect.distance import Floats, Ints


@dataclass(frozen=True, eq=False)
class Objects:
    """Ranks to be clustered.

    Attributes:
        distance_s: [rank, rank] in seconds, symmetric, 0 on the diagonal: matrix D of Reinfjell 2023,
            equation 3.4.
        vectors: [rank, parameter], what was measured between a rank and all others: V of equation 3.5, each
            parameter no more than about 1, so that all count.
    """

    distance_s: Floats
    vectors: Floats

    def __len__(self) -> int:
        return len(self.distance_s)


Cluster = Callable[[Objects, float], Sequence[Ints]]


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Attributes:
        name: how it is called in results.
        what: one line for readers.
        source: paper, or section of one.
        told: whether its setting is the number of clusters.
        settings: those that a search tries; of methods that are told, numbers of clusters.
        cluster: partitions of the ranks, [rank], for a setting: one, or of methods that find a tree one
            for each depth.
    """

    name: str
    what: str
    source: str
    told: bool
    settings: Callable[[Objects], Sequence[float]]
    cluster: Cluster
