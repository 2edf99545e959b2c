# SPDX-License-Identifier: BSD-3-Clause
"""Medians, ratios and their confidence intervals: the one place where samples of time become statements.

Times of collectives are skewed and have outliers, so medians stand for them and intervals are free of any
assumed distribution, as Hoefler and Belli advise ("Scientific Benchmarking of Parallel Computing Systems", SC
'15, rules 5-8). Everything here is deterministic: the same samples give the same interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

FloatArray = npt.NDArray[np.float64]
Key = TypeVar("Key")

RESAMPLES = 4000
"""Bootstrap resamples: the ends of a 95 % interval rest on 100 of them each."""
_MOST_DRAWN = 1 << 22
"""Values that are in memory at once."""


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
    together in time and share its disturbances, so the interval is that of the median of their ratios,
    widened where it does not hold the estimate: what two ways of looking do not agree on is not proven. With
    unequal counts it is that of `ratio_of_medians`. Raises ValueError for samples that are not positive.
    """
    numerator, denominator = _positive(native), _positive(other)
    if len(numerator) != len(denominator):
        return ratio_of_medians([(numerator, denominator)], confidence, seed)
    estimate = float(np.median(numerator) / np.median(denominator))
    paired = median_ci(numerator / denominator, confidence)
    return Interval(estimate, min(paired.low, estimate), max(paired.high, estimate), paired.confidence)


def ratio_of_medians(
    pairs: Sequence[tuple[Sequence[float] | FloatArray, Sequence[float] | FloatArray]],
    confidence: float = 0.95,
    seed: int = 1,
) -> Interval:
    """The ratio of the medians of samples that have nothing in common, or of several such pairs the geometric
    mean of their ratios.

    The interval is the percentile bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap",
    section 13.3), from a generator seeded with `seed`, widened where it does not hold the estimate.

    Args:
        pairs: numerator and denominator, each of shape `[n]`, in one unit.

    Raises ValueError for no pairs, and for samples that are not positive.
    """
    generator = np.random.default_rng(seed)
    estimates, resampled, fewest = [], np.zeros(RESAMPLES), RESAMPLES
    for above, below in pairs:
        numerator, denominator = _positive(above), _positive(below)
        estimates.append(float(np.median(numerator) / np.median(denominator)))
        resampled += np.log(_resampled_medians(numerator, generator))
        resampled -= np.log(_resampled_medians(denominator, generator))
        fewest = min(fewest, len(numerator), len(denominator))
    estimate = estimates[0] if len(estimates) == 1 else geometric_mean(estimates)
    ends = np.quantile(np.exp(resampled / len(estimates)), [(1 - confidence) / 2, (1 + confidence) / 2])
    low, high = float(ends[0]), float(ends[1])
    # No interval of so few is surer than that from the least to the greatest of them holds the median.
    attained = min(confidence, 1 - 2.0 ** (1 - fewest))
    return Interval(estimate, min(low, estimate), max(high, estimate), attained)


def scatter(values: FloatArray) -> float:
    """Half the width of the middle 68 % of the values (shape `[n]`): the standard deviation, were they
    normal. Of few, the quantiles are those without bias (Hyndman and Fan, "Sample quantiles in statistical
    packages", The American Statistician 50(4), 1996, definition 9): between the least and greatest of four
    values is less than their scatter has.
    """
    low, high = np.percentile(values, [15.87, 84.13], method="normal_unbiased")
    return float(high - low) / 2


def column_medians(values: FloatArray) -> FloatArray:
    """The median of what is known of each column (shape `[row, column]`, one row at least); NaN is what is
    not, and of a column that has nothing else.
    """
    # As np.nanmedian, which takes a hundred times as long for a few rows.
    ordered = np.sort(values, axis=0)
    count = np.count_nonzero(~np.isnan(values), axis=0)
    column = np.arange(values.shape[1])
    medians: FloatArray = (ordered[(count - 1) // 2, column] + ordered[count // 2, column]) / 2
    return medians


def p_greater(one: Sequence[float] | FloatArray, other: Sequence[float] | FloatArray) -> float:
    """The chance that samples look as much greater than others as they do, were they not: the rank sum test
    (H. B. Mann and D. R. Whitney, "On a test of whether one of two random variables is stochastically larger
    than the other", Annals of Mathematical Statistics 18(1), 1947), which assumes no distribution.

    Args:
        one: shape `[n]`, any unit; ...
        other: ... shape `[m]`, the same unit, taken apart from those of `one`.
    """
    from scipy.stats import mannwhitneyu  # takes a second to import, and few need it

    return float(mannwhitneyu(_checked(one), _checked(other), alternative="greater").pvalue)


def holm(p_values: Mapping[Key, float], error: float) -> set[Key]:
    """The hypotheses that are rejected together, with the chance `error` that any of them is true (S. Holm,
    "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6(2), 1979).
    """
    rejected: set[Key] = set()
    for done, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        if p > error / (len(p_values) - done):
            break
        rejected.add(key)
    return rejected


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


def _positive(samples: Sequence[float] | FloatArray) -> FloatArray:
    values = _checked(samples)
    if (values <= 0).any():
        raise ValueError("a ratio needs times above 0 s")
    return values


def _order_statistic(count: int, confidence: float) -> tuple[int, float]:
    """The greatest k (from 1) whose pair of k-th order statistics attains `confidence`, and what it
    attains.
    """
    below = bdtr(np.arange(max(1, count // 2)), count, 0.5)
    rank = max(1, int(np.searchsorted(below, (1.0 - confidence) / 2.0, side="right")))
    return rank, max(0.0, 1.0 - 2.0 * float(below[rank - 1]))


def _resampled_medians(values: FloatArray, generator: np.random.Generator) -> FloatArray:
    medians = np.empty(RESAMPLES)
    # Of many values in parts, as all that is drawn would be gigabytes.
    step = max(1, _MOST_DRAWN // len(values))
    for begin in range(0, RESAMPLES, step):
        part = medians[begin : begin + step]
        part[:] = np.median(values[generator.integers(0, len(values), size=(len(part), len(values)))], axis=1)
    return medians
