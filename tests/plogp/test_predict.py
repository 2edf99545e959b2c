# SPDX-License-Identifier: BSD-3-Clause
"""Times predicted from parameters: the thesis's equation, by either fit, and its matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from synthetic import synthetic

from isochrone.detect import detect
from isochrone.errors import IsochroneError
from isochrone.files import Measurements, PairParameters
from isochrone.plogp.checks import warnings
from isochrone.plogp.predict import distance_matrix_s, seen_by, similarity, time_s, vectors

SIZES = [0, 1, 2, 4, 8]


def straight(sender: int, receiver: int, make: Callable[..., PairParameters], scale: float) -> PairParameters:
    gap_s = [scale * (1e-7 + 1e-8 * size) for size in SIZES]
    rtt_s = [2 * (scale * 1e-6 + gap) for gap in gap_s]
    return make(rtt_s, SIZES, gap_s, sender, receiver)


def measured(make: Callable[..., PairParameters], scales: np.ndarray, both: bool) -> Measurements:
    n = len(scales)
    rtt_s = np.full((n, n, 1), 2e-6)
    return synthetic(
        rtt_s,
        send_overhead_s=rtt_s,
        parameters={
            (i, j): straight(i, j, make, scales[i, j])
            for i in range(n)
            for j in range(n)
            if i < j or (both and i != j)
        },
    )


@pytest.mark.parametrize("fit", ["piecewise", "linear"])
@pytest.mark.parametrize("size", [0, 3, 8, 100])
def test_the_time_is_that_of_the_equation(
    make_parameters: Callable[..., PairParameters], fit: str, size: int
) -> None:
    found = straight(0, 1, make_parameters, 1.0)
    assert found.latency_s == pytest.approx(1e-6)
    assert time_s(found, size, fit) == pytest.approx(1e-6 + 1e-7 + (1e-7 + 1e-8 * size))


def test_a_step_is_followed_piece_by_piece_and_smoothed_by_one_line(
    make_parameters: Callable[..., PairParameters],
) -> None:
    gap_s = [1e-7, 1e-7, 1e-7, 9e-7, 9e-7]
    found = make_parameters([2e-6 + 2 * gap for gap in gap_s], SIZES, gap_s)
    assert time_s(found, 4) - time_s(found, 2) == pytest.approx(8e-7)
    assert time_s(found, 4, "linear") - time_s(found, 2, "linear") < 4e-7


def test_matrices_are_symmetric_whether_one_direction_was_measured_or_both(
    make_parameters: Callable[..., PairParameters],
) -> None:
    scales = np.array([[0, 1, 4], [3, 0, 4], [4, 4, 0]])
    one = distance_matrix_s(measured(make_parameters, scales, both=False), 8)
    both = distance_matrix_s(measured(make_parameters, scales, both=True), 8)
    np.testing.assert_array_equal(one, one.T)
    np.testing.assert_array_equal(both, both.T)
    overheads_s = 1e-7
    assert both[0, 1] - overheads_s == pytest.approx(2 * (one[0, 1] - overheads_s))
    assert one[0, 2] == pytest.approx(both[0, 2])


def test_vectors_of_ranks_that_see_the_same_are_near(make_parameters: Callable[..., PairParameters]) -> None:
    group = np.arange(6) // 3
    scales = np.where(group[:, None] == group[None, :], 1.0, 3.0)
    found = vectors(measured(make_parameters, scales, both=False), 8)
    assert found.shape == (6, 24)
    apart = similarity(found)
    assert apart[0, 1] < apart[0, 3]
    np.testing.assert_array_equal(apart, apart.T)


def test_a_pair_without_parameters_is_one_line(make_parameters: Callable[..., PairParameters]) -> None:
    whole = measured(make_parameters, np.ones((3, 3)), both=False)
    some = {key: value for key, value in whole.parameters.items() if key != (1, 2)}
    with pytest.raises(IsochroneError, match="ranks 1 and 2 have no PLogP parameters"):
        distance_matrix_s(replace(whole, parameters=some), 8)


def test_what_noise_made_negative_is_said(make_parameters: Callable[..., PairParameters]) -> None:
    good = straight(0, 1, make_parameters, 1.0)
    bad = make_parameters([2e-7] * 5, SIZES, [2e-7, -1e-8, 1e-7, 1e-7, 1e-7], 2, 3)
    lines = warnings([good, bad])
    assert len(lines) == 2
    assert lines[0].startswith(
        "the latency is negative for 1 of 2 pairs and directions, the first from rank 2 to 3"
    )
    assert "gap is negative" in lines[1]
    assert "of 1 bytes" in lines[1]
    assert warnings([good]) == []


@pytest.mark.parametrize("distance", ["piecewise", "linear", "vectors"])
def test_groups_are_found_by_any_of_the_distances(
    make_parameters: Callable[..., PairParameters], distance: str
) -> None:
    group = np.random.default_rng(1).permutation(np.arange(12) // 4)
    scales = np.where(group[:, None] == group[None, :], 1.0, 3.0)
    measurements = measured(make_parameters, scales, both=False)
    topology, _ = detect(seen_by(measurements, distance, 8))
    assert len(topology.levels) == 2
    found = {frozenset(topology.ranks.index(place) for place in group) for group in topology.levels[1].groups}
    assert found == {frozenset(np.flatnonzero(group == each).tolist()) for each in range(3)}
