# SPDX-License-Identifier: BSD-3-Clause
"""Nested partitions of ranks or places: at which level two of them meet."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from isochrone.detect.distance import Distances, Floats, Ints


def meeting_level(levels: Sequence[Ints] | Ints, first: Ints, second: Ints) -> Ints:
    """[pair], the index of the innermost level that has both of a pair in one group.

    Args:
        levels: the group of each place (or rank), outermost first.
        first, second: [pair], the two of each pair.
    """
    meets: Ints = np.sum([labels[first] == labels[second] for labels in levels], axis=0) - 1
    return meets


def divided(outer: Ints, inner: Ints) -> Ints:
    """The groups of one level divided by those of another, [place] or [rank], numbered from 0."""
    both = np.unique(np.stack([outer, inner]), axis=1, return_inverse=True)[1]
    # NumPy 2.0 keeps the shape of the axis.
    return np.ravel(both).astype(np.int64)


def numbered(labels: Iterable[Hashable] | Ints) -> Ints:
    """Labels of any kind as numbers from 0 in order of first appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)


def members(groups: Sequence[Hashable]) -> list[list[int]]:
    """The ranks of each group, given the group of each rank; the group of the least rank first."""
    found: dict[Hashable, list[int]] = {}
    for rank, group in enumerate(groups):
        found.setdefault(group, []).append(rank)
    return list(found.values())


def same(one: Ints, other: Ints) -> bool:
    """Whether two labellings are one partition."""
    pairs = len(np.unique(np.stack([one, other]), axis=1)[0])
    return pairs == len(np.unique(one)) == len(np.unique(other))


def refines(inner: Ints, outer: Ints) -> bool:
    """Whether each group of the one labelling is within a group of the other."""
    return len(np.unique(np.stack([inner, outer]), axis=1)[0]) == len(np.unique(inner))


def level_means(distances: Distances, levels: Sequence[Ints]) -> Floats:
    """[level], mean logarithm of the distances of the pairs that meet at each; that of the level around
    where none do.
    """
    places = distances.place_of
    meets = meeting_level(levels, places[distances.first], places[distances.second])
    count = np.bincount(meets, minlength=len(levels))
    mean: Floats = np.bincount(meets, distances.log_s, minlength=len(levels)) / np.maximum(count, 1)
    return mean[np.maximum.accumulate(np.where(count > 0, np.arange(len(levels)), 0))]
