# SPDX-License-Identifier: BSD-3-Clause
"""Sparse Spatial Selection (Reinfjell 2023, section 2.5.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.distance import Floats, Ints
from isochrone.detect.methods.method import Objects
from isochrone.detect.methods.search import SEARCHED, evenly


def settings(objects: Objects) -> Sequence[float]:
    """Shares alpha of the greatest distance."""
    return evenly(1 / SEARCHED, 1.0)


def cluster(objects: Objects, alpha: float) -> Sequence[Ints]:
    """One pass over the ranks: each joins the nearest centre, or is a new one where that is farther than
    ``alpha`` times the greatest distance.
    """
    limit_s = float(objects.distance_s.max()) * alpha
    return [select(objects.distance_s, np.arange(len(objects)), np.nextafter(limit_s, np.inf))]


def select(distance_s: Floats, members: Ints, apart_s: float) -> Ints:
    """[member], the centre that each belongs to, in the order in which they became centres.

    Args:
        distance_s: [rank, rank].
        members: ranks, the first of which is the first centre.
        apart_s: a rank so far from the nearest centre, or farther, becomes one.
    """
    centres = [int(members[0])]
    labels = np.zeros(len(members), dtype=np.int64)
    for index, rank in enumerate(members[1:].tolist(), 1):
        to_centres = distance_s[rank, centres]
        nearest = int(np.argmin(to_centres))
        if to_centres[nearest] >= apart_s:
            nearest = len(centres)
            centres.append(rank)
        labels[index] = nearest
    return labels
