# SPDX-License-Identifier: BSD-3-Clause
"""SSSTree (Reinfjell 2023, section 2.5.8): Sparse Spatial Selection within clusters, from the top down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.distance import Ints
from isochrone.detect.methods.method import Objects
from isochrone.detect.methods.search import SEARCHED, evenly
from isochrone.detect.methods.sss import select

# Clusters of fewer are not split.
_LEAST_CHILDREN = 3

_GREATEST_ALPHA = 5.0


def settings(objects: Objects) -> Sequence[float]:
    """Values of alpha over the range of the thesis's search (section 3.3)."""
    return evenly(_GREATEST_ALPHA / SEARCHED, _GREATEST_ALPHA)


def cluster(objects: Objects, alpha: float) -> Sequence[Ints]:
    """The partition at each depth of the tree, outermost first.

    The first rank of a cluster is its centre; the greatest distance in it is taken to be twice its radius.
    """
    partitions: list[Ints] = []
    labels = np.zeros(len(objects), dtype=np.int64)
    # A split leaves fewer together, or all as they are: so often at most.
    for _ in range(len(objects)):
        labels_below = labels.copy()
        for group in range(int(labels.max()) + 1):
            members = np.flatnonzero(labels == group)
            if len(members) < _LEAST_CHILDREN:
                continue
            limit_s = 2 * float(objects.distance_s[members[0], members].max()) * alpha
            parts = select(objects.distance_s, members, limit_s)
            apart = parts > 0
            labels_below[members[apart]] = labels_below.max() + parts[apart]
        if labels_below.max() == labels.max():
            break
        labels = labels_below
        partitions.append(labels)
    return partitions or [labels]
