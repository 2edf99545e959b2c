# SPDX-License-Identifier: BSD-3-Clause
"""The merge tree of the ranks as the levels cut it, for drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

import numpy as np

from isochrone.detect.cuts import average_linkage
from isochrone.detect.distance import Distances, Floats, Ints, distances
from isochrone.detect.levels import find_levels
from isochrone.detect.partitions import level_means
from isochrone.detect.place_pairs import PlacePairs
from isochrone.errors import IsochroneError
from isochrone.files import Measurements
from isochrone.files.measurements import MOST_SQUARE

Merge = tuple[float, int, int]
"""The height, and the least rank of each of the two clusters, the lesser first."""


def dendrogram(measurements: Measurements) -> Floats:
    """The merge tree that ``detect`` finds, [rank - 1, 4]: SciPy's linkage matrix, heights in seconds. The
    members of a group are merged first, at every level.

    Raises IsochroneError where pairs are missing, or one group has too many parts.
    """
    pairs = distances(measurements)
    return grow(pairs, find_levels(pairs))


def grow(pairs: Distances, levels: Sequence[Ints]) -> Floats:
    """The merge tree of all ranks: first those of one place, then by average linkage within each group.

    Heights are kept on their side of the cuts, where noise would have a merge of one group above another
    group's cut.

    Args:
        pairs: distances of pairs.
        levels: partitions of the places, [place], outermost first.
    """
    ranks = len(pairs.place_of)
    means = level_means(pairs, levels)
    borders = np.concatenate([[np.inf], (means[:-1] + means[1:]) / 2, [-np.inf]])
    path = [*(labels[pairs.place_of] for labels in levels), pairs.place_of, np.arange(ranks)]
    height = np.full(ranks, -np.inf)
    merges: list[Merge] = []
    for at in reversed(range(len(levels) + 1)):
        outer, inner = path[at : at + 2]
        level = min(at, len(levels) - 1)
        representatives = np.unique(inner, return_index=True)[1]
        group_of = outer[representatives]
        known = PlacePairs.of(replace(pairs, place_of=inner))
        first, second = known.first, known.second
        within = np.flatnonzero(known.apart & (group_of[first] == group_of[second]))
        within = within[np.argsort(group_of[first[within]], kind="stable")]
        for group in np.unique(outer):
            items = np.flatnonzero(group_of == group)
            if len(items) > MOST_SQUARE:
                raise IsochroneError(f"{len(items):,} parts of one group are too many for a tree")
            here = within[slice(*np.searchsorted(group_of[first[within]], [group, group + 1]))]
            among = np.full((len(items), len(items)), means[level])
            i, j = (np.searchsorted(items, each[here]) for each in (first, second))
            among[i, j] = among[j, i] = known.log_s[here]
            ends = borders[level + 1], borders[level]
            merges += _merged(representatives[items].tolist(), among, *ends, height)
    return _matrix(merges)


def _merged(
    representatives: Sequence[int], mean: Floats, low: float, high: float, height: Floats
) -> list[Merge]:
    """Merges of clusters into one, each known by the least of its ranks.

    Args:
        representatives: the clusters.
        mean: [cluster, cluster], mean logarithms of their distances.
        low, high: between which heights they are merged.
        height: [rank], of the cluster that it represents; becomes that of what it represents then.
    """
    if len(representatives) < 2:
        return []
    merges: list[Merge] = []
    clusters = list(representatives)
    tree, least = average_linkage(mean[np.triu_indices(len(mean), 1)])
    for a, b, above_least, _ in tree:
        one, other = sorted((clusters[int(a)], clusters[int(b)]))
        height[one] = max(height[one], height[other], min(max(above_least + least, low), high))
        merges.append((height[one], one, other))
        clusters.append(one)
    return merges


def _matrix(merges: Sequence[Merge]) -> Floats:
    """The merges of all ranks as SciPy's linkage matrix, by rising height; heights in seconds."""
    ranks = len(merges) + 1
    number, size = list(range(ranks)), [1] * ranks
    result = np.empty((len(merges), 4))
    for row, (height, one, other) in enumerate(sorted(merges, key=itemgetter(0))):
        size[one] += size[other]
        result[row] = number[one], number[other], np.exp(height), size[one]
        number[one] = ranks + row
    return result
