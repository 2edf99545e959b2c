# SPDX-License-Identifier: BSD-3-Clause
"""Detection from few of the pairs, which holds no table of all."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from bench_script import load

from isochrone.detect import dendrogram, detect
from isochrone.detect.distance import Distances, Ints, distances_between, distances_of
from isochrone.detect.levels import find_levels
from isochrone.detect.partitions import meeting_level, same
from isochrone.errors import IsochroneError
from isochrone.files import Measurements, MpiLibrary, Place, read_measurements, write_measurements
from isochrone.steps.doctor import examine

STEPS = (1.8e-6, 1.2e-6, 0.6e-6, 0.3e-6)


def machine(shape: tuple[int, ...], noise: float, seed: int, pivots: int = 8) -> tuple[Distances, list[Ints]]:
    """What a few ranks of each group are from all others in it; and the levels."""
    random = np.random.default_rng(seed)
    ranks = int(np.prod(shape))
    place = random.permutation(ranks)
    truth = [place // int(np.prod(shape[k:])) for k in range(1, len(shape))]
    pairs: set[tuple[int, int]] = set()
    for labels in (np.zeros(ranks, dtype=np.int64), *truth):
        for group in np.unique(labels):
            members = np.flatnonzero(labels == group)
            for pivot in random.permutation(members)[:pivots].tolist():
                pairs.update((min(pivot, other), max(pivot, other)) for other in members.tolist())
    first, second = np.array([pair for pair in sorted(pairs) if pair[0] < pair[1]]).T
    meets = meeting_level([np.zeros(ranks), *truth], first, second)
    log_s = np.log(STEPS)[meets] + random.normal(0.0, noise, len(first))
    return distances_between(first, second, log_s, noise, ranks), truth


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_every_level_is_found_from_few_pairs(noise: float, seed: int) -> None:
    pairs, truth = machine((3, 4, 2, 12), noise, seed)
    assert len(pairs.log_s) < 0.2 * 288 * 287 / 2
    found = find_levels(pairs)[1:]
    assert len(found) == len(truth)
    assert all(map(same, found, truth))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_few_pairs_of_ranks_that_are_all_alike_make_no_level(seed: int) -> None:
    pairs, _ = machine((200,), 0.1, seed)
    assert len(find_levels(pairs)) == 1


@pytest.mark.parametrize("seed", [1, 2])
def test_where_one_pair_is_missing_the_levels_are_those_of_all(seed: int) -> None:
    random = np.random.default_rng(seed)
    group = random.permutation(24) // 4
    noise = np.triu(random.normal(0.0, 0.03, (24, 24)), 1)
    log_s = np.where(group[:, None] == group[None, :], -14.0, -13.5) + noise + noise.T
    one, other = random.choice(24, 2, replace=False)
    log_s[one, other] = log_s[other, one] = np.nan
    found = find_levels(distances_of(log_s, 0.03))
    assert len(found) == 2
    assert same(found[1], group)


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_of_which_no_pair_was_measured_are_refused(ranks: int) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    with pytest.raises(IsochroneError, match="do not connect all places"):
        find_levels(distances_between(nothing, nothing, np.zeros(0), 0.0, ranks))


@pytest.mark.long
def test_ten_thousand_ranks_take_no_table_of_all_pairs(tmp_path: Path) -> None:
    bench = load("sparse_detect")
    row = bench.measure((10, 25, 4, 10), tmp_path)
    assert row["ranks"] == 10_000
    assert row["exact"]
    assert row["share"] < 0.01
    assert row["most_bytes"] < 2e9
    command = bench.run(bench.truth_of((10, 25, 4, 10)), tmp_path)
    assert command["command_exact"]
    assert command["command_most_bytes"] < 2e9


def test_from_the_file_to_the_tree_nothing_is_of_all_pairs(tmp_path: Path) -> None:
    pairs, truth = machine((4, 10, 2, 25), 0.02, 1, pivots=3)
    ranks, sizes = 2000, (0, 1024, 65536, 1 << 20)
    rtt_s = 2 * (np.exp(pairs.log_s)[:, None] + np.array(sizes) / 1e10)
    path = tmp_path / "measurements.jsonl"
    write_measurements(
        path,
        Measurements(
            sizes_bytes=sizes,
            repetitions=5,
            seed=1,
            places=tuple(Place(f"n{node}", str(rank), "made") for rank, node in enumerate(truth[1])),
            mpi=MpiLibrary("none", "none", "none"),
            resolution_s=1e-9,
            overhead_s=0.0,
            simulated=True,
            first=pairs.first,
            second=pairs.second,
            rtt_min_s=rtt_s,
            rtt_median_s=1.02 * rtt_s,
            send_overhead_s=np.full_like(rtt_s, 1e-7),
        ),
    )
    tracemalloc.start()
    try:
        measurements = read_measurements(path)
        topology, _ = detect(measurements)
        found = examine(measurements, path)
        tree = dendrogram(measurements)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # One number for each two ranks; four sizes of three kinds are twelve.
    assert most_bytes < 0.8 * 8 * ranks**2
    assert [level.name for level in topology.levels][:3:2] == ["machine", "node"]
    assert len(topology.levels) == len(truth) + 1
    assert tree.shape == (ranks - 1, 4)
    assert not found
