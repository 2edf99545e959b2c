# SPDX-License-Identifier: BSD-3-Clause
"""A figure of the coefficients of a linear model with covariates, each with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from isochrone.models.covariates import Response
from isochrone.models.holdout import Judged
from isochrone.models.messages import Parameter
from isochrone.models.subjects import Subject
from isochrone.models.table import COVARIATE_MODELS
from isochrone.report.plots.style import INK, LEVELS, SOFT, dress, new_figure, set_ticks
from isochrone.units import number_of

_MOST = 40
_ROW_INCHES = 0.19
_RATIOS = tuple(digit * 10.0**power for power in range(-6, 7) for digit in (1, 2, 5))


def best_covariates(subject: Subject) -> Judged | None:
    """Of the models with covariates the one with the least error on what was left out."""
    names = {each.name for each in COVARIATE_MODELS}
    order = [rank.name for rank in subject.trust.ranking if rank.name in names]
    return next((each for name in order for each in subject.judged if each.candidate.name == name), None)


def coefficients(subject: Subject) -> Figure | None:
    """Estimates and intervals of the best model with covariates: of logarithms by what a covariate multiplies
    the time, else in seconds. None where there is no such model.
    """
    judged = best_covariates(subject)
    if judged is None:
        return None
    response = {each.name: each.response for each in COVARIATE_MODELS}[judged.candidate.name]
    told = [each for each in judged.prediction.parameters if each.name != "constant"]
    shown = _surest(told)
    if not shown:
        return None
    figure = new_figure(8.5, 1.5 + _ROW_INCHES * len(shown))
    axes = figure.subplots()
    dress(axes)
    scale, unit = _scale(shown, response)
    for row, each in enumerate(reversed(shown)):
        sure = each.low > 0 or each.high < 0
        values = [each.estimate * scale, each.low * scale, each.high * scale]
        middle, low, high = (math.exp(value) for value in values) if response == "logarithm" else values
        colour = LEVELS[0] if sure else SOFT
        axes.plot([low, high], [row, row], color=colour, linewidth=1.4)
        axes.plot([middle], [row], "o", color=colour, markersize=3.5)
    axes.axvline(1.0 if response == "logarithm" else 0.0, color=INK, linewidth=1.0)
    if response == "logarithm":
        axes.set_xscale("log")
        axes.minorticks_off()
        left, right = axes.get_xlim()
        ratios = [ratio for ratio in _RATIOS if left < ratio < right]
        set_ticks(axes.xaxis, ratios, [f"{ratio:g}×" for ratio in ratios])
    axes.set_yticks(range(len(shown)), [each.name for each in reversed(shown)], fontsize=7)
    axes.set_ylim(-0.8, len(shown) - 0.2)
    axes.set_xlabel(unit)
    sure_ones = sum(each.low > 0 or each.high < 0 for each in told)
    few = "" if len(shown) == len(told) else f"; the {len(shown)} that are surest"
    figure.suptitle(
        f"{subject.name}: {judged.candidate.name}, {sure_ones} of {number_of(len(told), 'coefficient')} told "
        f"from none{few}",
        x=0.01,
        ha="left",
        fontsize=9,
    )
    return figure


def _surest(told: Sequence[Parameter]) -> list[Parameter]:
    """In the order of the model; of very many those whose intervals are furthest from 0, for their width."""
    known = [each for each in told if math.isfinite(each.low) and math.isfinite(each.high)]

    def sureness(each: Parameter) -> float:
        return abs(each.estimate) / max(each.high - each.low, 1e-300)

    least = sorted((sureness(each) for each in known), reverse=True)[:_MOST]
    return [each for each in known if least and sureness(each) >= least[-1]][:_MOST]


def _scale(shown: Sequence[Parameter], response: Response) -> tuple[float, str]:
    if response == "logarithm":
        return 1.0, "the time is multiplied by (interval of 95 %)"
    return 1e6, "µs that it adds, for each rank or byte where it is a number (interval of 95 %)"
