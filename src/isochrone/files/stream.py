# SPDX-License-Identifier: BSD-3-Clause
"""Messages of several pairs at once, as lines of ``measurements.jsonl`` hold them."""

from __future__ import annotations

from dataclasses import dataclass

from isochrone.errors import IsochroneError
from isochrone.files.text import Json


@dataclass(frozen=True)
class Stream:
    """What some pairs took that sent at the same time.

    Attributes:
        pairs: sender and receiver; no rank is in two of them.
        size_bytes: of a message.
        messages: that each sender sent.
        elapsed_s: [pair], from its first byte to the answer to its last.
    """

    pairs: tuple[tuple[int, int], ...]
    size_bytes: int
    messages: int
    elapsed_s: tuple[float, ...]

    @property
    def rate_bytes_per_s(self) -> float:
        """Of all pairs together; 0 where the clock saw no time pass."""
        longest_s = max(self.elapsed_s)
        return len(self.pairs) * self.messages * self.size_bytes / longest_s if longest_s > 0 else 0.0

    def document(self) -> Json:
        """As a line, without its time."""
        return {
            "stream": [list(pair) for pair in self.pairs],
            "bytes": self.size_bytes,
            "messages": self.messages,
            "elapsed_s": list(self.elapsed_s),
        }


def read_stream(document: Json, ranks: int, where: str, todo: str) -> Stream:
    """The stream from JSON that was checked against the schema.

    Raises:
        IsochroneError: a rank is in two pairs or there is none such, or lists differ in length.
    """
    pairs = tuple((int(sender), int(receiver)) for sender, receiver in document["stream"])
    involved = [rank for pair in pairs for rank in pair]
    if len(set(involved)) < len(involved) or max(involved) >= ranks:
        raise IsochroneError(f"the pairs of a stream are not disjoint pairs of {ranks} ranks", where, todo)
    elapsed_s = tuple(float(value) for value in document["elapsed_s"])
    if len(elapsed_s) != len(pairs):
        raise IsochroneError(f"there must be {len(pairs)} values of elapsed_s, one per pair", where, todo)
    return Stream(pairs, int(document["bytes"]), int(document["messages"]), elapsed_s)
