# SPDX-License-Identifier: BSD-3-Clause
"""Few sizes are raced, and the places where winners change are found among the others."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from isochrone.tune.sizes import EVERY, FIRST, SIZES_BYTES, between, few_of, first_of, rounds_of, winner_at

sizes_strategy = st.lists(st.integers(1, 1 << 26), min_size=1, max_size=40, unique=True).map(sorted)


@given(sizes_strategy)
def test_the_first_sizes_hold_the_ends_and_are_few(sizes: list[int]) -> None:
    first = first_of(sizes)
    assert set(first) <= set(sizes)
    assert len(first) == min(len(sizes), FIRST)
    assert {first[0], first[-1]} == {sizes[0], sizes[-1]}


@given(sizes_strategy)
def test_few_sizes_hold_the_ends_and_are_a_third(sizes: list[int]) -> None:
    few = few_of(sizes)
    assert set(few) <= set(sizes)
    assert (few[0], few[-1]) == (sizes[0], sizes[-1])
    assert len(few) <= max(2, len(sizes) / EVERY + 1)
    # To leave one out is never to have more.
    assert len(few_of(sizes[:-1])) <= len(few)


def test_few_of_the_usual_sizes_end_at_the_largest() -> None:
    assert few_of(SIZES_BYTES) == (1, 511, 32768, 524287, 4194304)


def _found(sizes: list[int], truth: list[str], first: Sequence[int]) -> tuple[list[str], int]:
    """What is taken for the winner of each size, and how many sizes were raced for that."""
    winner = dict(zip(sizes, truth, strict=True))
    raced = {size: winner[size] for size in first}
    for _ in range(rounds_of(first, sizes)):
        raced |= {size: winner[size] for size in between(raced, sizes)}
    assert not between(raced, sizes)
    return [winner_at(raced, size) for size in sizes], len(raced)


@given(st.data(), sizes_strategy)
def test_a_change_of_the_winner_is_found_wherever_it_is(data: st.DataObject, sizes: list[int]) -> None:
    at = data.draw(st.integers(0, len(sizes)))
    truth = ["small"] * at + ["large"] * (len(sizes) - at)
    assert _found(sizes, truth, first_of(sizes))[0] == truth
    assert _found(sizes, truth, first_of(few_of(sizes)))[0] == truth


def test_three_changes_over_the_usual_sizes_take_fewer_races_than_sizes() -> None:
    sizes = list(SIZES_BYTES)
    truth = ["a"] * 3 + ["native"] * 4 + ["b"] * 7
    found, raced = _found(sizes, truth, first_of(sizes))
    assert found == truth
    assert raced < len(sizes)


def test_a_size_beyond_those_that_were_raced_takes_the_nearest_in_ratio() -> None:
    winners = {1: "a", 1000: "b"}
    assert [winner_at(winners, size) for size in (0, 1, 20, 40, 1000, 10**6)] == [
        "a",
        "a",
        "a",
        "b",
        "b",
        "b",
    ]
