# SPDX-License-Identifier: BSD-3-Clause
"""Plain matrices of latencies, as other tools write them: CSV, or NumPy's ``.npy``."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from isochrone.errors import IsochroneError
from isochrone.files.measurements import MOST_SQUARE, Measurements
from isochrone.files.place import UNKNOWN_HOST, MpiLibrary, Place

UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
SUFFIXES = (".csv", ".txt", ".dat", ".npy")
STANDARD_INPUT = Path("-")

_MOST_BYTES = 1 << 29
_MOST_SECONDS = 1e9

# The two directions of a pair differ by this ratio, or by so many times what they do usually, and are told.
_UNLIKE = 1.05
_UNUSUALLY = 10.0

Array = npt.NDArray[np.float64]
_log = logging.getLogger(__name__)


def is_matrix(path: Path) -> bool:
    """Whether the name is one of a plain matrix, or stands for standard input."""
    return path == STANDARD_INPUT or path.suffix.lower() in SUFFIXES


def read_matrix(path: Path, unit: str) -> Measurements:
    """A square matrix of one-way latencies as measurements of one message size.

    The lower triangle is enough, or the upper one, the other being empty or all 0; of two values for a pair
    the mean counts, and what is on the diagonal does not. Cells of a text file stand between commas,
    semicolons, tabs or spaces; beside semicolons or tabs, a comma is a decimal one. Lines that begin with
    ``#`` are left out. Ranks are numbered as the rows. Lines of one cell, two, three and so on are the lower
    triangle with its diagonal, or without it where an empty line, that of rank 0, stands before them; the
    upper one likewise, with its empty line at the end.

    Args:
        path: of the file; the suffix says which format it has. ``-`` is standard input, as text.
        unit: of the numbers, one of ``UNITS_S``.

    Raises:
        IsochroneError: the file is not such a matrix; with its line where it has one.
    """
    values = _read_npy(path) if path.suffix.lower() == ".npy" else _read_text(path)
    one_way_s = _symmetric(values, path) * UNITS_S[unit]
    if np.nanmin(one_way_s, initial=1.0) <= 0:
        raise IsochroneError("a latency is too short to be a number of seconds", str(path), "check --unit")
    if np.nanmax(one_way_s, initial=0.0) > _MOST_SECONDS:
        raise IsochroneError("a latency is longer than a life", str(path), "check --unit")
    ranks = len(one_way_s)
    first, second = np.triu_indices(ranks, 1)
    rtt_s = 2 * one_way_s[first, second][:, None]
    return Measurements(
        sizes_bytes=(0,),
        repetitions=1,
        seed=0,
        places=tuple(Place(UNKNOWN_HOST, str(rank), "matrix") for rank in range(ranks)),
        mpi=MpiLibrary("none", "none", "none"),
        resolution_s=0.0,
        overhead_s=0.0,
        simulated=False,
        first=first,
        second=second,
        rtt_min_s=rtt_s,
        rtt_median_s=rtt_s,
        send_overhead_s=np.zeros_like(rtt_s),
    )


def _read_npy(path: Path) -> Array:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise IsochroneError("is too large", str(path), f"give at most {MOST_SQUARE} ranks")
        with path.open("rb") as file, warnings.catch_warnings():
            # The head is a Python expression, whose parser may warn.
            warnings.simplefilter("ignore")
            # Not np.load, which would open archives too.
            values = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise IsochroneError(f"cannot be read: {error.strerror or error}", str(path)) from None
    except IsochroneError:
        raise
    except Exception as error:
        # NumPy lets out whatever Python's parser does.
        said = (str(error).splitlines() or ["damaged"])[0]
        raise IsochroneError(f"is no .npy file of numbers: {said}", str(path)) from None
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        raise IsochroneError("holds no real numbers", str(path))
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        shape = " x ".join(map(str, values.shape)) or "one number"
        raise IsochroneError(f"is not square: {shape}", str(path), "give a matrix of ranks by ranks")
    if len(values) == 0:
        raise IsochroneError("is empty", str(path), "give a matrix of ranks by ranks")
    _check_size(len(values), str(path))
    with np.errstate(over="ignore"):
        return values.astype(np.float64)


def _read_text(path: Path) -> Array:
    try:
        if path == STANDARD_INPUT:
            return _matrix(iter(lambda: sys.stdin.readline(_MOST_BYTES + 1), ""), "standard input")
        # Spreadsheets begin a file with a byte-order mark.
        with path.open(encoding="utf-8-sig") as file:
            return _matrix(iter(lambda: file.readline(_MOST_BYTES + 1), ""), str(path))
    except OSError as error:
        raise IsochroneError(f"cannot be read: {error.strerror or error}", str(path)) from None
    except UnicodeDecodeError:
        raise IsochroneError("is not UTF-8 text", str(path)) from None


def _matrix(lines: Iterable[str], where: str) -> Array:
    """[rank, rank], NaN where nothing is said."""
    rows: list[list[float]] = []
    read = 0
    # Empty lines before the first row, and after the last.
    before = after = 0
    for number, line in enumerate(lines, 1):
        read += len(line)
        if read > _MOST_BYTES:
            raise IsochroneError("is too large", where, f"give at most {MOST_SQUARE} ranks")
        if line.startswith("#"):
            continue
        if not line.strip():
            before, after = before + (not rows), after + 1
            continue
        rows.append(_cells(line, f"{where}:{number}"))
        _check_size(len(rows), f"{where}:{number}")
        after = 0
    if not rows:
        raise IsochroneError("is empty", where, "give a matrix of ranks by ranks")
    _check_head(rows, where)
    lengths = [len(row) for row in rows]
    rising = list(range(1, len(rows) + 1))
    if len(rows) > 1 and lengths == rising:
        return _triangle(rows, before > 0, where)
    if len(rows) > 1 and lengths == rising[::-1]:
        # Turned round, the upper triangle is a lower one.
        return _triangle([row[::-1] for row in rows[::-1]], after > 0, where)[::-1, ::-1].copy()
    values = np.full((len(rows), len(rows)), np.nan)
    for index, row in enumerate(rows):
        # A separator at the end of a line is no cell of its own.
        if len(row) == len(rows) + 1 and np.isnan(row[-1]):
            row = row[:-1]
        if len(row) > len(rows):
            raise IsochroneError(
                f"row {index} has {len(row)} cells, and there are {len(rows)} rows",
                where,
                "give a matrix of ranks by ranks",
            )
        values[index, : len(row)] = row
    return values


def _triangle(rows: list[list[float]], empty_row: bool, where: str) -> Array:
    """A lower triangle, of rows of one cell and more.

    Args:
        empty_row: whether the first rank has an empty row, none being before it: there is no diagonal then.

    Raises:
        IsochroneError: there is none, or there is one and its values are not 0.
    """
    ranks = len(rows) + empty_row
    values = np.full((ranks, ranks), np.nan)
    for index, row in enumerate(rows, ranks - len(rows)):
        values[index, : len(row)] = row
    ends = np.array([row[-1] for row in rows])
    if not empty_row and np.any(ends > 0):
        raise IsochroneError(
            "is a triangle, and it is not clear whether with its diagonal",
            where,
            "write 0 on the diagonal; or, where there is none, an empty line for the rank that has no others",
        )
    return values


def _check_head(rows: list[list[float]], where: str) -> None:
    """Raises IsochroneError where the first row has the numbers of the ranks."""
    head = [cell for cell in rows[0] if not np.isnan(cell)]
    ranks = len(rows) - 1
    if ranks > 1 and any(head == list(range(first, ranks + first)) for first in (0, 1)):
        raise IsochroneError(
            "the first row has the numbers of the ranks", where, "give the latencies only, without heads"
        )


def _cells(line: str, where: str) -> list[float]:
    """The numbers of a line; NaN for empty cells."""
    separator = next((mark for mark in ";\t," if mark in line), None)
    # A line may be as long as a file: it is not taken apart beyond what is too much.
    whole = line.strip() if separator is None else line.rstrip("\r\n")
    words = whole.split(separator, MOST_SQUARE + 1)
    _check_size(len(words) - 1, where)
    cells = []
    for word in words:
        text = word.strip().strip('"')
        try:
            cells.append(_number(text.replace(",", ".", 1)) if text else np.nan)
        except ValueError:
            shown = text if len(text) <= 20 else f"{text[:20]}…"
            raise IsochroneError(
                f"{shown!r} is no number", where, "give the numbers only, without heads"
            ) from None
    return cells


def _number(text: str) -> float:
    """As ``float``, except underscores and digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def _check_size(ranks: int, where: str) -> None:
    if ranks > MOST_SQUARE:
        raise IsochroneError(f"more than {MOST_SQUARE} ranks", where, "give fewer")


