# SPDX-License-Identifier: BSD-3-Clause
"""How sure a level is: what is left of it when the noise that was measured strikes once more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from isochrone.detect.accuracy import matched
from isochrone.detect.distance import Distances, Floats, Ints
from isochrone.detect.levels import meeting_level
from isochrone.detect.tree import condensed_means

_DRAWS = 12


def confidences(distances: Distances, levels: Sequence[Ints]) -> tuple[float, ...]:
    """Confidence in each level, 0 to 1; that in the outermost is 1.

    It is the mean ratio of places that come into the same group again when each distance gets a second
    helping of the residuals of its level (a residual bootstrap), and the tree is cut half-way between the
    levels. As noise then is counted twice, it errs on the low side.
    """
    if len(levels) == 1:
        return (1.0,)
    meets = meeting_level(levels, distances.first, distances.second)
    means = level_means(distances, levels)
    residuals = distances.log_s - means[meets]
    random = np.random.default_rng(1)
    scores = np.zeros(len(levels))
    apart = distances.first != distances.second
    for _ in range(_DRAWS):
        again = np.empty_like(residuals)
        for level in range(len(levels)):
            here = np.flatnonzero(meets == level)
            again[here] = random.choice(residuals[here], len(here)) if len(here) else 0.0
        values = distances.log_s + again + random.normal(0.0, distances.noise, len(again))
        mean = condensed_means(
            distances.first[apart], distances.second[apart], values[apart], distances.places
        )
        shift = float(mean.min())
        tree = linkage(mean - shift, "average")
        for level in range(1, len(levels)):
            height = (means[level - 1] + means[level]) / 2 - shift
            scores[level] += matched(fcluster(tree, height, "distance"), levels[level])
    scores /= _DRAWS
    return (1.0, *(float(score) for score in scores[1:]))


def level_means(distances: Distances, levels: Sequence[Ints]) -> Floats:
    """[level], mean logarithm of the distances of the pairs that meet at each; that of the level around
    where none do.
    """
    meets = meeting_level(levels, distances.first, distances.second)
    count = np.bincount(meets, minlength=len(levels))
    mean: Floats = np.bincount(meets, distances.log_s, minlength=len(levels)) / np.maximum(count, 1)
    for level in range(1, len(levels)):
        if count[level] == 0:
            mean[level] = mean[level - 1]
    return mean
