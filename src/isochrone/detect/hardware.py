# SPDX-License-Identifier: BSD-3-Clause
"""Sockets, NUMA nodes, caches and cores of this host, as hwloc sees them."""

from __future__ import annotations

import logging
import shutil
import socket
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

from isochrone.files import Place, parse_cpus

LOG = logging.getLogger("isochrone.detect")

_LEVELS = {"Package": "socket", "NUMANode": "numa", "L3Cache": "l3", "L2Cache": "l2", "Core": "core"}


def hardware_partitions(places: Sequence[Place], xml: str | None = None) -> dict[str, list[tuple[str, int]]]:
    """Level name to group of each rank, for the levels at which every rank is within one object of the
    hardware.

    Hosts with this host's hardware signature are taken to be built like it. Empty where some rank runs on a
    host that is not, or is bound to nothing, or where there is no ``lstopo``.

    Args:
        places: of the ranks.
        xml: hwloc's XML of the hosts; that of this host unless given.
    """
    here = socket.gethostname().partition(".")[0]
    signatures = {place.signature for place in places if place.host.partition(".")[0] == here}
    if any(place.cpus is None or place.signature not in signatures for place in places):
        return {}
    text = _lstopo() if xml is None else xml
    if text is None:
        return {}
    partitions = {}
    for name, objects in cpu_sets(text).items():
        groups = [_within(place, objects) for place in places]
        inside = [group for group in groups if group is not None]
        if len(inside) == len(groups):
            partitions[name] = [(place.host, group) for place, group in zip(places, inside, strict=True)]
    return partitions


def cpu_sets(xml: str) -> dict[str, list[frozenset[int]]]:
    """The CPUs of each socket, NUMA node, cache and core in hwloc's XML, by level name; empty for what is
    no such XML.
    """
    try:
        root = ElementTree.fromstring(xml)  # noqa: S314 - lstopo's own output, which has no entities
    except ElementTree.ParseError as error:
        LOG.warning("lstopo's output is not read: %s", error)
        return {}
    found: dict[str, list[frozenset[int]]] = {}
    for item in root.iter("object"):
        name = _LEVELS.get(item.get("type", ""))
        cpus = _mask(item.get("cpuset", ""))
        if name is not None and cpus:
            found.setdefault(name, []).append(cpus)
    return found


def _within(place: Place, objects: list[frozenset[int]]) -> int | None:
    cpus = parse_cpus(place.cpus or "")
    return next((number for number, inside in enumerate(objects) if cpus <= inside), None)


def _mask(text: str) -> frozenset[int]:
    """The CPUs of a mask like 0x00000001,0xffff0000: words of 32 bits, the highest first."""
    try:
        value = 0
        for word in text.split(","):
            value = value << 32 | int(word or "0", 16)
    except ValueError:
        return frozenset()
    return frozenset(bit for bit in range(value.bit_length()) if value >> bit & 1)


def _lstopo() -> str | None:
    program = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    if program is None:
        LOG.info(
            "sockets, caches and cores are not named: there is no lstopo (Debian: apt install hwloc-nox)"
        )
        return None
    try:
        answer = subprocess.run(
            [program, "--of", "xml"], input="", capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        LOG.info("sockets, caches and cores are not named: lstopo failed (%s)", error)
        return None
    return answer.stdout
