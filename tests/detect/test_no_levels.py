# SPDX-License-Identifier: BSD-3-Clause
"""Where nothing is a tree there are no levels, however few ranks tell that; and small trees keep theirs."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.detect.distance import distances_of
from isochrone.detect.levels import find_levels

Random = np.random.Generator


def counts(log_s: np.ndarray, noise: float, random: Random) -> list[int]:
    """How many groups each level has that is found, whatever the order of the rows."""
    draw = np.triu(random.normal(0.0, noise, log_s.shape), 1)
    order = random.permutation(len(log_s))
    found = find_levels(distances_of((log_s + draw + draw.T)[np.ix_(order, order)], noise))
    return [len(np.unique(labels)) for labels in found[1:]]


def of_hops(shape: tuple[int, ...], nearest: float) -> np.ndarray:
    """Logarithms of the distances on a torus, a hop as far as ``1 / nearest`` of what is there anyway."""
    places = np.stack(np.unravel_index(np.arange(int(np.prod(shape))), shape))
    steps = np.abs(places[:, :, None] - places[:, None, :])
    hops = np.minimum(steps, np.array(shape)[:, None, None] - steps).sum(axis=0)
    return np.log(nearest + hops)


@pytest.mark.parametrize("shape", [(8,), (4, 4), (4, 5), (5, 4), (3, 4, 2), (4, 4, 2)])
@pytest.mark.parametrize("nearest", [1.0, 5.0])
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_rings_side_by_side_are_no_groups(shape: tuple[int, ...], nearest: float, noise: float) -> None:
    for seed in range(2):
        assert counts(of_hops(shape, nearest), noise, np.random.default_rng(seed)) == []


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("ranks", [5, 6, 8, 11, 16, 20])
def test_few_points_seldom_look_like_groups(dimensions: int, ranks: int) -> None:
    levels = 0
    for seed in range(12):
        random = np.random.default_rng([seed, ranks, dimensions])
        points = random.random((ranks, dimensions))
        far = np.linalg.norm(points[:, None, :] - points[None, :, :], axis=2)
        levels += len(counts(np.log(0.2 + far), 0.02, random))
    assert levels <= 1


@pytest.mark.parametrize("groups", [[2, 2], [3, 3], [2, 2, 2], [4, 2, 3], [5, 3], [2, 2, 2, 2]])
@pytest.mark.parametrize("step", [1.3, 2.0])
def test_small_trees_keep_their_level(groups: list[int], step: float) -> None:
    group = np.repeat(np.arange(len(groups)), groups)
    log_s = np.where(group[:, None] == group[None, :], 0.0, np.log(step))
    for seed in range(5):
        for noise in (0.0, 0.02):
            assert counts(log_s, noise, np.random.default_rng(seed)) == [len(groups)]
