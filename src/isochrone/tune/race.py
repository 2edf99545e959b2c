# SPDX-License-Identifier: BSD-3-Clause
"""A race between the recipes for one size: all are timed once, and what is behind is timed no further.

After the first look only what is far behind is dropped: one time says no more. Later looks drop what is
proven slower than the best so far. The error that may be made is spent over the looks (K. K. G. Lan and D. L.
DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70(3), 1983), little at first, and
within a look over all that is dropped in it (Holm, see ``isochrone.statistics``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import TypeVar

import numpy as np
from scipy.special import stdtr

from isochrone.statistics import FloatArray, holm

FAR_BEHIND = 1.3
"""How much slower than the best a recipe has to look at first to be dropped. The best of several, each timed
once or twice with a noise of 10 %, is seldom 30 % behind another; half of what a model proposes is."""
ERROR = 0.05
"""That anything is dropped by chance which is as good as the best, in the whole race."""
SPENDING = 3
"""The power of the share of the looks that are over: the part of the error that may be made by then."""

Key = TypeVar("Key")
Times = Mapping[str, Sequence[FloatArray]]
"""Recipe to its times from each root or size, [repetition] in seconds; index k of all is the same turn."""


def median_s(times: Sequence[FloatArray]) -> float:
    """The geometric mean, over roots and sizes, of the medians."""
    return float(np.exp(np.mean([np.log(max(float(np.median(each)), 1e-12)) for each in times])))


def p_slower(recipe: FloatArray, best: FloatArray) -> float:
    """The chance that a recipe looks as slow beside another as it does, were it no slower: a paired t test of
    the logarithms of their times ([repetition] in seconds) over the turns that both had. 1 where there are
    too few; 0 or 1 where there is no noise.
    """
    turns = min(len(recipe), len(best))
    if turns < 2:
        return 1.0
    ratios = np.log(np.maximum(recipe[:turns], 1e-12) / np.maximum(best[:turns], 1e-12))
    if float(np.ptp(ratios)) < 1e-9:
        return 0.0 if ratios[0] > 1e-9 else 1.0
    t = ratios.mean() / (ratios.std(ddof=1) / np.sqrt(turns))
    return float(stdtr(turns - 1, -t))


def _behind(times: Times, recipe: str) -> float:
    """How many times as slow as the fastest a recipe is, at the root or size where it does best."""
    fastest = [min(float(np.median(each)) for each in case) for case in zip(*times.values(), strict=True)]
    return min(
        float(np.median(each)) / max(least, 1e-12) for each, least in zip(times[recipe], fastest, strict=True)
    )


def _p_behind(times: Times, recipe: str) -> float:
    """The chance of `p_slower` beside the fastest of each root or size: the greatest of them, as it may be
    the best at one of them and the only one that loses at none.
    """
    found = []
    for at, own in enumerate(times[recipe]):
        fastest = min((each[at] for each in times.values()), key=lambda case: float(np.median(case)))
        found.append(p_slower(own, fastest))
    return max(found)


def has_won(times: Times, winner: str) -> bool:
    """Whether there are others, and each is far behind or proven slower than the fastest."""
    others = times.keys() - {winner}
    return bool(others) and all(
        _behind(times, recipe) > FAR_BEHIND or _p_behind(times, recipe) <= ERROR for recipe in others
    )


def spent(look: int, looks: int) -> float:
    """The part of `ERROR` that may be made at a look (from 0) of so many."""
    return ERROR * (((look + 1) / looks) ** SPENDING - (look / looks) ** SPENDING)


def left_in(races: Mapping[Key, Times], look: int, looks: int) -> dict[Key, list[str]]:
    """The recipes of each race that are timed further after a look, the fastest first."""
    if look == 0:
        dropped = {
            (key, recipe)
            for key, times in races.items()
            for recipe in times
            if _behind(times, recipe) > FAR_BEHIND
        }
    else:
        p_values = {
            (key, recipe): _p_behind(times, recipe) for key, times in races.items() for recipe in times
        }
        dropped = holm(p_values, spent(look, looks))
    return {
        key: sorted(
            (recipe for recipe in times if (key, recipe) not in dropped),
            key=lambda recipe: median_s(times[recipe]),
        )
        for key, times in races.items()
    }


def in_time(times_s: Mapping[Key, Sequence[float]], budget_s: float, least: int) -> dict[Key, int]:
    """How many of each race's recipes, the first ones, can be timed in a budget: an even share is for each
    race, and what one leaves of it is for those that take longer.

    Args:
        times_s: of each race what each recipe takes, in seconds.
        budget_s: for all.
        least: so many race in any case.
    """
    found = {}
    left_s = budget_s
    ordered = sorted(times_s, key=lambda key: sum(times_s[key]))
    for at, key in enumerate(ordered):
        even_s = left_s / (len(ordered) - at)
        spent_s = np.concatenate([[0.0], np.cumsum(times_s[key])])
        fitting = int(np.searchsorted(spent_s, even_s, side="right")) - 1
        found[key] = min(max(least, fitting), len(times_s[key]))
        left_s -= float(spent_s[found[key]])
    return found


def steady(options: Sequence[Mapping[str, float]]) -> list[str]:
    """For each size one of its options, so that the choice changes as seldom as it can, and then takes the
    least time: two recipes that are equally good do not alternate.

    Args:
        options: for each size, ascending, the recipes that are as good as the best, with their times in
            seconds.
    """
    best: dict[str, tuple[int, float, list[str]]] = {"": (0, 0.0, [])}
    for few in options:
        step: dict[str, tuple[int, float, list[str]]] = {}
        for recipe, time_s in few.items():
            # What the sizes before chose, whose way here changes least.
            found: tuple[float, float, list[str]] = (inf, inf, [])
            for before, (changes, cost, chosen) in best.items():
                candidate = (changes + (before not in ("", recipe)), cost, chosen)
                found = min(found, candidate, key=lambda each: each[:2])
            changes_now, cost_now, chosen_now = found
            step[recipe] = (
                int(changes_now),
                cost_now + float(np.log(max(time_s, 1e-12))),
                [*chosen_now, recipe],
            )
        best = step
    return min(best.values(), key=lambda each: each[:2])[2] if options else []
