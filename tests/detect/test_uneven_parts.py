# SPDX-License-Identifier: BSD-3-Clause
"""Parts need not be alike; inside a host, what one half leaves over is the other half."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import synthetic

from isochrone.detect import detect
from isochrone.detect.distance import distances_of
from isochrone.detect.levels import find_levels
from isochrone.files import Place


def levels_of(matrix: np.ndarray, hosts: np.ndarray, noise: float = 0.02) -> list[list[int]]:
    """Sizes of the groups at each level, from a matrix of mean distances."""
    i, j = np.triu_indices(len(matrix), 1)
    scattered = np.log(matrix)
    scattered[i, j] += np.random.default_rng(1).normal(0, noise, len(i))
    scattered[j, i] = scattered[i, j]
    found = find_levels(distances_of(scattered, noise, hosts))
    return [sorted(np.bincount(level).tolist()) for level in found]


def half_near(across: float) -> np.ndarray:
    """Eight groups of four; those of the first half are nearer to each other than all others are."""
    four, half = np.arange(32) // 4, np.arange(32) // 16
    matrix = np.full((32, 32), across)
    matrix[np.outer(half == 0, half == 0)] = 10.0
    matrix[four[:, None] == four] = 2.0
    return matrix


ONE_HOST = np.zeros(32, dtype=np.int64)


@pytest.mark.parametrize("across", [12.0, 20.0])
def test_what_is_left_over_inside_a_host_is_the_other_half(across: float) -> None:
    assert levels_of(half_near(across), ONE_HOST) == [[32], [16, 16], [4] * 8]


@pytest.mark.parametrize("across", [12.0, 20.0])
def test_between_hosts_some_may_be_near_and_others_alone(across: float) -> None:
    hosts = np.arange(32) // 4
    assert levels_of(half_near(across), hosts) == [[32], [4, 4, 4, 4, 16], [4] * 8]


@pytest.mark.parametrize("ranks", [2, 5])
def test_two_parts_that_are_left_over_are_no_half(ranks: int) -> None:
    """A socket of two caches, and two sockets of one: two are too few to be taken for another half."""
    cache = np.arange(4 * ranks) // ranks
    socket = np.maximum(cache - 1, 0)
    matrix = np.where(socket[:, None] == socket, 20.0, 35.0)
    matrix[cache[:, None] == cache] = 8.0
    found = levels_of(matrix, np.zeros(len(cache), dtype=np.int64))
    assert found == [[4 * ranks], [ranks, ranks, 2 * ranks], [ranks] * 4]


@pytest.mark.parametrize("hosts", [[0, 0, 0, 0, 0], [0, 1, 2, 3, 4], [0, 0, 1, 1, 2]])
def test_one_rank_apart_from_all_others_may_be_slow(hosts: list[int]) -> None:
    assert levels_of(one_apart(), np.array(hosts)) == [[5]]


def test_one_rank_apart_on_another_host_is_a_group_of_its_own() -> None:
    assert levels_of(one_apart(), np.array([0, 0, 0, 0, 1])) == [[5], [1, 4]]


def one_apart() -> np.ndarray:
    """Five ranks, the last five times as far from the others as these are from each other."""
    socket = np.array([0, 0, 0, 0, 1])
    return np.where(socket[:, None] == socket, 2.0, 10.0)


def test_parts_of_other_sizes_than_half_are_left_as_they_are() -> None:
    four = np.arange(32) // 4
    matrix = np.full((32, 32), 20.0)
    near = four < 3
    matrix[np.outer(near, near)] = 10.0
    matrix[four[:, None] == four] = 2.0
    assert levels_of(matrix, ONE_HOST) == [[32], [4, 4, 4, 4, 4, 12], [4] * 8]


@pytest.mark.parametrize("seed", range(8))
def test_few_hosts_of_ranks_that_are_not_bound_are_in_their_racks(seed: int) -> None:
    """Between cuts next to each other only few pairs are left: none of them tells, and one is right."""
    random = np.random.default_rng(seed)
    hosts = random.permutation(np.repeat(np.arange(5), 2))
    racks = np.array([0, 0, 0, 1, 1])[hosts]
    one_way = np.where(racks[:, None] == racks[None, :], 470e-6, 2.5e-3)
    one_way[hosts[:, None] == hosts[None, :]] = 60e-6
    scatter = np.triu(np.exp(np.abs(random.normal(0.0, 0.05, one_way.shape))), 1)
    rtt = 2 * one_way * (scatter + scatter.T)
    rtt[np.arange(10), np.arange(10)] = np.nan
    measurements = synthetic(
        rtt[:, :, None],
        places=tuple(Place(f"h{host}", None, "synthetic") for host in hosts),
        rtt_median_s=rtt[:, :, None] * 1.03,
        repetitions=5,
    )
    sizes = [sorted(map(len, level.groups)) for level in detect(measurements)[0].levels]
    assert sizes == [[5], [2, 3], [1] * 5]
