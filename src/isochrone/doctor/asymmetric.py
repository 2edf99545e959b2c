# SPDX-License-Identifier: BSD-3-Clause
"""Pairs whose one direction is slower than the other.

A round trip is the same both ways, and so is what follows from round trips: the latency, and the gap of
messages above 64 KiB. A direction is told by what is measured with messages that go one way:

- the gap of messages up to 64 KiB, of many in a row: the bandwidth of that direction;
- the send overhead, of messages that wait for the receiver: their whole way;
- the receive overhead, likewise; the sender of a pair's parameters measures it on messages to itself, so it
  is of the other direction.

A slow processor has its own overheads in one direction only, and is named here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isochrone.detect.distance import Floats
from isochrone.doctor.findings import LEAST_FACTOR, MOST
from isochrone.files import Measurements, Place
from isochrone.files.parameters import PairParameters
from isochrone.statistics import column_medians
from isochrone.units import format_bytes, format_time

# Above this the probe has the gap from round trips (native/mpi/probe/plogp.cpp).
_MOST_BYTES_OF_GAP = 65536

# Of the scatter of the differences of all pairs, and at so many sizes.
_SURE = 8.0
_LEAST_SIZES = 2
_LEAST_SCATTER = 0.01

# With fewer pairs, the scatter is that of all sizes together: one pair that differs would hide itself.
_ENOUGH_PAIRS = 8

# How often the clock's resolution a time must be to be compared.
_RESOLUTIONS = 10.0


@dataclass(frozen=True)
class Asymmetry:
    """A pair of ranks whose one direction is slow.

    Attributes:
        sender, receiver: the slow direction.
        name: for people.
        parameter: that shows it most: ``gap``, ``send overhead`` or ``receive overhead``.
        size_bytes: the message size that shows it most.
        time_s, back_s: the parameter in the slow direction, and in the other.
        scatter: of the ratio of the two over all pairs.
        sizes: number of message sizes that show it.
        weight: how much it differs, for the order.
    """

    sender: int
    receiver: int
    name: str
    parameter: str
    size_bytes: int
    time_s: float
    back_s: float
    scatter: float
    sizes: int
    weight: float

    @property
    def factor(self) -> float:
        """How many times longer than the other direction."""
        return self.time_s / self.back_s

    def __str__(self) -> str:
        return (
            f"{self.name}: asymmetric, {self.parameter} {self.factor:.2f} x as long as the other way "
            f"({format_bytes(self.size_bytes)}: {format_time(self.time_s)}, not {format_time(self.back_s)}; "
            f"{self.sizes} sizes, scatter {self.scatter:.1%})"
        )

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "kind": "asymmetric",
            "name": self.name,
            "ranks": [self.sender, self.receiver],
            "parameter": self.parameter,
            "size_bytes": self.size_bytes,
            "factor": self.factor,
            "time_s": self.time_s,
            "back_s": self.back_s,
            "scatter": self.scatter,
            "sizes": self.sizes,
        }


def both_directions(measurements: Measurements) -> list[tuple[int, int]]:
    """The pairs with parameters of both directions, the lesser rank first."""
    known = measurements.parameters
    return sorted((a, b) for a, b in known if a < b and (b, a) in known)


def asymmetric(measurements: Measurements) -> list[Asymmetry]:
    """Pairs with a slow direction, worst first: beyond the scatter of the differences of all pairs that were
    measured in both directions.
    """
    pairs = both_directions(measurements)
    if not pairs:
        return []
    # A clock without a resolution, as another tool may write it, tells no time from none either.
    least_s = max(_RESOLUTIONS * measurements.resolution_s, measurements.least_s)
    worst: dict[tuple[int, int], Asymmetry] = {}
    for parameter in ("gap", "send overhead", "receive overhead"):
        sizes, there_s, back_s = _both(measurements.parameters, pairs, parameter)
        # Of what is below the clock's means only noise is left.
        told = np.minimum(there_s, back_s) >= least_s
        log_ratio = np.full_like(there_s, np.nan)
        log_ratio[told] = np.log(there_s[told] / back_s[told])
        scatter = _scatter(log_ratio)
        for found in _beyond(
            log_ratio, scatter, sizes, there_s, back_s, pairs, parameter, measurements.places
        ):
            key = (min(found.sender, found.receiver), max(found.sender, found.receiver))
            if key not in worst or worst[key].weight < found.weight:
                worst[key] = found
    return sorted(worst.values(), key=lambda each: -each.weight)[:MOST]


def _both(
    parameters: Mapping[tuple[int, int], PairParameters],
    pairs: Sequence[tuple[int, int]],
    parameter: str,
) -> tuple[list[int], Floats, Floats]:
    """The sizes, and the parameter [pair, size] from the lesser rank to the greater and back; NaN where it
    was not measured.
    """
    tables = []
    for low, high in pairs:
        there, back = parameters[low, high], parameters[high, low]
        if parameter == "receive overhead":
            there, back = back, there
        tables.append((_values(there, parameter), _values(back, parameter)))
    sizes = sorted({size for there, back in tables for size in there.keys() & back.keys()})
    there_s = np.array([[there.get(size, np.nan) for size in sizes] for there, _ in tables])
    back_s = np.array([[back.get(size, np.nan) for size in sizes] for _, back in tables])
    return sizes, there_s, back_s


def _values(of: PairParameters, parameter: str) -> dict[int, float]:
    if parameter == "gap":
        values = of.gap_s[np.array(of.sizes_bytes) <= _MOST_BYTES_OF_GAP]
    else:
        values = of.send_overhead_s if parameter == "send overhead" else of.receive_overhead_s
    return dict(zip(of.sizes_bytes, values.tolist(), strict=False))


def _scatter(log_ratio: Floats) -> Floats:
    """[size], of the ratios around 1: which rank is the lesser one says nothing of directions."""
    off = np.abs(log_ratio)
    few = np.count_nonzero(~np.isnan(off), axis=0) < _ENOUGH_PAIRS
    scatter = 1.4826 * column_medians(off)
    if few.any():
        scatter[few] = 1.4826 * column_medians(off.reshape(-1, 1))[0]
    return np.fmax(scatter, _LEAST_SCATTER)


def _beyond(
    log_ratio: Floats,
    scatter: Floats,
    sizes: Sequence[int],
    there_s: Floats,
    back_s: Floats,
    pairs: Sequence[tuple[int, int]],
    parameter: str,
    places: Sequence[Place],
) -> Iterator[Asymmetry]:
    threshold = np.maximum(_SURE * scatter, np.log(LEAST_FACTOR))
    for sign in (1, -1):
        more = np.nan_to_num(sign * log_ratio, nan=-np.inf)
        beyond = more > threshold
        for index in np.flatnonzero(np.count_nonzero(beyond, axis=1) >= _LEAST_SIZES).tolist():
            low, high = pairs[index]
            sender, receiver = (low, high) if sign > 0 else (high, low)
            size = int(np.argmax(np.where(beyond[index], more[index], -np.inf)))
            times = (float(there_s[index, size]), float(back_s[index, size]))
            yield Asymmetry(
                sender=sender,
                receiver=receiver,
                name=_name(places, sender, receiver),
                parameter=parameter,
                size_bytes=sizes[size],
                time_s=times[0] if sign > 0 else times[1],
                back_s=times[1] if sign > 0 else times[0],
                scatter=float(scatter[size]),
                sizes=int(np.count_nonzero(beyond[index])),
                weight=float(np.sum(more[index][beyond[index]] ** 2)),
            )


def _name(places: Sequence[Place], sender: int, receiver: int) -> str:
    return f"from rank {sender} on {places[sender].host} to rank {receiver} on {places[receiver].host}"
