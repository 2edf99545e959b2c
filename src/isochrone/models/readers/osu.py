# SPDX-License-Identifier: BSD-3-Clause
"""What the OSU micro-benchmarks print: ``osu_latency``, ``osu_bw``, and blocking collectives, with ``-f`` or
without. They say neither how many ranks there were nor where, so labels do.

A latency is half of a round trip. A bandwidth stands for the gap: what a message of that size keeps its
sender's way busy. The time of a collective is the mean over the ranks; with ``-f`` that of the slowest rank
is there too, and counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.models.observation import MESSAGE, Cost, Found, Observation
from isochrone.models.readers.labels import Labels
from isochrone.models.readers.lines import numbered_lines, real, time_s, whole, words_of
from isochrone.models.readers.printed import NOTHING, block_bytes, printed, says_nothing

HEAD = re.compile(rb"(?s:.*?)^# OSU \S+ .* Test\b", re.MULTILINE)

_TITLE = re.compile(r"# OSU \S+ (.+?) Test(?:\s+v?\S+)?")
_NUMBER = re.compile(r"\d")
_MEGABYTE = 1e6
_BANDWIDTH = "bandwidth"
_COLLECTIVES = {
    "Broadcast Latency": "bcast",
    "Reduce Latency": "reduce",
    "Allreduce Latency": "allreduce",
    "Gather Latency": "gather",
    "Gatherv Latency": "gatherv",
    "Scatter Latency": "scatter",
    "Scatterv Latency": "scatterv",
    "Allgather Latency": "allgather",
    "Allgatherv Latency": "allgatherv",
    "All-to-All Personalized Exchange Latency": "alltoall",
    "All-to-Allv Personalized Exchange Latency": "alltoallv",
    "Reduce_scatter Latency": "reduce_scatter",
    "Reduce_scatter_block Latency": "reduce_scatter_block",
    "Barrier Latency": "barrier",
}


@dataclass(frozen=True)
class _Table:
    """What is being printed.

    Attributes:
        operation: ``message``, ``bandwidth``, or a collective; None: what no model is of.
        sized: whether its lines begin with a size.
        columns: names, after that of the size.
    """

    operation: str | None
    title: str
    sized: bool = True
    columns: tuple[str, ...] = ()


def read_osu(path: Path, data: bytes, labels: Labels) -> Found:
    """All tables of a file.

    Raises:
        IsochroneError: a line of a table is damaged, or a collective has no number of ranks.
    """
    table: _Table | None = None
    observations: list[Observation] = []
    costs: list[Cost] = []
    left_out: list[str] = []
    for where, line in numbered_lines(str(path), data):
        title = _TITLE.fullmatch(line)
        if title is not None:
            table = _Table(_operation(title[1]), title[1])
            if table.operation is None:
                left_out.append(f"{path}: {title[1]}: no model here is of it")
        elif line.startswith("#"):
            table = table and _headed(table, line)
        elif table is None or not _NUMBER.match(line):
            continue  # what launchers and shells say around it
        elif table.operation is not None:
            size, word = _row(table, line, where)
            if table.operation == _BANDWIDTH:
                rate = real(word, where, "bandwidth") * _MEGABYTE
                if rate > 0 and size > 0:
                    costs.append(Cost("gap", size, size / rate, labels.region or ""))
                continue
            value_s = time_s(word, where)
            size = block_bytes(table.operation, size, labels.ranks or 1)
            if says_nothing(table.operation, size, value_s):
                left_out.append(f"{path}: {table.operation}: {NOTHING}")
                continue
            observations.append(_observed(table.operation, size, value_s, labels, where))
    return Found(tuple(observations), tuple(costs), tuple(dict.fromkeys(left_out)))


def _operation(title: str) -> str | None:
    if title == "Latency":
        return MESSAGE
    return _BANDWIDTH if title == "Bandwidth" else _COLLECTIVES.get(title)


def _headed(table: _Table, line: str) -> _Table:
    """The table with the columns of a line of headings; other comments change nothing."""
    words = re.split(r"\s{2,}|\t", line.removeprefix("#").strip())
    sized = words[0] == "Size"
    if not sized and not words[0].startswith("Avg Latency"):
        return table
    return _Table(table.operation, table.title, sized, tuple(words[1:] if sized else words))


def _row(table: _Table, line: str, where: str) -> tuple[int, str]:
    """The size of a line and its value: of the slowest rank where there is such a column, else the first."""
    words = words_of(line)
    size = whole(words.pop(0), where, "size") if table.sized else 0
    at = next((k for k, name in enumerate(table.columns) if name.startswith("Max Latency")), 0)
    if len(words) < max(len(table.columns), 1):
        raise IsochroneError("the line is cut off", where, "copy the output again, whole")
    return size, words[at]


def _observed(operation: str, size_bytes: int, value_s: float, labels: Labels, where: str) -> Observation:
    if operation != MESSAGE and labels.ranks is None:
        raise IsochroneError(
            f"OSU's {operation} does not say how many ranks there were",
            where,
            "write it behind the name of the file, such as bcast.txt:ranks=64",
        )
    return printed(operation, size_bytes, labels.ranks or 2, value_s, labels, where)
