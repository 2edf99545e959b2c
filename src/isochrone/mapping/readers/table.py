# SPDX-License-Identifier: BSD-3-Clause
"""The formats of other programs that task graphs are read from."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from isochrone.errors import IsochroneError, UsageError
from isochrone.files.content import read_content
from isochrone.mapping.graph import TaskGraph
from isochrone.mapping.readers.intel import read_intel_statistics
from isochrone.mapping.readers.matrix_market import read_matrix_market
from isochrone.mapping.readers.metis import read_metis
from isochrone.mapping.readers.openmpi import monitoring_files, read_openmpi_monitoring

_HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class GraphFormat:
    """A row of the table.

    Attributes:
        name: what the user calls it.
        words: what it is.
        ends: of names of such files, before ``.gz``.
        head: what the first bytes of such a file hold.
        read: makes the graph of a path and its unpacked bytes.
    """

    name: str
    words: str
    ends: tuple[str, ...]
    head: re.Pattern[bytes]
    read: Callable[[Path, bytes], TaskGraph]


FORMATS = (
    GraphFormat(
        "matrix-market",
        "sparse matrix of the Matrix Market: row i, column j is what rank i - 1 sends rank j - 1",
        (".mtx",),
        re.compile(rb"%%MatrixMarket\b", re.IGNORECASE),
        read_matrix_market,
    ),
    GraphFormat(
        "intel",
        "statistics of Intel MPI up to 2018, of I_MPI_STATS=1 and more in native form",
        (),
        re.compile(rb"(?s:.*)^[ \t]*(?:~+ *Process \d+ of|Data +Transfers)", re.MULTILINE | re.IGNORECASE),
        read_intel_statistics,
    ),
    GraphFormat(
        "openmpi",
        "monitoring of Open MPI: a file NAME.RANK.prof for each rank; give one, NAME, or their folder",
        (".prof",),
        re.compile(rb"# POINT TO POINT|[EISR]\t\d"),
        read_openmpi_monitoring,
    ),
    GraphFormat(
        "metis",
        "graph of METIS, KaHIP and the DIMACS challenge: edges go both ways, weights are bytes",
        (".graph", ".metis"),
        re.compile(rb"(?:%[^\n]*\n)*[ \t]*\d+[ \t]+\d+(?:[ \t]+[01]{1,3}(?:[ \t]+\d+)?)?[ \t]*\r?\n"),
        read_metis,
    ),
)


def read_foreign_graph(path: Path, form: str | None = None) -> TaskGraph:
    """The task graph of another program's file, which may be packed by gzip.

    Args:
        path: a file; for Open MPI's monitoring also a folder, or a name that ranks are added to.
        form: the name of a format; None to tell it by the name of the file, then by how it begins.

    Raises:
        UsageError: there is no such format.
        IsochroneError: the file cannot be read or is damaged, or its format cannot be told.
    """
    names = ", ".join(each.name for each in FORMATS)
    chosen = [each for each in FORMATS if each.name == form]
    if form is not None and not chosen:
        raise UsageError(f"{form!r} is no format of graphs", "--format", f"use one of {names}")
    if not path.is_file() and monitoring_files(path) and form in (None, "openmpi"):
        return read_openmpi_monitoring(path, b"")
    data = read_content(path)
    name = path.name.lower().removesuffix(".gz")
    chosen = chosen or [each for each in FORMATS if name.endswith(each.ends)] if form is None else chosen
    chosen = chosen or [each for each in FORMATS if each.head.match(data[:_HEAD_BYTES])]
    if not chosen:
        raise IsochroneError("is no graph of a format that can be told", str(path), f"say which: {names}")
    return chosen[0].read(path, data)
