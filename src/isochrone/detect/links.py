# SPDX-License-Identifier: BSD-3-Clause
"""PLogP parameters of each level, from the pairs that meet there (Kielmann, Bal and Verstoep 2000)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.capacity import capacities_bytes_per_s
from isochrone.detect.distance import Floats, Ints
from isochrone.files import Links, Measurements


def level_links(measurements: Measurements, partitions: Sequence[Ints]) -> tuple[Links | None, ...]:
    """The links of each level; None for a level that no measured pair meets at.

    Args:
        measurements: of all pairs, or of some.
        partitions: group of each rank at each level, [rank], outermost first.
    """
    i, j = np.triu_indices(measurements.ranks, 1)
    meets = np.sum([labels[i] == labels[j] for labels in partitions], axis=0) - 1
    capacities = capacities_bytes_per_s(measurements.streams, partitions)
    return tuple(
        _links(measurements, i[meets == k], j[meets == k], capacity) for k, capacity in enumerate(capacities)
    )


def _links(
    measurements: Measurements, first: Ints, second: Ints, capacity_bytes_per_s: float | None
) -> Links | None:
    """The parameters of some pairs: medians over them of the least round trip and of the send overhead, for
    the sizes that were measured.

    The gap is half of RTT(m) beyond the latency, and does not fall as messages grow.
    """
    rtt_s = measurements.rtt_min_s[first, second]
    measured = np.any(~np.isnan(rtt_s), axis=0).tolist()
    if not any(measured):
        return None
    order = [k for k in np.argsort(measurements.sizes_bytes).tolist() if measured[k]]
    sizes = np.array(measurements.sizes_bytes)[order]
    one_way_s: Floats = np.nanmedian(rtt_s[:, order], axis=0) / 2
    overhead_s: Floats = np.nanmedian(measurements.send_overhead_s[first, second][:, order], axis=0)
    gap_s = np.maximum.accumulate(np.maximum(one_way_s - one_way_s[0], 0.0))
    return Links(
        latency_s=float(one_way_s[0]),
        send_overhead_s=tuple(zip(sizes.tolist(), overhead_s.tolist(), strict=True)),
        receive_overhead_s=((0, 0.0),),
        gap_s=tuple(zip(sizes.tolist(), gap_s.tolist(), strict=True)),
        capacity_bytes_per_s=capacity_bytes_per_s,
    )
