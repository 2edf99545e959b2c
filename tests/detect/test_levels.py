# SPDX-License-Identifier: BSD-3-Clause
"""Levels are found from message times alone: all that are there, and none that is not."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isochrone.detect import detect
from isochrone.detect.distance import Distances, distances, distances_of
from isochrone.detect.levels import find_levels

US = 1e-6

SYSTEMS = {
    "fram": ([2, 2, 2, 16], [3.0, 2.0, 1.0, 0.5]),
    "idun": ([16, 2, 14], [1.8, 0.8, 0.4]),
    "arm1": ([4, 24], [0.8, 0.5]),
    "odd": ([3, 2, 5], [2.0, 1.0, 0.5]),
    "odder": ([7, 3], [2.0, 0.5]),
    "pairs": ([16, 2], [1.8, 0.5]),
    "two nodes of two": ([2, 2], [2.0, 0.5]),
    "cubic": ([2, 2, 2], [2.0, 1.0, 0.5]),
}


def on_one_host(log_s: np.ndarray) -> Distances:
    """Of ranks of which nothing is known but [rank, rank] logarithms of their distances."""
    return distances_of(log_s, 0.0, np.zeros(len(log_s), dtype=np.int64))


def finds(measurements, cluster, same) -> bool:
    topology, _ = detect(measurements)
    found = [topology.labels(level) for level in topology.levels]
    return len(found) == len(cluster.paths) and all(
        same(a, b.tolist()) for a, b in zip(found, cluster.paths, strict=True)
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_level_of_a_quiet_machine_is_found_in_any_rank_order(
    system, make_regular, make_measurements, same
):
    counts, latencies = SYSTEMS[system]
    for seed in range(2):
        cluster = make_regular(counts, np.array(latencies) * US).shuffled(seed)
        assert finds(make_measurements(cluster), cluster, same)


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_level_is_found_through_a_noise_of_ten_percent(system, make_regular, make_measurements, same):
    counts, latencies = SYSTEMS[system]
    for seed in range(3):
        cluster = make_regular(counts, np.array(latencies) * US).shuffled(seed)
        assert finds(make_measurements(cluster, noise=0.1, seed=seed), cluster, same)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_four_nodes_of_128_cores_are_found_down_to_their_caches(noise, make_regular, make_measurements, same):
    cluster = make_regular([4, 2, 16, 4], np.array([1.8, 0.8, 0.6, 0.5]) * US).shuffled(7)
    assert finds(make_measurements(cluster, noise=noise), cluster, same)


def test_an_island_of_one_node_is_an_island(make_cluster, make_measurements, same):
    rank = np.arange(40)
    cluster = make_cluster(np.stack([rank * 0, rank // 30, rank // 10]), (3 * US, 2 * US, 1 * US)).shuffled(1)
    assert finds(make_measurements(cluster, noise=0.05), cluster, same)


def test_a_level_ten_percent_beyond_the_next_is_found_without_noise(make_regular, make_measurements, same):
    cluster = make_regular([3, 3, 3, 3], US * 1.1 ** np.arange(4)[::-1]).shuffled(2)
    assert finds(make_measurements(cluster), cluster, same)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 7, 8, 16, 33])
@pytest.mark.parametrize("noise", [0.0, 0.01, 0.05, 0.2])
def test_where_all_are_equally_far_there_is_one_level(ranks, noise, make_regular, make_measurements):
    for seed in range(12):
        topology, _ = detect(make_measurements(make_regular([ranks], [US]), noise=noise, seed=seed))
        assert [len(level.groups) for level in topology.levels] == [1]


@pytest.mark.parametrize("ranks", [5, 8, 16, 64])
def test_noise_of_which_nothing_is_known_makes_no_level(ranks):
    """The minimum tells as much as the median: only the distances themselves show that they are noisy."""
    i, j = np.triu_indices(ranks, 1)
    for seed in range(15):
        for noise in (0.01, 0.1, 0.2):
            log_s = np.zeros((ranks, ranks))
            log_s[i, j] = log_s[j, i] = np.random.default_rng(seed).normal(0.0, noise, len(i))
            assert len(find_levels(on_one_host(log_s))) == 1


def test_neighbours_on_a_ring_are_no_groups():
    ranks = np.arange(16)
    steps = np.abs(ranks[:, None] - ranks[None, :])
    hops = np.minimum(steps, len(ranks) - steps)
    assert len(find_levels(on_one_host(np.log(hops + 0.5)))) == 1


def test_one_odd_pair_is_no_level(make_regular, make_measurements):
    measurements = make_measurements(make_regular([32], [US]), noise=0.02)
    measurements.rtt_min_s[measurements.find(3, 9)] /= 3
    assert len(detect(measurements)[0].levels) == 1


@pytest.mark.parametrize("counts", [[3], [4], [8], [2, 2], [2, 3], [2, 4]])
def test_which_pairs_happened_to_have_a_fast_message_is_no_level(
    counts, make_regular, make_measurements, same
):
    cluster = make_regular(counts, np.array([5.0, 1.5][: len(counts)]) * US)
    hosts = [f"n{rank}" for rank in range(cluster.ranks)]
    for fast in (0.01, 0.03, 0.1):
        for seed in range(10):
            measured = make_measurements(cluster, 0.02, seed, hosts, repetitions=20, fast=fast)
            assert finds(measured, cluster, same), (fast, seed)


@pytest.mark.parametrize("counts", [[3], [2, 2]])
def test_one_pair_that_was_held_up_all_the_time_is_no_level(counts, make_regular, make_measurements, same):
    cluster = make_regular(counts, np.array([5.0, 1.5][: len(counts)]) * US)
    hosts = [f"n{rank}" for rank in range(cluster.ranks)]
    for seed in range(20):
        measured = make_measurements(cluster, 0.02, seed, hosts, repetitions=20, bias=0.08)
        assert finds(measured, cluster, same), seed


def test_a_pair_that_is_as_fast_as_others_when_it_is_repeated_is_as_near(make_regular, make_measurements):
    cluster = make_regular([2, 4], np.array([5.0, 1.5]) * US)
    measured = make_measurements(cluster, 0.02)
    alone_s = np.stack([measured.rtt_min_s[0], measured.rtt_median_s[0]])
    for array in (measured.rtt_min_s, measured.rtt_median_s):
        array[0] *= 1.3
    again = replace(measured, alone={(0, 1): alone_s})
    for name in ("log_s", "usual_log_s"):
        of_pair = [getattr(distances(each), name)[0] for each in (measured, again)]
        assert of_pair[0] - of_pair[1] == pytest.approx(np.log(1.3))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("slow", [1, 2, 4, 6])
@pytest.mark.parametrize("counts", [[4, 2], [8, 2], [2, 4], [3, 4], [4, 4]])
def test_pairs_that_were_held_up_once_and_repeated_leave_the_levels_as_they_are(
    counts, slow, seed, make_regular, make_measurements, same
):
    cluster = make_regular(counts, np.array([5.0, 1.0]) * US)
    measured = make_measurements(cluster, 0.02, seed)
    within = np.flatnonzero(measured.first // counts[1] == measured.second // counts[1])
    held_up = np.random.default_rng(seed).permutation(within)[:slow]
    arrays = (measured.rtt_min_s, measured.rtt_median_s)
    alone = {measured.pairs[k]: np.stack([each[k] for each in arrays]) for k in held_up}
    for array in arrays:
        array[held_up] *= 9.0
    assert finds(replace(measured, alone=alone), cluster, same)


def test_a_size_that_took_too_long_when_a_pair_was_repeated_is_known_from_before(
    make_regular, make_measurements, same
):
    cluster = make_regular([2, 4], np.array([5.0, 1.5]) * US)
    measured = make_measurements(cluster, 0.02)
    alone_s = np.stack([measured.rtt_min_s[0], measured.rtt_median_s[0]])
    alone_s[:, -1] = np.nan
    again = replace(measured, alone=dict.fromkeys(measured.pairs, alone_s))
    assert finds(again, cluster, same)
    largest = slice(len(measured.sizes_bytes) - 1, None)
    of_largest = [distances(each.only_sizes(largest)).log_s for each in (measured, again)]
    assert np.array_equal(*of_largest)


def test_one_odd_pair_among_pairs_does_not_break_their_level(make_regular, make_measurements, same):
    cluster = make_regular([16, 2], [2 * US, 0.5 * US])
    measurements = make_measurements(cluster, noise=0.02)
    for array in (measurements.rtt_min_s, measurements.rtt_median_s):
        array[0] = 2 * 0.9 * US
    assert finds(measurements, cluster, same)


def test_a_message_that_was_held_up_every_time_does_not_change_the_levels(
    make_regular, make_measurements, same
):
    cluster = make_regular([4, 2, 4], [2 * US, 1 * US, 0.5 * US]).shuffled(3)
    measurements = make_measurements(cluster, noise=0.02)
    first, second = (np.flatnonzero(cluster.paths[-1] == 2)[k] for k in (0, 1))
    for array in (measurements.rtt_min_s, measurements.rtt_median_s):
        array[measurements.find(first, second)] = 9 * US
    assert finds(measurements, cluster, same)


@st.composite
def trees(draw) -> tuple[np.ndarray, np.ndarray]:
    """Paths [level, rank] of a random tree, and a distance for each level, at least 10 % apart."""
    depth = draw(st.integers(1, 4))
    paths: list[list[int]] = [[]]
    for level in range(depth):
        # Some levels divide every group, so that each level is one of its own for most ranks.
        sizes = [draw(st.integers(2, 3 if level else 4)) for _ in paths]
        paths = [[*path, child] for path, size in zip(paths, sizes, strict=True) for child in range(size)]
    members = [draw(st.integers(2, 3)) for _ in paths]
    leaves = np.repeat(np.arange(len(paths)), members)
    rows = [np.zeros(len(leaves), dtype=int)]
    for level in range(1, depth + 1):
        numbers: dict[tuple[int, ...], int] = {}
        label = np.array([numbers.setdefault(tuple(path[:level]), len(numbers)) for path in paths])
        rows.append(label[leaves])
    ratios = [draw(st.floats(1.1, 4.0)) for _ in range(depth)]
    latencies = 1e-7 * np.cumprod([1.0, *ratios])[::-1]
    order = np.random.default_rng(draw(st.integers(0, 1000))).permutation(len(leaves))
    return np.stack(rows)[:, order], latencies


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(trees())
def test_any_tree_is_found_exactly_without_noise(tree):
    paths, latencies = tree
    meets = np.sum(paths[:, :, None] == paths[:, None, :], axis=0) - 1
    np.fill_diagonal(meets, 0)
    found = find_levels(on_one_host(np.log(latencies[meets])))
    assert len(found) == len(paths)
    for labels, truth in zip(found, paths, strict=True):
        assert np.array_equal(labels[:, None] == labels[None, :], truth[:, None] == truth[None, :])


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("faster", [1.0, 4.0])
def test_ranks_of_a_host_are_a_level_only_if_some_message_is_faster_there(
    faster, noise, make_regular, make_measurements, same
):
    """Ranks that are not bound, whose smallest messages are as slow on one host as between hosts."""
    cluster = make_regular([2, 4, 2], np.array([2000, 200, 200]) * US).shuffled(3)
    hosts = cluster.paths[2]
    measurements = make_measurements(
        cluster, noise=noise, hosts=[f"n{host}" for host in hosts], cpus=[None] * cluster.ranks
    )
    measurements.rtt_min_s[hosts[measurements.first] == hosts[measurements.second], 2] /= faster
    topology, _ = detect(measurements)
    expected = [paths for k, paths in enumerate(cluster.paths) if k < 2 or faster > 1]
    assert len(topology.levels) == len(expected)
    assert all(
        same(topology.labels(level), labels.tolist())
        for level, labels in zip(topology.levels, expected, strict=True)
    )


def test_512_ranks_take_seconds(make_regular, make_measurements):
    """A bound so wide that only another order of growth can break it."""
    measurements = make_measurements(
        make_regular([4, 2, 16, 4], np.array([1.8, 0.8, 0.6, 0.5]) * US), noise=0.05
    )
    start = time.process_time()
    detect(measurements)
    assert time.process_time() - start < 60


@pytest.mark.parametrize("repetitions", [2, 5, 20, 128])
def test_the_scatter_of_the_least_is_told_from_its_distance_to_the_median(
    make_regular, make_measurements, repetitions: int
) -> None:
    flat = make_regular([40], [1e-6])
    found = distances(make_measurements(flat, noise=0.1, repetitions=repetitions))
    assert found.noise == pytest.approx(np.std(found.log_s), rel=0.15)


@pytest.mark.parametrize("repetitions", [8, 32, 128])
def test_small_steps_are_found_however_often_a_pair_is_measured(
    make_regular, make_measurements, same, repetitions: int
) -> None:
    cluster = make_regular([2, 8, 4], [0.8e-6, 0.6e-6, 0.5e-6])
    assert finds(make_measurements(cluster, noise=0.1, repetitions=repetitions), cluster, same)
