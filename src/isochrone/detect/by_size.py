# SPDX-License-Identifier: BSD-3-Clause
"""Levels that only large messages show: the links of their groups differ in bandwidth, and not in latency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from isochrone.detect.criterion import Criterion
from isochrone.detect.distance import Ints, distances
from isochrone.detect.judge import Verdict
from isochrone.detect.levels import judged, one_thread
from isochrone.detect.partitions import refines, same
from isochrone.detect.place_pairs import PlacePairs
from isochrone.files import Measurements


def with_levels_by_size(found: Sequence[Verdict], measurements: Measurements) -> list[Verdict]:
    """The levels, and those between them that the largest size shows that all pairs were measured with: they
    divide a group of the level outside, and join whole groups of the one inside. What the smallest size
    shows is not questioned, for what large messages take hangs on what else is on the links too.

    Args:
        found: outermost first, the group of all among them.
        measurements: of all pairs, or of some.
    """
    kept = list(found)
    largest = _largest(measurements)
    if largest is None:
        return kept
    of_size = distances(measurements.only_sizes(slice(largest, largest + 1)))
    criterion = Criterion(PlacePairs.of(of_size), of_size.host_of)
    for labels in (verdict.labels for verdict in judged(of_size)[0]):
        at = sum(refines(labels, other.labels) for other in kept)
        inner = kept[at].labels if at < len(kept) else None
        if same(labels, kept[at - 1].labels) or (inner is not None and not refines(inner, labels)):
            continue
        with one_thread():
            verdict = criterion.verdict(kept[at - 1].labels, labels, inner)
        if verdict.holds and _sets_apart_two(kept[at - 1].labels, labels, inner):
            kept.insert(at, replace(verdict, size_bytes=measurements.sizes_bytes[largest]))
    return kept


def _sets_apart_two(outer: Ints, labels: Ints, inner: Ints | None) -> bool:
    """Whether somewhere two groups side by side have more than one group of the level inside. A way is as
    slow as its slower end: so hosts with slow cables are each alone, and the others look like one group.
    """
    units = np.arange(len(labels)) if inner is None else inner
    several = [group for group in np.unique(labels) if len(np.unique(units[labels == group])) > 1]
    parents = [outer[labels == group][0] for group in several]
    return len(set(parents)) < len(parents)


def _largest(measurements: Measurements) -> int | None:
    """Where the arrays have the largest size that every measured pair has; None if that is the smallest."""
    known = measurements.rtt_min_s > 0
    smallest = measurements.smallest
    every = [index for index in range(known.shape[1]) if np.all(known[:, index] >= known[:, smallest])]
    largest = max(every, key=lambda index: measurements.sizes_bytes[index])
    return None if largest == smallest else largest
