# SPDX-License-Identifier: BSD-3-Clause
"""Partitions of the ranks that are known from elsewhere: the simulator's truth, host names, hardware, and the
map of a fabric.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isochrone.detect.distance import Ints
from isochrone.detect.hardware import hardware_partitions
from isochrone.detect.partitions import numbered
from isochrone.errors import IsochroneError
from isochrone.fabric.switches import Switches, tier_name
from isochrone.files import Measurements, Place, Topology
from isochrone.files.place import UNKNOWN_HOST

TRUTH, HOST_NAMES, HARDWARE, FABRIC = "truth", "host names", "hwloc", "fabric"


@dataclass(frozen=True, eq=False)
class Known:
    """A partition of the ranks that is known.

    Attributes:
        name: of the level that it would be.
        labels: [rank], number of the group of each rank.
        source: ``truth``, ``host names``, ``hwloc`` or ``fabric``.
    """

    name: str
    labels: Ints
    source: str


def known_partitions(
    measurements: Measurements,
    truth: Mapping[str, Sequence[int]] | None = None,
    fabric: Switches | None = None,
    remembered: Sequence[Known] = (),
) -> tuple[Known, ...]:
    """All that is known about the ranks besides the times.

    Args:
        measurements: whose places tell hosts and CPUs.
        truth: level name to group label of each rank, where a simulator knows it.
        fabric: the switches of the hosts; the first tier is ``switch``, the next ``switch-2`` and so on.
        remembered: from an earlier detection; what is said now from the same source comes in its place.

    Raises IsochroneError where the truth is about another number of ranks, or the fabric lacks a host.
    """
    known = [each for each in remembered if each.source == TRUTH and truth is None]
    for name, labels in (truth or {}).items():
        if len(labels) != measurements.ranks:
            raise IsochroneError(
                f"the truth of level {name} is about {len(labels)} ranks, not {measurements.ranks}"
            )
        known.append(Known(name, numbered(labels), TRUTH))
    known.extend(host_partitions(measurements.places))
    if not measurements.simulated:
        for name, groups in hardware_partitions(measurements.places).items():
            known.append(Known(name, numbered(groups), HARDWARE))
    known.extend(each for each in remembered if each.source == FABRIC and fabric is None)
    if fabric is not None:
        tiers = fabric.tiers([place.host for place in measurements.places])
        for tier, switches in enumerate(tiers, start=1):
            known.append(Known(tier_name(tier), numbered(switches), FABRIC))
    return tuple(known)


def remembered_by(earlier: Topology, ranks: Sequence[int]) -> tuple[Known, ...]:
    """What an earlier detection knew about some ranks of the job; nothing if it had not all of them."""
    index = {rank: i for i, rank in enumerate(earlier.job_ranks)}
    if not all(rank in index for rank in ranks):
        return ()
    return tuple(
        Known(groups.name, numbered([groups.labels[index[rank]] for rank in ranks]), groups.source)
        for groups in earlier.known
    )


def host_partitions(places: Sequence[Place]) -> list[Known]:
    """Hosts are nodes. Hosts with one prefix before their last number are a machine, or a rack where it has
    a number.
    """
    hosts = [place.host for place in places]
    if UNKNOWN_HOST in hosts:
        return []
    known = [Known("node", numbered(hosts), HOST_NAMES)]
    prefixes = [_prefix(host) for host in hosts]
    if 1 < len(set(prefixes)) < len(set(hosts)):
        name = "rack" if all(re.search(r"\d", prefix) for prefix in prefixes) else "machine"
        known.append(Known(name, numbered(prefixes), HOST_NAMES))
    return known


def _prefix(host: str) -> str:
    """What stands before the last number of a host name: c48 of c48-8, fram of fram-12."""
    found = re.match(r"^(.*\D)\d+\D*$", host)
    return found.group(1).rstrip("-_.") if found else host
