# SPDX-License-Identifier: BSD-3-Clause
"""Which model may be trusted: the one with the least error on what it was not fitted to, or one with fewer
parameters that is not proven worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isochrone.detect.distance import Floats
from isochrone.models.holdout import Judged
from isochrone.statistics import Interval

_RESAMPLES = 1000
_CONFIDENCE = 0.95
_MOST_LOG = float(np.log(10.0))
"""An error counts as no more than ten times too long or too short: one that is beyond use is beyond use."""

_SAME_DIGITS = 2
_MATTERS = 0.01
"""A difference of errors, as a logarithm: below 1 % nobody minds."""

_ANSWERS = 0.75
"""Of the observations, that a model must answer."""


@dataclass(frozen=True)
class Rank:
    """How a model did.

    Attributes:
        name: of the model.
        score: mean of |log(predicted / measured)| held out, none counted beyond a factor of ten.
        behind: by how much that of what all models answered is above the best one's, with its interval; None
            for the best.
        proven_worse: whether the interval is above what matters.
        eligible: whether it answers nearly all.
    """

    name: str
    score: float
    behind: Interval | None
    proven_worse: bool
    eligible: bool


@dataclass(frozen=True)
class Trust:
    """What may be trusted.

    Attributes:
        chosen: the model; None where none could be judged.
        best: the one with the least error, which may have more parameters.
        ranking: all, best first.
    """

    chosen: Judged | None
    best: Judged | None
    ranking: tuple[Rank, ...]


def trust(judged: Sequence[Judged]) -> Trust:
    """Chooses among models of the same observations, in the order of the table.

    Differences are resampled with all that was left out together as one (a bootstrap of clusters): errors of
    one size are alike.
    """
    able = [each for each in judged if each.held_out]
    scores = {id(each): _score(each) for each in able}
    eligible = [each for each in able if _answered(each) >= _ANSWERS]
    if not eligible:
        ranks = [Rank(each.candidate.name, scores[id(each)], None, False, False) for each in able]
        return Trust(None, None, tuple(ranks))
    best = min(eligible, key=lambda each: scores[id(each)])
    ranking = []
    for each in sorted(able, key=lambda each: (each is not best, scores[id(each)])):
        behind = None if each is best else _behind(each, best)
        worse = behind is not None and behind.low > _MATTERS and behind.confidence >= _CONFIDENCE
        ranking.append(Rank(each.candidate.name, scores[id(each)], behind, worse, each in eligible))
    worse_names = {rank.name for rank in ranking if rank.proven_worse}
    alike = [each for each in eligible if each.candidate.name not in worse_names]
    # Of models that say nearly the same the first in the table, which is the simplest.
    chosen = min(alike, key=lambda each: (each.prediction.fitted, round(scores[id(each)], _SAME_DIGITS)))
    return Trust(chosen, best, tuple(ranking))


def _capped(judged: Judged) -> Floats:
    """[way of leaving out, observation]; NaN where there was no answer."""
    capped: Floats = np.minimum(np.abs(judged.all_held_out), _MOST_LOG)
    return capped


def _score(judged: Judged) -> float:
    errors = _capped(judged)
    return float(np.nanmean(errors)) if np.any(~np.isnan(errors)) else float("nan")


def _answered(judged: Judged) -> float:
    return float(np.mean(~np.isnan(judged.all_held_out)))


def _behind(other: Judged, best: Judged) -> Interval | None:
    """Mean difference of errors, of what both answered; None where that is nothing."""
    more = _capped(other) - _capped(best)
    groups = np.array(
        [[(way, group) for group in each.groups] for way, each in enumerate(best.held_out.values())]
    )
    known = ~np.isnan(more)
    if not known.any():
        return None
    differences = more[known]
    _, which = np.unique(groups[known], axis=0, return_inverse=True)
    which = np.ravel(which)
    sums, counts = np.bincount(which, differences), np.bincount(which)
    drawn = np.random.default_rng(1).integers(0, len(sums), size=(_RESAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2]).tolist()
    estimate = float(differences.mean())
    # Of few clusters all are on one side by chance more often.
    confidence = min(_CONFIDENCE, 1 - 2.0 ** (1 - len(sums)))
    return Interval(estimate, min(low, estimate), max(high, estimate), confidence)
