# SPDX-License-Identifier: BSD-3-Clause
"""Which of several ways is proven faster than the library's own, from one or more roots, by times alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from isochrone.files import Evidence
from isochrone.statistics import FloatArray, geometric_mean, ratio_ci
from isochrone.tune.rules import MARGIN, NATIVE, Decision

_DIGITS = 4
"""Of a simulated time that do not depend on what was simulated before it."""


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
