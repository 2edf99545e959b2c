# SPDX-License-Identifier: BSD-3-Clause
"""What the Intel MPI Benchmarks print: ``IMB-MPI1`` with PingPong and blocking collectives, for all numbers
of processes in one file. The time of a collective is that of its slowest rank, ``t_max``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.models.observation import MESSAGE, Found, Observation
from isochrone.models.readers.labels import Labels
from isochrone.models.readers.lines import numbered_lines, time_s, whole, words_of
from isochrone.models.readers.printed import NOTHING, block_bytes, printed, says_nothing

HEAD = re.compile(rb"(?s:.*?)^[ \t]*#+[ \t]*(?:Intel\(R\) MPI Benchmarks|Benchmarking \w)", re.MULTILINE)

_TITLE = re.compile(r"# Benchmarking (\w+)")
_PROCESSES = re.compile(r"# #processes = (\d{1,7})")
_GROUPS = re.compile(r"# \( \d+ groups? of \d+ processes each running simultaneous.*")
_SIZE, _REPETITIONS = "#bytes", "#repetitions"
_OPERATIONS = {
    name: name.lower()
    for name in (
        *("Bcast", "Reduce", "Allreduce", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather"),
        *("Allgatherv", "Alltoall", "Alltoallv", "Reduce_scatter", "Reduce_scatter_block", "Barrier"),
    )
} | {"PingPong": MESSAGE}


@dataclass(frozen=True)
class _Table:
    """What is being printed.

    Attributes:
        operation: None: what no model is of.
        ranks: None until the file says.
        columns: names; empty until the line of headings.
        groups: whether several groups of ranks ran at once.
    """

    title: str
    operation: str | None
    ranks: int | None = None
    columns: tuple[str, ...] = ()
    groups: bool = False


def read_imb(path: Path, data: bytes, labels: Labels) -> Found:
    """All tables of a file.

    Raises:
        IsochroneError: a line of a table is damaged, or a table has no number of processes.
    """
    table: _Table | None = None
    observations: list[Observation] = []
    left_out: list[str] = []
    for where, line in numbered_lines(str(path), data):
        title = _TITLE.fullmatch(line)
        processes = _PROCESSES.fullmatch(line)
        if title is not None:
            table = _Table(title[1], _OPERATIONS.get(title[1]))
        elif table is None or not line:
            continue
        elif processes is not None:
            table = replace(table, ranks=int(processes[1]))
        elif _GROUPS.fullmatch(line):
            table = replace(table, groups=True)
        elif line.startswith((_SIZE, _REPETITIONS)):
            table = replace(table, columns=tuple(words_of(line)))
            if table.operation is None or table.groups:
                what = "several groups at once" if table.operation else "no model here is of it"
                left_out.append(f"{path}: {table.title}: {what}")
        elif line[0].isdigit() and table.columns and table.operation is not None and not table.groups:
            row = _row(table, line, where)
            if table.ranks == 1:
                left_out.append(f"{path}: {table.title}: of one process")
                continue
            if row is None or says_nothing(table.operation, *row):
                left_out.append(f"{path}: {table.title}: {NOTHING}")
                continue
            observations.append(_observed(table, *row, labels, where))
        elif line.startswith("#"):
            continue
    return Found(tuple(observations), (), tuple(dict.fromkeys(left_out)))


def _row(table: _Table, line: str, where: str) -> tuple[int, float] | None:
    """Size and time of a line; None where IMB gave up, and says so in words."""
    words = words_of(line)
    sized = table.columns[0] == _SIZE
    if any(word.startswith(("time-out", "out-of-mem", "int-overflow")) for word in words):
        return None
    wanted = "t_max[usec]" if "t_max[usec]" in table.columns else "t[usec]"
    if wanted not in table.columns:
        raise IsochroneError(
            f"the table of {table.title} has no column {wanted}", where, "is the file whole?"
        )
    at = table.columns.index(wanted)
    if len(words) < len(table.columns):
        raise IsochroneError("the line is cut off", where, "copy the output again, whole")
    size = whole(words[0], where, "size") if sized else 0
    return block_bytes(table.operation or MESSAGE, size, table.ranks or 1), time_s(words[at], where)


def _observed(table: _Table, size_bytes: int, value_s: float, labels: Labels, where: str) -> Observation:
    if table.ranks is None or table.ranks < 2:
        raise IsochroneError(
            f"{table.title} has no number of processes, or fewer than 2", where, "is the file whole?"
        )
    return printed(table.operation or MESSAGE, size_bytes, table.ranks, value_s, labels, where)
