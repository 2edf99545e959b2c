# SPDX-License-Identifier: BSD-3-Clause
"""HDBSCAN of the distances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.distance import Ints
from isochrone.detect.methods.dbscan import without_noise
from isochrone.detect.methods.method import Objects
from isochrone.detect.methods.search import SEARCHED


def settings(objects: Objects) -> Sequence[float]:
    """Least sizes of a cluster, from two ranks to half of them."""
    return sorted({int(size) for size in np.geomspace(2, max(2, len(objects) // 2), SEARCHED)})


def cluster(objects: Objects, least_size: float) -> Sequence[Ints]:
    """Clusters of at least so many ranks: those that persist longest, and the leaves of its tree.

    Ranks that it calls noise are each by themselves.
    """
    from sklearn.cluster import HDBSCAN

    return [
        without_noise(
            HDBSCAN(
                min_cluster_size=int(least_size),
                min_samples=1,
                metric="precomputed",
                cluster_selection_method=selection,
                copy=True,
            ).fit_predict(objects.distance_s)
        )
        for selection in ("eom", "leaf")
    ]
