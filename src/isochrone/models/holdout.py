# SPDX-License-Identifier: BSD-3-Clause
"""Errors of models on what they were not fitted to: one size, or one number of ranks, left out at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from isochrone.detect.distance import Floats, Ints
from isochrone.models.candidate import Candidate, Prediction
from isochrone.models.messages import TooLittleError
from isochrone.models.observation import Observation

Left = Literal["size", "ranks", "all"]
"""What is left out; all, where nothing was fitted to any of it."""

_LEFT: tuple[Left, ...] = ("size", "ranks")
_LEAST_GROUPS = 3
_MOST_GROUPS = 32


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of predictions.

    Attributes:
        logs: [observation], log(predicted / measured); NaN where there was no answer, minus infinity for one
            of no time or less.
        groups: [observation], which were left out together; all alike where none were.
    """

    logs: Floats
    groups: Ints

    @property
    def sizes(self) -> Floats:
        """|log(predicted / measured)| of what was answered."""
        return np.abs(self.logs[~np.isnan(self.logs)])

    @property
    def median(self) -> float:
        """Half are smaller; NaN where nothing was answered."""
        return float(np.median(self.sizes)) if len(self.sizes) else float("nan")

    @property
    def p95(self) -> float:
        """The least error that is not exceeded by 95 % of them."""
        return float(np.quantile(self.sizes, 0.95, method="higher")) if len(self.sizes) else float("nan")

    @property
    def unanswered(self) -> int:
        """How many had no answer."""
        return int(np.count_nonzero(np.isnan(self.logs)))

    @property
    def impossible(self) -> int:
        """How many were said to take no time, or less."""
        return int(np.count_nonzero(np.isneginf(self.logs)))

    @property
    def worst(self) -> int | None:
        """The observation with the largest error, or None."""
        return int(np.nanargmax(np.abs(self.logs))) if len(self.sizes) else None


@dataclass(frozen=True, eq=False)
class Judged:
    """A model and its errors.

    Attributes:
        prediction: fitted to all.
        in_sample: of that on what it was fitted to.
        held_out: by what was left out; missing where there are too few different ones.
    """

    candidate: Candidate
    prediction: Prediction
    in_sample: Errors
    held_out: dict[Left, Errors]

    @property
    def all_held_out(self) -> Floats:
        """[way of leaving out, observation], logs."""
        return np.array([each.logs for each in self.held_out.values()])


def judge(candidate: Candidate, observations: Sequence[Observation]) -> Judged:
    """Fits the model to all, and again with each size and each number of ranks left out.

    Raises:
        TooLittleError: all observations together do not tell its parameters.
    """
    prediction = candidate.fit(observations)
    times_s = np.array([each.time_s for each in observations])
    in_sample = Errors(
        _logs(prediction.times_s(observations), times_s), np.zeros(len(observations), dtype=np.int64)
    )
    held_out: dict[Left, Errors] = {}
    for left in _LEFT:
        groups = groups_of(observations, left)
        if groups is not None:
            held_out[left] = Errors(_held_out(candidate, observations, times_s, groups), groups)
    if not held_out and prediction.fitted == 0:
        held_out["all"] = Errors(in_sample.logs, np.arange(len(observations)))
    return Judged(candidate, prediction, in_sample, held_out)


def value_of(observation: Observation, left: Left) -> int:
    """Its size or number of ranks; 0 of all."""
    return {"size": observation.size_bytes, "ranks": observation.ranks, "all": 0}[left]


def groups_of(observations: Sequence[Observation], left: Left) -> Ints | None:
    """[observation], which are left out together: those of one size or number of ranks, or of neighbouring
    ones where there are very many; None for fewer than three different ones.
    """
    values = np.array([value_of(each, left) for each in observations])
    different, which = np.unique(values, return_inverse=True)
    if len(different) < _LEAST_GROUPS:
        return None
    groups: Ints = which * min(len(different), _MOST_GROUPS) // len(different)
    return groups


def _held_out(
    candidate: Candidate,
    observations: Sequence[Observation],
    times_s: Floats,
    groups: Ints,
) -> Floats:
    from sklearn.model_selection import LeaveOneGroupOut

    logs = np.full(len(observations), np.nan)
    for kept, left in LeaveOneGroupOut().split(times_s[:, None], groups=groups):
        try:
            fitted = candidate.fit([observations[k] for k in kept])
        except TooLittleError:
            continue
        logs[left] = _logs(fitted.times_s([observations[k] for k in left]), times_s[left])
    return logs


def _logs(predicted_s: Floats, measured_s: Floats) -> Floats:
    logs = np.full(len(measured_s), np.nan)
    known = ~np.isnan(predicted_s)
    with np.errstate(divide="ignore"):
        logs[known] = np.log(np.maximum(predicted_s[known], 0.0) / measured_s[known])
    return logs
