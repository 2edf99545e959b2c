# SPDX-License-Identifier: BSD-3-Clause
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone import statistics
from isochrone.statistics import (
    Interval,
    column_medians,
    geometric_mean,
    holm,
    median_ci,
    p_greater,
    ratio_ci,
    ratio_of_medians,
    scatter,
)

positive = st.floats(1e-9, 1e3)


def test_the_interval_of_ten_samples_is_the_textbook_pair_of_order_statistics() -> None:
    interval = median_ci([3, 1, 2, 10, 5, 4, 9, 8, 7, 6])
    assert (interval.estimate, interval.low, interval.high) == (5.5, 2, 9)
    assert interval.confidence == pytest.approx(0.9785, abs=1e-4)


def test_many_values_are_resampled_in_parts_and_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(2)
    times = [generator.lognormal(0, 0.1, count) for count in (31, 17)]
    whole = ratio_ci(*times)
    monkeypatch.setattr(statistics, "_MOST_DRAWN", 100)
    assert ratio_ci(*times) == whole


def test_too_few_samples_give_their_range_and_admit_how_little_it_is_worth() -> None:
    interval = median_ci([1.0, 2.0, 3.0])
    assert (interval.low, interval.high) == (1.0, 3.0)
    assert interval.confidence == pytest.approx(0.75)
    assert median_ci([4.0]) == Interval(4.0, 4.0, 4.0, 0.0)


def test_a_higher_confidence_widens_the_interval() -> None:
    samples = np.random.default_rng(3).lognormal(size=40)
    narrow, wide = median_ci(samples, 0.9), median_ci(samples, 0.999)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert narrow.confidence >= 0.9
    assert wide.confidence >= 0.999


def test_the_interval_covers_the_true_median_as_often_as_it_says() -> None:
    generator = np.random.default_rng(7)
    trials = [median_ci(generator.lognormal(sigma=1.0, size=15)) for _ in range(2000)]
    covered = sum(trial.low <= 1.0 <= trial.high for trial in trials) / len(trials)
    assert covered == pytest.approx(trials[0].confidence, abs=0.02)


def test_paired_repetitions_cancel_the_disturbance_that_they_share() -> None:
    disturbance = np.random.default_rng(5).lognormal(sigma=1.0, size=20)
    interval = ratio_ci(3.0 * disturbance, 2.0 * disturbance)
    assert (interval.low, interval.high) == pytest.approx((1.5, 1.5))


def test_what_paired_ratios_and_medians_do_not_agree_on_is_not_proven() -> None:
    native = np.array([8.8, 8.0, 7.7, 9.0, 7.6, 7.4, 8.8, 8.6, 8.3])
    ratios = np.array([1.02, 1.03, 0.8, 1.03, 1.03, 1.03, 1.02, 1.03, 1.03])
    assert median_ci(ratios).low > 1.0
    assert np.median(native) < np.median(native / ratios)
    interval = ratio_ci(native, native / ratios)
    assert interval.estimate < 1.0
    assert interval.low <= 1.0 < interval.high


@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=40))
def test_every_ratio_is_that_of_the_medians_and_lies_in_its_interval(
    pairs: list[tuple[float, float]],
) -> None:
    native, other = np.array(pairs).T
    interval = ratio_ci(native, other)
    assert interval.estimate == np.median(native) / np.median(other)
    assert interval.low <= interval.estimate <= interval.high


def test_unequal_counts_are_compared_by_bootstrap_and_repeatably() -> None:
    generator = np.random.default_rng(11)
    slow, fast = generator.lognormal(math.log(2), 0.05, 30), generator.lognormal(0.0, 0.05, 20)
    interval = ratio_ci(slow, fast)
    assert 1.7 < interval.low < 2.0 < interval.high < 2.3
    assert ratio_ci(slow, fast) == interval


