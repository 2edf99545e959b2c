# SPDX-License-Identifier: BSD-3-Clause
"""Distances between places, from round trips between ranks.

The distance of two ranks is half of the least round trip of the smallest message: noise only ever adds to a
message's time, so that the minimum of the repetitions is the best estimate, and the smallest message
has no share of bandwidth in it. Where a level differs in bandwidth only, larger sizes tell it
(``by_size``). Distances are compared as ratios, hence the logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from isochrone.detect.complete import complete
from isochrone.errors import IsochroneError
from isochrone.files import Measurements, distinct_places

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Distances:
    """The distances of all pairs of ranks.

    Attributes:
        place_of: [rank], number of the rank's place.
        host_of: [place], number of the place's host.
        first, second: [pair], the two places of a pair of ranks, ``first <= second``.
        log_s: [pair], logarithm of the distance in seconds.
        usual_log_s: [pair], the same of the median of the repetitions instead of the least; where that is
            not known, ``log_s``.
        measured: [pair], whether the distance was measured; others follow from those that were
            (``complete``).
        noise: how far the logarithm of a distance scatters from message to message; 0 where it is not known.
    """

    place_of: Ints
    host_of: Ints
    first: Ints
    second: Ints
    log_s: Floats
    usual_log_s: Floats
    measured: Booleans
    noise: float

    @property
    def places(self) -> int:
        """Number of places."""
        return int(self.place_of.max()) + 1


def distance_matrix_s(measurements: Measurements) -> Floats:
    """One-way time of the smallest message, [rank, rank] in seconds; 0 on the diagonal, NaN for pairs that
    were not to be measured.

    Raises IsochroneError where the probe did not come to its end.
    """
    if not (measurements.complete or measurements.ended):
        missing = measurements.pairs_total - measurements.pairs_measured
        raise IsochroneError(
            f"{missing} of {measurements.pairs_total} pairs are missing from the measurements",
            todo="run the same probe again: it measures what is missing",
        )
    matrix = np.maximum(measurements.rtt_min_s[:, :, measurements.smallest] / 2, measurements.least_s)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def distances(measurements: Measurements) -> Distances:
    """The distances of all pairs. Ranks of one place (a host, where they are not bound) cannot be told apart.

    Raises IsochroneError where the probe did not come to its end, or measured too few pairs to tell.
    """
    matrix = distance_matrix_s(measurements)
    for pair, alone_s in measurements.alone.items():
        # What holds up a whole measurement of a pair seldom does so twice.
        # A pair that was not measured itself is left so: it has no median that this could be the least of.
        again_s = max(alone_s[measurements.smallest] / 2, measurements.least_s)
        matrix[pair] = matrix[pair[::-1]] = np.minimum(matrix[pair], again_s)
    distinct, ranks = distinct_places(measurements.places)
    place_of = np.array(ranks, dtype=np.int64)
    i, j = np.triu_indices(measurements.ranks, 1)
    places = np.sort(np.stack([place_of[i], place_of[j]]), axis=0)
    together = places[0] == places[1]
    median = measurements.rtt_median_s[i, j, measurements.smallest] / 2
    least = matrix[i, j]
    measured = ~np.isnan(least)
    spread = spread_of(least, median)
    noise = (
        scatter_of_least(measurements.usual_repetitions) * float(np.median(spread[measured]))
        if measured.any()
        else 0.0
    )
    log_s = np.log(least)
    log_s[together] = _log_s_within_places(measurements, matrix, place_of, i[together], j[together])
    if not measured.all():
        logs = np.full(matrix.shape, np.nan)
        logs[i, j] = logs[j, i] = log_s
        log_s = complete(logs, noise)[i, j]
    return Distances(
        place_of=place_of,
        host_of=np.unique([place.host for place in distinct], return_inverse=True)[1],
        first=places[0],
        second=places[1],
        log_s=log_s,
        usual_log_s=log_s + np.where(measured & ~together, spread, 0.0),
        measured=measured,
        noise=noise,
    )


def spread_of(least: npt.ArrayLike, median: npt.ArrayLike) -> Floats:
    """How far the logarithm of the median of the repetitions is above that of the least of them."""
    # Of damaged files the ratio may be beyond all numbers.
    spread: Floats = np.log(np.maximum(median, least)) - np.log(least)
    return spread


def distances_of(
    log_s: Floats, noise: float, host_of: Ints | None = None, spread: Floats | None = None
) -> Distances:
    """Distances between ranks that have a place each.

    Args:
        log_s: [rank, rank], logarithm of the distance in seconds, symmetric; NaN where not measured.
        noise: how far that scatters from message to message.
        host_of: [rank], number of the rank's host; by default each has one of its own.
        spread: [rank, rank], how far the median is above it, likewise; by default not at all.
    """
    ranks = np.arange(len(log_s))
    i, j = np.triu_indices(len(log_s), 1)
    filled, measured = complete(log_s, noise)[i, j], ~np.isnan(log_s[i, j])
    return Distances(
        place_of=ranks,
        host_of=ranks if host_of is None else host_of,
        first=i,
        second=j,
        log_s=filled,
        usual_log_s=filled if spread is None else filled + np.where(measured, spread[i, j], 0.0),
        measured=measured,
        noise=noise,
    )


def scatter_of_least(repetitions: int) -> float:
    """How far the least of so many values scatters, in units of its mean distance from their median.

    For normal noise, by Gumbel's and Blom's approximations; for exponential noise it is less. The more
    values, the farther the least is from their median, and the less it scatters.
    """
    count = max(repetitions, 2)
    distance = float(ndtri((count - 0.375) / (count + 0.25)))
    return float(np.pi / np.sqrt(12 * np.log(count))) / distance


def _log_s_within_places(
    measurements: Measurements, matrix: Floats, place_of: Ints, first: Ints, second: Ints
) -> Floats:
    """[pair], logarithm of the distance of two ranks of one place.

    That they are together is known. How near they are to each other is told by the size at which they are
    nearest, compared with the nearest rank elsewhere: where ranks share cores the smallest message may only
    show how long a rank takes to wake up.
    """
    apart = place_of[:, None] != place_of[None, :]
    found: Floats = np.log(matrix[first, second])
    if len(first) == 0 or not apart.any():
        return found
    nearest = np.min(matrix, axis=1, where=apart & (matrix > 0), initial=np.inf)[first]
    for size in range(len(measurements.sizes_bytes)):
        one_way_s = measurements.rtt_min_s[:, :, size] / 2
        # Sizes that took too long between far ranks are not measured there.
        known = apart & (one_way_s > 0)
        elsewhere = np.min(one_way_s, axis=1, where=known, initial=np.inf)[first]
        within = one_way_s[first, second]
        told = (within > 0) & np.isfinite(elsewhere) & np.isfinite(nearest)
        found[told] = np.minimum(found[told], np.log((nearest * within / elsewhere)[told]))
    return found
