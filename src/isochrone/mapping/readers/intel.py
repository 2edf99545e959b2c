# SPDX-License-Identifier: BSD-3-Clause
"""The statistics that Intel MPI writes by itself with ``I_MPI_STATS``, up to the versions of 2018.

For each process there is a block that begins ``~~~~ Process 0 of 4``, with a table ``Data Transfers``:
sender and receiver, millions (2^20) of bytes, messages. Tables of operations and of sizes follow, and are
passed over.
"""

from __future__ import annotations

import re
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.mapping.graph import TaskGraph, task_graph
from isochrone.mapping.readers.limits import MOST_WEIGHT, check_ranks, check_weights

_BLOCK = re.compile(rb"\s*~+\s*Process\s+(\d{1,9})\s+of\s+(\d{1,9})\b", re.IGNORECASE)
_TABLE = re.compile(rb"\s*Data\s+Transfers\b", re.IGNORECASE)
_END = re.compile(rb"\s*(?:Totals?\b|Communication\s+Activity)", re.IGNORECASE)
_ROW = re.compile(
    # Each blank can be matched in one way only, so that a long line of them takes no longer than others.
    rb"\s*(\d{1,9})(?:\s*-+>\s*|\s+)(\d{1,9})\s+"
    rb"([+-]?\d{1,20}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,3})?)\s+([+-]?\d{1,18})\s*"
)
_BEGINS_ROW = re.compile(rb"\s*\d+\s*(?:-+>|\s)")
_MB = 1 << 20


def read_intel_statistics(path: Path, data: bytes) -> TaskGraph:
    """What the processes sent, the messages of collectives among it.

    Raises:
        IsochroneError: a process or its table is missing or there twice, or a row is damaged.
    """
    rows: list[tuple[int, int, int, int]] = []
    ranks, last, total = 0, -1, 0.0
    seen: set[int] = set()
    tables = 0
    inside = False
    for number, line in enumerate(data.splitlines(), start=1):
        where = f"{path}:{number}"
        if block := _BLOCK.match(line):
            process, of, inside = int(block[1]), int(block[2]), False
            if ranks not in (0, of) or process in seen or process >= of:
                raise IsochroneError(
                    f"process {process} of {of} does not go with the processes before",
                    where,
                    "give the statistics of one run",
                )
            check_ranks(of, where)
            ranks = of
            seen.add(process)
        elif _TABLE.match(line):
            inside = True
            tables += 1
        elif inside and _END.match(line):
            inside = False
        elif inside and (row := _ROW.fullmatch(line)):
            source, target, messages = int(row[1]), int(row[2]), int(row[4])
            volume = float(row[3]) * _MB
            if messages < 0 or volume < 0 or not volume < MOST_WEIGHT:
                raise IsochroneError("the amounts cannot be", where, "mend the line")
            check_ranks(max(source, target) + 1, where)
            last = max(last, source, target)
            total += volume
            if messages or volume:  # most pairs are there for nothing
                rows.append((source, target, messages, round(volume)))
        elif inside and _BEGINS_ROW.match(line):
            raise IsochroneError(
                "the row of the table of data transfers is damaged",
                where,
                "mend it: Src --> Dst MB Transfers",
            )
    if not tables:
        raise IsochroneError(
            "has no table of data transfers", str(path), "write it with I_MPI_STATS=1 or more, in native form"
        )
    if ranks and (len(seen) != ranks or tables < ranks):
        raise IsochroneError(
            f"tells of {min(len(seen), tables)} of {ranks} processes", str(path), "is the file whole?"
        )
    if ranks and last >= ranks:
        raise IsochroneError(f"tells of rank {last}, and of {ranks} processes", str(path), "mend the file")
    check_ranks(max(ranks, last + 1), str(path))
    check_weights(total, path)
    return task_graph(max(ranks, last + 1), rows)
