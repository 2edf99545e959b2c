# SPDX-License-Identifier: BSD-3-Clause
"""From times to rules: a recipe gets a rule only where it is proven faster than the library's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import isqrt
from typing import TypeVar

import numpy as np
from scipy.special import bdtrc

from isochrone.files import BCAST, NATIVE, Evidence, Rule
from isochrone.statistics import FloatArray, geometric_mean, holm, ratio_ci
from isochrone.tune.collectives import has_agreed_size, sizes_of
from isochrone.tune.race import ERROR, median_s, p_slower

TIED = 1.03
"""What a recipe may be slower than the best by and still be taken, so that recipes do not alternate over the
sizes: medians of one call in two launches differ by as much (see ``launches`` in plans)."""
MARGIN = 1.01
"""A gain of less than this is not worth leaving the library's own path for."""

Key = TypeVar("Key")


@dataclass(frozen=True)
class Decision:
    """What is best for one size, and why. `recipe` is ``native`` where nothing was proven faster, and None
    where that is left to a program's own trials.
    """

    size_bytes: int
    recipe: str | None
    evidence: Evidence


@dataclass(frozen=True)
class Verified:
    """Times of a rule in its plan and of the library's own, at one size and root: for each launch
    [repetition] in seconds, index k of both the same turn.
    """

    native: Sequence[FloatArray]
    plan: Sequence[FloatArray]

    @property
    def speedups(self) -> tuple[float, ...]:
        """Of each launch, by the medians."""
        pairs = zip(self.native, self.plan, strict=True)
        return tuple(float(np.median(native) / np.median(plan)) for native, plan in pairs)

    @property
    def turns(self) -> tuple[FloatArray, FloatArray]:
        """Those that both have, of all launches: times of the library's own, and of the rule."""
        pairs = list(zip(self.native, self.plan, strict=True))
        return (
            np.concatenate([native[: len(plan)] for native, plan in pairs]),
            np.concatenate([plan[: len(native)] for native, plan in pairs]),
        )


def _p_no_faster(turns: Sequence[tuple[FloatArray, FloatArray]]) -> float:
    """The chance that so many turns show more than a gain of `MARGIN`, if half of all do: the sign test
    (Conover, "Practical Nonparametric Statistics", section 3.4).
    """
    count = sum(len(native) for native, _ in turns)
    faster = sum(int(np.count_nonzero(native > MARGIN * plan)) for native, plan in turns)
    return float(bdtrc(faster - 1, count, 0.5)) if faster else 1.0


def _p_no_gain(cases: Sequence[Verified]) -> float:
    """The chance of such times, at the most, if a rule gains at none of its sizes and roots: by each of them,
    and by all, as turns of one are then like those of another (Bonferroni). What gains a little at each is
    proven by fewer turns.
    """
    of_cases = [case.turns for case in cases]
    tests = [[each] for each in of_cases] + ([of_cases] if len(cases) > 1 else [])
    return len(tests) * min(map(_p_no_faster, tests))


def confirmed(
    found: Mapping[Key, Sequence[Verified]], exact: bool, choices: Mapping[Key, int] | None = None
) -> set[Key]:
    """The rules that are proven together to be faster than the library's own, with an error of 5 % that any
    of them is not (Holm): each at one of the sizes and roots that it was measured at or at all of them taken
    together, and slower at none of them and in no launch.

    Args:
        found: for each rule, what was measured of it at each size and root.
        exact: times have no noise, so that one repetition proves as much as many.
        choices: of how many each rule is the best by the same times (Bonferroni); 1 where it was chosen
            before.
    """
    if exact:
        proven = {
            key
            for key, cases in found.items()
            if any(np.median(case.native[0]) > MARGIN * np.median(case.plan[0]) for case in cases)
        }
    else:
        p_values = {key: (choices[key] if choices else 1) * _p_no_gain(cases) for key, cases in found.items()}
        proven = holm(p_values, ERROR)
    return {key for key in proven if never_slower(found[key])}


def never_slower(cases: Sequence[Verified]) -> bool:
    """Whether a rule was slower than the library's own in no launch, at none of its sizes and roots."""
    return all(speedup >= 1 for case in cases for speedup in case.speedups)


def evidence_of(cases: Sequence[Verified]) -> Evidence:
    """What a rule rests on: geometric means over its sizes and roots, of the library's median times, of the
    speedups of all repetitions and of the ends of their intervals.
    """
    ratios = [ratio_ci(np.concatenate(case.native), np.concatenate(case.plan)) for case in cases]
    native_s = geometric_mean([float(np.median(np.concatenate(case.native))) for case in cases])
    speedup = geometric_mean([ratio.estimate for ratio in ratios])
    launches = zip(*(case.speedups for case in cases), strict=True)
    return Evidence(
        native_s=native_s,
        recipe_s=native_s / speedup,
        speedup=speedup,
        speedup_ci=(
            geometric_mean([ratio.low for ratio in ratios]),
            geometric_mean([ratio.high for ratio in ratios]),
        ),
        repetitions=sum(len(repetitions) for case in cases for repetitions in case.plan),
        launches=tuple(geometric_mean(each) for each in launches),
    )


def native_evidence(native_s: float, repetitions: int) -> Evidence:
    """The evidence where nothing was faster than the library's own."""
    return Evidence(native_s, native_s, 1.0, (1.0, 1.0), repetitions)


