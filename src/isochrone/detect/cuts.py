# SPDX-License-Identifier: BSD-3-Clause
"""Partitions that may be levels: cuts through the tree of an agglomerative clustering.

Linkage is by average, of logarithms of distances. Single linkage joins two groups at the one message that
happened to be quick, complete linkage keeps them apart for the one that was held up; the average uses all
pairs between them, so that noise falls with the size of the groups. Where distances are ultrametric all
three are exact.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from isochrone.detect.distance import Floats, Ints
from isochrone.detect.evidence import LEAST_STEP, NEARLY_EVERY

MOST_CUTS = 24
"""Of the widest gaps between merges: a machine has fewer levels by far, and noise makes narrow ones."""


def average_linkage(condensed: Floats) -> tuple[Floats, float]:
    """SciPy's linkage matrix, whose heights are above the least of the logarithms; and that.

    Args:
        condensed: [pair], logarithms of the distances of two items or more, in the order of condensed
            matrices of SciPy.
    """
    # Logarithms may be negative, and SciPy wants distances: a shift of all changes no average linkage.
    least = float(condensed.min())
    return linkage(condensed - least, "average"), least


def cut_above(tree: Floats, merges: Iterable[int]) -> list[Ints]:
    """Where a linkage matrix is cut between each of these merges and the next: the group of each item."""
    heights = tree[:, 2]
    middles = ((heights[at] + heights[at + 1]) / 2 for at in merges)
    return [fcluster(tree, middle, "distance").astype(np.int64) - 1 for middle in middles]


def cuts(tree: Floats) -> tuple[list[Ints], Floats]:
    """Where the tree of all places has its widest gaps, outermost first: the group of each place, [place],
    of each; and how wide each is.

    Args:
        tree: SciPy's linkage matrix of logarithms of distances.
    """
    gaps = np.diff(tree[:, 2])
    widest = np.argsort(-gaps, kind="stable")[:MOST_CUTS]
    # Narrower ones are noise: of the merges on both sides of a step nearly all may be within it.
    at = np.sort(widest[gaps[widest] > (1 - NEARLY_EVERY) * LEAST_STEP])[::-1]
    return cut_above(tree, at), gaps[at]
