# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of the Matrix Market: row i, column j is what rank i - 1 sends rank j - 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isochrone.errors import IsochroneError
from isochrone.files.text import quoted
from isochrone.mapping.graph import TaskGraph, task_graph
from isochrone.mapping.readers.limits import check_ranks, check_weights
from isochrone.mapping.readers.numbers import parse_numbers

_BANNER = "%%MatrixMarket matrix coordinate (pattern|integer|real) (general|symmetric)"
_FIELDS = {"pattern": 2, "integer": 3, "real": 3}
_SYMMETRIES = ("general", "symmetric")


def read_matrix_market(path: Path, data: bytes) -> TaskGraph:
    """The graph of a sparse square matrix; entries are bytes without messages, 1 where there are none.

    Reals are rounded to whole bytes. An entry of a symmetric matrix goes both ways. Entries on the diagonal
    are left out, and several of one place added up.

    Raises:
        IsochroneError: it is damaged, not square, or has entries that cannot be bytes.
    """
    banner = data.split(b"\n", 1)[0][:200].decode("utf-8", "replace")
    words = banner.lower().split()
    if (
        words[:3] != ["%%matrixmarket", "matrix", "coordinate"]
        or len(words) != 5
        or words[3] not in _FIELDS
        or words[4] not in _SYMMETRIES
    ):
        raise IsochroneError(
            f"{quoted(banner.strip())} cannot be read", f"{path}:1", f"the first line must be: {_BANNER}"
        )
    width = _FIELDS[words[3]]
    numbers = parse_numbers(data, path, whole=words[3] != "real")
    filled = np.flatnonzero(np.diff(numbers.first))
    count = np.diff(numbers.first)[filled]
    lines = numbers.lines[filled]
    if not len(filled) or count[0] != 3:
        line = int(lines[0]) if len(filled) else 1
        raise IsochroneError("the line with rows, columns and entries is missing", f"{path}:{line}")
    where = f"{path}:{lines[0]}"
    rows, columns, entries = (float(v) for v in numbers.values[:3])
    if rows != columns or not rows.is_integer():
        raise IsochroneError(
            f"the matrix has {rows:g} rows and {columns:g} columns", where, "use a square one: ranks by ranks"
        )
    check_ranks(int(rows), where)
    bad = np.flatnonzero(count[1:] != width)
    if len(bad):
        raise IsochroneError(
            f"the line must have {width} numbers, as it is one of {words[3]}s",
            f"{path}:{lines[1 + bad[0]]}",
            "mend the line",
        )
    if len(filled) - 1 != entries:
        raise IsochroneError(
            f"there must be {entries:g} entries, and are {len(filled) - 1}", where, "is the file whole?"
        )
    table = numbers.values[3:].reshape(-1, width)
    pairs = table[:, :2]
    outside = np.any((pairs < 1) | (pairs > rows) | (pairs != np.floor(pairs)), axis=1)
    if np.any(outside):
        row = int(np.argmax(outside))
        raise IsochroneError(
            f"there is no place {pairs[row, 0]:g}, {pairs[row, 1]:g} in the matrix",
            f"{path}:{lines[1 + row]}",
            f"rows and columns count from 1 to {int(rows)}",
        )
    weights = table[:, 2] if width == 3 else np.ones(len(table), np.int64)
    wrong = (weights < 0) | ((weights != 0) & (weights < 0.5))
    if np.any(wrong):
        row = int(np.argmax(wrong))
        what, todo = "is negative", "bytes are 0 or more"
        if weights[row] > 0:
            what, todo = "is less than half a byte", "multiply all values by the same number"
        raise IsochroneError(f"the value {weights[row]:g} {what}", f"{path}:{lines[1 + row]}", todo)
    check_weights(weights, path, times=2)
    sources, targets = (pairs[:, k].astype(np.int64) - 1 for k in range(2))
    volume = np.rint(weights).astype(np.int64) if words[3] == "real" else weights
    if words[4] == "symmetric":
        twice = np.flatnonzero(sources != targets)
        sources, targets = (
            np.concatenate([sources, targets[twice]]),
            np.concatenate([targets, sources[twice]]),
        )
        volume = np.concatenate([volume, volume[twice]])
    return task_graph(int(rows), np.stack([sources, targets, np.zeros_like(sources), volume], axis=1))
