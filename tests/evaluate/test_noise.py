# SPDX-License-Identifier: BSD-3-Clause
"""Noise that is put on exact measurements: fewer repetitions are the first of more, and each part shows."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import synthetic

from isochrone.evaluate.noise import CLEAN, Noise, disturb
from isochrone.files import Measurements


def exact(ranks: int = 40) -> Measurements:
    rtt_s = np.full((ranks, ranks, 2), [2e-6, 4e-6])
    rtt_s[np.arange(ranks), np.arange(ranks)] = np.nan
    return synthetic(rtt_s, (0, 1024))


def test_without_noise_nothing_changes() -> None:
    (found,) = disturb(exact(), CLEAN, [3])
    np.testing.assert_array_equal(found.rtt_min_s, exact().rtt_min_s)
    assert found.repetitions == 3


def test_fewer_repetitions_are_the_first_of_more() -> None:
    noise = Noise(0.1, 0.03, True)
    few, many = disturb(exact(), noise, [8, 128])
    (alone,) = disturb(exact(), noise, [128])
    np.testing.assert_array_equal(many.rtt_min_s, alone.rtt_min_s)
    assert np.all(many.rtt_min_s <= few.rtt_min_s)
    assert np.any(many.rtt_min_s < few.rtt_min_s)


def test_messages_scatter_as_told() -> None:
    (found,) = disturb(exact(), Noise(0.1, 0.0, False), [1])
    # A round trip is two messages: their mean scatters by a square root of two less.
    assert np.std(np.log(found.rtt_min_s[:, 0])) == pytest.approx(0.1 / np.sqrt(2), rel=0.1)


def test_a_bias_stays_however_often_a_pair_is_measured() -> None:
    (found,) = disturb(exact(), Noise(0.0, 0.03, False), [128])
    assert np.std(np.log(found.rtt_min_s[:, 0])) == pytest.approx(0.03, rel=0.1)
    np.testing.assert_allclose(found.rtt_min_s[:, 1], 2 * found.rtt_min_s[:, 0])


def test_bursts_hit_one_pair_in_ten_and_pass() -> None:
    few, many = disturb(exact(), Noise(0.0, 0.0, True), [1, 128])
    assert 0 < np.mean(few.rtt_min_s[:, 0] > 2.1e-6) < 0.05
    assert np.mean(many.rtt_min_s[:, 0] > 2.1e-6) < 0.01
    assert np.mean(many.rtt_median_s[:, 0] > 2.1e-6) < 0.02


@pytest.mark.parametrize("seed", [1, 7])
def test_the_same_seed_is_the_same_noise(seed: int) -> None:
    noise = Noise(0.1, 0.03, True, seed)
    (one,), (two,) = (disturb(exact(), noise, [4]) for _ in range(2))
    np.testing.assert_array_equal(one.rtt_median_s, two.rtt_median_s)
    (other,) = disturb(exact(), Noise(0.1, 0.03, True, seed + 10), [4])
    assert not np.array_equal(one.rtt_median_s, other.rtt_median_s)
