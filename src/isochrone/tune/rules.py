# SPDX-License-Identifier: BSD-3-Clause
"""From times to rules: a recipe gets a rule only where it is proven faster than the library's own."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isqrt

import numpy as np

from isochrone.files import BCAST, Evidence, Rule
from isochrone.statistics import FloatArray, geometric_mean, ratio_ci

NATIVE, PLAN_RECIPE = "native", "plan"
MARGIN = 1.01
"""A gain of less than this is not worth leaving the library's own path for."""

_log = logging.getLogger(__name__)

_DIGITS = 4
"""Of a simulated time that do not depend on what was simulated before it."""


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

    That is the fastest over all roots of those that are proven faster than the library's own from one of
    them, and slower from none: libraries do well from some roots and worse from others. So it is with sizes,
    where one rule is for several: times are then those of all, each in proportion to the library's own, about
    their geometric mean.

    Args:
        times: for each root and size, recipe to the slowest rank's time of each repetition, in seconds; the
            same recipes for each, ``native`` among them.
        comparisons: how many such choices are made together: the 95 % are divided among them (Bonferroni).
        exact: times have no noise, so that few repetitions prove as much as many.
    """
    confidence = 1 - 0.05 / (comparisons * len(times))

    def is_faster(recipe: str) -> bool:
        ratios = [ratio_ci(by_recipe[NATIVE], by_recipe[recipe], confidence) for by_recipe in times]
        proven = [ratio.low > MARGIN and (exact or ratio.confidence >= 0.95) for ratio in ratios]
        return any(proven) and all(ratio.estimate >= 1 for ratio in ratios)

    recipe = next(filter(is_faster, ranked(times)), NATIVE)
    native, chosen = (_together(times, name) for name in (NATIVE, recipe))
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


def _together(times: Sequence[Mapping[str, FloatArray]], recipe: str) -> FloatArray:
    """A recipe's times of all roots and sizes, as if each took the library's own as long as the others."""
    if len(times) == 1:
        return times[0][recipe]
    natives = [float(np.median(by_recipe[NATIVE])) for by_recipe in times]
    mean = geometric_mean(natives)
    return np.concatenate(
        [by_recipe[recipe] * (mean / own) for by_recipe, own in zip(times, natives, strict=True)]
    )


def fastest(times: Sequence[Mapping[str, FloatArray]]) -> str:
    """The first of ``ranked``; ``native`` if there is no other."""
    return next(iter(ranked(times)), NATIVE)


def ranked(times: Sequence[Mapping[str, FloatArray]]) -> list[str]:
    """The recipes other than ``native``, by the geometric mean, over roots and sizes, of their medians; the
    least first, and of equal ones the one that was named first.
    """
    return sorted(
        (recipe for recipe in times[0] if recipe != NATIVE),
        key=lambda recipe: round(
            float(sum(np.log(max(np.median(t[recipe]), 1e-12)) for t in times)), _DIGITS
        ),
    )


def left_native(evidence: Evidence) -> Evidence:
    """The evidence where the library's own is kept although a recipe looked faster."""
    return replace(evidence, recipe_s=evidence.native_s, speedup=1.0, speedup_ci=(1.0, 1.0), predicted_s=None)


def borders(decisions: Sequence[Decision]) -> list[tuple[int, str]]:
    """Where one shape's rules should be tested further: between a size with a recipe and the next with
    ``native``, their geometric mean, and the recipe.
    """
    ordered = sorted(decisions, key=lambda decision: decision.size_bytes)
    found = []
    for low, high in pairwise(ordered):
        between = isqrt(low.size_bytes * high.size_bytes)
        recipe = low.recipe if high.recipe == NATIVE else high.recipe
        if (low.recipe == NATIVE) != (high.recipe == NATIVE) and low.size_bytes < between < high.size_bytes:
            found.append((between, recipe))
    return found


def rules_for(shape: str, decisions: Sequence[Decision], collective: str = BCAST) -> list[Rule]:
    """Rules that cover the measured sizes of one collective and shape, and what lies between two of them.

    Between two sizes that have recipes, or that both have ``native``, the border is their geometric mean.
    Between a recipe and ``native`` nothing is claimed. Below the first size and beyond the last there is no
    rule. A recipe that was faster at one size of several, and at neither border beside it, gets none either:
    no program sends just that size.
    """
    ordered = sorted(decisions, key=lambda decision: decision.size_bytes)
    alike = [(a.recipe == NATIVE) == (b.recipe == NATIVE) for a, b in pairwise(ordered)]
    rules = []
    for i, decision in enumerate(ordered):
        size = lower = upper = decision.size_bytes
        if i > 0 and alike[i - 1]:
            lower = min(isqrt(ordered[i - 1].size_bytes * size) + 1, size)
        if i + 1 < len(ordered) and alike[i]:
            upper = max(isqrt(size * ordered[i + 1].size_bytes), size)
        recipe, evidence = decision.recipe, decision.evidence
        if lower == upper and recipe != NATIVE and len(ordered) > 1:
            recipe, evidence = NATIVE, left_native(evidence)
        rules.append(Rule(collective, shape, lower, upper, recipe, evidence))
    return rules


def confirmed(
    decision: Decision, times: Sequence[Mapping[str, FloatArray]], exact: bool, collective: str = BCAST
) -> Decision:
    """The decision for a recipe, or, where it was not proven faster once more, for the library's own: at one
    of the sizes that the rule is for, and slower at none.

    Args:
        times: for each size, ``native`` and ``plan`` to times.
        exact: times have no noise.
    """
    pairs = [(by_recipe[NATIVE], by_recipe[PLAN_RECIPE]) for by_recipe in times]
    is_proven = any(is_confirmed(native, plan, exact) for native, plan in pairs)
    if is_proven and all(np.median(native) >= np.median(plan) for native, plan in pairs):
        return decision
    _log.info(
        "taking back a rule for %s%s: %s was not proven faster once more",
        collective,
        f" of {decision.size_bytes} bytes" if len(times) == 1 else "",
        decision.recipe,
    )
    return replace(decision, recipe=NATIVE, evidence=left_native(decision.evidence))


def is_confirmed(native: FloatArray, plan: FloatArray, exact: bool) -> bool:
    """Whether the plan is proven faster than the library's own once more: the 95 % interval of the ratio lies
    above 1.
    """
    ratio = ratio_ci(native, plan)
    return ratio.low > 1 and (exact or ratio.confidence >= 0.95)
