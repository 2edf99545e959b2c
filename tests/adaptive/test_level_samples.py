# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that stand for all of a group."""

from __future__ import annotations

import pytest

from isochrone.adaptive.level_samples import share_of_groups


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
