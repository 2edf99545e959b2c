# SPDX-License-Identifier: BSD-3-Clause
"""Which model may be trusted, and how far, in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from isochrone.models.holdout import Errors, Judged, Left, value_of
from isochrone.models.observation import MESSAGE, Observation
from isochrone.models.trust import Trust
from isochrone.units import format_bytes, number_of

_FEW = 5
_NAMED = 4
_WORDS: dict[Left, str] = {"size": "message sizes", "ranks": "numbers of ranks"}


@dataclass(frozen=True)
class Spot:
    """What was left out together as one size, or one number of ranks.

    Attributes:
        value: bytes, or ranks.
        error: the median of |log(predicted / measured)| there; NaN where there was no answer.
        holds: whether that is within what was asked for.
    """

    value: int
    error: float
    holds: bool


def percent(error: float) -> str:
    """An error as people read it: how much too long, or too short by the same factor."""
    if math.isnan(error):
        return "?"
    ratio = math.expm1(min(error, 700.0))
    if ratio >= 9.995:
        return f"a factor of {1 + ratio:.0f}" if ratio < 1e6 else "beyond use"
    return f"{100 * ratio:.1f} %" if ratio < 0.0995 else f"{100 * ratio:.0f} %"


def spots(judged: Judged, observations: Sequence[Observation], left: Left, within: float) -> list[Spot]:
    """How the model did at each size or number of ranks, when that was left out."""
    errors = judged.held_out.get(left)
    if errors is None:
        return []
    values = np.array([value_of(each, left) for each in observations])
    found = []
    for value in np.unique(values):
        here = np.abs(errors.logs[values == value])
        error = float(np.median(here[~np.isnan(here)])) if np.any(~np.isnan(here)) else math.nan
        found.append(Spot(int(value), error, error <= math.log1p(within)))
    return found


def verdict(
    trust: Trust, judged: Sequence[Judged], observations: Sequence[Observation], within: float
) -> list[str]:
    """What to trust.

    Args:
        trust: the choice.
        judged: all models.
        observations: what they were judged by.
        within: the error, as a ratio, that a model must keep to where it is said to hold.
    """
    chosen, best = trust.chosen, trust.best
    if chosen is None or best is None:
        return [
            "No model can be judged: what is fitted takes three message sizes or three numbers of ranks, and "
            "must answer for three in four of them."
        ]
    by_left = {left: spots(chosen, observations, left, within) for left in chosen.held_out}
    errors = np.concatenate([each.sizes for each in chosen.held_out.values()])
    half, most = (float(np.quantile(errors, q, method="higher")) for q in (0.5, 0.95))
    name, limit = chosen.candidate.name, f"{100 * within:g} %"
    holds = [words for left, found in by_left.items() if (words := _holds(found, left))]
    if len(holds) < len(by_left) or half > math.log1p(within):
        first = f"Trust none of these within {limit}; the best is {name}"
    else:
        first = f"Trust {name}, within {limit}, for {', and for '.join(holds)}"
    sentences = [
        f"{first}: half of what it was not fitted to is predicted within {percent(half)}, and 95 % within "
        f"{percent(most)}."
    ]
    if chosen is not best:
        more = ", but more parameters" if best.prediction.fitted > chosen.prediction.fitted else ""
        sentences.append(f"{best.candidate.name} has the least error{more}, and is not proven better.")
    alike = [
        rank.name
        for rank in trust.ranking
        if rank.eligible and not rank.proven_worse and rank.name not in (name, best.candidate.name)
    ]
    if alike:
        sentences.append(f"Not proven worse: {_list(alike)}.")
    sentences += _breaks(by_left)
    sentences += _beyond(chosen, observations)
    sentences += _warnings(judged, observations, chosen)
    return sentences


def _holds(found: Sequence[Spot], left: Left) -> str:
    """The runs of neighbours at which it holds; empty where there are none."""
    show = _shower(left)
    runs = [list(run) for good, run in groupby(found, key=lambda spot: spot.holds) if good]
    return _list([_range([spot.value for spot in run], show) for run in runs]) if runs else ""


def _breaks(by_left: dict[Left, list[Spot]]) -> list[str]:
    """The worst of where it does not hold."""
    breaks = []
    for left, found in by_left.items():
        show = _shower(left)
        bad = sorted((spot for spot in found if not spot.holds), key=lambda spot: -_or_infinite(spot.error))
        breaks += [f"{show(spot.value)} ({_off(spot.error)})" for spot in bad[:_NAMED]]
        if len(bad) > _NAMED:
            breaks.append(f"{len(bad) - _NAMED} other {'sizes' if left == 'size' else 'numbers of ranks'}")
    return [f"It breaks at {_list(breaks)}."] if breaks else []


def _beyond(chosen: Judged, observations: Sequence[Observation]) -> list[str]:
    """What is not known of larger sizes and more ranks, and how it did one step beyond."""
    values: dict[Left, list[int]] = {
        "size": sorted({each.size_bytes for each in observations}),
        "ranks": sorted({each.ranks for each in observations}),
    }
    ends = [
        f"beyond {_shower(left)(each[-1])}" for left, each in values.items() if each[-1] > 2 or len(each) > 1
    ]
    told = []
    for left, errors in chosen.held_out.items():
        if chosen.prediction.fitted == 0:
            continue  # it was told of none of them
        show, last = _shower(left), values[left][-1]
        at = np.array([value_of(each, left) for each in observations])
        error = Errors(errors.logs[at == last], errors.groups[at == last]).median
        # Neighbours may have been left out with it.
        known = int(at[errors.groups != errors.groups[at == last][0]].max())
        told.append(f"{_off(error)} at {show(last)} when told of no more than {show(known)}")
    so_far = f"; it was {_list(told)}" if told else ""
    return [f"Nothing was measured {_list(ends)}{so_far}."] if ends else []


def _warnings(judged: Sequence[Judged], observations: Sequence[Observation], chosen: Judged) -> list[str]:
    sentences = []
    for each in judged:
        negative = sum(errors.impossible for errors in each.held_out.values())
        if negative:
            total = sum(len(errors.logs) for errors in each.held_out.values())
            sentences.append(
                f"{each.candidate.name} says of {negative} of {total} that they take no time, or less."
            )
    different = {left: sorted({value_of(each, left) for each in observations}) for left in _WORDS}
    few = [
        f"{len(different[left])} {_WORDS[left]}"
        for left in chosen.held_out
        if left in different and len(different[left]) < _FEW
    ]
    if few:
        sentences.append(f"Only {_list(few)} were measured: what is said of all rests on little.")
    if observations[0].operation != MESSAGE and "ranks" not in chosen.held_out:
        counts = _list([str(count) for count in different["ranks"]])
        sentences.append(f"Other numbers of ranks than {counts} are not judged: that takes three.")
    return sentences


def _shower(left: Left) -> Callable[[int], str]:
    if left == "all":
        return lambda _: "all that was measured"
    return format_bytes if left == "size" else lambda count: number_of(count, "rank")


def _range(values: Sequence[int], show: Callable[[int], str]) -> str:
    first, last = show(values[0]), show(values[-1])
    return last if first == last else f"{first.removesuffix(' ranks')} to {last}"


def _off(error: float) -> str:
    return "no answer" if math.isnan(error) else f"{percent(error)} off"


def _or_infinite(error: float) -> float:
    return math.inf if math.isnan(error) else error


def _list(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
