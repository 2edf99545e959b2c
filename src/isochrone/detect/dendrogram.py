# SPDX-License-Identifier: BSD-3-Clause
"""The merge tree of the ranks as the levels cut it, for drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from isochrone.detect.cuts import average_linkage
from isochrone.detect.distance import Distances, Floats, Ints, distances
from isochrone.detect.levels import find_levels
from isochrone.detect.partitions import level_means
from isochrone.detect.place_pairs import PlacePairs
from isochrone.errors import IsochroneError
from isochrone.files import Measurements
from isochrone.files.measurements import MOST_SQUARE


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
    steps = [(np.arange(ranks), pairs.place_of, len(levels) - 1)]
    inner = pairs.place_of
    for level in range(len(levels) - 1, -1, -1):
        outer = levels[level][pairs.place_of]
        steps.append((inner, outer, level))
        inner = outer
    merges = _Merges(ranks)
    for inner, outer, level in steps:
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
            merges.join(representatives[items].tolist(), among, borders[level + 1], borders[level])
    return merges.matrix()


class _Merges:
    """Merges of clusters of ranks, each cluster known by any of its ranks."""

    def __init__(self, ranks: int) -> None:
        self._cluster = list(range(ranks))
        self._members = [[rank] for rank in range(ranks)]
        self._heights = [-np.inf] * ranks
        self._rows: list[tuple[int, int]] = []
        self._ranks = ranks

    def join(self, representatives: Sequence[int], mean: Floats, low: float, high: float) -> None:
        """Joins the clusters of the representatives, [item, item] being their mean distances, between two
        heights.
        """
        if len(representatives) < 2:
            return
        nodes = [self._cluster[rank] for rank in representatives]
        tree, least = average_linkage(mean[np.triu_indices(len(mean), 1)])
        for a, b, height, _ in tree:
            pair = sorted((nodes[int(a)], nodes[int(b)]), key=lambda node: self._members[node][0])
            height = max(*(self._heights[node] for node in pair), min(max(height + least, low), high))
            nodes.append(len(self._members))
            self._rows.append((pair[0], pair[1]))
            self._heights.append(float(height))
            members = self._members[pair[0]] + self._members[pair[1]]
            self._members.append(members)
        for rank in self._members[nodes[-1]]:
            self._cluster[rank] = nodes[-1]

    def matrix(self) -> Floats:
        """The merges as SciPy's linkage matrix, by rising height; heights in seconds."""
        heights = np.array(self._heights[self._ranks :])
        order = np.argsort(heights, kind="stable")
        number = np.arange(len(self._members))
        number[self._ranks + order] = self._ranks + np.arange(len(order))
        result = np.empty((len(order), 4))
        for row, merge in enumerate(order):
            a, b = self._rows[merge]
            size = len(self._members[self._ranks + merge])
            result[row] = number[a], number[b], np.exp(heights[merge]), size
        return result
