# SPDX-License-Identifier: BSD-3-Clause
"""Agglomerative clustering with the four common linkages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from isochrone.detect.distance import Ints
from isochrone.detect.methods.method import Cluster, Objects

Linkage = Literal["single", "average", "complete", "ward"]


def by(how: Linkage) -> Cluster:
    """Clusters by that linkage. Ward's is defined for points of a space: it is given the ranks' vectors."""

    def cluster(objects: Objects, count: float) -> Sequence[Ints]:
        if how == "ward":
            tree = linkage(pdist(objects.vectors), "ward")
        else:
            tree = linkage(objects.distance_s[np.triu_indices(len(objects), 1)], how)
        return [fcluster(tree, int(count), "maxclust").astype(np.int64)]

    return cluster
