# SPDX-License-Identifier: BSD-3-Clause
"""Levels that only bandwidth shows."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import synthetic

from isochrone.detect import detect
from isochrone.files import Measurements

SIZES_BYTES = (0, 1024, 1 << 20)


def measured(
    seed: int,
    racks: np.ndarray,
    nodes: np.ndarray,
    slowdown: float,
    noise: float,
    slow_nodes: tuple[int, ...] = (),
) -> Measurements:
    """Nodes of 1 and 5 us; a byte takes 0.1 ns, and `slowdown` times as long between racks and over the
    cables of slow nodes.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(racks))
    racks, nodes = racks[order], nodes[order]
    slow = np.isin(nodes, slow_nodes)
    latency = np.where(nodes[:, None] == nodes[None, :], 1e-6, 5e-6)
    byte = np.where(racks[:, None] == racks[None, :], 1e-10, slowdown * 1e-10)
    over_slow = (slow[:, None] | slow[None, :]) & (nodes[:, None] != nodes[None, :])
    byte[over_slow] = slowdown * 1e-10
    times = 2 * (latency[:, :, None] + byte[:, :, None] * np.array(SIZES_BYTES))
    scattered = np.exp(np.abs(random.normal(0.0, noise, (*times.shape, 20))))
    rtt = np.sort(times[..., None] * scattered, axis=-1)
    low = np.tril_indices(len(racks))
    rtt[low] = rtt.transpose(1, 0, 2, 3)[low]
    rtt[np.arange(len(racks)), np.arange(len(racks))] = np.nan
    return synthetic(
        rtt[..., 0],
        SIZES_BYTES,
        repetitions=20,
        rtt_median_s=rtt[..., 10],
        hosts=[f"n{node}" for node in nodes],
    )


def sizes_of(measurements: Measurements) -> list[list[int]]:
    topology = detect(measurements)[0]
    return [sorted(len(group) for group in level.groups) for level in topology.levels]


RANK = np.arange(32)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("slowdown", [1.5, 4.0])
def test_racks_of_one_latency_and_slow_uplinks_are_a_level(seed: int, slowdown: float) -> None:
    measurements = measured(seed, RANK // 16, RANK // 4, slowdown, 0.05)
    assert sizes_of(measurements) == [[32], [16, 16], [4] * 8]
    (reason,) = (reason for reason in detect(measurements)[0].reasons if reason.groups == 2)
    assert reason.level is not None
    assert reason.size_bytes == 1 << 20
    assert "by messages of 1 MiB" in reason.why


@pytest.mark.parametrize("seed", range(5))
def test_uneven_racks_too(seed: int) -> None:
    assert sizes_of(measured(seed, (RANK >= 12).astype(int), RANK // 4, 3.0, 0.05)) == [
        [32],
        [12, 20],
        [4] * 8,
    ]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.02, 0.2])
def test_links_of_one_bandwidth_add_nothing(seed: int, noise: float) -> None:
    assert sizes_of(measured(seed, RANK * 0, RANK // 4, 1.0, noise)) == [[32], [4] * 8]


@pytest.mark.parametrize("seed", range(3))
def test_slow_cables_of_some_nodes_are_no_level(seed: int) -> None:
    measurements = measured(seed, RANK * 0, RANK // 2, 4.0, 0.02, slow_nodes=(1, 2, 5, 7, 8, 10, 13, 14))
    assert sizes_of(measurements) == [[32], [2] * 16]


def test_groups_that_cut_through_nodes_are_none() -> None:
    assert sizes_of(measured(1, RANK % 2, RANK // 4, 4.0, 0.02)) == [[32], [4] * 8]


def test_a_size_that_some_pairs_lack_has_no_say() -> None:
    measurements = measured(1, RANK // 16, RANK // 4, 1.5, 0.02)
    measurements.rtt_min_s[measurements.find(0, 5), 2] = np.nan
    assert sizes_of(measurements) == [[32], [4] * 8]
