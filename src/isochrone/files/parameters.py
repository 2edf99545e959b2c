# SPDX-License-Identifier: BSD-3-Clause
"""The PLogP parameters of a pair, as lines of ``measurements.jsonl`` hold them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from isochrone.errors import IsochroneError
from isochrone.files.text import Json

Array = npt.NDArray[np.float64]


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

    def document(self) -> Json:
        """As an entry of a line's ``plogp``."""
        return {
            "from": self.sender,
            "sizes_bytes": list(self.sizes_bytes),
            "rtt_s": self.rtt_s.tolist(),
            "send_overhead_s": self.send_overhead_s.tolist(),
            "receive_overhead_s": self.receive_overhead_s.tolist(),
            "gap_s": self.gap_s.tolist(),
        }


def read_parameters(document: Json, pair: tuple[int, int], where: str, todo: str) -> PairParameters:
    """The parameters from JSON that was checked against the schema.

    Raises:
        IsochroneError: lists differ in length, sizes do not ascend from 0, or the sender is not of the pair.
    """
    sizes = document["sizes_bytes"]
    if sizes[0] != 0 or any(b <= a for a, b in pairwise(sizes)):
        raise IsochroneError("the sizes of plogp do not ascend from 0", where, todo)
    sender = int(document["from"])
    if sender not in pair:
        raise IsochroneError(f"plogp is from rank {sender}, which is none of the pair", where, todo)
    for name in ("rtt_s", "send_overhead_s", "receive_overhead_s", "gap_s"):
        if len(document[name]) != len(sizes):
            raise IsochroneError(f"plogp must have {len(sizes)} values of {name}, one per size", where, todo)
    rtt_s = np.array(document["rtt_s"], dtype=np.float64)
    if np.any(np.diff(rtt_s, axis=1) < 0):
        raise IsochroneError("the quartiles of a round trip do not ascend", where, todo)
    return PairParameters(
        sender=sender,
        receiver=pair[0] if sender == pair[1] else pair[1],
        sizes_bytes=tuple(int(size) for size in sizes),
        rtt_s=rtt_s,
        send_overhead_s=np.array(document["send_overhead_s"], dtype=np.float64),
        receive_overhead_s=np.array(document["receive_overhead_s"], dtype=np.float64),
        gap_s=np.array(document["gap_s"], dtype=np.float64),
    )
