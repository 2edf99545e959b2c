# SPDX-License-Identifier: BSD-3-Clause
"""Whether parameters make sense."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from isochrone.files import PairParameters


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
