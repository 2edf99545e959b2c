# SPDX-License-Identifier: BSD-3-Clause
"""What one rank's distances say: which others are in its own group, which in the group around that, and so
on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isochrone.detect.distance import Floats
from isochrone.detect.evidence import LEAST_STEP, beyond_chance
from isochrone.statistics import scatter


@dataclass(frozen=True)
class Step:
    """A step in the distances from one rank.

    Attributes:
        at: how many of the ascending values are on the near side.
        near, far: medians of the values on both sides: those between this step and the next ones.
        scatter: of the values on either side.
    """

    at: int
    near: float
    far: float
    scatter: float

    def evidence(self, value: float) -> float:
        """Logarithm of how much likelier the value is on the far side; negative for the near side."""
        width, middle = self.far - self.near, (self.near + self.far) / 2
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = float(np.nan_to_num((value - middle) * width / np.float64(self.scatter) ** 2))
        return float(np.clip(ratio, -1e6, 1e6))


def distance_steps(values: Floats, noise: float) -> list[Step]:
    """The steps in some distances of one rank, nearest first.

    The values are cut as far as there is anything to cut; then the weakest border between two neighbours is
    taken away, until those that are left are all beyond the scatter on both their sides.

    Args:
        values: logarithms, ascending.
        noise: how far one scatters at least.
    """
    ends = [0, *sorted(_cuts(values, 0, noise)), len(values)]
    while len(ends) > 2:
        found = [_step(values, ends[k - 1], ends[k], ends[k + 1], noise) for k in range(1, len(ends) - 1)]
        merits = [_merit(step, ends[k], ends[k + 2]) for k, step in enumerate(found)]
        weakest = int(np.argmin(merits))
        if merits[weakest] >= 1:
            return found
        del ends[weakest + 1]
    return []


def _step(values: Floats, start: int, at: int, end: int, noise: float) -> Step:
    inner, outer = values[start:at], values[at:end]
    width = max(scatter(inner), scatter(outer), noise)
    return Step(at, float(np.median(inner)), float(np.median(outer)), width)


def _merit(step: Step, start: int, end: int) -> float:
    """1 or more if the step is one."""
    width = step.far - step.near
    # A single value that is set apart is the least of all, or the greatest.
    least = beyond_chance(end - start if 1 in (step.at - start, end - step.at) else 1)
    return min(width / LEAST_STEP, width / max(least * step.scatter, 1e-12))


def _cuts(values: Floats, start: int, noise: float) -> list[int]:
    """Where the values can be cut; both parts are cut in turn."""
    if len(values) < 2 or values[-1] - values[0] < max(LEAST_STEP, beyond_chance() * noise):
        return []
    at = _best_cut(values)
    return [*_cuts(values[:at], start, noise), start + at, *_cuts(values[at:], start + at, noise)]


def _best_cut(values: Floats) -> int:
    """Where a cut leaves least variance on both its sides."""
    count = np.arange(1, len(values))
    total = np.cumsum(values - values.mean())[:-1]
    return int(np.argmax(total**2 * (1 / count + 1 / (len(values) - count)))) + 1
