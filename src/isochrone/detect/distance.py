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

from isochrone.errors import IsochroneError
from isochrone.files import Measurements, distinct_places

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Distances:
    """The distances of the pairs of ranks that were measured: of all, or of some.

    Attributes:
        place_of: [rank], number of the rank's place.
        host_of: [place], number of the place's host.
        first, second: [pair], the two ranks, ``first < second``; no pair is there twice.
        log_s: [pair], logarithm of the distance in seconds.
        usual_log_s: [pair], the same of the median of the repetitions instead of the least; where that is
            not known, ``log_s``.
        noise: how far the logarithm of a distance scatters from message to message; 0 where it is not known.
    """

    place_of: Ints
    host_of: Ints
    first: Ints
    second: Ints
    log_s: Floats
    usual_log_s: Floats
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
    i, j = np.nonzero(np.triu(~np.isnan(matrix), 1))
    together = place_of[i] == place_of[j]
    least = matrix[i, j]
    spread = spread_of(least, measurements.rtt_median_s[i, j, measurements.smallest] / 2)
    typical = float(np.median(spread)) if len(spread) else 0.0
    noise = scatter_of_least(measurements.usual_repetitions) * typical
    log_s = np.log(least)
    log_s[together] = _log_s_within_places(measurements, matrix, place_of, i[together], j[together])
    return Distances(
        place_of=place_of,
        host_of=np.unique([place.host for place in distinct], return_inverse=True)[1],
        first=i,
        second=j,
        log_s=log_s,
        usual_log_s=log_s + np.where(together, 0.0, spread),
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
    i, j = np.nonzero(np.triu(~np.isnan(log_s), 1))
    of_pair = None if spread is None else spread[i, j]
    return distances_between(i, j, log_s[i, j], noise, len(log_s), host_of, of_pair)


def distances_between(
    first: Ints,
    second: Ints,
    log_s: Floats,
    noise: float,
    ranks: int,
    host_of: Ints | None = None,
    spread: Floats | None = None,
) -> Distances:
    """The same of some pairs of so many ranks, [pair] each, ``first < second``, no pair twice."""
    everyone = np.arange(ranks)
    return Distances(
        place_of=everyone,
        host_of=everyone if host_of is None else host_of,
        first=first,
        second=second,
        log_s=log_s,
        usual_log_s=log_s if spread is None else log_s + spread,
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
