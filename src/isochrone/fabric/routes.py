# SPDX-License-Identifier: BSD-3-Clause
"""Routes of a fabric: which switches and ports a packet passes from one host to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isochrone import __version__
from isochrone._core import FabricRoutes, FabricService
from isochrone.errors import IsochroneError
from isochrone.fabric.model import NO_PORT, Fabric, Node, Port, expect_room, guid_text

PROTOCOL_VERSION = 1
UNREACHABLE = 65535
"""Hops where a route does not arrive."""

ENDINGS = (
    "arrives",
    "has no cable or no LID",
    "ends at a switch without an entry for it",
    "goes in a circle",
    "ends elsewhere",
)
"""How a route ends, by the number that the core gives."""


@dataclass(frozen=True)
class Hop:
    """A switch on the way, and the ports that a packet comes in and goes out by; 0 is the switch itself."""

    switch: Node
    in_port: int
    out_port: int


@dataclass(frozen=True)
class Route:
    """A way through the fabric.

    Attributes:
        ending: one of ``ENDINGS``; the first where it arrives.
        hops: up to where it ends.
        speed_gbps: of the slowest cable, of data; 0 where not known.
    """

    ending: str
    hops: list[Hop]
    speed_gbps: float

    @property
    def arrives(self) -> bool:
        """Whether packets get there."""
        return self.ending == ENDINGS[0]


@dataclass(frozen=True)
class Wiring:
    """A fabric's cables, tables and names as the core takes them; a process can pass it to another.

    Vertices are the switches, and behind them the ends: ports of adapters and routers that have a cable.

    Attributes:
        arrays: arguments of ``FabricRoutes``.
        guids: [vertex].
        labels: [vertex], what a person calls it.
        hosts: the vertex of the first port of each host, by name.
        more_guids: other GUIDs of vertices.
    """

    arrays: tuple[NDArray[Any], ...]
    guids: list[int]
    labels: list[str]
    hosts: dict[str, int]
    more_guids: list[tuple[int, int]]

    def routes(self) -> FabricRoutes:
        """For the core."""
        return FabricRoutes(*self.arrays)

    def service(self, routes: FabricRoutes, generation: int) -> FabricService:
        """What answers a server's lines."""
        version = f"isochrone-fabric {PROTOCOL_VERSION} {__version__} generation {generation}"
        return FabricService(routes, self.guids, list(self.hosts.items()), self.more_guids, version)


class Routes:
    """Routes of a fabric, by vertices (see ``Wiring``).

    Attributes:
        fabric: what it was made of; not to be changed any more.
        wiring: its arrays.
        core: for what is asked of all pairs at once.
        service: what answers a server's lines.
        switches: vertices 0 and up.
        ends: the vertices that follow.

    Raises:
        IsochroneError: its tables would be too large.
    """

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.switches = fabric.switches
        self.ends = _ends(fabric)
        self.wiring = wiring(fabric)
        self.core = self.wiring.routes()
        self.service = self.wiring.service(self.core, fabric.generation)

    def vertex(self, name: str) -> int:
        """The vertex of a host, by name or GUID; with or without a domain where that leaves no doubt.

        Raises:
            IsochroneError: it is not on the fabric.
        """
        found = self.service.find(name)
        if found < 0:
            raise IsochroneError(
                f"{name[:64]!r} is not on this fabric",
                self.fabric.source,
                "name a host, or the GUID of a node or port with 0x",
            )
        return found

    def route(self, source: int, target: int, path: int = 0) -> Route:
        """From vertex to vertex; ``path`` is added to the target's base LID where it has several."""
        ending, hops, rate = self.core.route(source, target, path)
        return Route(
            ENDINGS[ending],
            [Hop(self.switches[at], into, out) for at, into, out in hops],
            float(rate) if np.isfinite(rate) else 0.0,
        )

    def hops(self, vertices: Sequence[int]) -> NDArray[np.uint16]:
        """[from, to], switches passed; 65535 where a route does not arrive."""
        return self.core.hops(vertices)

    def rates_gbps(self, vertices: Sequence[int]) -> NDArray[np.float32]:
        """[from, to], data rate of the slowest cable; 0 where a route does not arrive, NaN where a cable's is
        not known, inf to itself.
        """
        return self.core.rates(vertices)


def wiring(fabric: Fabric) -> Wiring:
    """The arrays of a fabric.

    Raises:
        IsochroneError: its tables would be too large.
    """
    switches, ends, tables = fabric.switches, _ends(fabric), fabric.tables
    switch_at = {switch.guid: vertex for vertex, switch in enumerate(switches)}
    end_at = {(node.guid, port.number): len(switches) + at for at, (node, port) in enumerate(ends)}

    def far(port: Port) -> int:
        """The vertex at the other end of a cable; -1 where the dumps do not tell of it."""
        if port.peer is None:
            return -1
        return switch_at.get(port.peer[0], end_at.get(port.peer, -1))

    ports = max((max(switch.ports, default=0) for switch in switches), default=0) + 1
    lids = max((len(table) for table in tables.values()), default=1)
    expect_room(len(switches), lids, fabric.source)
    peer = np.full((len(switches), ports), -1, np.int32)
    peer_port = np.zeros((len(switches), ports), np.uint8)
    rate = np.zeros((len(switches), ports), np.float32)
    out = np.full((len(switches), lids), NO_PORT, np.uint8)
    for at, switch in enumerate(switches):
        for number, port in switch.ports.items():
            if number and port.peer is not None:
                peer[at, number] = far(port)
                peer_port[at, number] = port.peer[1]
                rate[at, number] = port.rate_gbps
        if switch.guid in tables:
            out[at, : len(tables[switch.guid])] = tables[switch.guid]
    lid_ports = [switch.port(0) for switch in switches] + [port for _, port in ends]
    arrays = (
        peer,
        peer_port,
        rate,
        out,
        np.array([port.lid for port in lid_ports], np.int32),
        np.array([port.lmc for port in lid_ports], np.uint8),
        np.array([far(port) for _, port in ends], np.int32),
        np.array([port.peer[1] if port.peer else 0 for _, port in ends], np.uint8),
        np.array([port.rate_gbps for _, port in ends], np.float32),
    )
    # Of a node with several ports its GUID means the first.
    more = [(switch.port(0).guid, at) for at, switch in enumerate(switches) if switch.port(0).guid]
    more += [(node.guid, end_at[node.guid, port.number]) for node, port in ends]
    return Wiring(
        arrays,
        [switch.guid for switch in switches] + [port.guid or node.guid for node, port in ends],
        [switch.name or guid_text(switch.guid) for switch in switches]
        + [f"{node.name or guid_text(node.guid)}[{port.number}]" for node, port in ends],
        {name: end_at[found[0][0].guid, found[0][1].number] for name, found in fabric.hosts.items()},
        more,
    )


def _ends(fabric: Fabric) -> list[tuple[Node, Port]]:
    return [
        (node, port)
        for node in fabric.nodes.values()
        if node.kind != "switch"
        for port in node.ports.values()
        if port.peer is not None
    ]
