# SPDX-License-Identifier: BSD-3-Clause
"""Where the MPI library goes from one protocol to another: from sending at once (eager) to asking first
(rendezvous).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isochrone.detect.distance import Floats
from isochrone.detect.links import parameters_by_level
from isochrone.files import Measurements, PairParameters, Topology
from isochrone.units import format_bytes, format_time

# Of the round trip below it: what goes up by less is no step.
_LEAST_STEP = 0.1


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

    def __str__(self) -> str:
        """Such as "eager limit about 64 KiB: +3.1 µs"."""
        return f"eager limit about {format_bytes(self.below_bytes)}: +{format_time(self.rise_s)}"

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {"below_bytes": self.below_bytes, "from_bytes": self.from_bytes, "rise_s": self.rise_s}


def protocol_step(parameters: PairParameters) -> ProtocolStep | None:
    """The steepest step in RTT(m), or None where there is none.

    Between two sizes a byte costs as much as over the halving below or the doubling above them; what the
    round trip goes up beyond that is a step. The least round trips count, and none that is longer than one
    of a larger message: it was disturbed. Three quarters of the round trips above a step are longer than
    three quarters of those below it.
    """
    sizes = np.array(parameters.sizes_bytes, dtype=np.float64)
    if len(sizes) < 4:
        return None
    least_s = np.minimum.accumulate(parameters.rtt_s[::-1, 0])[::-1]
    below, above = sizes[1:-2], sizes[2:-1]
    slope = np.maximum(
        _slope(sizes, least_s, below / 2, below),
        _slope(sizes, least_s, above, np.minimum(2 * above, sizes[-1])),
    )
    rise_s = np.diff(least_s)[1:-1] - slope * (above - below)
    share = rise_s / least_s[1:-2]
    share[parameters.rtt_s[1:-2, 3] >= parameters.rtt_s[2:-1, 1]] = 0
    steepest = int(np.argmax(share))
    if share[steepest] < _LEAST_STEP:
        return None
    return ProtocolStep(int(below[steepest]), int(above[steepest]), float(rise_s[steepest]))


def _slope(sizes: Floats, times_s: Floats, start: Floats, end: Floats) -> Floats:
    """Seconds a byte between each start and end."""
    found: Floats = (np.interp(end, sizes, times_s) - np.interp(start, sizes, times_s)) / (end - start)
    return found


def level_steps(measurements: Measurements, topology: Topology) -> tuple[ProtocolStep | None, ...]:
    """The step at each level: of the pairs with parameters that meet there the one in the middle by size.
    None where no pair has parameters, or no more than half of them a step.
    """
    partitions = [np.array(topology.labels(level)) for level in topology.levels]
    return tuple(
        _middle([protocol_step(each) for each in here])
        for here in parameters_by_level(measurements, partitions)
    )


def _middle(steps: Sequence[ProtocolStep | None]) -> ProtocolStep | None:
    there = sorted((step for step in steps if step is not None), key=lambda step: step.below_bytes)
    return there[(len(there) - 1) // 2] if 2 * len(there) > len(steps) else None
