# SPDX-License-Identifier: BSD-3-Clause
"""Lines of pairs in the form that nearly all of them have, many at a time.

All pairs of 1024 ranks are half a million lines, of which parsing and checking one by one takes most of the
time of whatever reads them. Lines that are written as the probe writes them, with a time for each size and
nothing else, are taken apart and checked together; all others, and any in which something is wrong, go the
usual way, which says what is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_MOST_LINES = 4096

_NUMBER = rb"(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_LIST = rb"\[(%b(?:,%b)*)\]" % (_NUMBER, _NUMBER)
_RANK = rb"(?:0|[1-9]\d{0,8})"
_PLAIN = re.compile(
    rb'\{"pair":\[(%b,%b)\],"rtt_min_s":%b,"rtt_median_s":%b,"send_overhead_s":%b,"at_s":(%b)\}\r?\n?'
    % (_RANK, _RANK, _LIST, _LIST, _LIST, _NUMBER)
)


@dataclass(frozen=True, eq=False)
class Rows:
    """What plain lines say.

    Attributes:
        low, high: [line], the ranks.
        values_s: [3, line, size], the least and median round trip, and the send overhead.
        at_s: [line], when the pair was measured.
    """

    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    values_s: npt.NDArray[np.float64]
    at_s: npt.NDArray[np.float64]


class PlainPairs:
    """Collects plain lines.

    Attributes:
        lines: that were taken, with their numbers.
    """

    def __init__(self) -> None:
        self.lines: list[tuple[int, bytes]] = []
        self._parts: list[bytes] = []

    def take(self, number: int, line: bytes) -> bool:
        """Whether a line is plain and was taken; so many as fit are."""
        match = _PLAIN.fullmatch(line) if len(self.lines) < _MOST_LINES else None
        if match is None:
            return False
        self.lines.append((number, line))
        self._parts += match.groups()
        return True

    def rows(self, ranks: int, sizes: int, most_s: float) -> Rows | None:
        """What the lines say; None if anything in them is not as it should be.

        Args:
            ranks: number of ranks.
            sizes: number of message sizes.
            most_s: the longest time that is believed.
        """
        width = 2 + 3 * sizes + 1
        # The number of values is each line's own, and all must have the right one.
        lists = (self._parts[1::5], self._parts[2::5], self._parts[3::5])
        if {part.count(b",") for each in lists for part in each} != {sizes - 1}:
            return None
        numbers = np.fromstring(b",".join(self._parts).decode("ascii"), sep=",").reshape(-1, width)
        times_s = numbers[:, 2:]
        pairs = numbers[:, :2].astype(np.int64)
        least, median, overhead = (numbers[:, 2 + k * sizes : 2 + (k + 1) * sizes] for k in range(3))
        if (
            not np.all(times_s <= most_s)
            or np.any(pairs >= ranks)
            or np.any(pairs[:, 0] == pairs[:, 1])
            or np.any(least > median)
        ):
            return None
        return Rows(pairs.min(axis=1), pairs.max(axis=1), np.stack([least, median, overhead]), numbers[:, -1])

    def clear(self) -> None:
        """Forgets the lines."""
        self.lines.clear()
        self._parts.clear()
