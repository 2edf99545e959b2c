# SPDX-License-Identifier: BSD-3-Clause
"""Routes of a fabric: which switches and ports a packet passes from one host to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone import __version__
from isochrone._core import FabricRoutes, FabricService
from isochrone.errors import IsochroneError
from isochrone.fabric.model import NO_PORT, Fabric, Node, Port, guid_text

PROTOCOL_VERSION = 1

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


class Routes:
    """A fabric's cables and tables as arrays, for the core.

    Vertices are the switches and behind them the ends: ports of adapters and routers that have a cable.

    Attributes:
        fabric: what it was made of; not to be changed any more.
        switches: vertices 0 and up.
        ends: the vertices that follow.
    """

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.switches = fabric.switches
        self.ends: list[tuple[Node, Port]] = [
            (node, port)
            for node in fabric.nodes.values()
            if node.kind != "switch"
            for port in node.ports.values()
            if port.peer is not None
        ]
        self._switch_at = {switch.guid: vertex for vertex, switch in enumerate(self.switches)}
        self._end_at = {
            (node.guid, port.number): len(self.switches) + index
            for index, (node, port) in enumerate(self.ends)
        }
        self._core = self._make_core()

    def vertex(self, name: str) -> int:
        """The vertex of a host, by name or GUID.

        Raises:
            IsochroneError: it is not on the fabric.
        """
        found = self.service().find(name)
        if found < 0:
            raise IsochroneError(
                f"{name[:64]!r} is not on this fabric",
                self.fabric.source,
                "name a host, or the GUID of a node or port with 0x",
            )
        return found

    def host_vertices(self) -> dict[str, int]:
        """The vertex of the first port of each host."""
        return {
            name: self._end_at[ports[0][0].guid, ports[0][1].number]
            for name, ports in self.fabric.hosts.items()
        }

    def route(self, source: int, target: int, path: int = 0) -> Route:
        """From vertex to vertex; ``path`` is added to the target's base LID where it has several."""
        ending, hops, rate = self._core.route(source, target, path)
        return Route(
            ENDINGS[ending],
            [Hop(self.switches[at], into, out) for at, into, out in hops],
            float(rate) if np.isfinite(rate) else 0.0,
        )

    def hops(self, vertices: Sequence[int]) -> NDArray[np.uint16]:
        """[from, to], switches passed; 65535 where a route does not arrive."""
        return self._core.hops(vertices)

    def rates_gbps(self, vertices: Sequence[int]) -> NDArray[np.float32]:
        """[from, to], data rate of the slowest cable; 0 where a route does not arrive, inf to itself."""
        return self._core.rates(vertices)

    @property
    def core(self) -> FabricRoutes:
        """For what is asked of all pairs at once."""
        return self._core

    def service(self) -> FabricService:
        """What answers a server's lines; made once."""
        if not hasattr(self, "_service"):
            self._service = self._make_service()
        return self._service

    def label(self, vertex: int) -> str:
        """What a person calls a vertex."""
        if vertex < len(self.switches):
            return self.switches[vertex].name or guid_text(self.switches[vertex].guid)
        node, port = self.ends[vertex - len(self.switches)]
        return f"{node.name or guid_text(node.guid)}[{port.number}]"

    def _make_service(self) -> FabricService:
        guids = [switch.guid for switch in self.switches]
        guids += [port.guid or node.guid for node, port in self.ends]
        # Of a node with several ports its GUID means the first.
        more = [(switch.port(0).guid, at) for at, switch in enumerate(self.switches)]
        more += [(node.guid, self._end_at[node.guid, port.number]) for node, port in self.ends]
        version = f"isochrone-fabric {PROTOCOL_VERSION} {__version__} generation {self.fabric.generation}"
        return FabricService(self._core, guids, list(self.host_vertices().items()), more, version)

    def _make_core(self) -> FabricRoutes:
        tables = self.fabric.tables
        ports = max((max(switch.ports, default=0) for switch in self.switches), default=0) + 1
        lids = max((len(table) for table in tables.values()), default=1)
        count = len(self.switches)
        peer = np.full((count, ports), -1, np.int32)
        peer_port = np.zeros((count, ports), np.uint8)
        rate = np.zeros((count, ports), np.float32)
        out = np.full((count, lids), NO_PORT, np.uint8)
        for at, switch in enumerate(self.switches):
            for number, port in switch.ports.items():
                if number and port.peer is not None:
                    peer[at, number] = self._other(port)
                    peer_port[at, number] = port.peer[1]
                    rate[at, number] = port.rate_gbps
            if switch.guid in tables:
                out[at, : len(tables[switch.guid])] = tables[switch.guid]
        lid_ports = [switch.port(0) for switch in self.switches] + [port for _, port in self.ends]
        return FabricRoutes(
            peer,
            peer_port,
            rate,
            out,
            np.array([port.lid for port in lid_ports], np.int32),
            np.array([port.lmc for port in lid_ports], np.uint8),
            np.array([self._other(port) for _, port in self.ends], np.int32),
            np.array([port.peer[1] if port.peer else 0 for _, port in self.ends], np.uint8),
            np.array([port.rate_gbps for _, port in self.ends], np.float32),
        )

    def _other(self, port: Port) -> int:
        """The vertex at the other end of a cable; -1 where the dumps do not tell of it."""
        if port.peer is None:
            return -1
        return self._switch_at.get(port.peer[0], self._end_at.get(port.peer, -1))
