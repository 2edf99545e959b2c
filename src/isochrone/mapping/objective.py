# SPDX-License-Identifier: BSD-3-Clause
"""What a mapping costs. An objective gives each row of the task graph a weight in some terms, and each level
of the system a distance in the same; a mapping costs the sum of their products.

- ``time``: seconds. A row of n messages of m bytes costs n t(m) at the level where its ranks meet, with
  t(m) = L + g(m) by the level's PLogP parameters (Kielmann, Bal and Verstoep, IPDPS 2000).
- ``volume``: bytes times a weight for each level (Getmanskiy et al.; J of process mapping with `distances`).
- ``load``: seconds that the busiest way out of or into a group is busy. What is added up for the search is
  how long a pair keeps all ways busy that it shares with others.
- ``hops``: hop-bytes, the edges of the tree that each byte passes (Hoefler and Snir, ICS 2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone.errors import UsageError
from isochrone.files import Links
from isochrone.mapping.graph import TaskGraph
from isochrone.mapping.system import System

Floats = NDArray[np.float64]
OBJECTIVES = ("time", "load", "volume", "hops")


def terms(
    objective: str, graph: TaskGraph, system: System, distances: Sequence[float] | None
) -> tuple[Floats, Floats]:
    """The weights of the rows and the distances of the levels.

    Args:
        objective: one of OBJECTIVES.
        graph: the task graph.
        system: the places.
        distances: of ``volume``, innermost level first; 1, 2, 3, ... where there are none.

    Returns:
        [row, term] and [level, term], levels outermost first.

    Raises:
        UsageError: the objective needs what is not there.
    """
    levels = len(system.levels)
    if objective == "time":
        if not system.is_measured:
            raise UsageError(
                "times need the links of all levels", "--objective time", "give --topology, or use volume"
            )
        # What a row costs at each level is no product, so each level is a term of its own.
        weights = np.stack([_times_s(graph, links) for links in system.links], axis=1)
        return weights, np.eye(levels)
    if objective == "load":
        prices = way_prices_s(system)
        # Both ends leave or enter a group at each level within the one where they meet.
        apart_s = [2 * sum(prices[level + 1 :]) for level in range(levels)]
        return graph.volume_bytes[:, None].astype(np.float64), np.array(apart_s)[:, None]
    if objective == "hops":
        given = [2.0 * (level + 1) for level in range(levels)]
    elif objective == "volume":
        given = list(distances) if distances is not None else [float(level + 1) for level in range(levels)]
    else:
        raise UsageError(f"{objective!r} is no objective", "--objective", f"use {', '.join(OBJECTIVES)}")
    if len(given) != levels:
        raise UsageError(
            f"{len(given)} distances for {levels} levels",
            "--distances",
            f"give one for each of {', '.join(reversed(system.levels))}",
        )
    if min(given) < 0 or not np.isfinite(given).all():
        raise UsageError("a distance is negative or no number", "--distances", "write for example 1:10:100")
    return graph.volume_bytes[:, None].astype(np.float64), np.array(given[::-1])[:, None]


def _times_s(graph: TaskGraph, links: Links | None) -> Floats:
    """[row], the time of a row's messages at a level."""
    if links is None:
        return np.zeros(len(graph.sources))
    slope = links.last_slope_s_per_byte
    messages = graph.messages.astype(np.float64)
    volume_bytes = graph.volume_bytes.astype(np.float64)
    mean_bytes = volume_bytes / np.maximum(messages, 1.0)
    gap_s = links.gap_at_s(mean_bytes)
    # Rows of bare weights are bytes of one long stream.
    times_s: Floats = np.where(graph.messages > 0, messages * (links.latency_s + gap_s), volume_bytes * slope)
    return times_s


def way_prices_s(system: System) -> list[float]:
    """[level], for how long a byte keeps the way out of or into one of its groups busy. By the capacity that
    was measured, else, for nodes and what is around them, by what a pair gets; 0 for ways that nobody shares.

    Raises:
        UsageError: nothing was measured.
    """
    if not system.is_measured:
        raise UsageError(
            "ways need the links of all levels", "--objective load", "give --topology, or use volume"
        )
    return system.layout().way_s_per_byte()


@dataclass(frozen=True)
class BusyWay:
    """A way out of or into a group.

    Attributes:
        level, group: whose it is.
        seconds: for how long messages keep it busy.
    """

    level: str
    group: int
    seconds: float


def busiest_way(graph: TaskGraph, system: System, at: Sequence[int]) -> BusyWay | None:
    """The way that a mapping keeps busy longest; None if none is shared.

    Raises:
        UsageError: nothing was measured.
    """
    place = np.asarray(at)
    source, target = place[graph.sources], place[graph.targets]
    found: BusyWay | None = None
    for name, groups, price_s in zip(system.levels, system.groups, way_prices_s(system), strict=True):
        if price_s <= 0:
            continue
        label = np.asarray(groups)
        crosses = label[source] != label[target]
        for ends in (source, target):
            loads_s = price_s * np.bincount(label[ends[crosses]], graph.volume_bytes[crosses])
            if len(loads_s) and (found is None or loads_s.max() > found.seconds):
                found = BusyWay(name, int(loads_s.argmax()), float(loads_s.max()))
    return found
