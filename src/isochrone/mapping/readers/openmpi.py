# SPDX-License-Identifier: BSD-3-Clause
"""The files of Open MPI's monitoring: one for each rank, ``NAME.RANK.prof``.

Lines begin with what they count: ``E`` the program's own messages, ``I`` those that the library sends for it,
``S`` and ``R`` what one-sided operations put and got. ``C`` counts what collectives ask for, whose messages
are counted by the others already, and other lines tell of communicators: they are passed over.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files.content import MOST_LINES, read_content
from isochrone.files.text import quoted
from isochrone.mapping.graph import TaskGraph, task_graph
from isochrone.mapping.readers.limits import MOST_WEIGHT, check_ranks, check_weights

_NAME = re.compile(r"(.+)\.(\d{1,9})\.prof")
_LINE = re.compile(
    rb"([A-Z])\s+(\d{1,9})\s+(\d{1,9})\s+(\d{1,18}) bytes\s+(\d{1,18}) msgs sent(?:\s+([\d,]{1,2000}))?\s*"
)
_COUNTED = re.compile(rb"[EISR]\s")
_OTHER = re.compile(rb"\s*(?:#.*|[A-Z][A-Z0-9]*\s.*|)", re.DOTALL)
_MOST_FILES = 1 << 16

Row = tuple[int, int, int, int]
Bins = tuple[tuple[int, int], ...]


def monitoring_files(path: Path) -> list[Path]:
    """The files that belong together: all of a folder, all ranks of a name without its rank, or all of the
    same name as one that is given. Raises IsochroneError for a folder with those of several runs.
    """
    if path.is_dir():
        folder, begin = path, None
    else:
        match = _NAME.fullmatch(path.name)
        folder, begin = path.parent, match[1] if match else path.name
    try:
        found = [
            (match[1], int(match[2]), each)
            for each in folder.iterdir()
            if (match := _NAME.fullmatch(each.name)) and begin in (None, match[1])
        ]
    except OSError:
        return []
    names = sorted({name for name, _, _ in found})
    if len(names) > 1:
        raise IsochroneError(
            f"has the files of {len(names)} runs, such as {quoted(names[0])} and {quoted(names[1])}",
            str(path),
            "give the file of one rank of one of them",
        )
    return [each for _, _, each in sorted(found)]


def read_openmpi_monitoring(path: Path, data: bytes) -> TaskGraph:
    """What the ranks sent, classes of sizes kept where the files tell them.

    Raises:
        IsochroneError: the file of a rank is missing, or a line is damaged.
    """
    files = monitoring_files(path) or [path]
    if len(files) > _MOST_FILES:
        raise IsochroneError(f"has more than {_MOST_FILES} files of ranks", str(path), "give a part of it")
    sent: dict[tuple[int, int], _Sent] = defaultdict(_Sent)
    put_and_got: list[Row] = []
    told: set[int] = set()
    for file in files:
        content = data if file == path else read_content(file)
        for kind, source, target, volume, messages, histogram in _lines(file, content):
            told.add(source)
            told.add(target)
            if kind == b"S":
                put_and_got.append((source, target, messages, volume))
            elif kind == b"R":  # what is got goes to the rank that counts it
                put_and_got.append((target, source, messages, volume))
            else:
                sent[source, target].add(messages, volume, histogram)
        if len(sent) + len(put_and_got) > MOST_LINES:
            raise IsochroneError(
                f"more than {MOST_LINES} pairs sent messages", str(path), "give a smaller run"
            )
    ranks = max(told, default=-1) + 1
    writers = {int(m[2]) for f in files if (m := _NAME.fullmatch(f.name))}
    if writers:
        ranks = max(ranks, max(writers) + 1)
        missing = sorted(set(range(ranks)) - writers) if ranks <= 2 * _MOST_FILES else [ranks - 1]
        if missing:
            raise IsochroneError(
                f"the file of rank {missing[0]} is missing", str(path), "gather the files of all ranks"
            )
    check_ranks(ranks, str(path))
    rows = [(*pair, *row) for pair, all_sent in sent.items() for row in all_sent.classes()] + put_and_got
    for column in (2, 3):
        check_weights([row[column] for row in rows], path)
    return task_graph(ranks, rows)


class _Sent:
    """What one rank sent another.

    Attributes:
        messages, volume: how many, and their bytes.
        bins: how many messages have sizes of so many binary digits.
    """

    __slots__ = ("bins", "messages", "volume")

    def __init__(self) -> None:
        self.messages = 0
        self.volume = 0
        self.bins: dict[int, int] = {}

    def add(self, messages: int, volume: int, bins: Bins) -> None:
        """One line of a file."""
        self.messages += messages
        self.volume += volume
        for digits, count in bins:
            self.bins[digits] = self.bins.get(digits, 0) + count

    def classes(self) -> list[tuple[int, int]]:
        """Messages and bytes: for each class of sizes, where the counts of classes are those of the messages.

        The files tell how many messages of a class there were, and the bytes of all classes together. Every
        class gets the same part of the range that its sizes leave it, so that the sum is right.
        """
        least = {digits: count << digits >> 1 for digits, count in self.bins.items()}
        spread = {digits: least[digits] - count * (digits > 0) for digits, count in self.bins.items()}
        over, room = self.volume - sum(least.values()), sum(spread.values())
        if sum(self.bins.values()) != self.messages or not 0 <= over <= room:
            return [(self.messages, self.volume)]
        rows, before = [], 0
        for digits, count in sorted(self.bins.items()):
            # Whole bytes, of which none is lost.
            after = before + spread[digits]
            share = over * after // room - over * before // room if room else 0
            rows.append((count, least[digits] + share))
            before = after
        return rows


def _lines(path: Path, data: bytes) -> Iterator[tuple[bytes, int, int, int, int, Bins]]:
    for number, line in enumerate(data.splitlines(), start=1):
        match = _LINE.fullmatch(line)
        where = f"{path}:{number}"
        if match is None:
            if _COUNTED.match(line) or not _OTHER.fullmatch(line):
                raise IsochroneError(
                    "the line is not one of Open MPI's monitoring", where, "give its files unchanged"
                )
            continue
        kind, source, target, volume, messages, histogram = match.groups()
        if kind not in (b"E", b"I", b"S", b"R"):
            continue
        check_ranks(max(int(source), int(target)) + 1, where)
        if int(volume) >= MOST_WEIGHT:
            raise IsochroneError(f"{int(volume)} bytes cannot be", where, "mend the line")
        yield kind, int(source), int(target), int(volume), int(messages), _bins(histogram or b"")


@functools.lru_cache(maxsize=1 << 12)
def _bins(histogram: bytes) -> Bins:
    """Binary digits of sizes and numbers of messages, of a list that begins with empty messages; none of what
    is no such list. Many pairs have the same.
    """
    words = histogram.split(b",")
    if not all(words):
        return ()
    return tuple((digits, int(word)) for digits, word in enumerate(words) if word != b"0")
