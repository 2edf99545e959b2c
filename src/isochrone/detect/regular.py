# SPDX-License-Identifier: BSD-3-Clause
"""Inside a host the parts of a level are alike: a level that groups some of them and leaves several others
alone is completed, or taken away.

Hardware is built so, and times do not always show it: there are measurements of two EPYC 7742 where the cores
of one socket see each other no sooner than those of the other socket do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.distance import Distances, Ints

# What is left over is taken for a group if the others are set apart by this ratio; less is a part of a chip
# whose cores happen to be near each other.
_LEAST_STEP = float(np.log(1.5))

# Noise may leave some alone.
_MOST_IRREGULAR = 0.2


def regular(distances: Distances, levels: Sequence[Ints]) -> tuple[Ints, ...]:
    """The levels, those inside hosts without odd ones left over.

    Args:
        distances: of all pairs.
        levels: partitions of the places, [place], outermost first.
    """
    kept = [levels[0]]
    for at, labels in enumerate(levels[1:], 1):
        inner = levels[at + 1] if at + 1 < len(levels) else np.arange(distances.places)
        found = _regular(distances, kept[-1], labels, inner)
        if found is not None:
            kept.append(found)
    return tuple(kept)


def _regular(distances: Distances, outer: Ints, labels: Ints, inner: Ints) -> Ints | None:
    """A level as it is, or completed; None if it is none."""
    parents = [
        np.flatnonzero(outer == parent)
        for parent in np.unique(outer)
        if len(np.unique(distances.host_of[outer == parent])) == 1
    ]
    irregular = []
    forming = 0
    for places in parents:
        groups = [places[labels[places] == group] for group in np.unique(labels[places])]
        formed = [group for group in groups if len(np.unique(inner[group])) > 1]
        alone = [group for group in groups if len(np.unique(inner[group])) == 1]
        forming += len(formed) > 0
        if formed and len(alone) > 1:
            irregular.append((formed, np.concatenate(alone)))
    if len(irregular) <= _MOST_IRREGULAR * forming:
        return labels
    if _step(distances, outer, labels) < _LEAST_STEP:
        return None
    completed = labels.copy()
    for formed, left in irregular:
        if any(len(group) != len(left) for group in formed):
            return None
        completed[left] = completed[left[0]]
    return np.unique(completed, return_inverse=True)[1].astype(np.int64)


def _step(distances: Distances, outer: Ints, labels: Ints) -> float:
    """How far the distances across groups are beyond those within, as a difference of median logarithms."""
    first, second = distances.first, distances.second
    together = outer[first] == outer[second]
    within = together & (labels[first] == labels[second]) & (first != second)
    across = together & (labels[first] != labels[second])
    return float(np.median(distances.log_s[across]) - np.median(distances.log_s[within]))
