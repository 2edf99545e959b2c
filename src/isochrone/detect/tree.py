# SPDX-License-Identifier: BSD-3-Clause
"""Agglomerative clustering of items within groups, and the best cut through it.

Linkage is by average, of logarithms of distances. Single linkage joins two groups at the one message that
happened to be quick, complete linkage keeps them apart for the one that was held up; the average uses all
pairs between them, so that noise falls with the size of the groups. Where distances are ultrametric all
three are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import cophenet, linkage

from isochrone.detect.distance import Booleans, Floats, Ints


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of items with their distances.

    Attributes:
        first, second: [pair], numbers of the items; the same for a pair within one item.
        values: [pair], logarithms of distances.
        group_of: [item], the group that the item is in; there are pairs within groups only.
    """

    first: Ints
    second: Ints
    values: Floats
    group_of: Ints

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.group_of)


@dataclass(frozen=True, eq=False)
class Cut:
    """The cut through a merge sequence that explains most.

    Attributes:
        labels: [item], numbers of the parts that the cut leaves.
        step: ratio by which distances across the parts exceed those within, as difference of mean logarithms.
        explained: share of the variance of the values that the cut explains, 0 to 1.
        inner: [pair], whether the pair is within a part.
    """

    labels: Ints
    step: float
    explained: float
    inner: Booleans


def merge_order(pairs: Pairs) -> Ints:
    """Merges the items of each group by average linkage: [item, item], when two come together.

    Merges of all groups are numbered together from 1 by rising height; 0 is on the diagonal. Items of two
    groups
    never come together: their number is that of all merges plus one.
    """
    k = pairs.items
    mean = np.zeros((k, k))
    mean[np.triu_indices(k, 1)] = condensed_means(pairs.first, pairs.second, pairs.values, k)
    mean += mean.T
    groups = [np.flatnonzero(pairs.group_of == g) for g in np.unique(pairs.group_of)]
    groups = [group for group in groups if len(group) > 1]
    # Logarithms may be negative, and SciPy wants distances: a shift of all changes no average linkage.
    mean -= mean.min(initial=0.0)
    trees = [linkage(_condensed(mean[np.ix_(group, group)]), "average") for group in groups]
    heights = np.concatenate([tree[:, 2] for tree in trees]) if trees else np.zeros(0)
    number = np.empty(len(heights))
    number[np.argsort(heights, kind="stable")] = np.arange(1, len(heights) + 1)
    order = np.full((k, k), len(heights) + 1, dtype=np.int64)
    start = 0
    for group, tree in zip(groups, trees, strict=True):
        tree[:, 2] = number[start : start + len(tree)]
        start += len(tree)
        i, j = np.triu_indices(len(group), 1)
        order[group[i], group[j]] = order[group[j], group[i]] = cophenet(tree)
    np.fill_diagonal(order, 0)
    return order


def best_cut(pairs: Pairs) -> Cut | None:
    """The cut at one height that leaves least variance of the values within and across its parts.

    It is the best single change point of the sequence of merges, each of which carries the pairs that it
    brings together. None where there is nothing to cut.
    """
    order = merge_order(pairs)
    when = order[pairs.first, pairs.second]
    merges = int(when.max(initial=0)) + 1
    count = np.cumsum(np.bincount(when, minlength=merges))
    centred = pairs.values - pairs.values.mean() if len(pairs.values) else pairs.values
    total = np.cumsum(np.bincount(when, centred, minlength=merges))
    inner, outer = count[:-1], count[-1] - count[:-1]
    possible = (inner > 0) & (outer > 0)
    variance = float(np.sum(centred**2))
    if not possible.any() or variance == 0.0:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(possible, total[:-1] ** 2 * (1 / inner + 1 / outer), -1.0)
    at = int(np.argmax(gain))
    labels = np.argmax(order <= at, axis=1)
    return Cut(
        labels=np.unique(labels, return_inverse=True)[1],
        step=float(-total[at] / outer[at] - total[at] / inner[at]),
        explained=min(float(gain[at]) / variance, 1.0),
        inner=when <= at,
    )


def condensed_means(first: Ints, second: Ints, values: Floats, items: int) -> Floats:
    """Mean value of the pairs between any two items, in the order of SciPy's condensed matrices; 0 where
    there are none.
    """
    cell = np.minimum(first, second) * items + np.maximum(first, second)
    count = np.bincount(cell, minlength=items * items)
    total = np.bincount(cell, values, minlength=items * items)
    mean: Floats = (total / np.maximum(count, 1)).reshape(items, items)[np.triu_indices(items, 1)]
    return mean


def _condensed(matrix: Floats) -> Floats:
    condensed: Floats = matrix[np.triu_indices(len(matrix), 1)]
    return condensed
