# SPDX-License-Identifier: BSD-3-Clause
"""A few ranks in a few groups, one of them slow: what the few pairs of a small machine still tell."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.detect.distance import distances_of
from isochrone.detect.levels import find_levels
from isochrone.detect.partitions import same
from isochrone.evaluate.machines.machine import nested, scattered, ultrametric

SLOWER = 1.3


def exact(sizes: tuple[int, ...], step: float, noise: float, slow: bool, seed: int) -> bool:
    """Whether the groups are found, and nothing else."""
    random = np.random.default_rng(seed)
    (groups,) = nested([[len(sizes)], list(sizes)])
    adds = np.zeros(len(groups))
    if slow:
        adds[random.integers(len(groups))] = np.log(SLOWER)
    log_s = ultrametric([groups], [step], len(groups)) + adds[:, None] + adds[None, :]
    order = random.permutation(len(groups))
    log_s = scattered(log_s, noise, random)[np.ix_(order, order)]
    np.fill_diagonal(log_s, 0.0)
    found = find_levels(distances_of(log_s, noise))[1:]
    return len(found) == 1 and same(found[0], groups[order])


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("slow", [False, True], ids=["alike", "one slow"])
@pytest.mark.parametrize("sizes", [(4, 4), (3, 3, 3), (5, 3, 2), (2, 2, 2, 2)])
def test_groups_at_twice_the_distance_are_found(sizes: tuple[int, ...], slow: bool, noise: float) -> None:
    assert sum(exact(sizes, 2.0, noise, slow, seed) for seed in range(10)) >= 9


@pytest.mark.parametrize("slow", [False, True], ids=["alike", "one slow"])
@pytest.mark.parametrize("sizes", [(4, 4), (3, 3, 3)])
def test_groups_a_third_farther_are_found(sizes: tuple[int, ...], slow: bool) -> None:
    assert sum(exact(sizes, 1.3, 0.02, slow, seed) for seed in range(10)) >= 9
