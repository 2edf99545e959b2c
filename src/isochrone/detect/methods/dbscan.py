# SPDX-License-Identifier: BSD-3-Clause
"""DBSCAN of the distances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from isochrone.detect.distance import Ints
from isochrone.detect.methods.method import Objects

_LEAST_NEIGHBOURS = 2


def cluster(objects: Objects, neighbourhood_s: float) -> Sequence[Ints]:
    """Clusters of ranks that are so near; ranks that it calls noise are each by themselves."""
    from sklearn.cluster import DBSCAN

    model = DBSCAN(eps=max(neighbourhood_s, 1e-15), min_samples=_LEAST_NEIGHBOURS, metric="precomputed")
    return [without_noise(model.fit_predict(objects.distance_s))]


def without_noise(labels: npt.ArrayLike) -> Ints:
    """Labels in which each object of noise (-1) has a cluster of its own."""
    result = np.array(labels, dtype=np.int64)
    lone = np.flatnonzero(result < 0)
    result[lone] = result.max(initial=-1) + 1 + np.arange(len(lone))
    return result
