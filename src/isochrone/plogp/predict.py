# SPDX-License-Identifier: BSD-3-Clause
"""Times of messages from PLogP parameters (Reinfjell 2023, section 3.2)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from isochrone.detect.distance import Floats
from isochrone.errors import IsochroneError
from isochrone.files import Measurements, PairParameters

Fit = Literal["piecewise", "linear"]
Distance = Literal["piecewise", "linear", "vectors"]
DISTANCES: tuple[Distance, ...] = get_args(Distance)


def time_s(parameters: PairParameters, size_bytes: float, fit: Fit = "piecewise") -> float:
    """t(m) = L + (o_s(m) + o_r(m)) / 2 + g(m), equation 3.3.

    Args:
        parameters: of a pair.
        size_bytes: m.
        fit: each parameter between two measured sizes on the line through them, and beyond the last on the
            line through the last two; or on one line through all of them (least squares).
    """
    return parameters.latency_s + sum(
        share * _at(parameters, values, size_bytes, fit)
        for share, values in (
            (0.5, parameters.send_overhead_s),
            (0.5, parameters.receive_overhead_s),
            (1.0, parameters.gap_s),
        )
    )


def distance_matrix_s(measurements: Measurements, size_bytes: float, fit: Fit = "piecewise") -> Floats:
    """D(m), [rank, rank] in seconds: equation 3.4; 0 on the diagonal. Of two directions the mean counts.

    Raises:
        IsochroneError: a pair has no parameters.
    """
    _check_all(measurements)
    found = np.full((measurements.ranks,) * 2, np.nan)
    for (sender, receiver), parameters in measurements.parameters.items():
        found[sender, receiver] = time_s(parameters, size_bytes, fit)
    return _both(found[:, :, None])[:, :, 0]


def vectors(measurements: Measurements, size_bytes: float, fit: Fit = "piecewise") -> Floats:
    """V(m), [rank, 4 x ranks]: L, o_s(m), o_r(m) and g(m) towards every rank, equation 3.5. Each of the four
    is divided by its greatest value, so that all count.

    Raises:
        IsochroneError: a pair has no parameters.
    """
    _check_all(measurements)
    found = np.full((measurements.ranks, measurements.ranks, 4), np.nan)
    for (sender, receiver), parameters in measurements.parameters.items():
        found[sender, receiver] = [
            parameters.latency_s,
            *(
                _at(parameters, values, size_bytes, fit)
                for values in (parameters.send_overhead_s, parameters.receive_overhead_s, parameters.gap_s)
            ),
        ]
    found = _both(found)
    greatest = np.abs(found).max(axis=(0, 1))
    return (found / np.where(greatest > 0, greatest, 1.0)).reshape(measurements.ranks, -1)


def similarity(vectors: Floats) -> Floats:
    """A, [rank, rank]: the Euclidean distances of the ranks' vectors, equation 3.6."""
    from scipy.spatial.distance import pdist, squareform

    result: Floats = squareform(pdist(vectors))
    return result


def seen_by(measurements: Measurements, distance: Distance, size_bytes: int) -> Measurements:
    """The measurements as if one message size had been measured, whose half round trips are these distances.

    Raises:
        IsochroneError: a pair has no parameters.
    """
    if distance == "vectors":
        matrix = similarity(vectors(measurements, size_bytes))
    else:
        matrix = distance_matrix_s(measurements, size_bytes, distance)
    first, second = np.triu_indices(measurements.ranks, 1)
    rtt_s = 2 * matrix[first, second][:, None]
    return replace(
        measurements,
        sizes_bytes=(size_bytes,),
        first=first,
        second=second,
        rtt_min_s=rtt_s,
        rtt_median_s=rtt_s,
        send_overhead_s=np.zeros_like(rtt_s),
        counts=None if measurements.counts is None else measurements.counts[:, :1],
        parameters={},
        alone={},
    )


def _check_all(measurements: Measurements) -> None:
    """Raises IsochroneError where a pair has no parameters."""
    known = {(min(pair), max(pair)) for pair in measurements.parameters}
    if len(known) < measurements.pairs_total:
        i, j = next(p for p in itertools.combinations(range(measurements.ranks), 2) if p not in known)
        raise IsochroneError(
            f"ranks {i} and {j} have no PLogP parameters", todo="measure all pairs: isochrone probe --plogp"
        )


def _both(found: Floats) -> Floats:
    """Both directions from one or both, 0 on the diagonal."""
    other = found.transpose(1, 0, 2)
    both = np.where(np.isnan(found), other, np.where(np.isnan(other), found, (found + other) / 2))
    both[np.arange(len(both)), np.arange(len(both))] = 0.0
    return both


def _at(parameters: PairParameters, values: Floats, size_bytes: float, fit: Fit) -> float:
    sizes = np.array(parameters.sizes_bytes, dtype=np.float64)
    if fit == "linear" and len(sizes) > 1:
        slope, start = np.polyfit(sizes, values, 1)
        return float(start + slope * size_bytes)
    if size_bytes > sizes[-1] and len(sizes) > 1:
        slope = (values[-1] - values[-2]) / (sizes[-1] - sizes[-2])
        return float(values[-1] + slope * (size_bytes - sizes[-1]))
    return float(np.interp(size_bytes, sizes, values))
