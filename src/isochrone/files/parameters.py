# SPDX-License-Identifier: BSD-3-Clause
"""The PLogP parameters of a pair, as lines of ``measurements.jsonl`` hold them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from isochrone.errors import IsochroneError
from isochrone.files.fields import Bytes, Count
from isochrone.files.form import Form
from isochrone.files.text import Json

Array = npt.NDArray[np.float64]

_PerSize = Meta(min_length=1, max_length=256)
_Quartile = Annotated[float, Meta(ge=-1, le=1e9)]
_Overheads = Annotated[tuple[Annotated[float, Meta(ge=-1, le=1e9)], ...], _PerSize]


class Direction(Form, frozen=True, kw_only=True):
    """PLogP parameters in one direction. Differences may be negative."""

    sender: Count = msgspec.field(name="from")
    sizes_bytes: Annotated[tuple[Bytes, ...], _PerSize]
    rtt_s: Annotated[
        tuple[tuple[_Quartile, _Quartile, _Quartile, _Quartile], ...],
        Meta(min_length=1, max_length=256, description="Least, lower quartile, median, upper quartile."),
    ]
    send_overhead_s: _Overheads
    receive_overhead_s: _Overheads
    gap_s: Annotated[tuple[Annotated[float, Meta(ge=-1e9, le=1e9)], ...], _PerSize]


@dataclass(frozen=True, eq=False)
class PairParameters:
    """What was measured of a pair in one direction (Kielmann, Bal and Verstoep 2000).

    Attributes:
        sender, receiver: the ranks.
        sizes_bytes: message sizes, ascending, the first one 0.
        rtt_s: [size, 4], round trips with messages of that size both ways: least, lower quartile, median,
            upper quartile.
        send_overhead_s, receive_overhead_s, gap_s: [size]. A difference may be negative where noise is
            larger than what it is of; nothing is clamped.
    """

    sender: int
    receiver: int
    sizes_bytes: tuple[int, ...]
    rtt_s: Array
    send_overhead_s: Array
    receive_overhead_s: Array
    gap_s: Array

    @property
    def latency_s(self) -> float:
        """L = RTT(0) / 2 - g(0) (Reinfjell 2023, equation 3.2)."""
        return float(self.rtt_s[0, 2] / 2 - self.gap_s[0])

    @property
    def direction(self) -> Direction:
        """As an entry of a line's ``plogp``."""
        return Direction(
            sender=self.sender,
            sizes_bytes=self.sizes_bytes,
            rtt_s=self.rtt_s.tolist(),
            send_overhead_s=self.send_overhead_s.tolist(),
            receive_overhead_s=self.receive_overhead_s.tolist(),
            gap_s=self.gap_s.tolist(),
        )

    def document(self) -> Json:
        """The same as JSON."""
        return self.direction.document()


def read_parameters(entry: Direction, pair: tuple[int, int], where: str, todo: str) -> PairParameters:
    """The parameters of an entry.

    Raises:
        IsochroneError: lists differ in length, sizes do not ascend from 0, or the sender is not of the pair.
    """
    sizes = entry.sizes_bytes
    if sizes[0] != 0 or any(b <= a for a, b in pairwise(sizes)):
        raise IsochroneError("the sizes of plogp do not ascend from 0", where, todo)
    if entry.sender not in pair:
        raise IsochroneError(f"plogp is from rank {entry.sender}, which is none of the pair", where, todo)
    for name in ("rtt_s", "send_overhead_s", "receive_overhead_s", "gap_s"):
        if len(getattr(entry, name)) != len(sizes):
            raise IsochroneError(f"plogp must have {len(sizes)} values of {name}, one per size", where, todo)
    rtt_s = np.array(entry.rtt_s, dtype=np.float64)
    if np.any(np.diff(rtt_s, axis=1) < 0):
        raise IsochroneError("the quartiles of a round trip do not ascend", where, todo)
    return PairParameters(
        sender=entry.sender,
        receiver=pair[0] if entry.sender == pair[1] else pair[1],
        sizes_bytes=sizes,
        rtt_s=rtt_s,
        send_overhead_s=np.array(entry.send_overhead_s, dtype=np.float64),
        receive_overhead_s=np.array(entry.receive_overhead_s, dtype=np.float64),
        gap_s=np.array(entry.gap_s, dtype=np.float64),
    )
