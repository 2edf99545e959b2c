# SPDX-License-Identifier: BSD-3-Clause
"""Linear models of collectives with covariates: number of ranks, size, algorithm, mapping, region, and their
products, fitted by ordinary least squares.

Names are made numbers as R does: a column for each but the first. Columns that say nothing new are dropped.
The covariate ``bends`` makes what is linear in the logarithm of the size piecewise linear, with bends at
sizes that divide those measured evenly: hinge functions (Friedman, Annals of Statistics 19(1), 1991).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from isochrone.detect.distance import Floats
from isochrone.models.candidate import Prediction
from isochrone.models.fitting import CONFIDENCE
from isochrone.models.messages import Parameter, TooLittleError
from isochrone.models.observation import Observation
from isochrone.units import number_of

Response = Literal["time", "logarithm"]
Term = tuple[str, ...]

BENDS = "bends"
_BEND = "log2(size) beyond "
_SIZES_OF_A_BEND = 2
_MOST_BENDS = 3
_SAME = 1e-9

_NUMBERS: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "ranks": lambda ranks, sizes: ranks,
    "size": lambda ranks, sizes: sizes,
    "log2(ranks)": lambda ranks, sizes: np.log2(ranks),
    "log2(size)": lambda ranks, sizes: np.log2(np.maximum(sizes, 1.0)),
}
"""Of [observation], ranks and sizes in bytes."""

_NAMES: Mapping[str, Callable[[Observation], str]] = {
    "algorithm": lambda each: each.algorithm,
    "mapping": lambda each: each.mapping,
    "region": lambda each: each.region,
}


@dataclass(frozen=True)
class _Column:
    """A product of numbers, of the lines that have all these names.

    Attributes:
        numbers: of covariates.
        names: covariates and what they have to be.
    """

    numbers: tuple[str, ...]
    names: tuple[tuple[str, str], ...]

    @property
    def words(self) -> str:
        return ":".join([*(f"{name}={value}" for name, value in self.names), *self.numbers]) or "constant"


def fit_covariates(
    response: Response, terms: Sequence[Term], observations: Sequence[Observation]
) -> Prediction:
    """The model, and the interval of each of its coefficients.

    Coefficients of logarithms are natural: one of 0.7 doubles the time. It has no answer for names that it
    has not seen. Raises TooLittleError where there are not more times than coefficients.
    """
    from statsmodels.regression.linear_model import OLS

    levels = {name: sorted({of(each) for each in observations}) for name, of in _NAMES.items()}
    bends = _bends([each.size_bytes for each in observations])
    used = {name for term in terms for name in term if name in _NAMES}
    columns = [_Column((), ()), *(column for term in terms for column in _columns(term, levels, bends))]
    matrix = _matrix(columns, observations)
    kept = _independent(matrix)
    if len(observations) <= len(kept):
        what = number_of(len(kept), "coefficient")
        raise TooLittleError(f"{what} cannot be told from {number_of(len(observations), 'time')}")
    columns, matrix = [columns[k] for k in kept], matrix[:, kept]
    times_s = np.array([each.time_s for each in observations])
    # Sizes are up to 1e9 beside constants of 1: on one scale all digits count.
    scale = np.abs(matrix).max(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = OLS(times_s if response == "time" else np.log(times_s), matrix / scale).fit()
        found, ends = result.params / scale, result.conf_int(1 - CONFIDENCE) / scale[:, None]

    def predicted_s(others: Sequence[Observation]) -> Floats:
        values = _matrix(columns, others) @ found
        with np.errstate(over="ignore"):
            answers: Floats = values if response == "time" else np.exp(values)
        known = [all(_NAMES[name](each) in levels[name] for name in used) for each in others]
        return np.where(known, answers, np.nan)

    unit = "s" if response == "time" else ""
    return Prediction(
        tuple(
            Parameter(column.words, unit, float(value), *end.tolist())
            for column, value, end in zip(columns, found, ends, strict=True)
        ),
        len(columns),
        predicted_s,
    )


def _bends(sizes_bytes: Sequence[int]) -> list[str]:
    """The numbers that bends are, so many that each has some sizes on both sides."""
    different = sorted({max(size, 1) for size in sizes_bytes})
    count = min(_MOST_BENDS, len(different) // _SIZES_OF_A_BEND - 1)
    at = [different[len(different) * (k + 1) // (count + 1)] for k in range(max(count, 0))]
    return [f"{_BEND}{size}" for size in at]


def _number(name: str, ranks: Floats, sizes: Floats) -> Floats:
    if name.startswith(_BEND):
        beyond: Floats = np.maximum(0.0, np.log2(np.maximum(sizes, 1.0) / int(name.removeprefix(_BEND))))
        return beyond
    return _NUMBERS[name](ranks, sizes)


def _columns(term: Term, levels: Mapping[str, Sequence[str]], bends: Sequence[str]) -> list[_Column]:
    """A column for each bend and each choice of names but the first ones; numbers are multiplied."""
    numbers = tuple(each for each in term if each in _NUMBERS)
    found = [_Column((*numbers, bend), ()) for bend in bends] if BENDS in term else [_Column(numbers, ())]
    for covariate in (each for each in term if each in _NAMES):
        found = [
            _Column(column.numbers, (*column.names, (covariate, value)))
            for column in found
            for value in levels[covariate][1:]
        ]
    return found


def _matrix(columns: Sequence[_Column], observations: Sequence[Observation]) -> Floats:
    ranks = np.array([each.ranks for each in observations], dtype=np.float64)
    sizes = np.array([each.size_bytes for each in observations], dtype=np.float64)
    used = dict.fromkeys(name for column in columns for name in column.numbers)
    numbers = {name: _number(name, ranks, sizes) for name in used}
    names = {name: np.array([of(each) for each in observations], dtype=str) for name, of in _NAMES.items()}
    matrix = np.ones((len(observations), len(columns)))
    for k, column in enumerate(columns):
        for name in column.numbers:
            matrix[:, k] *= numbers[name]
        for name, value in column.names:
            matrix[:, k] *= names[name] == value
    return matrix


def _independent(matrix: Floats) -> list[int]:
    """The columns that are no sum of those before them, so that a constant stays and what repeats it goes."""
    norms = np.linalg.norm(matrix, axis=0)
    there = np.flatnonzero(norms > 0)
    left = np.abs(np.diag(np.linalg.qr(matrix[:, there] / norms[there], mode="r")))
    return [int(k) for k in there[: len(left)][left > _SAME]]
