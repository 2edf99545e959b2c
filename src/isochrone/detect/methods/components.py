# SPDX-License-Identifier: BSD-3-Clause
"""Connected components of the graph of near pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from isochrone.detect.distance import Ints
from isochrone.detect.methods.method import Objects


def cluster(objects: Objects, threshold_s: float) -> Sequence[Ints]:
    """Ranks that are joined by a chain of pairs no farther apart than the threshold."""
    labels = connected_components(csr_array(objects.distance_s <= threshold_s), directed=False)[1]
    return [labels.astype(np.int64)]
