# SPDX-License-Identifier: BSD-3-Clause
"""Distances between hosts by their routes (Subramoni et al., section IV-B): by hops, and by links' speeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isochrone.errors import IsochroneError
from isochrone.fabric.routes import Routes
from isochrone.files.topology import Level, Topology

Matrix = NDArray[np.float64]


def by_hops(routes: Routes, hosts: Sequence[str]) -> Matrix:
    """[from, to], switches passed; 0 to itself, infinite where no route arrives.

    Raises:
        IsochroneError: a host is not on the fabric.
    """
    hops = routes.hops([routes.vertex(host) for host in hosts]).astype(np.float64)
    hops[hops == np.iinfo(np.uint16).max] = np.inf
    return hops


def by_speed(routes: Routes, hosts: Sequence[str]) -> Matrix:
    """[from, to], nanoseconds that a bit takes over the slowest cable, the inverse of its Gb/s; 0 to itself,
    infinite where no route arrives. Both hosts' own cables are among these: a pair is as fast as the slower
    of the two at best.

    Raises:
        IsochroneError: a host is not on the fabric, or the speed of a cable between two is not known.
    """
    rates = _known_rates(routes, hosts)
    with np.errstate(divide="ignore"):
        return np.where(np.isinf(rates), 0.0, 1.0 / rates)


def _known_rates(routes: Routes, hosts: Sequence[str]) -> Matrix:
    """[from, to], Gb/s; 0 where no route arrives, infinite to itself."""
    rates = routes.rates_gbps([routes.vertex(host) for host in hosts]).astype(np.float64)
    unknown = np.argwhere(np.isnan(rates))
    if len(unknown):
        one, other = (hosts[at] for at in unknown[0].tolist())
        raise IsochroneError(
            f"the speeds of cables are not known for {len(unknown)} pairs of hosts, such as {one} to {other}",
            routes.fabric.source,
            "add what iblinkinfo prints",
        )
    return rates


def by_times(routes: Routes, topology: Topology, size_bytes: int) -> tuple[list[str], Matrix]:
    """The hosts of a measured topology, and [from, to], seconds of a message between them, infinite where no
    route arrives: L + g(m) of the level that two hosts meet at, with the gap of each pair in the ratio of its
    slowest cable's speed to the median of its level. Measurements tell how much a level costs, and routes
    which of its pairs are slow.

    Raises:
        IsochroneError: a host is not on the fabric, a level was not measured, or the speed of a cable between
            two hosts is not known.
    """
    hosts, levels = host_levels(topology)
    rates = _known_rates(routes, hosts)
    times = np.full(rates.shape, np.nan)
    met = np.eye(len(hosts), dtype=bool)
    for level, labels in reversed(levels):  # innermost first
        here = (labels[:, None] == labels[None, :]) & ~met
        met |= here
        if not here.any():
            continue
        if level.links is None:
            raise IsochroneError(
                f"level {level.name} was not measured", "the topology", "give the one of a survey"
            )
        known = rates[here]
        known = known[known > 0]
        usual = float(np.median(known)) if known.size else 1.0
        gap_s = float(level.links.gap_at_s(np.array([float(size_bytes)]))[0])
        with np.errstate(divide="ignore"):
            times[here] = level.links.latency_s + gap_s * usual / rates[here]
    np.fill_diagonal(times, 0.0)
    return hosts, times


def host_levels(topology: Topology) -> tuple[list[str], list[tuple[Level, NDArray[np.int64]]]]:
    """The hosts of a topology in the order of its ranks, and [host], the groups of each level of whole hosts,
    outermost first.
    """
    hosts = list(dict.fromkeys(topology.places[place].host for place in topology.ranks))
    at = {host: index for index, host in enumerate(hosts)}
    host_of = np.array([at[topology.places[place].host] for place in topology.ranks], np.int64)
    found = []
    for level in topology.levels:
        labels = np.array(topology.labels(level), np.int64)
        of_host = np.zeros(len(hosts), np.int64)
        of_host[host_of] = labels
        if (of_host[host_of] == labels).all():
            found.append((level, of_host))
    return hosts, found


def csv_text(matrix: Matrix, hosts: Sequence[str], words: str) -> str:
    """As ``isochrone detect`` and others read it: a row for each host, and their names in a comment."""
    head = f"# {words}, from (row) to (column): {', '.join(hosts)}\n"
    return head + "".join(",".join(f"{cell:.6g}" for cell in row) + "\n" for row in matrix)
