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

# Of the round trip below it: what goes up by less is no step, nor is what goes up by less than so many times
# what round trips scatter.
_LEAST_STEP = 0.1
_SURE = 4.0

# The standard deviation of normal values, in units of half the width between their quartiles.
_NORMAL = 1.4826


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
    round trip goes up beyond that is a step. The least, the lower quartile and the median must all show it;
    none counts that is longer than that of a larger message: it was disturbed. A step is four times what
    round trips scatter, of one size and from size to size, and three quarters of those above it are longer
    than three quarters of those below it.
    """
    sizes = np.array(parameters.sizes_bytes, dtype=np.float64)
    if len(sizes) < 4 or not np.all(parameters.rtt_s > 0):
        return None
    least_s, lower_s, median_s, upper_s = parameters.rtt_s.T
    rises_s = np.array([_rises_s(sizes, times_s) for times_s in (least_s, lower_s, median_s)])
    share = rises_s.min(axis=0) / least_s[1:-2]
    share[upper_s[1:-2] >= lower_s[2:-1]] = 0
    scatter = max(np.median((upper_s - lower_s) / median_s) / 2, np.median(_off_line(sizes, median_s)))
    steepest = int(np.argmax(share))
    if share[steepest] < max(_LEAST_STEP, _SURE * _NORMAL * scatter):
        return None
    below, above = parameters.sizes_bytes[steepest + 1 : steepest + 3]
    return ProtocolStep(below, above, float(rises_s[0, steepest]))


def _off_line(sizes: Floats, times_s: Floats) -> Floats:
    """How far each time, but for the first and the last, is from the straight line through its neighbours, as
    a ratio.
    """
    share = (sizes[1:-1] - sizes[:-2]) / (sizes[2:] - sizes[:-2])
    off: Floats = np.abs(times_s[1:-1] - (1 - share) * times_s[:-2] - share * times_s[2:]) / times_s[1:-1]
    return off


def _rises_s(sizes: Floats, times_s: Floats) -> Floats:
    """How far the times of each size, but for the first and the last two, are below those of the next, beyond
    what its bytes take.
    """
    times_s = np.minimum.accumulate(times_s[::-1])[::-1]
    below, above = sizes[1:-2], sizes[2:-1]
    slope = np.maximum(
        _slope(sizes, times_s, below / 2, below),
        _slope(sizes, times_s, above, np.minimum(2 * above, sizes[-1])),
    )
    rises_s: Floats = np.diff(times_s)[1:-1] - slope * (above - below)
    return rises_s


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
