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
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri

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
        usual_log_s: [pair], the same of the median of the repetitions instead of the least, the lesser one
            of a pair that was measured twice; where that is not known, ``log_s``.
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

    def unconnected(self) -> tuple[int, int] | None:
        """Two ranks whose places have no way to each other over measured pairs; None where all have."""
        ends = self.place_of[self.first], self.place_of[self.second]
        pairs = coo_array((np.ones(len(self.first)), ends), shape=(self.places, self.places))
        part_of = connected_components(pairs, directed=False)[1][self.place_of]
        other = int(np.argmax(part_of != part_of[0]))
        return (0, other) if other else None


def distance_matrix_s(measurements: Measurements) -> Floats:
    """One-way time of the smallest message, [rank, rank] in seconds; 0 on the diagonal, NaN for pairs that
    were not to be measured.

    Raises IsochroneError where the probe did not come to its end, or there are too many ranks for a matrix.
    """
    measurements.check_ended()
    matrix = measurements.square(_one_way_s(measurements))
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _one_way_s(measurements: Measurements) -> Floats:
    """[pair], of the smallest message, in seconds."""
    return np.maximum(measurements.rtt_min_s[:, measurements.smallest] / 2, measurements.least_s)


def distances(measurements: Measurements) -> Distances:
    """The distances of all pairs. Ranks of one place (a host, where they are not bound) cannot be told apart.

    Raises IsochroneError where the probe did not come to its end, or measured too few pairs to tell.
    """
    measurements.check_ended()
    i, j, least = measurements.first, measurements.second, _one_way_s(measurements)
    usual = measurements.rtt_median_s[:, measurements.smallest] / 2
    if measurements.alone:
        # What holds up a whole measurement of a pair seldom does so twice: of its two measurements the better
        # tells both what the least is and what is usual. A pair that was not measured itself is left out.
        at = measurements.find(*np.array(list(measurements.alone)).T)
        again_s = np.array(list(measurements.alone.values()))[:, :, measurements.smallest] / 2
        here, again_s = at[at >= 0], again_s[at >= 0]
        # A size may have taken too long the second time only.
        least[here] = np.fmin(least[here], np.maximum(again_s[:, 0], measurements.least_s))
        usual[here] = np.fmin(usual[here], again_s[:, 1])
    distinct, ranks = distinct_places(measurements.places)
    place_of = np.array(ranks, dtype=np.int64)
    told = np.flatnonzero(~np.isnan(least))
    i, j, least = i[told], j[told], least[told]
    together = place_of[i] == place_of[j]
    spread = spread_of(least, usual[told])
    typical = float(np.median(spread)) if len(spread) else 0.0
    noise = scatter_of_least(measurements.usual_repetitions) * typical
    log_s = np.log(least)
    if together.any():
        log_s[together] = _log_s_within_places(least, measurements.rtt_min_s[told] / 2, i, j, together)
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


def distances_of(log_s: Floats, noise: float, host_of: Ints | None = None) -> Distances:
    """Distances between ranks that have a place each.

    Args:
        log_s: [rank, rank], logarithm of the distance in seconds, symmetric; NaN where not measured.
        noise: how far that scatters from message to message.
        host_of: [rank], number of the rank's host; by default each has one of its own.
    """
    i, j = np.nonzero(np.triu(~np.isnan(log_s), 1))
    return distances_between(i, j, log_s[i, j], noise, len(log_s), host_of)


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
    least_s: Floats, one_way_s: Floats, first: Ints, second: Ints, together: Booleans
) -> Floats:
    """[pair of one place], logarithm of the distance of two ranks of one place, told by `together`.

    That they are together is known. How near they are to each other is told by the size at which they are
    nearest, compared with the nearest rank elsewhere: where ranks share cores the smallest message may only
    show how long a rank takes to wake up. Sizes that took too long between far ranks are not measured there.
    """
    times_s = np.column_stack([least_s, one_way_s])[~together]
    nearest_s = np.full((int(second.max()) + 1, times_s.shape[1]), np.inf)
    for ranks in (first[~together], second[~together]):
        np.minimum.at(nearest_s, ranks, np.where(times_s > 0, times_s, np.inf))
    nearest_s = nearest_s[first[together]]
    with np.errstate(invalid="ignore"):
        by_size = nearest_s[:, :1] * one_way_s[together] / nearest_s[:, 1:]
    found: Floats = np.minimum(least_s[together], np.where(by_size > 0, by_size, np.inf).min(axis=1))
    return np.log(found)
