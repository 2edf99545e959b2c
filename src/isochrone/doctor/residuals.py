# SPDX-License-Identifier: BSD-3-Clause
"""How much longer each pair takes than its like."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from isochrone.detect.accuracy import matched
from isochrone.detect.distance import Booleans, Floats, Ints, distances
from isochrone.detect.known import known_partitions
from isochrone.detect.levels import find_levels
from isochrone.detect.partitions import divided, meeting_level
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
        alone: [pair], whether it was measured once more while no other was.
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
    alone: Booleans


def against_their_like(measurements: Measurements, levels: Ints | None = None) -> Residuals:
    """Each pair against the median of those that meet at the same level.

    Args:
        measurements: of all pairs, or of those that tell the tree.
        levels: what `usual_levels` found in them, where that is known.

    Raises:
        IsochroneError: pairs are missing.
    """
    if levels is None:
        levels = usual_levels(measurements)
    log_s = _log_s(measurements)
    pairs, i, j, level = _told(measurements, levels, log_s)
    log_s = log_s[pairs]
    weight = _weights(measurements, i, j, level)
    expected = np.full_like(log_s, np.nan)
    for number in np.unique(level):
        here = level == number
        expected[here] = _weighted_median_by_size(log_s[here], weight[here])
    found = _residuals(measurements.sizes_bytes, i, j, level, levels, log_s, expected, weight)
    once_more = _alone_s(measurements)
    alone = [pair in once_more for pair in zip(i.tolist(), j.tolist(), strict=True)]
    return replace(found, alone=np.array(alone, dtype=np.bool_))


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
    levels = usual_levels(measurements)
    mine = np.array([measurements.sizes_bytes.index(size) for size in sizes])
    theirs = np.array([older.sizes_bytes.index(size) for size in sizes])
    log_s = _log_s(measurements)[:, mine]
    i, j = same[measurements.first], same[measurements.second]
    # A place that was not there then has number -1.
    there = (i >= 0) & (j >= 0)
    expected = np.full_like(log_s, np.nan)
    expected[there] = older.rows(_log_s(older)[:, theirs], i[there], j[there])
    log_s[np.isnan(expected)] = np.nan
    pairs, i, j, level = _told(measurements, levels, log_s)
    if len(pairs) == 0:
        raise IsochroneError(
            "no pair was measured both then and now",
            todo="probe all pairs (--mode all), or those that the older measurements have (--pairs)",
        )
    weight = _weights(measurements, i, j, level)
    return _residuals(tuple(sizes), i, j, level, levels, log_s[pairs], expected[pairs], weight)


def _residuals(
    sizes_bytes: tuple[int, ...],
    i: Ints,
    j: Ints,
    level: Ints,
    levels: Ints,
    log_s: Floats,
    expected: Floats,
    weight: Floats,
) -> Residuals:
    excess = log_s - expected
    scatter = np.full((len(levels), excess.shape[1]), _LEAST_SCATTER)
    for number in np.unique(level):
        here = level == number
        off = np.abs(excess[here] - _weighted_median_by_size(excess[here], weight[here]))
        # A median absolute deviation as the standard deviation it would be of, were the values normal.
        scatter[number] = np.fmax(1.4826 * _weighted_median_by_size(off, weight[here]), _LEAST_SCATTER)
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
        np.zeros(len(i), dtype=np.bool_),
    )


def _log_s(measurements: Measurements) -> Floats:
    """[pair, size], logarithm of half the least round trip, of those of a pair that was repeated alone too;
    NaN where none was measured.
    """
    least_s = measurements.rtt_min_s.copy()
    if once_more := _alone_s(measurements):
        at = measurements.find(*np.array(list(once_more)).T)
        alone_s = np.stack(list(once_more.values()))
        least_s[at[at >= 0]] = np.fmin(least_s[at[at >= 0]], alone_s[at >= 0])
    with np.errstate(divide="ignore"):
        log_s: Floats = np.log(least_s / 2)
    log_s[~np.isfinite(log_s)] = np.nan
    return log_s


def _alone_s(measurements: Measurements) -> dict[tuple[int, int], Floats]:
    """Of the pairs that were measured while no other was, the least round trips, [size]; NaN for sizes that
    were not. Where some were repeated alone, parameters were measured alone too.
    """
    found = {pair: least_s for pair, (least_s, _) in measurements.alone.items()}
    for (sender, receiver), parameters in measurements.parameters.items() if found else ():
        least_s = dict(zip(parameters.sizes_bytes, parameters.rtt_s[:, 0].tolist(), strict=True))
        pair = (min(sender, receiver), max(sender, receiver))
        alone_s = np.array([least_s.get(size, np.nan) for size in measurements.sizes_bytes])
        found[pair] = np.fmin(found[pair], alone_s) if pair in found else alone_s
    return found


def _told(measurements: Measurements, levels: Ints, log_s: Floats) -> tuple[Ints, Ints, Ints, Ints]:
    """Which pairs have a value, and their two ranks and levels."""
    pairs = np.flatnonzero(np.any(~np.isnan(log_s), axis=1))
    i, j = measurements.first[pairs], measurements.second[pairs]
    return pairs, i, j, meeting_level(levels, i, j)


def _hosts(measurements: Measurements) -> Ints:
    """[rank], number of its host."""
    hosts: Ints = np.unique([place.host for place in measurements.places], return_inverse=True)[1]
    return hosts


def _weights(measurements: Measurements, i: Ints, j: Ints, level: Ints) -> Floats:
    """[pair], such that those between the same two hosts at the same level count as much as any other two's.

    All pairs count the same where all were measured. Else the few hosts that all others were measured with
    would be what is usual, even where it is they that are slow.
    """
    hosts = _hosts(measurements)
    cell = np.stack([np.minimum(hosts[i], hosts[j]), np.maximum(hosts[i], hosts[j]), level])
    _, number, count = np.unique(cell, axis=1, return_inverse=True, return_counts=True)
    # NumPy 2.0 keeps the shape of the axis.
    weight: Floats = 1 / count[np.ravel(number)]
    return weight


def usual_levels(measurements: Measurements) -> Ints:
    """[level, rank], group of each rank at the levels that detection finds, outermost first, as host names
    and hardware have them where they nearly agree; without those that only set single hosts or ranks apart
    from all the others: that is what is looked for. Ranks of which no pair was measured are in a group of
    their own.

    Raises:
        IsochroneError: the probe did not come to its end.
    """
    measurements.check_ended()
    seen = measurements.in_pairs
    if np.all(seen) or not np.any(seen):
        return _levels_of_seen(measurements)
    found = _levels_of_seen(measurements.only(np.flatnonzero(seen).tolist()))
    levels = np.full((len(found), measurements.ranks), -1, dtype=np.int64)
    levels[:, seen] = found
    return levels


def _levels_of_seen(measurements: Measurements) -> Ints:
    pairs = distances(measurements)
    known = known_partitions(measurements)
    found = [level[pairs.place_of] for level in find_levels(pairs)]
    hosts = _hosts(measurements)
    kept = found[:1]
    for labels in found[1:]:
        nearest = max((part.labels for part in known), key=lambda known: matched(labels, known), default=None)
        if nearest is not None and matched(labels, nearest) >= _NEARLY:
            # What is slow may look as if it were elsewhere.
            labels = nearest
        elif _sets_apart(kept[-1], labels, hosts):
            continue
        # Parts of what was taken from elsewhere.
        kept.append(divided(kept[-1], labels))
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


def _weighted_median_by_size(values: Floats, weight: Floats) -> Floats:
    """[size], as `column_medians`, where values have a weight: [pair]."""
    result = np.full(values.shape[1], np.nan)
    for size, column in enumerate(values.T):
        order = np.argsort(column)[: np.count_nonzero(~np.isnan(column))]
        if len(order) == 0:
            continue
        below = np.cumsum(weight[order])
        # Half of the weight may end between two values, but for rounding.
        middle = np.searchsorted(below / below[-1], [0.5 - 1e-9, 0.5 + 1e-9])
        result[size] = column[order[np.minimum(middle, len(order) - 1)]].mean()
    return result
