# SPDX-License-Identifier: BSD-3-Clause
"""Tables of times as text: one line of headings, then a line for each time, with commas between the columns.

So students and scripts gather the output of benchmarks: ``Algorithm,Allocation,Processes,MessageSize,Avg
Latency(us)``.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files import NATIVE
from isochrone.models.observation import MESSAGE, Found, Observation
from isochrone.models.readers.labels import MOST_RANKS, Labels
from isochrone.models.readers.lines import numbered_lines, time_s, whole

_NAMES = {
    "collective": ("collective", "operation"),
    "algorithm": ("algorithm",),
    "mapping": ("mapping", "allocation", "placement"),
    "region": ("region",),
    "ranks": ("ranks", "processes", "np"),
    "size": ("size_bytes", "messagesize", "message size", "size", "bytes"),
}
_TIMES = {
    "time_s": 1.0,
    "latency_s": 1.0,
    "time_us": 1e-6,
    "latency_us": 1e-6,
    "avg latency(us)": 1e-6,
    "latency(us)": 1e-6,
}
_TODO = "its headings are ranks, time_us, and any of collective, algorithm, mapping, region, size_bytes"
HEAD = re.compile(
    rb"(?=[^\n]{0,500}?\b(?:ranks|processes|np)\b)[^\n]{0,500}?(?:time|latency)[ _(]{0,2}u?s\b", re.IGNORECASE
)


def read_columns(path: Path, data: bytes, labels: Labels) -> Found:
    """All lines of a table. What has no column may be told by labels.

    Raises:
        IsochroneError: a column is missing, or a line is damaged.
    """
    lines = numbered_lines(str(path), data)
    where, headings = next(lines, (str(path), ""))
    names = [name.strip().lower() for name in _split(headings, where)]
    at = {key: k for key, known in _NAMES.items() for k, name in enumerate(names) if name in known}
    times = [k for k, name in enumerate(names) if name in _TIMES]
    if not times:
        raise IsochroneError("no column has times", where, _TODO)
    if "ranks" not in at and labels.ranks is None:
        raise IsochroneError("no column has the number of ranks", where, _TODO)
    if "collective" not in at and labels.collective is None:
        raise IsochroneError(
            "nothing says of which collective the times are",
            where,
            f"write it behind the name of the file: {path.name}:collective=bcast",
        )
    observations: list[Observation] = []
    left_out: list[str] = []
    for where, line in lines:
        if not line:
            continue
        words = [word.strip() for word in _split(line, where)]
        if len(words) != len(names):
            raise IsochroneError(f"the line must have {len(names)} columns", where, "mend the line")
        told = {key: words[k] for key, k in at.items()}
        ranks = whole(told["ranks"], where, "number of ranks") if "ranks" in told else labels.ranks or 0
        if ranks > MOST_RANKS:
            raise IsochroneError(f"{ranks} ranks are more than {MOST_RANKS}", where, "mend the line")
        value_s = time_s(words[times[0]], where, _TIMES[names[times[0]]])
        if value_s <= 0 or ranks < 2:
            left_out.append(f"{path}: lines of one rank, or that took no time")
            continue
        observations.append(
            Observation(
                operation=_operation(told.get("collective") or labels.collective or "", where),
                size_bytes=whole(told["size"], where, "size") if "size" in told else 0,
                ranks=ranks,
                time_s=value_s,
                algorithm=told.get("algorithm") or labels.algorithm or NATIVE,
                mapping=told.get("mapping") or labels.mapping or "",
                region=told.get("region") or labels.region or "",
                source=where,
            )
        )
    return Found(tuple(observations), (), tuple(dict.fromkeys(left_out)))


def _operation(name: str, where: str) -> str:
    """A collective as an Observation names it, for ``Bcast``, ``MPI_Bcast`` and the like."""
    operation = name.lower().removeprefix("mpi_")
    if operation == MESSAGE:
        raise IsochroneError(
            f"{name!r} is no collective",
            where,
            "times of messages are read from osu_latency or IMB's PingPong",
        )
    return operation


def _split(line: str, where: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        raise IsochroneError(f"the line is damaged: {error}", where, "mend the line") from None
