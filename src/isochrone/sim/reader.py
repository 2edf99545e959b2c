# SPDX-License-Identifier: BSD-3-Clause
"""Turns a document into a System: its form by the JSON Schema, then value by value."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

from isochrone.descriptions.document import Document, read_document
from isochrone.descriptions.quantity import RATE, SIZE, TIME
from isochrone.sim.faults import Fault, SlowLink, SlowNode
from isochrone.sim.networks.base import Link, Network, Steps
from isochrone.sim.networks.dragonfly import Dragonfly
from isochrone.sim.networks.fat_tree import FatTree
from isochrone.sim.networks.islands import Islands
from isochrone.sim.networks.star import Star
from isochrone.sim.networks.torus import Torus
from isochrone.sim.platform import wire_latency_s
from isochrone.sim.system import CoreGroups, System

_DEFAULT_EAGER_LIMIT_BYTES = 16 * 1024
_MAX_RANKS = 16384


def read_system(path: Path) -> System:
    """The system that a YAML file describes.

    Raises:
        IsochroneError: with file and line.
    """
    document = read_document(path)
    schema = json.loads((resources.files("isochrone.sim") / "system.schema.json").read_text(encoding="utf-8"))
    document.check(schema)
    if document.has(("network",)):
        kind = document.value(("network", "kind"))
        document.check({"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}, ("network",))
    return _Reader(document).system()


def _core_capacity(innermost: Link, links: Iterable[Link]) -> float:
    """What the innermost level says, if anything, but no less than any pair sees."""
    least = max(link.bandwidth_bytes_per_s for link in links)
    return (
        max(least, innermost.capacity_bytes_per_s) if math.isfinite(innermost.capacity_bytes_per_s) else least
    )


class _Reader:
    """Turns a document of the right form into a System; every value is looked up by its steps, for its
    line.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._data: dict[str, Any] = document.data

    def system(self) -> System:
        data = self._data
        nodes = self._integer(("nodes",))
        groups = self._core_groups()
        ranks = nodes * groups[-1].cores
        if ranks > _MAX_RANKS:
            raise self._document.error(f"{ranks} cores in all", ("nodes",), f"use at most {_MAX_RANKS}")
        network = self._network(nodes)
        error = network.node_count_error(nodes)
        if error is not None:
            raise self._document.error(error, ("network",), todo="make them agree")
        links: dict[Steps, Link] = {("links", group.name): group.link for group in groups}
        if nodes > 1:
            links |= network.links()
        default_overhead_s = 0.1 * min(link.latency_s for link in links.values())
        system = System(
            name=data["name"],
            description=data.get("description", ""),
            nodes=nodes,
            core_groups=groups,
            network=network,
            placement=data.get("placement", "block"),
            seed=self._integer(("seed",), 1),
            noise=self._noise(),
            send_overhead_s=self._document.quantity(("send_overhead",), TIME, default_overhead_s),
            receive_overhead_s=self._document.quantity(("receive_overhead",), TIME, default_overhead_s),
            eager_limit_bytes=int(
                self._document.quantity(("eager_limit",), SIZE, _DEFAULT_EAGER_LIMIT_BYTES)
            ),
            core_capacity_bytes_per_s=_core_capacity(groups[0].link, links.values()),
            faults=tuple(self._fault(("faults", index)) for index in range(len(data.get("faults", ())))),
        )
        for steps, link in links.items():
            if wire_latency_s(system, link.latency_s, link.bandwidth_bytes_per_s) < 0:
                what = "is less than both overheads and the 16 bytes of a message's envelope take"
                raise self._document.error(what, (*steps, "latency"), "raise it, or lower the overheads")
        return system

    def _fault(self, steps: Steps) -> Fault:
        fault = self._document.value(steps)
        if "node" in fault:
            return SlowNode(self._node((*steps, "node")), float(fault["slowdown"]))
        if "cable" in fault:
            nodes: tuple[int, ...] = (self._node((*steps, "cable")),)
        else:
            nodes = tuple(self._node((*steps, "between", end)) for end in range(2))
        return SlowLink(
            nodes,
            float(fault.get("latency", 1)),
            float(fault.get("bandwidth", 1)),
            bool(fault.get("one_way", False)),
        )

    def _node(self, steps: Steps) -> int:
        node, nodes = self._integer(steps), self._integer(("nodes",))
        if node >= nodes:
            raise self._document.error(f"there is no node {node}", steps, f"nodes are 0 to {nodes - 1}")
        return node

    def _noise(self) -> float:
        noise = float(self._data.get("noise", 0))
        if math.isnan(noise):
            raise self._document.error("is not a number", ("noise",))
        return noise

    def _core_groups(self) -> tuple[CoreGroups, ...]:
        sockets, cores = self._integer(("sockets",)), self._integer(("cores",))
        numa = self._integer(("numa",), 1)
        if cores % numa:
            raise self._document.error(f"{numa} NUMA domains do not share out {cores} cores", ("numa",))
        domain = cores // numa
        l3_cores = self._integer(("l3_cores",), domain)
        if domain % l3_cores:
            what = f"groups of {l3_cores} do not share out the {domain} cores of a NUMA domain"
            raise self._document.error(what, ("l3_cores",))
        sizes = {"l3": l3_cores, "numa": domain, "socket": cores, "node": cores * sockets}
        needed = {"l3": l3_cores < domain, "numa": numa > 1, "socket": sockets > 1}
        groups = []
        for name, size in sizes.items():
            if name != "node" and (size == 1 or not needed[name]):
                continue
            between_sockets = name == "node" and sockets > 1
            link = self._link(("links", name), 4.0 if between_sockets else math.inf)
            groups.append(CoreGroups(name, size, link))
        return tuple(groups)

    def _network(self, nodes: int) -> Network:
        network = self._data.get("network", {"kind": "star"})
        if nodes == 1 and "network" not in self._data["links"]:
            # Nothing is between nodes, so nothing has to be said about it.
            return Star(self._link(("links", "node")))
        nearest = self._link(("links", "network"))
        match network["kind"]:
            case "islands":
                return Islands(
                    nearest, self._integers(("network", "islands")), self._link(("network", "uplink"))
                )
            case "fat-tree":
                return self._fat_tree(nearest)
            case "dragonfly":
                return Dragonfly(
                    nearest,
                    groups_count=self._integer(("network", "groups")),
                    routers_per_group=self._integer(("network", "routers_per_group")),
                    nodes_per_router=self._integer(("network", "nodes_per_router")),
                    local=self._farther(("network", "local"), nearest),
                    global_=self._link(("network", "global")),
                )
            case "torus":
                return Torus(
                    nearest, self._integers(("network", "dimensions")), self._link(("network", "hop"))
                )
            case _:
                return Star(nearest)

    def _fat_tree(self, nearest: Link) -> FatTree:
        down, up = self._integers(("network", "down")), self._integers(("network", "up"))
        levels = len(self._document.value(("network", "uplinks")))
        if not len(down) == len(up) == levels + 1:
            what = f"{len(down)} numbers down, {len(up)} up and {levels} uplinks"
            raise self._document.error(
                what, ("network",), "give one of each for a level, and no uplink for the leaves"
            )
        if up[0] != 1:
            raise self._document.error("each node has one network card", ("network", "up", 0), "make it 1")
        return FatTree(
            nearest, down, up, tuple(self._link(("network", "uplinks", level)) for level in range(levels))
        )

    def _farther(self, steps: Steps, nearest: Link) -> Link:
        link = self._link(steps)
        if link.latency_s < nearest.latency_s:
            raise self._document.error(
                "its latency is less than that of links.network", steps, "make it no less"
            )
        return link

    def _link(self, steps: Steps, default_capacity: float = 1.0) -> Link:
        """``default_capacity`` counts in bandwidths."""
        if not self._document.has(steps):
            raise self._document.error(
                f"{steps[-1]} is missing", steps[:-1], "give its latency and bandwidth"
            )
        latency_s = self._document.quantity((*steps, "latency"), TIME)
        bandwidth = self._positive((*steps, "bandwidth"))
        capacity = bandwidth * default_capacity
        if self._document.has((*steps, "capacity")):
            capacity = self._positive((*steps, "capacity"))
            if capacity < bandwidth:
                raise self._document.error("is less than the bandwidth of one pair", (*steps, "capacity"))
        return Link(latency_s, bandwidth, capacity)

    def _positive(self, steps: Steps) -> float:
        value = self._document.quantity(steps, RATE)
        if value < 1:
            raise self._document.error("is less than 1 byte/s", steps)
        return value

    def _integer(self, steps: Steps, default: int | None = None) -> int:
        """A number that the schema found to be an integer, which ``4.0`` is too."""
        if default is not None and not self._document.has(steps):
            return default
        return int(self._document.value(steps))

    def _integers(self, steps: Steps) -> tuple[int, ...]:
        return tuple(int(value) for value in self._document.value(steps))
