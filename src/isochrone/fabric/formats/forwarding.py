# SPDX-License-Identifier: BSD-3-Clause
"""Linear forwarding tables as text: of ``ibroute``, ``dump_fts`` and ``dump_lfts``, with names or without,
and OpenSM's ``opensm-lfts.dump``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from isochrone.errors import IsochroneError
from isochrone.fabric.formats.ibnetdiscover import TODO
from isochrone.fabric.model import MOST_LIDS, NO_PORT, Fabric, Node, guid_text
from isochrone.files.text import quoted

_MOST_SWITCHES = 1 << 16
_MOST_HEAD_BYTES = 1 << 12
_HEAD = re.compile(
    rb"Unicast lids \[[^\]]*\] of switch\b.*?\bguid 0x([0-9a-fA-F]{1,16})\b\s*(?:\((.*)\))?:?\s*",
    re.IGNORECASE,
)
_ENTRY = re.compile(rb"^0x([0-9a-fA-F]{1,4}) +([0-9]{1,3})(?:[ \t]+[:#].*|[ \t]*)$", re.MULTILINE)
_COUNT = re.compile(rb"(\d{1,9}) (valid )?lids dumped\s*")
_TITLE = re.compile(rb"Lid +Out|Port +Info")


def read(data: bytes, where: str, fabric: Fabric) -> None:
    """Adds the tables of switches to the fabric; later ones of a switch replace earlier ones.

    Raises:
        IsochroneError: a line is none of the format.
    """
    line = 1
    for part in _parts(data):
        _add_table(fabric, part, where, line)
        line += part.count(b"\n")


def _parts(data: bytes) -> Iterator[bytes]:
    """What stands before the first table, and each table."""
    begin = 0
    while begin < len(data):
        end = data.find(b"\nUnicast lids", begin)
        end = len(data) if end < 0 else end + 1
        yield data[begin:end]
        begin = end


def _add_table(fabric: Fabric, part: bytes, where: str, first: int) -> None:
    head_line = part[: part.find(b"\n") if b"\n" in part else len(part)]
    head = _HEAD.fullmatch(head_line) if len(head_line) <= _MOST_HEAD_BYTES else None
    entries = _ENTRY.findall(part)
    counts = _counts(part, len(entries), where, first)
    if head is None:
        if entries:
            raise IsochroneError("entries stand before any switch", f"{where}:{first}", TODO)
        return
    if len(fabric.tables) >= _MOST_SWITCHES:
        raise IsochroneError(f"more than {_MOST_SWITCHES} switches", f"{where}:{first}", TODO)
    guid = int(head[1], 16)
    lids = np.array([int(lid, 16) for lid, _ in entries], dtype=np.int64)
    ports = np.array([int(port) for _, port in entries], dtype=np.int64)
    if len(lids) and int(lids.max()) >= MOST_LIDS:
        raise IsochroneError(f"LID 0x{int(lids.max()):x} is none of one port", f"{where}:{first}", TODO)
    table = np.full(int(lids.max()) + 1 if len(lids) else 1, NO_PORT, np.uint8)
    # A port beyond 254 is none: switches hold 255 for a LID that they do not know.
    table[lids] = np.minimum(ports, NO_PORT)
    fabric.tables[guid] = table
    name = (head[2] or b"").decode("utf-8", "replace").strip("'") or guid_text(guid)
    if guid not in fabric.nodes:
        fabric.nodes[guid] = Node(guid, "switch", name, int(max(ports[ports < NO_PORT], default=0)))
        fabric.remarks.append(f"{where}:{first}: switch {name} has a table and no cables")
    if not counts:
        fabric.remarks.append(f"{where}:{first}: the table of {name} has no end")
    elif counts[-1][1] and int(counts[-1][0]) != len(entries):
        fabric.remarks.append(
            f"{where}:{first}: the table of {name} has {len(entries)} of {int(counts[-1][0])} entries"
        )


def _counts(part: bytes, entries: int, where: str, first: int) -> list[tuple[bytes, bytes]]:
    """What the last lines say of the number of entries. Raises IsochroneError for a line that is none of the
    format.
    """
    # Millions of entries are not looked at one by one where all lines between the first and the last of them
    # are such.
    begin = part.find(b"\n0x") + 1
    end = part.find(b"\n", part.rfind(b"\n0x") + 1)
    outside = [(first, part)]
    if begin and end >= 0 and part.count(b"\n", begin, end + 1) == entries:
        outside = [(first, part[:begin]), (first + part.count(b"\n", 0, end + 1), part[end + 1 :])]
    counts = []
    for number, text in outside:
        for line_number, line in enumerate(text.split(b"\n"), start=number):
            if found := _COUNT.fullmatch(line.strip()):
                counts.append((found[1], found[2] or b""))
            elif not _is_known(line):
                raise IsochroneError(
                    f"{quoted(line.decode('utf-8', 'replace'))} is no line of a forwarding table",
                    f"{where}:{line_number}",
                    TODO,
                )
    return counts


def _is_known(line: bytes) -> bool:
    stripped = line.strip()
    return (
        not stripped
        or stripped.startswith(b"#")
        or (len(line) <= _MOST_HEAD_BYTES and any(form.match(stripped) for form in (_ENTRY, _TITLE, _HEAD)))
    )
