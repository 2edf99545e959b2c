# SPDX-License-Identifier: BSD-3-Clause
"""The formats of other programs that times are read from."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files.content import read_content
from isochrone.models.observation import Found
from isochrone.models.readers import columns, imb, osu
from isochrone.models.readers.labels import Labels

_HEAD_BYTES = 1 << 16
_MOST_BYTES = 1 << 26


@dataclass(frozen=True)
class TimesFormat:
    """A row of the table.

    Attributes:
        name: what it is called.
        words: what it is.
        head: what the first bytes of such a file hold.
        read: makes observations of a path, its bytes, and what the user says of them.
    """

    name: str
    words: str
    head: re.Pattern[bytes]
    read: Callable[[Path, bytes, Labels], Found]


FORMATS = (
    TimesFormat("osu", "output of the OSU micro-benchmarks", osu.HEAD, osu.read_osu),
    TimesFormat("imb", "output of the Intel MPI Benchmarks (IMB-MPI1)", imb.HEAD, imb.read_imb),
    TimesFormat("columns", "a table with commas, one time a line", columns.HEAD, columns.read_columns),
)


def read_foreign_times(path: Path, labels: Labels) -> Found:
    """The times of another program's file, which may be packed by gzip; its format is told by how it begins.

    Raises:
        IsochroneError: the file cannot be read or is damaged, its format cannot be told, or it has no times.
    """
    # Spreadsheets begin what they write with the mark of UTF-8.
    data = read_content(path, _MOST_BYTES).removeprefix(codecs.BOM_UTF8)
    form = next((each for each in FORMATS if each.head.match(data[:_HEAD_BYTES])), None)
    if form is None:
        known = "; ".join(each.words for each in FORMATS)
        raise IsochroneError(
            "has no times that can be read",
            str(path),
            f"give measurements.jsonl, bench.jsonl, the folder of a survey, or: {known}",
        )
    found = form.read(path, data, labels)
    if not found.observations and not found.costs:
        raise IsochroneError("has no times that a model here is of", str(path), "is it whole?")
    return found
