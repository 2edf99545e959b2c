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
from isochrone.fabric.model import MOST_LIDS, NO_PORT, Fabric, Node, expect_room, guid_text
from isochrone.files.text import printable, quoted

_MOST_SWITCHES = 1 << 16
_MOST_HEAD_BYTES = 1 << 12
_TABLE = b"Unicast lids"
_MOST_INDENT = 64
_MOST_DIGITS = 6
_BLOCK = 64
"""LIDs in a block of a switch's table."""
_HEAD = re.compile(
    rb"[ \t]*Unicast lids \[(?P<lids>[^\]]*)\] of switch\b.*?"
    rb"\bguid 0x(?P<guid>[0-9a-fA-F]{1,16})\b\s*(?:\((?P<name>.*)\))?:?\s*"
)
_ENTRY = re.compile(rb"^[ \t]*0x([0-9a-fA-F]{1,4})[ \t]+([0-9]{1,3})(?:[ \t]+[:#].*|[ \t\r]*)$", re.MULTILINE)
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
    begin, at = 0, data.find(_TABLE)
    while at >= 0:
        before = data[max(0, at - _MOST_INDENT) : at]
        blank = before.rpartition(b"\n")[2]
        if not blank.strip(b" \t") and (len(blank) < len(before) or at <= _MOST_INDENT):
            head = at - len(blank)
            if head > begin:
                yield data[begin:head]
            begin = head
        at = data.find(_TABLE, at + 1)
    if begin < len(data):
        yield data[begin:]


def _add_table(fabric: Fabric, part: bytes, where: str, first: int) -> None:
    head_line = part[: part.find(b"\n") if b"\n" in part else len(part)]
    head = _HEAD.fullmatch(head_line) if len(head_line) <= _MOST_HEAD_BYTES else None
    entries = _ENTRY.findall(part)
    counts = _counts(part, len(entries), where, first, head is not None)
    if head is None:
        if entries:
            raise IsochroneError("entries stand before any switch", f"{where}:{first}", TODO)
        return
    if len(fabric.tables) >= _MOST_SWITCHES:
        raise IsochroneError(f"more than {_MOST_SWITCHES} switches", f"{where}:{first}", TODO)
    guid = int(head["guid"], 16)
    lids = np.array([int(lid, 16) for lid, _ in entries], dtype=np.int64)
    ports = np.array([int(port) for _, port in entries], dtype=np.int64)
    if len(lids) and int(lids.max()) >= MOST_LIDS:
        raise IsochroneError(f"LID 0x{int(lids.max()):x} is none of one port", f"{where}:{first}", TODO)
    size = int(lids.max()) + 1 if len(lids) else 1
    expect_room(len(fabric.tables) + (guid not in fabric.tables), size, f"{where}:{first}")
    table = np.full(size, NO_PORT, np.uint8)
    # A port beyond 254 is none: switches hold 255 for a LID that they do not know.
    table[lids] = np.minimum(ports, NO_PORT)
    fabric.tables[guid] = table
    name = printable((head["name"] or b"").decode("utf-8", "replace").strip("'")) or guid_text(guid)
    if guid not in fabric.nodes:
        fabric.nodes[guid] = Node(guid, "switch", name, int(max(ports[ports < NO_PORT], default=0)))
        fabric.remarks.append(f"{where}:{first}: switch {name} has a table and no cables")
    highest = _highest(head["lids"])
    if highest % _BLOCK == 0 and highest == size:
        # dump_fts prints whole blocks below the highest LID alone.
        fabric.remarks.append(
            f"{where}:{first}: the table of {name} ends before its highest LID 0x{highest:x}, which the tool "
            "leaves out"
        )
    if not counts:
        fabric.remarks.append(f"{where}:{first}: the table of {name} has no end")
    elif not _is_count(int(counts[-1][0]), bool(counts[-1][1]), head["lids"], len(entries)):
        fabric.remarks.append(
            f"{where}:{first}: the table of {name} has {len(entries)} of {int(counts[-1][0])} entries"
        )


def _highest(lids: bytes) -> int:
    """The highest LID that the head of a table tells; 0 where it tells none."""
    text = lids.rpartition(b"-")[2].strip()
    try:
        return int(text, 0) if len(text) <= _MOST_DIGITS else 0
    except ValueError:
        return 0


def _is_count(told: int, is_valid: bool, lids: bytes, entries: int) -> bool:
    """Whether there are as many entries as the end of a table tells. OpenSM has its highest LID there, and
    leaves out those LIDs that a switch does not know.
    """
    highest = lids.rpartition(b"-")[2].strip().lower()
    by_opensm = (b"%d" % told, b"0x%x" % told)
    return told == entries or (not is_valid and highest in by_opensm and 0 < entries <= told + 1)


def _counts(part: bytes, entries: int, where: str, first: int, has_head: bool) -> list[tuple[bytes, bytes]]:
    """What the last lines say of the number of entries. Raises IsochroneError for a line that is none of the
    format.
    """
    # Millions of entries are not looked at one by one where all lines between the first and the last of them
    # are such.
    begin = part.find(b"\n0x") + 1
    end = part.find(b"\n", part.rfind(b"\n0x") + 1)
    outside = [(first, part)]
    if begin and end >= 0:
        before, after = part[:begin], part[end + 1 :]
        between = entries - len(_ENTRY.findall(before)) - len(_ENTRY.findall(after))
        if part.count(b"\n", begin, end + 1) == between:
            outside = [(first, before), (first + part.count(b"\n", 0, end + 1), after)]
    counts = []
    for number, text in outside:
        for line_number, line in enumerate(text.split(b"\n"), start=number):
            if found := _COUNT.fullmatch(line.strip()):
                counts.append((found[1], found[2] or b""))
            elif not _is_known(line) and not (has_head and line_number == first):
                raise IsochroneError(
                    f"{quoted(line.decode('utf-8', 'replace'))} is no line of a forwarding table",
                    f"{where}:{line_number}",
                    TODO,
                )
    return counts


def _is_known(line: bytes) -> bool:
    """Whether nothing is lost with a line: an entry, as it stands, is among those that were found."""
    stripped = line.strip()
    return (
        not stripped
        or stripped.startswith(b"#")
        or (len(line) <= _MOST_HEAD_BYTES and bool(_ENTRY.match(line) or _TITLE.match(stripped)))
    )
