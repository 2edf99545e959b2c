# SPDX-License-Identifier: BSD-3-Clause
"""How well the partitions that a method found fit the levels that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isochrone.detect.accuracy import matched
from isochrone.detect.distance import Ints
from isochrone.detect.partitions import same


@dataclass(frozen=True)
class Score:
    """Of one level.

    Attributes:
        level: its name.
        groups: how many there are.
        accuracy: of the partition that fits best, with all ranks together and each by itself always among
            them (Reinfjell 2023, section 3.2).
        rand_index: adjusted Rand index of that partition (Hubert and Arabie 1985).
        found: groups of that partition.
    """

    level: str
    groups: int
    accuracy: float
    rand_index: float
    found: int

    def to_json(self) -> dict[str, Any]:
        """For a result file, under the level's name."""
        return {
            "accuracy": self.accuracy,
            "adjusted_rand_index": self.rand_index,
            "groups_found": self.found,
        }


def found_and_made_up(partitions: Sequence[Ints], levels: Sequence[Ints]) -> tuple[int, int]:
    """How many of the levels are among the partitions, exactly; and how many partitions are none of them.
    All in one group, and each by itself, count for neither.
    """
    there = [labels for labels in levels if 1 < len(np.unique(labels)) < len(labels)]
    some = [labels for labels in partitions if 1 < len(np.unique(labels)) < len(labels)]
    found = sum(any(same(labels, part) for part in some) for labels in there)
    return found, sum(not any(same(labels, part) for labels in there) for part in some)


def scores(partitions: Sequence[Ints], truth: Mapping[str, Sequence[int]]) -> list[Score]:
    """For each level of the truth."""
    from sklearn.metrics import adjusted_rand_score

    found = []
    for level, labels in truth.items():
        known = np.asarray(labels)
        trivial = [np.zeros(len(known), dtype=np.int64), np.arange(len(known))]
        accuracy, best = max(
            ((matched(partition, known), partition) for partition in [*partitions, *trivial]),
            key=lambda each: each[0],
        )
        found.append(
            Score(
                level,
                len(np.unique(known)),
                accuracy,
                float(adjusted_rand_score(known, best)),
                len(np.unique(best)),
            )
        )
    return found
