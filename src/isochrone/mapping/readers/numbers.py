# SPDX-License-Identifier: BSD-3-Clause
"""All numbers of a text at once, and the lines that they are on.

Graphs have millions of numbers, of which parsing one by one takes most of the time of whatever reads them.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isochrone.errors import IsochroneError
from isochrone.files.text import quoted

MOST_NUMBERS = 1 << 25
_NEWLINE, _COMMENT, _SPACE = 10, 37, 32
_BLANKS = b" \t\r\n\v\f"
_WHOLE = re.compile(rb"[+-]?\d{1,18}")
_REAL = re.compile(rb"[+-]?(?:\d{1,64}(?:\.\d{0,64})?|\.\d{1,64})(?:[eE][+-]?\d{1,4})?")
_TOKEN = re.compile(rb"\S+")


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers of a text.

    Attributes:
        values: [number], int64 or float64.
        first: [line + 1], where the numbers of each line begin among all.
        lines: [line], its number in the file; lines that are comments are left out.
    """

    values: NDArray[Any]
    first: NDArray[np.int64]
    lines: NDArray[np.int64]

    def line_of(self, number: int) -> int:
        """The line in the file of a number, by its index."""
        return int(self.lines[np.searchsorted(self.first, number, side="right") - 1])


def parse_numbers(data: bytes, path: Path, whole: bool) -> Numbers:
    """The numbers of all lines that do not begin with a percent sign.

    Args:
        data: the text, as ASCII.
        path: for messages.
        whole: whether numbers have up to 18 digits and nothing else; else they are finite reals.

    Raises:
        IsochroneError: something is no number, or there are too many.
    """
    text = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(text == _NEWLINE)
    if len(data) and not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    begins = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    lines = np.arange(1, len(ends) + 1)
    if b"%" in data:
        is_comment = text[np.minimum(begins, max(len(text) - 1, 0))] == _COMMENT
        text = _without(text, begins, ends, is_comment)
        data = text.tobytes()
        begins, ends, lines = (each[~is_comment] for each in (begins, ends, lines))
    table = np.zeros(256, bool)
    table[list(_BLANKS)] = True
    blank = table[text]
    starts = ~blank
    starts[1:] &= blank[:-1]
    count = int(np.count_nonzero(starts))
    if count > MOST_NUMBERS:
        raise IsochroneError(
            f"the file has more than {MOST_NUMBERS} numbers", str(path), "use a smaller graph"
        )
    at = np.flatnonzero(starts)
    first = np.append(np.searchsorted(at, begins), count)
    values = _parse(data, count, whole)
    if values is None:
        raise _not_a_number(data, path, _WHOLE if whole else _REAL)
    return Numbers(values, first, lines)


def _without(
    text: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64], drop: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """The text with some lines made blank."""
    change = np.zeros(len(text) + 1, np.int8)
    change[begins[drop]] += 1
    change[ends[drop]] -= 1
    return np.where(np.cumsum(change[:-1], dtype=np.int8) > 0, np.uint8(_SPACE), text)


def _parse(data: bytes, count: int, whole: bool) -> NDArray[Any] | None:
    """The numbers, or None where a word is none: NumPy stops there, or sees two where a sign is inside."""
    if count == 0:
        return np.empty(0, np.int64 if whole else np.float64)
    allowed = b"0123456789+-" + _BLANKS + (b"" if whole else b".eE")
    if data.translate(None, allowed) or (whole and re.search(rb"\d{19}", data)):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = np.fromstring(data, np.int64 if whole else np.float64, sep=" ")
    except (DeprecationWarning, ValueError):
        return None
    if len(values) != count or not np.all(np.isfinite(values)):
        return None
    return values


def _not_a_number(data: bytes, path: Path, number: re.Pattern[bytes]) -> IsochroneError:
    """The error for the first word that is none."""
    for match in _TOKEN.finditer(data):
        word = match[0]
        if number.fullmatch(word) is None or not np.isfinite(float(word)):
            shown = quoted(word[:40].decode("utf-8", "replace"))
            line = data.count(b"\n", 0, match.start()) + 1
            kind = "a whole number of at most 18 digits" if number is _WHOLE else "a finite number"
            return IsochroneError(f"{shown} is not {kind}", f"{path}:{line}", "mend the line")
    return IsochroneError("holds what is not a number", str(path), "mend the file")
