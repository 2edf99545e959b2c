# SPDX-License-Identifier: BSD-3-Clause
"""How much longer each pair takes than its like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isochrone.detect.accuracy import matched
from isochrone.detect.distance import Floats, Ints, distances
from isochrone.detect.known import known_partitions
from isochrone.detect.levels import find_levels
from isochrone.errors import IsochroneError
from isochrone.files import Measurements

# A level that fits what host names or hardware say so well is taken to be that.
_NEARLY = 0.9

# Clocks and medians of few pairs tell no finer differences than this.
_LEAST_SCATTER = 0.01


@dataclass(frozen=True, eq=False)
class Residuals:
    """Of all pairs of ranks that were measured.

    Attributes:
        first, second: [pair], the ranks.
        level: [pair], the number of the innermost level at which the two are together.
        levels: [level, rank], group of each rank, outermost first.
        sizes_bytes: of the last axes.
        time_s: [pair, size], half of the least round trip; NaN where none was measured.
        expected_s: [pair, size], what its like take.
        excess: [pair, size], logarithm of their ratio.
        scatter: [level, size], of the excess over the pairs of a level; robust.
    """

    first: Ints
    second: Ints
    level: Ints
    levels: Ints
    sizes_bytes: tuple[int, ...]
    time_s: Floats
    expected_s: Floats
    excess: Floats
    scatter: Floats


def against_their_like(measurements: Measurements) -> Residuals:
    """Each pair against the median of those that meet at the same level.

    Levels are those that detection finds, as host names and hardware have them where they nearly agree; but
    for levels that only set single hosts or ranks apart from all the others: those are what is looked for.

    Raises:
        IsochroneError: pairs are missing.
    """
    levels = _levels(measurements)
    i, j, level = _pairs(levels)
    time_s = measurements.rtt_min_s[i, j] / 2
    with np.errstate(divide="ignore"):
        log_s = np.log(time_s)
    log_s[~np.isfinite(log_s)] = np.nan
    expected = np.full_like(log_s, np.nan)
    for number in np.unique(level):
        here = level == number
        expected[here] = median_by_size(log_s[here])
    return _residuals(measurements.sizes_bytes, i, j, level, levels, log_s, expected)


def against_older(measurements: Measurements, older: Measurements) -> Residuals:
    """Each pair against what the same places took in older measurements.

    Raises:
        IsochroneError: pairs are missing, or the two have too little in common.
    """
    sizes = [size for size in measurements.sizes_bytes if size in older.sizes_bytes]
    of_place = {(place.host, place.cpus): rank for rank, place in enumerate(older.places)}
    if (
        len(of_place) != older.ranks
        or len({(p.host, p.cpus) for p in measurements.places}) != measurements.ranks
    ):
        same = np.arange(older.ranks) if older.places == measurements.places else None
    else:
        same = np.array([of_place.get((place.host, place.cpus), -1) for place in measurements.places])
    if same is None or not sizes or np.count_nonzero(same >= 0) < 2:
        raise IsochroneError(
            "the older measurements have no two places or no size in common with these",
            todo="compare measurements of the same machine",
        )
    levels = _levels(measurements)
    i, j, level = _pairs(levels)
    both = (same[i] >= 0) & (same[j] >= 0)
    i, j, level = i[both], j[both], level[both]
    mine = [measurements.sizes_bytes.index(size) for size in sizes]
    theirs = [older.sizes_bytes.index(size) for size in sizes]
    with np.errstate(divide="ignore", invalid="ignore"):
        log_s = np.log(measurements.rtt_min_s[i, j][:, mine] / 2)
        expected = np.log(older.rtt_min_s[same[i], same[j]][:, theirs] / 2)
    log_s[~np.isfinite(log_s - expected)] = np.nan
    return _residuals(tuple(sizes), i, j, level, levels, log_s, expected)


def _residuals(
    sizes_bytes: tuple[int, ...],
    i: Ints,
    j: Ints,
    level: Ints,
    levels: Ints,
    log_s: Floats,
    expected: Floats,
) -> Residuals:
    excess = log_s - expected
    scatter = np.full((len(levels), excess.shape[1]), _LEAST_SCATTER)
    for number in np.unique(level):
        off = np.abs(excess[level == number] - median_by_size(excess[level == number]))
        # A median absolute deviation as the standard deviation it would be of, were the values normal.
        scatter[number] = np.fmax(1.4826 * median_by_size(off), _LEAST_SCATTER)
    return Residuals(
        i,
        j,
        level,
        levels,
        sizes_bytes,
        np.exp(log_s),
        np.exp(expected),
        excess,
        scatter,
    )


def _pairs(levels: Ints) -> tuple[Ints, Ints, Ints]:
    """The two ranks and the level of each pair."""
    i, j = np.triu_indices(levels.shape[1], 1)
    return i, j, np.sum(levels[:, i] == levels[:, j], axis=0) - 1


def _levels(measurements: Measurements) -> Ints:
    pairs = distances(measurements)
    known = known_partitions(measurements, None)
    found = [level[pairs.place_of] for level in find_levels(pairs)]
    hosts = next(part.labels for part in known if part.name == "node")
    kept = found[:1]
    for labels in found[1:]:
        nearest = max((part.labels for part in known), key=lambda known: matched(labels, known))
        if matched(labels, nearest) >= _NEARLY:
            # What is slow may look as if it were elsewhere.
            labels = nearest
        elif _sets_apart(kept[-1], labels, hosts):
            continue
        # Parts of what was taken from elsewhere.
        kept.append(np.unique(np.stack([kept[-1], labels]), axis=1, return_inverse=True)[1])
    return np.stack(kept)


def _sets_apart(outer: Ints, inner: Ints, hosts: Ints) -> bool:
    """Whether a level only takes single hosts, or ranks of one host, away from the others."""
    several_hosts = any(len(np.unique(hosts[inner == group])) > 1 for group in np.unique(inner))
    units = hosts if several_hosts else np.arange(len(inner))
    for parent in np.unique(outer):
        groups = np.unique(inner[outer == parent])
        large = [group for group in groups if len(np.unique(units[inner == group])) > 1]
        if len(large) > 1:
            return False
    return True


def median_by_size(values: Floats) -> Floats:
    """[size], over the pairs; NaN where a size was measured of none."""
    some = np.any(~np.isnan(values), axis=0)
    result = np.full(values.shape[1], np.nan)
    result[some] = np.nanmedian(values[:, some], axis=0)
    return result
