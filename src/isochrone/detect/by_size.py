# SPDX-License-Identifier: BSD-3-Clause
"""Levels that only large messages show: the links of their groups differ in bandwidth, and not in latency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

import numpy as np

from isochrone.detect.criterion import Criterion, Verdict
from isochrone.detect.cuts import cuts
from isochrone.detect.distance import Ints, distances
from isochrone.detect.levels import one_thread
from isochrone.detect.partitions import refines, same
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
    size_bytes = measurements.sizes_bytes[largest]
    at = 1
    with one_thread():
        criterion = Criterion(distances(measurements.only_sizes(slice(largest, largest + 1))))
        while at <= len(kept):
            outer, inner = kept[at - 1].labels, kept[at].labels if at < len(kept) else None
            some = (criterion.verdict(outer, cut, inner) for cut in _cuts_between(criterion, outer, inner))
            best = max(filter(attrgetter("holds"), some), key=attrgetter("support"), default=None)
            if best is None:
                at += 1
            else:
                kept.insert(at, replace(best, size_bytes=size_bytes))
    return kept


def _cuts_between(criterion: Criterion, outer: Ints, inner: Ints | None) -> list[Ints]:
    """Partitions that may be levels between two others: of the groups of the one inside, by the means of
    their distances; groups of the one outside are farther from each other than anything else.
    """
    everything = np.arange(len(outer))
    _, first, unit = np.unique(everything if inner is None else inner, return_index=True, return_inverse=True)
    member = (unit[:, None] == np.arange(len(first))).astype(np.float64)
    size = member.sum(axis=0)
    means = member.T @ criterion.log_s @ member / (size[:, None] * size[None, :])
    means[outer[first][:, None] != outer[first][None, :]] = means.max() + 1
    found = [labels[unit] for labels in cuts(means)[0]]
    return [labels for labels in found if refines(labels, outer) and not same(labels, outer)]


def _largest(measurements: Measurements) -> int | None:
    """Where the arrays have the largest size that every measured pair has; None if that is the smallest."""
    known = measurements.rtt_min_s > 0
    smallest = measurements.smallest
    every = [index for index in range(known.shape[2]) if np.all(known[:, :, index] >= known[:, :, smallest])]
    largest = max(every, key=lambda index: measurements.sizes_bytes[index])
    return None if largest == smallest else largest
