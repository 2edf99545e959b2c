# SPDX-License-Identifier: BSD-3-Clause
"""Detection from few of the pairs, which holds no table of all."""

from __future__ import annotations

import numpy as np
import pytest
from bench_script import load

from isochrone.detect.distance import Distances, Ints, distances_between, distances_of
from isochrone.detect.levels import find_levels
from isochrone.detect.partitions import meeting_level, same
from isochrone.errors import IsochroneError

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
    with pytest.raises(IsochroneError, match="do not connect ranks 0 and 1"):
        find_levels(distances_between(nothing, nothing, np.zeros(0), 0.0, ranks))


@pytest.mark.long
def test_ten_thousand_ranks_take_no_table_of_all_pairs() -> None:
    row = load("sparse_detect").measure((10, 25, 4, 10))
    assert row["ranks"] == 10_000
    assert row["exact"]
    assert row["share"] < 0.01
    assert row["most_bytes"] < 2e9
