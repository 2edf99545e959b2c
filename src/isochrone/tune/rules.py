# SPDX-License-Identifier: BSD-3-Clause
"""From times to rules: a recipe gets a rule only where it is proven faster than the library's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np

from isochrone.files import Evidence, Rule
from isochrone.statistics import FloatArray, Interval, ratio_ci

NATIVE = "native"
MARGIN = 1.01
"""A gain of less than this is not worth leaving the library's own path for."""


@dataclass(frozen=True)
class Decision:
    """What is best for one size, and why. `recipe` is ``native`` where nothing was proven faster."""

    size_bytes: int
    recipe: str
    evidence: Evidence


def decide(
    size_bytes: int,
    times: Mapping[str, FloatArray],
    comparisons: int,
    exact: bool,
) -> Decision:
    """Chooses among recipes that were timed in turn with ``native``.

    Args:
        times: recipe to the slowest rank's time of each repetition, in seconds; ``native`` among them.
        comparisons: how many such choices are made together: the 95 % are divided among them (Bonferroni).
        exact: times have no noise, so that few repetitions prove as much as many.
    """
    native = times[NATIVE]
    best = min(
        (recipe for recipe in times if recipe != NATIVE),
        key=lambda r: float(np.median(times[r])),
        default=NATIVE,
    )
    ratio = ratio_ci(native, times[best], 1 - 0.05 / comparisons)
    proven = ratio.low > MARGIN and (exact or ratio.confidence >= 0.95)
    recipe = best if proven else NATIVE
    if recipe == NATIVE:
        ratio = Interval(1.0, 1.0, 1.0, 1.0)
    return Decision(
        size_bytes,
        recipe,
        Evidence(
            native_s=float(np.median(native)),
            recipe_s=float(np.median(times[recipe])),
            speedup=ratio.estimate,
            speedup_ci=(ratio.low, ratio.high),
            repetitions=len(native),
        ),
    )


def rules_for(shape: str, decisions: Sequence[Decision]) -> list[Rule]:
    """Rules that cover the measured sizes of one shape, and what lies between two of them.

    Between two sizes that have recipes the border is their geometric mean; between a recipe and ``native``
    it is at the
    recipe's size: nothing is claimed beyond where it was measured. Below the first size and beyond the last
    there is no rule.
    """
    ordered = sorted(decisions, key=lambda decision: decision.size_bytes)
    rules = []
    for i, decision in enumerate(ordered):
        if decision.recipe == NATIVE:
            continue
        lower, upper = decision.size_bytes, decision.size_bytes
        if i > 0 and ordered[i - 1].recipe != NATIVE:
            lower = isqrt(ordered[i - 1].size_bytes * decision.size_bytes) + 1
        if i + 1 < len(ordered) and ordered[i + 1].recipe != NATIVE:
            upper = isqrt(decision.size_bytes * ordered[i + 1].size_bytes)
        rules.append(
            Rule(
                "bcast",
                shape,
                min(lower, decision.size_bytes),
                max(upper, decision.size_bytes),
                decision.recipe,
                decision.evidence,
            )
        )
    return rules


def is_slower(native: FloatArray, plan: FloatArray, comparisons: int, exact: bool) -> bool:
    """Whether the plan is proven slower than the library's own: the interval of the ratio lies wholly below
    0.98.
    """
    ratio = ratio_ci(native, plan, 1 - 0.05 / comparisons)
    return ratio.high < 0.98 and (exact or ratio.confidence >= 0.95)
