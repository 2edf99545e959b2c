# SPDX-License-Identifier: BSD-3-Clause
"""A fabric as its dumps say it: nodes, their ports and cables, and the forwarding tables of switches.

All is keyed by GUID. LIDs are what the subnet manager gave out last, and names may occur twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from isochrone.errors import IsochroneError
from isochrone.fabric.rates import link_rate
from isochrone.labels import natural

Kind = Literal["switch", "adapter", "router"]
Table = NDArray[np.uint8]
"""[lid], the port that packets leave by."""

NO_PORT = 255
MOST_PORTS = 254
MOST_LIDS = 0xC000
"""LIDs from here on are of multicast groups."""
_MOST_ENTRIES = 1 << 29
# Tables are kept dense, a byte for each LID of each switch. A subnet of switches with 36 ports that uses up
# all its LIDs has about 7,000 of them.

# "node-7 HCA-1", "node-7 mlx5_0", "node-7 hfi1_0": the host's name stands before the device's. rdma-core also
# names devices by their place on the bus, "ibp59s0", and some drivers number them: "qib0".
_DEVICE = re.compile(
    r"(?:HCA|TCA)-\d+|[a-z][a-z0-9]*_\d+|ib\d+|(?:qib|ipath)\d+|(?:ib|opa)[psox][0-9a-f][0-9a-z]*",
    re.IGNORECASE,
)
# Switches with a unit that reduces (SHARP) show it as an adapter behind one of their ports.
_AGGREGATION = re.compile(r"aggregation node", re.IGNORECASE)


@dataclass(slots=True)
class Port:
    """A port of a node.

    Attributes:
        number: from 1; 0 is the switch itself.
        guid: of the port; 0 where the dump has none.
        lid, lmc: 2^lmc LIDs from here on are the port's; 0: none is known.
        peer: GUID and port at the other end of the cable.
        width, speed: as the link runs; 0 and "" where not known.
        able_width, able_speed: what both ends could do, where the dump says that it is more.
    """

    number: int
    guid: int = 0
    lid: int = 0
    lmc: int = 0
    peer: tuple[int, int] | None = None
    width: int = 0
    speed: str = ""
    able_width: int = 0
    able_speed: str = ""

    @property
    def rate_gbps(self) -> float:
        """Gb/s of data; 0 where not known."""
        return link_rate(self.width, self.speed)


@dataclass(slots=True)
class Node:
    """A switch, a channel adapter or a router.

    Attributes:
        guid: of the node.
        kind: what it is.
        name: its node description.
        port_count: without port 0.
        ports: by number, those that the dumps say something about.
    """

    guid: int
    kind: Kind
    name: str
    port_count: int
    ports: dict[int, Port] = field(default_factory=dict)

    @property
    def host(self) -> str | None:
        """The host that an adapter is in; None where its description names none, and for other nodes."""
        if self.kind != "adapter" or _AGGREGATION.search(self.name):
            return None
        first, *rest = self.name.split()[:2] or [""]
        return first if first and (not rest or _DEVICE.fullmatch(rest[0])) else None

    @property
    def device(self) -> str:
        """What the description of an adapter in a host calls it: ``mlx5_0``; "" where it does not."""
        return (self.name.split()[1:2] or [""])[0] if self.host is not None else ""

    def port(self, number: int) -> Port:
        """The port, made where it is not known yet."""
        return self.ports.setdefault(number, Port(number))


@dataclass(slots=True)
class Fabric:
    """What the dumps of one generation say.

    Attributes:
        source: the folder or file they are from.
        nodes: by GUID.
        tables: of switches, by GUID.
        generation: of the folder's manifest; 0 without one.
        remarks: what is missing or odd in the dumps, a line each.
    """

    source: str
    nodes: dict[int, Node] = field(default_factory=dict)
    tables: dict[int, Table] = field(default_factory=dict)
    generation: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def switches(self) -> list[Node]:
        """In the order of the dumps."""
        return [node for node in self.nodes.values() if node.kind == "switch"]

    @property
    def hosts(self) -> dict[str, list[tuple[Node, Port]]]:
        """The ports with a cable of each host, by name; those of adapters without a host's name by GUID.

        They are in the order of their devices' names, ``mlx5_2`` before ``mlx5_10``, and then of their
        numbers: the first stands for the host, and dumps have their nodes in any order.
        """
        found: dict[str, list[tuple[Node, Port]]] = {}
        for node in self.nodes.values():
            if node.kind != "adapter" or _AGGREGATION.search(node.name):
                continue
            name = node.host or guid_text(node.guid)
            for port in node.ports.values():
                if port.peer is not None:
                    found.setdefault(name, []).append((node, port))
        for ports in found.values():
            ports.sort(key=lambda each: (natural(each[0].device), each[0].guid, each[1].number))
        return found

    def cables(self) -> Iterator[tuple[Node, Port, Node, Port]]:
        """Each cable once, both of whose ends are known."""
        for node in self.nodes.values():
            for port in node.ports.values():
                if port.peer is None or port.peer < (node.guid, port.number):
                    continue
                other = self.nodes.get(port.peer[0])
                if other is not None and port.peer[1] in other.ports:
                    yield node, port, other, other.ports[port.peer[1]]

    def tiers(self) -> dict[int, int]:
        """How far each switch is from the nearest host, by GUID: 0 for leaves. Those that no host reaches are
        on top.
        """
        near = {port.peer[0] for ports in self.hosts.values() for _, port in ports if port.peer is not None}
        found = {node.guid: 0 for node in self.switches if node.guid in near}
        front = list(found)
        while front:
            nearer, front = front, []
            for guid in nearer:
                for port in self.nodes[guid].ports.values():
                    far = self.nodes.get(port.peer[0]) if port.peer else None
                    if far is not None and far.kind == "switch" and far.guid not in found:
                        found[far.guid] = found[guid] + 1
                        front.append(far.guid)
        top = max(found.values(), default=0)
        return {node.guid: found.get(node.guid, top) for node in self.switches}


def expect_room(switches: int, lids: int, where: str) -> None:
    """Raises IsochroneError where tables of so many switches for so many LIDs would be too large."""
    if switches * lids > _MOST_ENTRIES:
        raise IsochroneError(
            f"{switches} switches with tables up to LID {lids - 1} are more than a subnet has",
            where,
            "dump one subnet at a time",
        )


def guid_text(guid: int) -> str:
    """As InfiniBand's tools write it, with all its digits."""
    return f"0x{guid:016x}"
