# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of somebody else's file, packed by gzip or not, and never more of them than it may have."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files.text import unreadable

MOST_BYTES = 1 << 28
MOST_LINE_BYTES = 1 << 24
MOST_LINES = 1 << 25

_PIECE_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"


def read_content(path: Path, most_bytes: int | None = None) -> bytes:
    """The bytes of a file, unpacked where it begins as gzip's do.

    Unpacking stops where the file turns out too large: a few kilobytes may stand for any number of bytes.

    Raises:
        IsochroneError: it cannot be read, is damaged, or larger than ``most_bytes``.
    """
    most_bytes = MOST_BYTES if most_bytes is None else most_bytes
    try:
        with path.open("rb") as file:
            begin = file.peek(2)[:2]
            if begin != _GZIP:
                return _bounded(path, file, most_bytes)
            with gzip.GzipFile(fileobj=file) as unpacked:
                return _bounded(path, unpacked, most_bytes)
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise IsochroneError("is damaged: gzip cannot unpack it", str(path), "copy it again") from None
    except OSError as error:
        raise unreadable(path, error) from None


def _bounded(path: Path, file: object, most_bytes: int) -> bytes:
    read = getattr(file, "read")  # noqa: B009 - files and unpacked files have no type in common
    data = bytearray()
    line_begin = 0
    lines = 0
    while piece := read(_PIECE_BYTES):
        last = piece.rfind(b"\n")
        if last >= 0:
            line_begin = len(data) + last + 1
            lines += piece.count(b"\n")
        data += piece
        if len(data) > most_bytes or lines > MOST_LINES:
            raise IsochroneError(
                f"the file is too large: over {most_bytes >> 20} MB or {MOST_LINES} lines", str(path)
            )
        if len(data) - line_begin > MOST_LINE_BYTES:
            raise IsochroneError(
                f"the line is longer than {MOST_LINE_BYTES >> 20} MB", f"{path}:{lines + 1}", "is it a text?"
            )
    return bytes(data)
