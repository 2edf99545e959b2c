# SPDX-License-Identifier: BSD-3-Clause
"""Ranks as the methods want them."""

from __future__ import annotations

import numpy as np

from isochrone.detect.distance import distance_matrix_s
from isochrone.detect.methods.method import Objects
from isochrone.errors import IsochroneError
from isochrone.files import Measurements


def objects_of(measurements: Measurements) -> Objects:
    """The ranks by the smallest message, and by the round trips of all sizes.

    Raises IsochroneError where pairs are missing: other methods than Isochrone's own need all.
    """
    measurements.check_ended()
    if not measurements.complete:
        missing = measurements.pairs_total - measurements.pairs_measured
        raise IsochroneError(
            f"{missing} of {measurements.pairs_total} pairs were not measured, and only isochrone's own "
            "method can do without",
            todo="measure them with probe --mode all",
        )
    rows = [np.nan_to_num(measurements.square(times_s)) for times_s in measurements.rtt_min_s.T]
    # Each size counts alike.
    return Objects(
        distance_matrix_s(measurements), np.concatenate([row / (row.max() or 1.0) for row in rows], axis=1)
    )
