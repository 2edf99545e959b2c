# SPDX-License-Identifier: BSD-3-Clause
"""Messages of several pairs at once, as lines of ``measurements.jsonl`` hold them."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from isochrone.errors import IsochroneError
from isochrone.files.fields import Seconds
from isochrone.files.form import Form

_Rank = Annotated[int, Meta(ge=0, lt=1 << 20)]
_PerPair = Meta(min_length=1, max_length=1 << 16)


class Stream(Form, frozen=True, omit_defaults=False):
    """What some pairs took that sent at the same time.

    Attributes:
        pairs: sender and receiver; no rank is in two of them.
        size_bytes: of a message.
        messages: that each sender sent.
        elapsed_s: [pair], from its first byte to the answer to its last.
        at_s: when they were sent, by the probe's clock.
    """

    pairs: Annotated[
        tuple[tuple[_Rank, _Rank], ...],
        Meta(min_length=1, max_length=1 << 16, description="Sender and receiver of each pair."),
    ] = msgspec.field(name="stream")
    size_bytes: Annotated[int, Meta(ge=1, le=1 << 40)] = msgspec.field(name="bytes")
    messages: Annotated[int, Meta(ge=1, le=1_000_000)]
    elapsed_s: Annotated[tuple[Seconds, ...], _PerPair]
    at_s: Seconds = 0.0

    @property
    def rate_bytes_per_s(self) -> float:
        """Of all pairs together; 0 where the clock saw no time pass."""
        longest_s = max(self.elapsed_s)
        return len(self.pairs) * self.messages * self.size_bytes / longest_s if longest_s > 0 else 0.0


def check_stream(stream: Stream, ranks: int, where: str, todo: str) -> None:
    """Raises IsochroneError for a rank that is in two pairs or that there is not, and for lists that differ
    in length.
    """
    involved = [rank for pair in stream.pairs for rank in pair]
    if len(set(involved)) < len(involved) or max(involved) >= ranks:
        raise IsochroneError(f"the pairs of a stream are not disjoint pairs of {ranks} ranks", where, todo)
    if len(stream.elapsed_s) != len(stream.pairs):
        raise IsochroneError(
            f"there must be {len(stream.pairs)} values of elapsed_s, one per pair", where, todo
        )
