# SPDX-License-Identifier: BSD-3-Clause
"""PLogP parameters of each level, from the pairs that meet there (Kielmann, Bal and Verstoep 2000), and how
alike these pairs are.

The gap is half of RTT(m) beyond the latency, and does not fall as messages grow. A message that finds its
receiver waiting is there after L + g(m). The receiver is busy for its overhead at the end of that, as far as
known: the smallest message's is within L. That of a larger one was measured with the message still under way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.capacity import capacities_bytes_per_s
from isochrone.detect.distance import Booleans, Floats, Ints
from isochrone.detect.partitions import meeting_level
from isochrone.files import Links, Measurements, PairParameters
from isochrone.files.topology import Points
from isochrone.statistics import scatter


def level_links(measurements: Measurements, partitions: Sequence[Ints]) -> tuple[Links | None, ...]:
    """The links of each level; None for a level that no measured pair meets at.

    Args:
        measurements: of all pairs, or of some.
        partitions: group of each rank at each level, [rank], outermost first.
    """
    meets = meeting_level(partitions, measurements.first, measurements.second)
    capacities = capacities_bytes_per_s(measurements.streams, partitions)
    parameters = parameters_by_level(measurements, partitions)
    return tuple(
        _links(measurements, meets == k, parameters[k], capacity) for k, capacity in enumerate(capacities)
    )


def parameters_by_level(
    measurements: Measurements, partitions: Sequence[Ints]
) -> tuple[list[PairParameters], ...]:
    """The PLogP parameters of the pairs that meet at each level; arguments as of `level_links`."""
    found: tuple[list[PairParameters], ...] = tuple([] for _ in partitions)
    if measurements.parameters:
        meets = meeting_level(partitions, *np.array(list(measurements.parameters)).T)
        for level, each in zip(meets, measurements.parameters.values(), strict=True):
            found[level].append(each)
    return found


def _links(
    measurements: Measurements,
    here: Booleans,
    parameters: Sequence[PairParameters],
    capacity_bytes_per_s: float | None,
) -> Links | None:
    """Of some pairs, [pair]: medians over them; `parameters` are of those that all were measured of."""
    rtt_s = measurements.rtt_min_s[here]
    told = ~np.isnan(rtt_s[:, measurements.smallest])
    if not told.any():
        return None
    latencies_s = np.maximum(rtt_s[told, measurements.smallest] / 2, measurements.least_s)
    gap_s, overhead_s = (
        _of_parameters(parameters)
        if parameters
        else _of_round_trips(measurements.sizes_bytes, rtt_s[told], measurements.send_overhead_s[here][told])
    )
    latency_s = float(np.median(rtt_s[told, measurements.smallest])) / 2
    return Links(
        latency_s=latency_s,
        send_overhead_s=overhead_s,
        receive_overhead_s=((0, _receive_overhead_s(parameters, latency_s)),),
        gap_s=gap_s,
        capacity_bytes_per_s=capacity_bytes_per_s,
        pairs=int(np.count_nonzero(told)),
        spread=scatter(np.log(latencies_s)),
    )


def _of_round_trips(
    sizes_bytes: Sequence[int], rtt_s: Floats, send_overhead_s: Floats
) -> tuple[Points, Points]:
    """Gap and send overhead at the sizes whose median pair was measured: what was left out of a pair, [pair,
    size], takes longer than what was not.
    """
    medians_s = np.median(np.where(np.isnan(rtt_s), np.inf, rtt_s), axis=0)
    order = [k for k in np.argsort(sizes_bytes).tolist() if np.isfinite(medians_s[k])]
    sizes = [sizes_bytes[k] for k in order]
    return _gap(sizes, medians_s[order]), _points(sizes, np.nanmedian(send_overhead_s[:, order], axis=0))


def _of_parameters(parameters: Sequence[PairParameters]) -> tuple[Points, Points]:
    """Gap and send overhead at the sizes, many more, that these pairs have in common."""
    sizes = sorted(set.intersection(*(set(each.sizes_bytes) for each in parameters)))
    columns = [[each.sizes_bytes.index(size) for size in sizes] for each in parameters]
    rtt_s = [each.rtt_s[k, 0] for each, k in zip(parameters, columns, strict=True)]
    overhead_s = [each.send_overhead_s[k] for each, k in zip(parameters, columns, strict=True)]
    return _gap(sizes, np.median(rtt_s, axis=0)), _points(
        sizes, np.maximum(np.median(overhead_s, axis=0), 0.0)
    )


def _receive_overhead_s(parameters: Sequence[PairParameters], latency_s: float) -> float:
    """Of the smallest message; 0 where it was not measured."""
    if not parameters:
        return 0.0
    measured_s = np.median([each.receive_overhead_s[np.argmin(each.sizes_bytes)] for each in parameters])
    return float(np.clip(measured_s, 0.0, max(latency_s, 0.0)))


def _gap(sizes_bytes: Sequence[int], rtt_s: Floats) -> Points:
    return _points(sizes_bytes, np.maximum.accumulate(np.maximum((rtt_s - rtt_s[0]) / 2, 0.0)))


def _points(sizes_bytes: Sequence[int], values_s: Floats) -> Points:
    return tuple(zip(map(int, sizes_bytes), values_s.tolist(), strict=True))
