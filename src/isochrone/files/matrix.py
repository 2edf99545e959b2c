# SPDX-License-Identifier: BSD-3-Clause
"""Plain matrices of latencies, as other tools write them: CSV, or NumPy's ``.npy``."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt

from isochrone.errors import IsochroneError
from isochrone.files.measurements import Measurements
from isochrone.files.place import MpiLibrary, Place

UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
SUFFIXES = (".csv", ".txt", ".npy")

_MOST_PLACES = 4096
_MOST_BYTES = 1 << 29
_MOST_SECONDS = 1e9

Array = npt.NDArray[np.float64]


def read_matrix(path: Path, unit: str) -> Measurements:
    """A square matrix of one-way latencies as measurements of one message size.

    The lower triangle is enough, or the upper one; of two values for a pair the mean counts, and what is on
    the diagonal does not. Cells of a CSV file stand between commas, semicolons, tabs or spaces; lines that
    begin with ``#`` are left out. Ranks are numbered as the rows.

    Args:
        path: of the file; the suffix says which format it has.
        unit: of the numbers, one of ``UNITS_S``.

    Raises:
        IsochroneError: the file is not such a matrix; with its line where it has one.
    """
    values = _read_npy(path) if path.suffix == ".npy" else _read_csv(path)
    one_way_s = _symmetric(values, path) * UNITS_S[unit]
    if np.nanmax(one_way_s, initial=0.0) > _MOST_SECONDS:
        raise IsochroneError("a latency is longer than a life", str(path), "check --unit")
    ranks = len(one_way_s)
    rtt_s = 2 * one_way_s[:, :, None]
    return Measurements(
        sizes_bytes=(0,),
        repetitions=1,
        seed=0,
        places=tuple(Place(path.stem, str(rank), "matrix") for rank in range(ranks)),
        mpi=MpiLibrary("none", "none", "none"),
        resolution_s=0.0,
        overhead_s=0.0,
        simulated=False,
        rtt_min_s=rtt_s,
        rtt_median_s=rtt_s,
        send_overhead_s=np.where(np.isnan(rtt_s), np.nan, 0.0),
    )


def _read_npy(path: Path) -> Array:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise IsochroneError("is too large", str(path), f"give at most {_MOST_PLACES} ranks")
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


def _read_csv(path: Path) -> Array:
    rows: list[list[float]] = []
    try:
        with path.open(encoding="utf-8") as file:
            read = 0
            for number, line in enumerate(iter(lambda: file.readline(_MOST_BYTES + 1), ""), 1):
                read += len(line)
                if read > _MOST_BYTES:
                    raise IsochroneError("is too large", str(path), f"give at most {_MOST_PLACES} ranks")
                if line.strip() and not line.startswith("#"):
                    rows.append(_cells(line, f"{path}:{number}"))
                    _check_size(len(rows), f"{path}:{number}")
    except OSError as error:
        raise IsochroneError(f"cannot be read: {error.strerror or error}", str(path)) from None
    except UnicodeDecodeError:
        raise IsochroneError("is not UTF-8 text", str(path)) from None
    if not rows:
        raise IsochroneError("is empty", str(path), "give a matrix of ranks by ranks")
    values = np.full((len(rows), len(rows)), np.nan)
    for index, row in enumerate(rows):
        # A separator at the end of a line is no cell of its own.
        if len(row) == len(rows) + 1 and np.isnan(row[-1]):
            row = row[:-1]
        if len(row) > len(rows):
            raise IsochroneError(
                f"row {index} has {len(row)} cells, and there are {len(rows)} rows",
                str(path),
                "give a matrix of ranks by ranks",
            )
        values[index, : len(row)] = row
    return values


def _cells(line: str, where: str) -> list[float]:
    """The numbers of a line; NaN for empty cells."""
    separator = next((mark for mark in ",;\t" if mark in line), None)
    words = line.strip().split() if separator is None else re.split(separator, line.rstrip("\r\n"))
    _check_size(len(words) - 1, where)
    cells = []
    for word in words:
        text = word.strip().strip('"')
        try:
            cells.append(float(text) if text else np.nan)
        except ValueError:
            shown = text if len(text) <= 20 else f"{text[:20]}…"
            raise IsochroneError(
                f"{shown!r} is no number", where, "give the numbers only, without heads"
            ) from None
    return cells


def _check_size(ranks: int, where: str) -> None:
    if ranks > _MOST_PLACES:
        raise IsochroneError(f"more than {_MOST_PLACES} ranks", where, "give fewer")


def _symmetric(values: Array, path: Path) -> Array:
    """Both triangles from one or both, NaN on the diagonal.

    Raises:
        IsochroneError: a pair has no value, or one that is not above 0.
    """
    np.fill_diagonal(values, np.nan)
    other = values.T
    with np.errstate(over="ignore", invalid="ignore"):
        both = np.where(np.isnan(values), other, np.where(np.isnan(other), values, (values + other) / 2))
    np.fill_diagonal(both, 1.0)
    bad = np.argwhere(~(np.isfinite(both) & (both > 0)))
    if len(bad):
        i, j = bad[0].tolist()
        what = "no value" if np.isnan(both[i, j]) else f"{both[i, j]:g}"
        raise IsochroneError(
            f"ranks {i} and {j} have {what}", str(path), "give a latency above 0 for each pair"
        )
    np.fill_diagonal(both, np.nan)
    return both