def tied(times: Mapping[str, Sequence[FloatArray]], exact: bool) -> dict[str, float]:
    """The recipes that are as good as the fastest of a race that is slower than the library's own at no root
    or size, with their times in seconds: not proven slower, and slower by no more than launches differ.
    ``native`` alone where nothing gains enough on it.

    Args:
        times: recipe to its times from each root or size, [repetition] in seconds; index k is the same turn.
        exact: times have no noise.
    """
    medians = {recipe: median_s(each) for recipe, each in times.items()}
    native = {NATIVE: medians[NATIVE]}
    # Libraries do well from some roots, or at some sizes, and worse at others.
    losing = {
        recipe
        for recipe, each in times.items()
        if any(
            np.median(of_native) < np.median(own) for own, of_native in zip(each, times[NATIVE], strict=True)
        )
    }
    fit = {recipe: median for recipe, median in medians.items() if recipe not in losing | {NATIVE}}
    best = min(fit, key=lambda recipe: fit[recipe], default=NATIVE)
    if medians[NATIVE] < MARGIN * medians[best]:
        return native
    within = 1.001 if exact else TIED
    return {
        recipe: median
        for recipe, median in fit.items()
        if median <= within * fit[best]
        and (recipe == best or max(map(p_slower, times[recipe], times[best])) > ERROR)
    }


def borders_of(name: str, recipes: Mapping[int, str], lone: bool = False) -> list[tuple[int, str]]:
    """Where one shape's rules of a collective should be tested further: between a size with a recipe and the
    next with ``native``, about their geometric mean, and the recipe. Sizes that a collective can have, and
    that are not known yet.

    Args:
        name: of the collective.
        recipes: of each size in bytes.
        lone: only beside a size that alone has a recipe, which is none for a rule.
    """
    if not has_agreed_size(name):
        return []
    found = []
    alone = _alone(name, recipes)
    for low, high in pairwise(sorted(recipes)):
        between = isqrt(low * high)
        if (recipes[low] == NATIVE) == (recipes[high] == NATIVE) or not low < between < high:
            continue
        chosen = low if recipes[high] == NATIVE else high
        (size,) = sizes_of(name, [between])
        if size not in recipes and (chosen in alone or not lone):
            found.append((size, recipes[chosen]))
    return found


def _alone(name: str, recipes: Mapping[int, str | None]) -> set[int]:
    """The sizes with a recipe beside which none has one, of several. Where one recipe takes over from
    another, the last size of the one and the first of the other are as one.
    """
    found: set[int] = set()
    for has_recipe, several in groupby(sorted(recipes), lambda size: recipes[size] not in (NATIVE, None)):
        sizes = list(several)
        first, last = sizes[0], sizes[-1]
        takes_over = len(sizes) == 2 and recipes[first] != recipes[last] and last == _next_size(name, first)
        if has_recipe and len(sizes) < len(recipes) and (first == last or takes_over):
            found.update(sizes)
    return found


def changes_of(name: str, recipes: Mapping[int, str]) -> list[tuple[int, str]]:
    """Where one recipe takes over from another: about their geometric mean, the last size of the one and the
    first of the other that a collective can have, each with its recipe, where none is known. With these
    `rules_for` ends rules just there.
    """
    if not has_agreed_size(name):
        return []
    found = []
    for low, high in pairwise(sorted(recipes)):
        if recipes[low] != recipes[high] and NATIVE not in (recipes[low], recipes[high]):
            (last,) = sizes_of(name, [isqrt(low * high)])
            first = _next_size(name, last)
            found += [(size, recipes[of]) for size, of in ((last, low), (first, high)) if low < size < high]
    return found


def _next_size(name: str, size: int) -> int:
    """The next one in bytes that a collective can have."""
    return sizes_of(name, [size + 1])[0]


def rules_for(
    shape: str, decisions: Sequence[Decision], collective: str = BCAST, order: str | None = None
) -> list[Rule]:
    """Rules that cover the measured sizes of one collective and shape, and what lies between two of them.

    Between two sizes that have recipes, or that both have ``native``, the border is their geometric mean, and
    of two next to each other the lower one. Between a recipe and ``native`` nothing is claimed. Below the
    first size and beyond the last there is no rule. A recipe that was faster at one size of several, and at
    neither border beside it, gets none either: no program sends just that size. Nor do two recipes that were
    faster where one takes over from the other alone. There the library's own stays, unless it is left to
    trials on both sides.
    `order` is that of the ranks it was measured in.
    """
    ordered = sorted(decisions, key=lambda decision: decision.size_bytes)
    kinds = [each.recipe if each.recipe in (NATIVE, None) else "a recipe" for each in ordered]
    alike = [a == b for a, b in pairwise(kinds)]
    alone = _alone(collective, {decision.size_bytes: decision.recipe for decision in ordered})
    rules = []
    for i, decision in enumerate(ordered):
        size = lower = upper = decision.size_bytes
        below, above = i > 0 and alike[i - 1], i + 1 < len(ordered) and alike[i]
        if below:
            lower = min(isqrt(ordered[i - 1].size_bytes * size) + 1, size)
        if above:
            upper = max(isqrt(size * ordered[i + 1].size_bytes), size)
        recipe, evidence = decision.recipe, decision.evidence
        if size in alone:
            recipe = NATIVE if NATIVE in kinds[max(i - 1, 0) : i + 2] else None
            evidence = native_evidence(evidence.native_s, evidence.repetitions)
        if recipe is not None:
            rules.append(Rule(collective, shape, lower, upper, recipe, evidence, order=order))
    return rules
