# SPDX-License-Identifier: BSD-3-Clause
"""Strict JSON in and out of files: no NaN, no infinity, no half-written file, and every error in one line."""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from isochrone.errors import IsochroneError
from isochrone.files.whole import is_stream, write_whole

LOG = logging.getLogger("isochrone.files")

Json = dict[str, Any]
T = TypeVar("T")


class DamagedError(IsochroneError):
    """What was read is no JSON, or no object."""


_MAX_DOCUMENT_BYTES = 1 << 30
_MAX_LINE_BYTES = 1 << 26
_PIECE_BYTES = 1 << 20

# Isochrone's own files are a tenth as deep. Much more, and whatever walks a document may run out of stack.
_MAX_DEPTH = 64

_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")

_LINE_WIDTH = 120

# What every file of Isochrone's begins with.
_KIND = re.compile(rb'\s*\{\s*"isochrone"\s*:\s*"([a-z]{1,32})"')
_KIND_BYTES = 256


def parse_object(text: str | bytes, where: str, todo: str | None = None) -> Json:
    """The JSON object in ``text``. Raises DamagedError for anything else, NaN and numbers beyond float64
    among it.
    """
    try:
        # Given bytes, json would guess at UTF-16 and let encoded surrogates pass.
        text = text if isinstance(text, str) else text.decode("utf-8")
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_distinct)
        if text.count("[") + text.count("{") > _MAX_DEPTH:
            check_depth(value)
        if _HALF_CHARACTER.search(text):
            # Half a surrogate pair cannot be written again.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        place = where if _has_line(where) else f"{where}:{error.lineno}"
        what = error.msg.removesuffix(" at")
        raise DamagedError(f"damaged JSON ({what} at column {error.colno})", place, todo) from None
    except RecursionError:
        raise DamagedError("damaged JSON (nested too deeply)", where, todo) from None
    except UnicodeDecodeError:
        raise DamagedError("damaged JSON (not UTF-8)", where, todo) from None
    except UnicodeEncodeError:
        raise DamagedError("damaged JSON (half a character)", where, todo) from None
    except ValueError as error:
        # Python's own words for a number of thousands of digits are about Python.
        what = "a number is too long" if str(error).startswith("Exceeds the limit") else str(error)
        raise DamagedError(f"damaged JSON ({what})", where, todo) from None
    if not isinstance(value, dict):
        raise DamagedError("expected a JSON object", where, todo)
    return value


def read_object(path: Path, todo: str | None = None) -> Json:
    """The JSON object that is the whole of the file."""
    return parse_object(read_bytes(path), str(path), todo)


def read_bytes(path: Path, missing: str | None = None) -> bytes:
    """All of a file. Raises IsochroneError for one that cannot be read or is too large; of one that is not
    there it says what to do.
    """
    try:
        data = bytearray()
        with path.open("rb") as file:
            # A device has no size, and read() asks at once for the memory of all that it may read.
            while piece := file.read(_PIECE_BYTES):
                data += piece
                if len(data) > _MAX_DOCUMENT_BYTES:
                    raise _too_large(path)
    except OSError as error:
        raise unreadable(path, error, missing) from None
    return bytes(data)


def raw_lines(path: Path, missing: str | None = None) -> Iterator[tuple[int, bytes]]:
    """Yields number and text of each line that is not blank. Raises IsochroneError for a file that cannot be
    read, and says what to do if it is not there; and for a line that is too long.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES + 1), b""), start=1):
                if len(line) > _MAX_LINE_BYTES:
                    raise IsochroneError("the line is too long to be one of Isochrone's", f"{path}:{number}")
                if line.strip():
                    yield number, line
    except OSError as error:
        raise unreadable(path, error, missing) from None


def decoded(
    path: Path, lines: Iterable[tuple[int, bytes]], decode: Callable[[bytes, str], T]
) -> Iterator[tuple[int, T]]:
    """Yields number and meaning of each line; `decode` is given its text, and its file and number for errors.

    A last line that is damaged, but not the first, is reported and dropped.
    """
    name = str(path)
    pending: DamagedError | None = None
    for number, line in lines:
        if pending is not None:
            raise pending
        try:
            value = decode(line, f"{name}:{number}")
        except DamagedError as error:
            if number == 1:
                raise
            pending = error
            continue
        yield number, value
    if pending is not None:
        LOG.warning("%s: the last line was cut off and is dropped", pending.where)


def write_object(path: Path, document: Json) -> None:
    """Writes the document for people to read too; a reader finds the old file or the whole new one."""
    write_text(path, _layout(document, "") + "\n")


def kind_of(path: Path) -> str | None:
    """Which of Isochrone's files a file is, as its first line says; None for what is none, or not there."""
    if not path.is_file():
        return None  # a pipe would keep us waiting
    try:
        with path.open("rb") as file:
            found = _KIND.match(file.read(_KIND_BYTES))
    except OSError:
        return None
    return found[1].decode() if found else None


