# SPDX-License-Identifier: BSD-3-Clause
"""Medians, ratios and their confidence intervals: the one place where samples of time become statements.

Times of collectives are skewed and have outliers, so medians stand for them and intervals are free of any
assumed distribution, as Hoefler and Belli advise ("Scientific Benchmarking of Parallel Computing Systems", SC
'15, rules 5-8). Everything here is deterministic: the same samples give the same interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

FloatArray = npt.NDArray[np.float64]

RESAMPLES = 4000
"""Bootstrap resamples: the ends of a 95 % interval rest on 100 of them each."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the interval around it, in the unit of the samples.

    `confidence` is what the interval attains, between 0 and 1. It is at least what was asked for where the
    samples allow that; with too few of them (fewer than six for 95 %) the interval is their whole range and
    `confidence` says how little that is worth: 0 for a single sample.
    """

    estimate: float
    low: float
    high: float
    confidence: float

    def __post_init__(self) -> None:
        if not self.low <= self.estimate <= self.high:
            raise ValueError(f"interval [{self.low}, {self.high}] does not hold its estimate {self.estimate}")


def median_ci(samples: Sequence[float] | FloatArray, confidence: float = 0.95) -> Interval:
    """The median of `samples` (shape `[n]`, any unit) and its interval from order statistics.

    The k-th smallest and the k-th largest sample enclose the median with probability 1 - 2 P(Bin(n, 1/2) <
    k), whatever the distribution (Conover, "Practical Nonparametric Statistics", section 3.2). The narrowest
    such pair that attains `confidence` is taken. Raises ValueError for no samples, for ones that are not
    finite, and for a confidence outside (0, 1).
    """
    values = np.sort(_checked(samples))
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")
    rank, attained = _order_statistic(len(values), confidence)
    return Interval(float(np.median(values)), float(values[rank - 1]), float(values[-rank]), attained)


def ratio_ci(
    native: Sequence[float] | FloatArray,
    other: Sequence[float] | FloatArray,
    confidence: float = 0.95,
    seed: int = 1,
) -> Interval:
    """How many times faster `other` is than `native` (both shape `[n]`, seconds): above 1 means `other` wins.

    The estimate is the ratio of the two medians, so that it agrees with them where all three are shown.
    With equal counts, sample i of one is the same repetition as sample i of the other. They were taken close
    together in time and share its disturbances, so the interval is that of the median of their ratios. With
    unequal counts it is the percentile bootstrap of the ratio of medians (Efron and Tibshirani, "An
    Introduction to the Bootstrap", section 13.3), from a generator seeded with `seed`. Either is widened
    where it does not hold the estimate: what two ways of looking do not agree on is not proven. Raises
    ValueError for samples that are not positive.
    """
    numerator, denominator = _checked(native), _checked(other)
    if (numerator <= 0).any() or (denominator <= 0).any():
        raise ValueError("a ratio needs times above 0 s")
    estimate = float(np.median(numerator) / np.median(denominator))
    if len(numerator) == len(denominator):
        paired = median_ci(numerator / denominator, confidence)
        low, high, attained = paired.low, paired.high, paired.confidence
    else:
        generator = np.random.default_rng(seed)
        ratios = _resampled_medians(numerator, generator) / _resampled_medians(denominator, generator)
        low, high = (float(end) for end in np.quantile(ratios, [(1 - confidence) / 2, (1 + confidence) / 2]))
        attained = 0.0 if min(len(numerator), len(denominator)) == 1 else confidence
    return Interval(estimate, min(low, estimate), max(high, estimate), attained)


def geometric_mean(values: Sequence[float] | FloatArray) -> float:
    """The geometric mean of `values` (shape `[n]`), the right mean for ratios (Fleming and Wallace, CACM
    29(3), 1986).

    Raises ValueError for no values and for ones that are not positive.
    """
    checked = _checked(values)
    if (checked <= 0).any():
        raise ValueError("a geometric mean needs values above 0")
    return float(np.exp(np.mean(np.log(checked))))


def _checked(samples: Sequence[float] | FloatArray) -> FloatArray:
    values = np.asarray(samples, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError("statistics need at least one sample, in one dimension")
    if not np.isfinite(values).all():
        raise ValueError("a sample is not a finite number")
    return values


def _order_statistic(count: int, confidence: float) -> tuple[int, float]:
    """The greatest k (from 1) whose pair of k-th order statistics attains `confidence`, and what it
    attains.
    """
    below = bdtr(np.arange(max(1, count // 2)), count, 0.5)
    rank = max(1, int(np.searchsorted(below, (1.0 - confidence) / 2.0, side="right")))
    return rank, max(0.0, 1.0 - 2.0 * float(below[rank - 1]))


def _resampled_medians(values: FloatArray, generator: np.random.Generator) -> FloatArray:
    drawn = generator.integers(0, len(values), size=(RESAMPLES, len(values)))
    medians: FloatArray = np.median(values[drawn], axis=1)
    return medians
