# SPDX-License-Identifier: BSD-3-Clause
"""What takes longer in one benchmark than in another, and what less, beyond noise.

The two were taken apart in time, so their repetitions have nothing in common. A change is told by the rank
sum test, all of them together by Holm's procedure, and only where the interval of the ratio agrees. Times
also differ from launch to launch, which no repetition shows (Hunold and Carpen-Amarie, "Reproducible MPI
benchmarking is still not as easy as you think", IEEE TPDS 27(12), 2016): of several launches the interval
holds the ratios of all their medians. Launches of the same are apart by chance as seldom as their order is
one of two among all: five on either side in 1 of 126 cases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isochrone.files import Bench, BenchCase
from isochrone.files.bench import BenchKey, in_turn, native_first
from isochrone.statistics import FloatArray, Interval, geometric_mean, holm, p_greater, ratio_of_medians
from isochrone.tune.collectives import in_order

ERROR = 0.05
"""The chance that any change is told of which is none, all of them together."""
LEAST_S = 1e-12
"""Shorter than any clock shows: what takes no time in a simulation takes that long."""
SAME = 1e-9
"""By how much times without noise differ that are the same: figures in files are rounded."""

Pair = tuple[BenchCase, str]
"""What is compared: a case, and the recipe in the first benchmark."""


@dataclass(frozen=True)
class Change:
    """One recipe at one size in both benchmarks.

    Attributes:
        recipe: in the first; ...
        other_recipe: ... in the second.
        ratio: median time in the second over that in the first: above 1, it takes longer there.
        p: of no change, before it is known how many are looked at.
        changed: proven to take longer or less.
        over: proven to take longer by more than was allowed.
    """

    case: BenchCase
    recipe: str
    other_recipe: str
    median_s: float
    other_median_s: float
    ratio: Interval
    p: float
    changed: bool
    over: bool

    @property
    def verdict(self) -> str:
        """In a word; empty: no change is proven."""
        return "" if not self.changed else "slower" if self.ratio.estimate > 1 else "faster"

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "collective": self.case.collective,
            "size_bytes": self.case.size_bytes,
            "root": self.case.root,
            "members": self.case.members or None,
            "recipe": self.recipe,
            "other_recipe": self.other_recipe,
            "median_s": self.median_s,
            "other_median_s": self.other_median_s,
            "ratio": self.ratio.estimate,
            "ratio_ci": [self.ratio.low, self.ratio.high],
            "p": self.p,
            "verdict": self.verdict or "same",
            "over": self.over,
        }


@dataclass(frozen=True)
class Changes:
    """Two benchmarks side by side.

    Attributes:
        changes: what both have, by collective and size.
        means: of each collective the geometric mean of its ratios.
        only_first, only_second: what one of them alone has.
    """

    changes: tuple[Change, ...]
    means: Mapping[str, Interval]
    only_first: tuple[Pair, ...]
    only_second: tuple[Pair, ...]

    @property
    def over(self) -> tuple[Change, ...]:
        """What is proven to take longer by more than was allowed."""
        return tuple(change for change in self.changes if change.over)


def changes_between(
    first: Sequence[Bench],
    second: Sequence[Bench],
    recipe: str | None = None,
    other_recipe: str | None = None,
    allowed: float = 0.0,
) -> Changes:
    """What changed from one benchmark to another.

    Args:
        first: launches of one benchmark, at least one.
        second: those of what it is compared with.
        recipe: of the first, the only one that is compared; None: all.
        other_recipe: of the second, what `recipe` is compared with; None: the same one. Alone, it is compared
            with all of the first.
        allowed: by how much, as a share, something may take longer and not be `over`.
    """
    before, after = in_turn(first), in_turn(second)
    times, others = _times(before, recipe), _times(after, other_recipe or recipe)
    beside = {pair: (pair[0], other_recipe or pair[1]) for pair in times}
    both = [pair for pair in times if beside[pair] in others]
    exact = before.simulated and after.simulated
    p_values = {pair: _p_changed(times[pair], others[beside[pair]], exact) for pair in both}
    p_over = {pair: _p_over((1 + allowed) * times[pair], others[beside[pair]], exact) for pair in both}
    changed, over = holm(p_values, ERROR), holm(p_over, ERROR)
    changes = []
    for pair in both:
        ratio = _with_launches(
            ratio_of_medians([(others[beside[pair]], times[pair])]),
            _medians(first, pair),
            _medians(second, beside[pair]),
        )
        changes.append(
            Change(
                case=pair[0],
                recipe=pair[1],
                other_recipe=beside[pair][1],
                median_s=float(np.median(times[pair])),
                other_median_s=float(np.median(others[beside[pair]])),
                ratio=ratio,
                p=p_values[pair],
                changed=pair in changed and not ratio.low <= 1 <= ratio.high,
                over=pair in over and ratio.low > 1 + allowed,
            )
        )
    of_each = defaultdict(list)
    for pair in both:
        of_each[pair[0].collective].append(pair)
    means = {
        name: _with_launches(
            ratio_of_medians([(others[beside[pair]], times[pair]) for pair in pairs]),
            _mean_medians(first, pairs),
            _mean_medians(second, [beside[pair] for pair in pairs]),
        )
        for name, pairs in of_each.items()
    }
    return Changes(
        changes=tuple(changes),
        means=means,
        only_first=tuple(pair for pair in times if beside[pair] not in others),
        only_second=tuple(pair for pair in others if pair not in beside.values()),
    )


def _times(bench: Bench, recipe: str | None) -> dict[Pair, FloatArray]:
    """By collective, by size, and the library's own first."""
    order = {name: at for at, name in enumerate(in_order(bench.collectives))}
    found = {
        (key.case, key.recipe): np.maximum(times, LEAST_S)
        for key, times in bench.slowest_s.items()
        if recipe is None or key.recipe == recipe
    }
    ordered = sorted(found, key=lambda pair: (order[pair[0].collective], pair[0], native_first(pair[1])))
    return {pair: found[pair] for pair in ordered}


def _medians(launches: Sequence[Bench], pair: Pair) -> list[float]:
    """Of each launch that has it, in seconds."""
    key: BenchKey = pair[0].key(pair[1])
    return [
        max(LEAST_S, float(np.median(launch.slowest_s[key])))
        for launch in launches
        if key in launch.slowest_s
    ]


def _mean_medians(launches: Sequence[Bench], pairs: Sequence[Pair]) -> list[float]:
    """Of each launch that has all of them, the geometric mean of their medians in seconds."""
    of_launches = ([_medians([launch], pair) for pair in pairs] for launch in launches)
    return [geometric_mean([median for (median,) in each]) for each in of_launches if all(each)]


def _with_launches(ratio: Interval, medians: Sequence[float], others: Sequence[float]) -> Interval:
    """The interval of a ratio, widened to the ratios of all launches."""
    if not medians or not others:
        return ratio
    return Interval(
        ratio.estimate,
        min(ratio.low, min(others) / max(medians)),
        max(ratio.high, max(others) / min(medians)),
        ratio.confidence,
    )


def _p_changed(first: FloatArray, second: FloatArray, exact: bool) -> float:
    return min(1.0, 2 * min(_p_over(first, second, exact), _p_over(second, first, exact)))


def _p_over(first: FloatArray, second: FloatArray, exact: bool) -> float:
    """Of times that take no longer. Without noise, 0 or 1."""
    if exact and max(float(np.ptp(times) / times[0]) for times in (first, second)) < SAME:
        return 0.0 if second[0] > (1 + SAME) * first[0] else 1.0
    return p_greater(second, first)