def refuse_stream(path: Path) -> None:
    """Raises IsochroneError for a device or a pipe, where ranks of a program put a file in its place."""
    if is_stream(path):
        raise IsochroneError("is a device or a pipe, and no file", str(path), "name a file with -o")


def refuse_to_replace(path: Path, kind: str | None) -> None:
    """Raises IsochroneError where the path is one of Isochrone's files, but of another kind."""
    there = kind_of(path)
    if there not in (None, kind):
        raise IsochroneError(f"holds {there}, which would be lost", str(path), "choose another place")


def write_text(path: Path, text: str) -> None:
    """Writes to a temporary file beside ``path`` and renames it. Raises IsochroneError where that cannot be,
    and where another kind of Isochrone's files is there.
    """
    kind = _KIND.match(text[:_KIND_BYTES].encode())
    refuse_to_replace(path, kind[1].decode() if kind else None)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise IsochroneError(f"cannot write ({error.strerror})", str(path), "choose another place") from None


def read_text(path: Path, most_bytes: int, what: str, todo: str) -> str:
    """The text of a file of at most so many bytes. Raises IsochroneError for one that cannot be ``what``, and
    says what to do.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(data) > most_bytes:
        raise IsochroneError(f"the file is too large to be {what}", str(path), todo)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise IsochroneError("is not UTF-8", f"{path}:{line}", todo) from None


def printable(text: str) -> str:
    """Without control characters: names come from files, and a terminal obeys what it is sent."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def quoted(word: str) -> str:
    """A word of a file for a message, cut where it is long."""
    return f"'{word[:40]}'"


def unreadable(path: Path, error: OSError, missing: str | None = None) -> IsochroneError:
    """The error for a file that cannot be read; `missing` is what to do if it is not there."""
    todo = missing if isinstance(error, FileNotFoundError) else None
    return IsochroneError(f"cannot read ({error.strerror})", str(path), todo)


def _too_large(path: Path) -> IsochroneError:
    return IsochroneError("the file is too large to be one of Isochrone's", str(path))


def _layout(value: Any, indent: str) -> str:
    """JSON with an object or list on one line where it is short or holds no other, and indented where it is
    not.
    """
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if len(flat) + len(indent) <= _LINE_WIDTH or not any(isinstance(part, (dict, list)) for part in parts):
        return flat
    deeper = indent + "  "
    if isinstance(value, dict):
        rows = [f"{json.dumps(k, ensure_ascii=False)}: {_layout(v, deeper)}" for k, v in value.items()]
    else:
        rows = [_layout(part, deeper) for part in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{deeper}" + f",\n{deeper}".join(rows) + f"\n{indent}{closing}"


def _has_line(where: str) -> bool:
    return where.rpartition(":")[2].isdigit()


def check_depth(value: Any) -> None:
    """Raises RecursionError where lists and objects are within each other more than ``_MAX_DEPTH`` times."""
    within = [value]
    for _ in range(_MAX_DEPTH):
        parts = (each.values() if isinstance(each, dict) else each for each in within)
        within = [part for each in parts for part in each if isinstance(part, (dict, list))]
        if not within:
            return
    raise RecursionError


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large")
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> Json:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice")
    return result
