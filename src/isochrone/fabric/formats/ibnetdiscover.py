# SPDX-License-Identifier: BSD-3-Clause
"""What ``ibnetdiscover`` prints: nodes and cables. Net files of ``ibsim`` are of the same form."""

from __future__ import annotations

import re

from isochrone.errors import IsochroneError
from isochrone.fabric.model import MOST_PORTS, Fabric, Kind, Node, Port, guid_text
from isochrone.fabric.rates import parse_link
from isochrone.files.text import printable, quoted

TODO = "dump the fabric again with isochrone fabric dump"

_MOST_NODES = 1 << 18
_KINDS: dict[str, Kind] = {"Switch": "switch", "Ca": "adapter", "Rt": "router"}
_NODE = re.compile(r'(Switch|Ca|Rt)\s+(\d{1,3})\s+"[SHR]-([0-9a-fA-F]{1,16})"\s*(?:#\s*"(.*)"(.*))?')
_CABLE = re.compile(
    r"\[(\d{1,3})\](?:\[ext \d+\])?(?:\(([0-9a-fA-F]{1,16})\))?\s*"
    r'"[SHR]-([0-9a-fA-F]{1,16})"\s*\[(\d{1,3})\](?:\[ext \d+\])?(?:\(([0-9a-fA-F]{1,16})\))?\s*(?:#(.*))?'
)
_GUID = re.compile(r"(?:switchguid|caguid|rtguid)=0x([0-9a-fA-F]{1,16})(?:\(([0-9a-fA-F]{1,16})\))?")
_OTHER = re.compile(r"(?:vendid|devid|sysimgguid|chipguid)=|Chassis |Spine |Line |DOWN ")
_LID = re.compile(r"\blid (\d{1,5})")
_LMC = re.compile(r"\blmc (\d)")


def read(data: bytes, where: str, fabric: Fabric) -> None:
    """Adds nodes and cables to the fabric.

    Raises:
        IsochroneError: a line is none of the format, or two lines say different things.
    """
    node: Node | None = None
    port_guid = 0
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        here = f"{where}:{number}"
        if found := _CABLE.fullmatch(line):
            if node is None:
                raise IsochroneError("a cable stands before any node", here, TODO)
            _add_cable(fabric, node, found, here)
        elif found := _NODE.fullmatch(line):
            node = _add_node(fabric, found, port_guid, here)
            port_guid = 0
        elif found := _GUID.fullmatch(line):
            port_guid = int(found[2] or "0", 16)
        elif not _OTHER.match(line):
            raise IsochroneError(f"{quoted(line)} is no line of ibnetdiscover", here, TODO)


def _add_node(fabric: Fabric, found: re.Match[str], port_guid: int, here: str) -> Node:
    guid = int(found[3], 16)
    kind = _KINDS[found[1]]
    if len(fabric.nodes) >= _MOST_NODES:
        raise IsochroneError(f"more than {_MOST_NODES} nodes", here, "dump one subnet at a time")
    if int(found[2]) > MOST_PORTS:
        raise IsochroneError(f"{found[2]} ports are more than a node has", here, TODO)
    node = fabric.nodes.get(guid)
    if node is None:
        node = fabric.nodes[guid] = Node(guid, kind, "", int(found[2]))
    if node.kind != kind:
        raise IsochroneError(f"node {guid_text(guid)} is of another kind elsewhere", here, TODO)
    node.port_count = int(found[2])
    node.name = printable(found[4] or node.name)
    if kind == "switch":
        itself = node.port(0)
        itself.guid = port_guid or itself.guid
        _add_lid(itself, found[5] or "")
    return node


def _add_cable(fabric: Fabric, node: Node, found: re.Match[str], here: str) -> None:
    number, other_guid, other_number = int(found[1]), int(found[3], 16), int(found[4])
    if not 0 < number <= node.port_count:
        raise IsochroneError(f"port {number} is not one of the node's {node.port_count}", here, TODO)
    if not 0 < other_number <= MOST_PORTS:
        raise IsochroneError(f"port {other_number} is none", here, TODO)
    port = node.port(number)
    if port.peer not in (None, (other_guid, other_number)):
        raise IsochroneError(f"port {number} has two cables", here, TODO)
    port.peer = (other_guid, other_number)
    port.guid = int(found[2], 16) if found[2] else port.guid
    comment = found[6] or ""
    # Names are in quotes, and may hold anything.
    before, _, rest = comment.partition('"')
    name, _, after = rest.rpartition('"')
    link = parse_link(after if name else comment)
    if link is not None:
        port.width, port.speed = link
    if node.kind != "switch":
        _add_lid(port, before)


def _add_lid(port: Port, text: str) -> None:
    lid, lmc = _LID.search(text), _LMC.search(text)
    if lid is not None and int(lid[1]):
        port.lid = int(lid[1])
    if lmc is not None:
        port.lmc = int(lmc[1]) & 7
