# SPDX-License-Identifier: BSD-3-Clause
"""Times of messages from ``measurements.jsonl``: of each pair at each size, half of the median round trip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from isochrone.detect.distance import Floats, Ints
from isochrone.detect.partitions import meeting_level
from isochrone.files import Measurements, PairParameters, Topology
from isochrone.models.observation import MESSAGE, Cost, CostKind, Found, Observation

_Pair = TypeVar("_Pair")
_MOST_PAIRS = 128
"""Of a level; more tell nothing that these do not."""


def of_measurements(measurements: Measurements, topology: Topology) -> Found:
    """What was measured of the pairs that meet at each level.

    Pairs with PLogP parameters have more sizes, and costs: where a level has any of these, the others are
    left out.
    """
    partitions = [np.array(topology.labels(level)) for level in topology.levels]
    ranks = np.array(topology.job_ranks)
    among = measurements.only(ranks.tolist())
    meets = meeting_level(partitions, among.first, among.second)
    meets[np.isnan(among.rtt_median_s[:, among.smallest])] = -1
    observations: list[Observation] = []
    costs: list[Cost] = []
    for number, level in enumerate(topology.levels):
        here = np.flatnonzero(meets == number)
        pairs = list(zip(ranks[among.first[here]].tolist(), ranks[among.second[here]].tolist(), strict=True))
        with_parameters = [
            measurements.parameters[pair]
            for a, b in pairs
            for pair in ((a, b), (b, a))
            if pair in measurements.parameters
        ]
        if with_parameters:
            for each in _some(with_parameters):
                observations += _times(
                    level.name, each.sizes_bytes, each.rtt_s[:, 2] / 2, (each.sender, each.receiver)
                )
            costs += _costs(level.name, with_parameters)
        else:
            for k, pair in _some(list(zip(here, pairs, strict=True))):
                observations += _times(level.name, among.sizes_bytes, among.rtt_median_s[k] / 2, pair)
            costs += _overheads(level.name, among, here)
    return Found(tuple(observations), tuple(costs))


def _some(pairs: Sequence[_Pair]) -> Sequence[_Pair]:
    """As many as are enough, evenly chosen."""
    return pairs[:: -(-len(pairs) // _MOST_PAIRS)] if pairs else pairs


def _times(level: str, sizes: Sequence[int], times_s: Floats, pair: tuple[int, int]) -> list[Observation]:
    return [
        Observation(MESSAGE, size, 2, time_s, region=level, source=f"ranks {pair[0]} and {pair[1]}")
        for size, time_s in zip(sizes, times_s.tolist(), strict=True)
        if time_s > 0  # and not NaN
    ]


def _overheads(level: str, measurements: Measurements, pairs: Ints) -> list[Cost]:
    """Of the sender, the median over some pairs."""
    values_s = measurements.send_overhead_s[pairs]
    return [
        Cost("send_overhead", size, float(np.nanmedian(column)), level)
        for size, column in zip(measurements.sizes_bytes, values_s.T, strict=True)
        if np.any(column > 0)
    ]


def _costs(level: str, parameters: Sequence[PairParameters]) -> list[Cost]:
    """Medians over the pairs, at the sizes that all have; what noise made negative is none."""
    sizes = sorted(set.intersection(*(set(each.sizes_bytes) for each in parameters)))
    kinds: tuple[tuple[CostKind, str], ...] = (
        ("send_overhead", "send_overhead_s"),
        ("receive_overhead", "receive_overhead_s"),
        ("gap", "gap_s"),
    )
    found = []
    for kind, name in kinds:
        for size in sizes:
            middle_s = float(
                np.median([getattr(each, name)[each.sizes_bytes.index(size)] for each in parameters])
            )
            if middle_s > 0:
                found.append(Cost(kind, size, middle_s, level))
    return found
