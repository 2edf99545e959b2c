# SPDX-License-Identifier: BSD-3-Clause
"""Spectral clustering."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from isochrone.detect.distance import Ints
from isochrone.detect.methods.method import Objects


def cluster(objects: Objects, count: float) -> Sequence[Ints]:
    """By the eigenvectors of a similarity: a Gaussian of the distance, as wide as distances scatter."""
    from sklearn.cluster import SpectralClustering

    if count >= len(objects):
        return [np.arange(len(objects))]
    width_s = float(objects.distance_s.std()) or 1.0
    similarity = np.exp(-((objects.distance_s / width_s) ** 2))
    model = SpectralClustering(int(count), affinity="precomputed", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [model.fit_predict(similarity).astype(np.int64)]
