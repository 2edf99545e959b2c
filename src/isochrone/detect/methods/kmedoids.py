# SPDX-License-Identifier: BSD-3-Clause
"""k-medoids by FasterPAM."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.distance import Ints
from isochrone.detect.methods.method import Objects

_STARTS = 10


def cluster(objects: Objects, count: float) -> Sequence[Ints]:
    """The best of ten random starts, by the sum of distances to the medoids."""
    import kmedoids

    if count >= len(objects):
        return [np.arange(len(objects))]
    found = [
        kmedoids.fasterpam(objects.distance_s, int(count), random_state=seed, n_cpu=1)
        for seed in range(_STARTS)
    ]
    return [min(found, key=lambda each: each.loss).labels.astype(np.int64)]
