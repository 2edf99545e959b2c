# SPDX-License-Identifier: BSD-3-Clause
"""Searching a method's settings, and choosing among what came out.

The linear search over 50 settings is that of Reinfjell 2023, section 3.3. There the truth chose among the
results; ``choose`` does without it, by one rule for all methods.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isochrone.detect.distance import Floats, Ints
from isochrone.detect.methods.method import Method, Objects
from isochrone.detect.partitions import numbered

SEARCHED = 50
"""Settings that a search tries: k of Reinfjell 2023, section 3.3."""

# Mean silhouette widths below it are no substantial structure (Kaufman and Rousseeuw 1990, chapter 2).
_LEAST_SILHOUETTE = 0.25

# A partition is stable if it stays the same over so many settings, one after the other.
_LEAST_RUN = 2


def thresholds_s(objects: Objects) -> Sequence[float]:
    """Distances from the least to the greatest, evenly spaced."""
    pairs = objects.distance_s[np.triu_indices(len(objects), 1)]
    return evenly(float(pairs.min()), float(pairs.max()))


def evenly(low: float, high: float) -> list[float]:
    """Settings from the lowest to the highest, as many as a search tries."""
    return [float(value) for value in np.linspace(low, high, SEARCHED)]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A partition that a search found.

    Attributes:
        labels: [rank], numbered from 0 on.
        run: settings, one after the other, over which the method finds it.
    """

    labels: Ints
    run: int


def search(method: Method, objects: Objects) -> list[Candidate]:
    """All partitions that the method finds with the settings of the search, each once."""
    found: dict[bytes, Ints] = {}
    running: dict[bytes, int] = {}
    longest: Counter[bytes] = Counter()
    for setting in method.settings(objects):
        here = {labels.tobytes(): labels for labels in map(numbered, method.cluster(objects, setting))}
        found |= here
        running = {key: running.get(key, 0) + 1 for key in here}
        for key, run in running.items():
            longest[key] = max(longest[key], run)
    return [Candidate(labels, longest[key]) for key, labels in found.items()]


def choose(objects: Objects, candidates: Sequence[Candidate]) -> list[Ints]:
    """Those partitions that hardly depend on the setting and have substantial structure; none where nothing
    has. Several, as a machine has several levels.
    """
    return [
        each.labels
        for each in candidates
        if each.run >= _LEAST_RUN
        and 1 < int(each.labels.max()) + 1 < len(objects)
        and silhouette(objects.distance_s, each.labels) >= _LEAST_SILHOUETTE
    ]


def at_counts(method: Method, objects: Objects, counts: Sequence[int]) -> list[Ints]:
    """The partitions of a method that is told these numbers of clusters."""
    return [labels for count in counts for labels in method.cluster(objects, count)]


def choose_counts(method: Method, objects: Objects) -> list[Ints]:
    """For a method that is told the number of clusters: the partitions with a number that has substantial
    structure, more than one fewer and one more (silhouette widths, as Kaufman and Rousseeuw 1990 choose it).
    """
    partitions = [
        numbered(labels) for count in method.settings(objects) for labels in method.cluster(objects, count)
    ]
    widths = [
        silhouette(objects.distance_s, labels) if 1 < int(labels.max()) + 1 < len(objects) else 0.0
        for labels in partitions
    ]
    # Beyond the last that was tried there may be better ones.
    around = [0.0, *widths, np.inf if len(partitions) < len(objects) - 2 else 0.0]
    return [
        labels
        for labels, fewer, width, more in zip(partitions, around, widths, around[2:], strict=False)
        if width >= _LEAST_SILHOUETTE and width > fewer and width >= more
    ]


def silhouette(distance_s: Floats, labels: Ints) -> float:
    """Mean silhouette width, -1 to 1 (Rousseeuw 1987); that of an object by itself is 0.

    Args:
        distance_s: [object, object].
        labels: [object], from 0 on, at least two clusters.
    """
    membership = np.eye(int(labels.max()) + 1)[labels]
    count = membership.sum(axis=0)
    total = distance_s @ membership
    everyone = np.arange(len(labels))
    own = count[labels]
    within = total[everyone, labels] / np.maximum(own - 1, 1)
    mean = total / count
    mean[everyone, labels] = np.inf
    across = mean.min(axis=1)
    width = np.where(own > 1, (across - within) / np.maximum(np.maximum(across, within), 1e-300), 0.0)
    return float(width.mean())
