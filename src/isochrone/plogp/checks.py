# SPDX-License-Identifier: BSD-3-Clause
"""Whether parameters make sense, and where the MPI library goes from one protocol to another."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from isochrone.files import PairParameters

# A step is where the round trip goes up by more than so many times what its neighbours let expect.
_LEAST_STEP = 1.1


@dataclass(frozen=True)
class ProtocolStep:
    """Where round trips go up at once: as messages become too large to be sent without asking.

    Attributes:
        below_bytes, from_bytes: the step is between these sizes.
        rise_s: by how much the round trip goes up there, beyond what more bytes take.
    """

    below_bytes: int
    from_bytes: int
    rise_s: float


def protocol_step(parameters: PairParameters) -> ProtocolStep | None:
    """The steepest step in RTT(m), or None where there is none.

    A byte costs as much between two sizes as it does on either side of them; what the round trip goes up
    beyond that is a step.
    """
    sizes = np.array(parameters.sizes_bytes, dtype=np.float64)
    rtt_s = parameters.rtt_s[:, 2]
    if len(sizes) < 4:
        return None
    slopes = np.diff(rtt_s) / np.diff(sizes)
    around = np.maximum(slopes[:-2], slopes[2:])
    rise_s = np.diff(rtt_s)[1:-1] - np.maximum(around, 0) * np.diff(sizes)[1:-1]
    steepest = int(np.argmax(rise_s / rtt_s[1:-2]))
    if rise_s[steepest] < (_LEAST_STEP - 1) * rtt_s[steepest + 1]:
        return None
    return ProtocolStep(
        parameters.sizes_bytes[steepest + 1], parameters.sizes_bytes[steepest + 2], float(rise_s[steepest])
    )


def warnings(parameters: Collection[PairParameters]) -> list[str]:
    """A line for each parameter that noise made negative somewhere."""
    lines = []
    negative = [each for each in parameters if each.latency_s < 0]
    if negative:
        lines.append(_line("latency is negative", negative, len(parameters), "of 0 bytes"))
    for name, values in (
        ("gap", [each.gap_s for each in parameters]),
        ("send overhead", [each.send_overhead_s for each in parameters]),
        ("receive overhead", [each.receive_overhead_s for each in parameters]),
    ):
        where = [
            (each, int(np.argmin(column)))
            for each, column in zip(parameters, values, strict=True)
            if column.min() < 0
        ]
        if where:
            first, at = where[0]
            of = f"of {first.sizes_bytes[at]} bytes"
            lines.append(_line(f"{name} is negative", [each for each, _ in where], len(parameters), of))
    return lines


def _line(what: str, where: list[PairParameters], total: int, of: str) -> str:
    first = where[0]
    return (
        f"the {what} for {len(where)} of {total} pairs and directions, the first from rank {first.sender} to "
        f"{first.receiver}, {of}: noise is larger than it; measure with more repetitions"
    )
