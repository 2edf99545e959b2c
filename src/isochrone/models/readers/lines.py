# SPDX-License-Identifier: BSD-3-Clause
"""Lines and numbers of the texts that benchmarks print, checked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from isochrone.errors import IsochroneError
from isochrone.files.text import quoted

MOST_LINES = 1 << 20
_MOST_WORDS = 64
_WHOLE = re.compile(r"\d{1,15}")
_REAL = re.compile(r"\d{1,18}(?:\.\d{0,18})?(?:[eE][+-]?\d{1,3})?")
_MOST_SECONDS = 1e6


def numbered_lines(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Each line with ``file:line``, without what terminals make of it.

    Raises:
        IsochroneError: there are more lines than any benchmark prints.
    """
    for number, line in enumerate(data.splitlines(), start=1):
        if number > MOST_LINES:
            raise IsochroneError(f"the file has more than {MOST_LINES} lines", path, "give a part of it")
        yield f"{path}:{number}", line[:4096].decode("utf-8", "replace").strip()


def words_of(line: str) -> list[str]:
    """The words of a line; what is beyond those of any table is dropped."""
    return line.split(maxsplit=_MOST_WORDS)[:_MOST_WORDS]


def whole(word: str, where: str, what: str) -> int:
    """A whole number. Raises IsochroneError for what is none."""
    if not _WHOLE.fullmatch(word):
        raise IsochroneError(f"{quoted(word)} is no {what}", where, "mend the line")
    return int(word)


def real(word: str, where: str, what: str) -> float:
    """A number that is not negative. Raises IsochroneError for what is none."""
    if not _REAL.fullmatch(word):
        raise IsochroneError(f"{quoted(word)} is no {what}", where, "mend the line")
    return float(word)


def time_s(word: str, where: str, unit_s: float = 1e-6) -> float:
    """Seconds of a time in microseconds. Raises IsochroneError for what is none."""
    value_s = real(word, where, "time") * unit_s
    if value_s > _MOST_SECONDS:
        raise IsochroneError(f"{quoted(word)} is no time that anybody waited for", where, "mend the line")
    return value_s