@given(st.lists(positive, min_size=1, max_size=60), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_every_interval_holds_its_median_and_attains_its_confidence(
    samples: list[float], asked: float
) -> None:
    interval = median_ci(samples, asked)
    assert interval.low <= np.median(samples) <= interval.high
    least_count = 1 + math.ceil(math.log2(1 / (1 - asked)))
    assert interval.confidence >= asked or len(samples) < least_count


@pytest.mark.parametrize("samples", [[], [1.0, math.nan], [math.inf]])
def test_samples_that_are_none_or_not_finite_are_refused(samples: list[float]) -> None:
    with pytest.raises(ValueError, match="sample"):
        median_ci(samples)


def test_a_ratio_of_times_that_are_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        ratio_ci([1.0, 0.0], [1.0, 1.0])


def test_the_geometric_mean_of_a_ratio_and_its_inverse_is_one() -> None:
    assert geometric_mean([4.0, 0.25]) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="above 0"):
        geometric_mean([1.0, 0.0])


@given(st.dictionaries(st.integers(), st.floats(0, 1), max_size=12), st.floats(0.001, 0.2))
def test_holm_rejects_no_less_than_bonferroni_and_only_small_values(
    p_values: dict[int, float], error: float
) -> None:
    rejected = holm(p_values, error)
    assert {key for key, p in p_values.items() if p <= error / max(1, len(p_values))} <= rejected
    assert all(p_values[key] <= error for key in rejected)


def test_the_mean_of_several_ratios_is_geometric_and_surer_than_each() -> None:
    generator = np.random.default_rng(2)
    pairs = [
        (scale * generator.lognormal(0.2, 0.1, 20), scale * generator.lognormal(0.0, 0.1, 20))
        for scale in (1e-6, 1e-3, 1.0)
    ]
    alone = [ratio_of_medians([pair]) for pair in pairs]
    together = ratio_of_medians(pairs)
    assert together.estimate == pytest.approx(geometric_mean([each.estimate for each in alone]))
    assert together.high / together.low < min(each.high / each.low for each in alone)
    assert ratio_of_medians([(pairs[0][0][:1], pairs[0][1])]).confidence == 0
    assert ratio_of_medians([(pairs[0][0][:3], pairs[0][1])]).confidence == 0.75
    assert together.confidence == 0.95
    with pytest.raises(ValueError, match="above 0"):
        ratio_of_medians([([0.0], [1.0])])


def test_what_is_greater_by_chance_alone_is_told_of_as_often_as_it_says() -> None:
    generator = np.random.default_rng(4)
    told = sum(p_greater(*generator.lognormal(sigma=1.0, size=(2, 15))) <= 0.05 for _ in range(1000))
    # More than 72 of 1000 with a chance of 0.05 each happen once in a thousand times.
    assert 20 <= told <= 72
    assert p_greater([5, 6, 7, 8], [1, 2, 3, 4]) < 0.05
    assert p_greater([1, 2, 3, 4], [5, 6, 7, 8]) > 0.95


@pytest.mark.parametrize("sigma", [0.1, 3.0])
def test_the_scatter_of_normal_values_is_their_standard_deviation(sigma: float) -> None:
    values = np.random.default_rng(1).normal(5.0, sigma, 10_000)
    assert scatter(values) == pytest.approx(sigma, rel=0.05)
    values[:500] = 1e9
    assert scatter(values) == pytest.approx(sigma, rel=0.2)


@pytest.mark.parametrize("rows", [1, 2, 5, 8])
def test_medians_of_columns_are_of_what_is_known(rows: int) -> None:
    random = np.random.default_rng(rows)
    values = np.where(random.random((rows, 20)) < 0.4, np.nan, random.normal(size=(rows, 20)))
    values[:, 0] = np.nan
    for column, median in zip(values.T, column_medians(values), strict=True):
        known = column[~np.isnan(column)]
        assert median == np.median(known) if len(known) else np.isnan(median)
