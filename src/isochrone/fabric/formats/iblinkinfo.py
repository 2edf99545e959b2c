# SPDX-License-Identifier: BSD-3-Clause
"""What ``iblinkinfo`` prints, a block for each node or (``-l``) a line for each link: speed and width of each
port, and what both its ends could do. Its cables are named by LID, so it alone is enough for a fabric.
"""

from __future__ import annotations

import re

from isochrone.errors import IsochroneError
from isochrone.fabric.formats.ibnetdiscover import TODO
from isochrone.fabric.model import MOST_PORTS, Fabric, Kind, Node, Port
from isochrone.fabric.rates import speed_of_signalling
from isochrone.files.text import printable, quoted

_MOST_LINE = 1 << 12
_KINDS: dict[str, Kind] = {"Switch": "switch", "CA": "adapter", "Router": "router", "RT": "router"}
_HEAD = re.compile(r"(Switch|CA|Router|RT): (?:0x([0-9a-fA-F]{1,16}) )?(.*):")
_LINK = re.compile(
    r'(?:0x(?P<guid>[0-9a-fA-F]{1,16})\s+)?(?:"(?P<own>[^"]*)"\s+)?'
    r"(?P<lid>\d{1,5})\s+(?P<port>\d{1,3})\[[^\]]*\]\s*==\((?P<link>.*?)\)==>\s*(?P<far>.*)"
)
_FAR = re.compile(
    r'(?:0x(?P<guid>[0-9a-fA-F]{1,16})\s+)?(?P<lid>\d{1,5})\s+(?P<port>\d{1,3})\[[^\]]*\]\s*"(?P<name>.*)"'
    r"\s*\((?P<able>[^\"]*?)\)?\s*"
)
_RATE = re.compile(r"\b(1|2|4|8|12)X\s+([0-9.]{3,8})\s+Gbps")
_ABLE_WIDTH = re.compile(r"Could be (1|2|4|8|12)X")
_ABLE_SPEED = re.compile(r"Could be ([0-9.]{3,8}) Gbps|Could be (FDR10)")


def read(data: bytes, where: str, fabric: Fabric) -> None:
    """Adds speeds and widths to the ports of the fabric, and nodes and cables that it lacks.

    Raises:
        IsochroneError: a line is none of the format.
    """
    by_port_guid = {port.guid: node for node in fabric.nodes.values() for port in node.ports.values()}
    by_lid: dict[int, tuple[Node, int]] = {}
    far: list[tuple[Port, int, int]] = []
    kind: Kind | None = None
    node: Node | None = None
    name = ""
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        stripped = line.strip()
        here = f"{where}:{number}"
        if not stripped or stripped.startswith("#"):
            continue
        if len(stripped) > _MOST_LINE:
            raise IsochroneError("the line is too long for iblinkinfo", here, TODO)
        if found := _LINK.fullmatch(stripped):
            guid = int(found["guid"] or "0", 16)
            if guid:
                node = by_port_guid.get(guid) or fabric.nodes.get(guid)
                if node is None:
                    # Of an adapter only the GUIDs of its ports are told.
                    its_name = printable(found["own"] or name)
                    node = fabric.nodes[guid] = Node(guid, kind or "adapter", its_name, 0)
            if node is None:
                raise IsochroneError("a link stands before any node", here, TODO)
            _add_link(node, found, by_lid, far, guid)
        elif found := _HEAD.fullmatch(stripped):
            kind, name = _KINDS[found[1]], printable(found[3])
            node = None
            if found[2]:
                # Of a switch this is the GUID of its port 0.
                guid = int(found[2], 16)
                node = by_port_guid.get(guid) or fabric.nodes.setdefault(guid, Node(guid, kind, name, 0))
        else:
            raise IsochroneError(f"{quoted(stripped)} is no line of iblinkinfo", here, TODO)
    for port, lid, far_number in far:
        if port.peer is None and lid in by_lid:
            other, its_number = by_lid[lid]
            port.peer = (other.guid, far_number if other.kind == "switch" else its_number)


def _add_link(
    node: Node,
    found: re.Match[str],
    by_lid: dict[int, tuple[Node, int]],
    far: list[tuple[Port, int, int]],
    guid: int,
) -> None:
    number, lid = int(found["port"]), int(found["lid"])
    end = _FAR.fullmatch(found["far"])
    if not 0 < number <= MOST_PORTS or end is None or not 0 < int(end["port"]) <= MOST_PORTS:
        return  # no cable, or one that is down
    node.port_count = max(node.port_count, number)
    port = node.port(number)
    at = node.port(0) if node.kind == "switch" else port
    at.lid = at.lid or lid
    at.guid = at.guid or guid
    if lid:  # ports that have none yet are no one port
        by_lid.setdefault(lid, (node, number))
    if rate := _RATE.search(found["link"]):
        speed = speed_of_signalling(rate[2])
        port.width, port.speed = (int(rate[1]), speed or port.speed)
    if "FDR10" in found["link"]:
        port.speed = "FDR10"
    if able := _ABLE_WIDTH.search(end["able"]):
        port.able_width = int(able[1])
    if able := _ABLE_SPEED.search(end["able"]):
        port.able_speed = able[2] or speed_of_signalling(able[1]) or ""
    far.append((port, int(end["lid"]), int(end["port"])))