def _symmetric(values: Array, path: Path) -> Array:
    """Both triangles from one or both, NaN on the diagonal. A triangle of nothing but zeros, as numpy.tril
    leaves it, is one that is not given.

    Raises:
        IsochroneError: a pair has no value, or one in either direction that is not above 0.
    """
    np.fill_diagonal(values, np.nan)
    lower, upper = np.tril_indices(len(values), -1), np.triu_indices(len(values), 1)
    for given, not_given in ((lower, upper), (upper, lower)):
        # Where neither is given, as of the one pair of two ranks, both stay as they are.
        if np.all(values[not_given] == 0) and np.any(values[given] > 0):
            values[not_given] = np.nan
    _check_directions(values, path)
    other = values.T
    both = np.where(np.isnan(values), other, np.where(np.isnan(other), values, values / 2 + other / 2))
    _compare_directions(values, path)
    return both


def _check_directions(values: Array, path: Path) -> None:
    """Raises IsochroneError for a pair that has no value, or one that is not a latency: its mean with that of
    the other direction might look like one.
    """
    bad = ~(np.isnan(values) | (np.isfinite(values) & (values > 0)))
    bad |= np.isnan(values) & np.isnan(values.T) & ~np.eye(len(values), dtype=bool)
    if not bad.any():
        return
    i, j = sorted(np.argwhere(bad)[0].tolist())
    ways = dict.fromkeys(f"{value:g}" for value in (values[i, j], values[j, i]) if not np.isnan(value))
    what = " one way and ".join(ways) + (" the other" if len(ways) > 1 else "")
    raise IsochroneError(
        f"ranks {i} and {j} have {what or 'no value'}",
        str(path),
        "give a latency above 0 for each pair; of a triangle, leave the other one empty or all 0",
    )


def _compare_directions(values: Array, path: Path) -> None:
    """Says how many pairs differ by direction, farther than others do, and the worst of them."""
    i, j = np.triu_indices(len(values), 1)
    apart = np.abs(np.log(values[i, j]) - np.log(values[j, i]))
    # Pairs that have one direction only agree.
    apart[np.isnan(apart)] = 0.0
    unlike = apart > max(np.log(_UNLIKE), _UNUSUALLY * float(np.median(apart)) if len(apart) else 0.0)
    if unlike.any():
        worst = int(np.argmax(apart))
        a, b = int(i[worst]), int(j[worst])
        _log.warning(
            "%s: %d of %d pairs differ by direction more than others do, most ranks %d and %d: %g there and "
            "%g back; their means count",
            path,
            np.count_nonzero(unlike),
            len(apart),
            a,
            b,
            values[a, b],
            values[b, a],
        )
