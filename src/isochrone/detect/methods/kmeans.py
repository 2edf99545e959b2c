# SPDX-License-Identifier: BSD-3-Clause
"""k-means of the ranks' vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.distance import Ints
from isochrone.detect.methods.method import Objects

_STARTS = 10


def cluster(objects: Objects, count: float) -> Sequence[Ints]:
    """The best of ten starts by k-means++."""
    from sklearn.cluster import KMeans

    model = KMeans(min(int(count), len(objects)), n_init=_STARTS, random_state=0)
    return [model.fit_predict(objects.vectors).astype(np.int64)]
