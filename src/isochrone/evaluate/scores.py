# SPDX-License-Identifier: BSD-3-Clause
"""How well the partitions that a method found fit the levels that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isochrone.detect.accuracy import matched
from isochrone.detect.distance import Ints


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
