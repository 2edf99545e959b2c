# SPDX-License-Identifier: BSD-3-Clause
"""What came of the models, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from isochrone.models.holdout import Errors, Judged
from isochrone.models.messages import Parameter
from isochrone.models.observation import MESSAGE, Observation
from isochrone.models.subjects import Subject
from isochrone.models.verdict import percent, spots
from isochrone.units import approximate_bytes, format_bytes, number_of, significant

_SHOWN = 4


def table(subject: Subject) -> list[list[str]]:
    """A row for each model, after a row of headings."""
    rows = [["model", "fitted", "in sample", "left-out size", "left-out ranks", "worst, held out"]]
    for each in subject.judged:
        rows.append(
            [
                each.candidate.name,
                str(each.prediction.fitted),
                _errors(each.in_sample),
                _errors(each.held_out.get("size")),
                _errors(each.held_out.get("ranks")),
                _worst(each, subject.observations),
            ]
        )
    return rows


def heading(subject: Subject) -> str:
    """What was measured, in a line."""
    sizes = sorted({each.size_bytes for each in subject.observations})
    span = (
        format_bytes(sizes[0])
        if len(sizes) == 1
        else f"{format_bytes(sizes[0])} to {format_bytes(sizes[-1])}"
    )
    words = [
        number_of(len(subject.observations), "time"),
        f"{number_of(len(sizes), 'size')} ({span})",
    ]
    if subject.observations[0].operation != MESSAGE:
        ranks = sorted({each.ranks for each in subject.observations})
        shown = ", ".join(map(str, ranks)) if len(ranks) <= 8 else f"{ranks[0]} to {ranks[-1]}"
        words.append(f"on {shown} ranks")
        words.append(number_of(len({each.algorithm for each in subject.observations}), "algorithm"))
    return f"{subject.name}: {', '.join(words)}"


def parameter_lines(subject: Subject) -> list[list[str]]:
    """Of models of messages, and of the model of a collective that is trusted, the formula and parameters
    with their intervals; of many parameters the first few.
    """
    rows = []
    for each in subject.judged:
        is_message = subject.observations[0].operation == MESSAGE
        if each.prediction.fitted == 0 or not (is_message or each is subject.trust.chosen):
            continue  # fitted to messages, which are above
        parameters = each.prediction.parameters
        shown = [*parameters[: _SHOWN - 1], parameters[-1]] if len(parameters) > _SHOWN else parameters
        more = f"; {len(parameters) - len(shown)} more in --json" if len(parameters) > len(shown) else ""
        rows.append(
            [each.candidate.name, each.candidate.formula, "; ".join(_parameter(one) for one in shown) + more]
        )
    return rows


def document(subject: Subject, within: float) -> dict[str, Any]:
    """For JSON: errors are |log(predicted / measured)| as ratios beyond 1; null where there are none."""
    trust = subject.trust
    return {
        "name": subject.name,
        "times": len(subject.observations),
        "sizes_bytes": sorted({each.size_bytes for each in subject.observations}),
        "ranks": sorted({each.ranks for each in subject.observations}),
        "models": [_model(each, subject.observations, within) for each in subject.judged],
        "not_fitted": dict(subject.unfitted),
        "trusted": trust.chosen and trust.chosen.candidate.name,
        "least_error": trust.best and trust.best.candidate.name,
        "ranking": [
            {
                "model": rank.name,
                "mean_log_error": _number(rank.score),
                "behind": rank.behind
                and {"estimate": rank.behind.estimate, "low": rank.behind.low, "high": rank.behind.high},
                "proven_worse": rank.proven_worse,
                "answers_enough": rank.eligible,
            }
            for rank in trust.ranking
        ],
        "verdict": list(subject.sentences),
    }


def _model(judged: Judged, observations: Sequence[Observation], within: float) -> dict[str, Any]:
    return {
        "model": judged.candidate.name,
        "formula": judged.candidate.formula,
        "fitted": judged.prediction.fitted,
        "parameters": [
            {
                "name": each.name,
                "unit": each.unit,
                "estimate": _number(each.estimate),
                "low": _number(each.low),
                "high": _number(each.high),
            }
            for each in judged.prediction.parameters
        ],
        "in_sample": _summary(judged.in_sample),
        "held_out": {left: _summary(errors) for left, errors in judged.held_out.items()},
        "spots": {
            left: [
                {"value": spot.value, "error": _ratio(spot.error), "holds": spot.holds}
                for spot in spots(judged, observations, left, within)
            ]
            for left in judged.held_out
        },
    }


def _summary(errors: Errors) -> dict[str, Any]:
    return {
        "median": _ratio(errors.median),
        "p95": _ratio(errors.p95),
        "unanswered": errors.unanswered,
        "no_time_or_less": errors.impossible,
    }


def _errors(errors: Errors | None) -> str:
    if errors is None:
        return "-"
    if not len(errors.sizes):
        return "no answer"
    unanswered = f", {errors.unanswered} unanswered" if errors.unanswered else ""
    return f"{percent(errors.median)}, 95 %: {percent(errors.p95)}{unanswered}"


def _worst(judged: Judged, observations: Sequence[Observation]) -> str:
    """The largest error of all that was left out."""
    found = [
        (abs(errors.logs[errors.worst]), errors.logs[errors.worst], observations[errors.worst])
        for errors in judged.held_out.values()
        if errors.worst is not None
    ]
    if not found:
        return "-"
    size, log, at = max(found, key=lambda each: each[0])
    way = "below 0" if math.isinf(size) else f"{percent(size)} too {'long' if log > 0 else 'short'}"
    where = [format_bytes(at.size_bytes)]
    if at.operation != MESSAGE:
        where += [number_of(at.ranks, "rank"), at.algorithm]
    return f"{way}: {', '.join(where)}"


def _parameter(each: Parameter) -> str:
    """Such as "alpha = 1.80 µs [1.75, 1.86]"; the interval is in the unit of the estimate."""
    if each.unit == "B":
        return f"{each.name} = {approximate_bytes(round(each.estimate))}"
    scale, unit = _scale(each)
    shown = [f"{value / scale:.3g}" if unit == "" else significant(value / scale) for value in _values(each)]
    interval = f" [{shown[1]}, {shown[2]}]" if len(shown) > 1 else ""
    return f"{each.name} = {shown[0]}{unit and ' '}{unit}{interval}"


def _values(each: Parameter) -> list[float]:
    return [each.estimate] if math.isnan(each.low) else [each.estimate, each.low, each.high]


def _scale(each: Parameter) -> tuple[float, str]:
    """What a parameter is shown in."""
    if each.unit == "":
        return 1.0, ""
    per = each.unit.removeprefix("s")
    for scale, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if abs(each.estimate) >= scale * 0.9995:
            return scale, name + per
    return 1e-12, "ps" + per


def _ratio(error: float) -> float | None:
    return _number(math.expm1(error)) if error < 700 else None


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
