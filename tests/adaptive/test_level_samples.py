# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that stand for all of a group, and pairs that stand for all of a level."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from isochrone.adaptive.level_samples import level_samples, share_of_groups
from isochrone.detect.partitions import meeting_level


@pytest.mark.parametrize(
    ("groups", "share", "ranks_of_groups"),
    [
        ("aabbbc", 0.0, [1, 1, 1]),
        ("aabbbc", 0.5, [1, 2, 1]),
        ("aabbbc", 1.0, [2, 3, 1]),
        # One rank alone would be in no pair.
        ("aaaaa", 0.0, [2]),
        ("aaaaa", 0.5, [3]),
        ("a", 0.5, []),
    ],
)
def test_so_many_ranks_of_each_group_are_in_pairs(
    groups: str, share: float, ranks_of_groups: list[int]
) -> None:
    for seed in range(5):
        pairs = share_of_groups(groups, share, seed)
        chosen = {rank for pair in pairs for rank in pair}
        assert len(set(pairs)) == len(pairs) == len(chosen) * (len(chosen) - 1) / 2
        assert all(low < high for low, high in pairs)
        counts = [sum(groups[rank] == group for rank in chosen) for group in dict.fromkeys(groups)]
        assert [count for count in counts if count] == ranks_of_groups


def test_another_seed_chooses_other_ranks() -> None:
    assert len({tuple(share_of_groups("a" * 20, 0.5, seed)) for seed in range(5)}) == 5


@pytest.mark.parametrize("seed", range(5))
def test_a_level_has_pairs_of_different_ranks_and_groups(seed: int) -> None:
    place = np.random.default_rng(seed).permutation(48)
    levels = [place // size for size in (48, 16, 4)]
    pairs = level_samples(levels, np.random.default_rng(seed))
    assert all(low < high for low, high in pairs)
    assert len({rank for pair in pairs for rank in pair}) == 18
    first, second = np.array(pairs).T
    assert meeting_level(levels, first, second).tolist() == [0] * 3 + [1] * 3 + [2] * 3
    for labels, here in ((levels[1], first[3:6]), (levels[2], first[6:])):
        assert len(set(labels[here].tolist())) == 3


@pytest.mark.parametrize(("sizes", "counts"), [((4, 2), [3, 2]), ((2,), [1]), ((3, 1), [3]), ((1,), [])])
def test_there_are_no_more_pairs_than_a_level_has(sizes: tuple[int, ...], counts: list[int]) -> None:
    levels = [np.arange(sizes[0]) // size for size in sizes]
    pairs = level_samples(levels, np.random.default_rng(1))
    assert len(set(pairs)) == len(pairs)
    meets = [int(meeting_level(levels, np.array([low]), np.array([high]))[0]) for low, high in pairs]
    assert [meets.count(level) for level in range(len(counts))] == counts


def test_the_pairs_of_many_ranks_are_not_listed() -> None:
    levels = [np.arange(20_000) // size for size in (20_000, 40)]
    tracemalloc.start()
    try:
        assert len(level_samples(levels, np.random.default_rng(1))) == 6
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most_bytes < 1e8
