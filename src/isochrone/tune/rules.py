# SPDX-License-Identifier: BSD-3-Clause
"""From times to rules: a recipe gets a rule only where it is proven faster than the library's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np

from isochrone.files import Evidence, Rule
from isochrone.statistics import FloatArray, ratio_ci

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
    times: Sequence[Mapping[str, FloatArray]],
    comparisons: int,
    exact: bool,
) -> Decision:
    """Chooses among recipes that were timed in turn with ``native``, from one or more roots of one shape.

    The fastest over all roots is chosen if it is proven faster than the library's own from one of them, and
    slower from none: libraries do well from some roots and worse from others.

    Args:
        times: for each root, recipe to the slowest rank's time of each repetition, in seconds; the same
            recipes for each, ``native`` among them.
        comparisons: how many such choices are made together: the 95 % are divided among them (Bonferroni).
        exact: times have no noise, so that few repetitions prove as much as many.
    """
    best = fastest(times)
    confidence = 1 - 0.05 / (comparisons * len(times))
    ratios = [ratio_ci(by_recipe[NATIVE], by_recipe[best], confidence) for by_recipe in times]
    proven = [ratio.low > MARGIN and (exact or ratio.confidence >= 0.95) for ratio in ratios]
    recipe = best if any(proven) and all(ratio.estimate >= 1 for ratio in ratios) else NATIVE
    native, chosen = (np.concatenate([by_recipe[name] for by_recipe in times]) for name in (NATIVE, recipe))
    ratio = ratio_ci(native, chosen, 1 - 0.05 / comparisons)
    return Decision(
        size_bytes,
        recipe,
        Evidence(
            native_s=float(np.median(native)),
            recipe_s=float(np.median(chosen)),
            speedup=ratio.estimate,
            speedup_ci=(ratio.low, ratio.high),
            repetitions=len(native),
        ),
    )


def fastest(times: Sequence[Mapping[str, FloatArray]]) -> str:
    """The first of ``ranked``; ``native`` if there is no other."""
    return next(iter(ranked(times)), NATIVE)


def ranked(times: Sequence[Mapping[str, FloatArray]]) -> list[str]:
    """The recipes other than ``native``, by the geometric mean, over the roots, of their medians; the least
    first.
    """
    return sorted(
        (recipe for recipe in times[0] if recipe != NATIVE),
        key=lambda recipe: float(sum(np.log(max(np.median(t[recipe]), 1e-12)) for t in times)),
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
