# SPDX-License-Identifier: BSD-3-Clause
"""A race leaves out what is slower, seldom what is as good, and takes few times for it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.statistics import FloatArray
from isochrone.tune.race import ERROR, has_won, in_time, left_in, p_slower, spent, steady

LOOKS = (2, 4, 6)


def _race(
    centers: Mapping[str, Sequence[float]], noise: float, seed: int, races: int = 1
) -> tuple[dict[int, list[str]], int]:
    """What is left of some equal races after all looks, and how many times were taken."""
    random = np.random.default_rng(seed)
    times: dict[int, dict[str, list[FloatArray]]] = {
        race: {recipe: [np.empty(0) for _ in cases] for recipe, cases in centers.items()}
        for race in range(races)
    }
    left = {race: list(centers) for race in range(races)}
    taken = 0
    for look, turns in enumerate(LOOKS):
        for race, few in left.items():
            for recipe in few:
                times[race][recipe] = [
                    np.concatenate([before, center * random.lognormal(0, noise, turns)])
                    for before, center in zip(times[race][recipe], centers[recipe], strict=True)
                ]
                taken += turns * len(centers[recipe])
        left = left_in(
            {race: {recipe: times[race][recipe] for recipe in few} for race, few in left.items()},
            look,
            len(LOOKS),
        )
    return left, taken


@pytest.mark.parametrize("noise", [0.02, 0.05, 0.1])
def test_the_fastest_stays_and_what_is_far_behind_is_timed_once(noise: float) -> None:
    centers = {"best": [1.0], **{f"slow-{at}": [2.0 + at] for at in range(8)}}
    for seed in range(20):
        left, taken = _race(centers, noise, seed)
        assert left == {0: ["best"]}
        # Two times of each, and then there is nothing left to race.
        assert taken <= len(centers) * LOOKS[0] + sum(LOOKS[1:])


def test_what_is_a_tenth_slower_is_left_out_by_the_end() -> None:
    found = [_race({"best": [1.0], "near": [1.1]}, 0.02, seed)[0][0] for seed in range(40)]
    assert sum("near" not in left for left in found) >= 36
    assert all("best" in left for left in found)


def test_equally_good_recipes_are_seldom_left_out_however_many_race_at_once() -> None:
    # 5 % of races of races may lose one; with 60 of them that more than nine do happens once in a thousand.
    losses = 0
    for seed in range(60):
        left, _ = _race({"a": [1.0], "b": [1.0], "c": [1.0]}, 0.05, seed, races=10)
        losses += any(len(few) < 3 for few in left.values())
    assert losses <= 9


def test_what_is_best_at_one_size_stays_in_a_race_for_several() -> None:
    centers = {"bruck": [1.0, 2.0], "pairwise": [4.0, 0.9], "worst": [5.0, 5.0]}
    for seed in range(20):
        assert set(_race(centers, 0.05, seed)[0][0]) == {"bruck", "pairwise"}


def test_what_is_dropped_at_first_or_proven_slower_is_beaten_and_what_is_alike_is_not() -> None:
    random = np.random.default_rng(1)
    won = {
        "native": [random.lognormal(0, 0.01, 6)],
        "far": [np.array([1.5])],
        "near": [1.1 * random.lognormal(0, 0.01, 6)],
    }
    assert has_won(won, "native")
    assert not has_won(won, "near")
    # Of nothing that raced it is not known.
    assert not has_won({"native": won["native"]}, "native")
    assert not has_won({**won, "timed once": [np.array([1.1])]}, "native")
    assert not has_won({**won, "alike": [random.lognormal(0, 0.01, 6)]}, "native")


@given(st.integers(1, 9))
def test_all_of_the_error_is_spent_and_little_of_it_at_first(looks: int) -> None:
    parts = [spent(look, looks) for look in range(looks)]
    assert sum(parts) == pytest.approx(ERROR)
    assert parts == sorted(parts)


def test_without_noise_any_difference_is_one_and_none_is_none() -> None:
    assert p_slower(np.full(3, 1.1), np.full(3, 1.0)) == 0
    assert p_slower(np.full(3, 1.0), np.full(3, 1.0)) == 1
    assert p_slower(np.full(3, 1.0), np.full(3, 1.1)) == 1
    assert p_slower(np.full(1, 2.0), np.full(1, 1.0)) == 1


def test_equal_recipes_do_not_alternate_over_the_sizes() -> None:
    options = [{"a": 1.00, "b": 1.01}, {"a": 2.02, "b": 2.00}, {"a": 3.00, "b": 3.01}, {"b": 4.0}, {"c": 5.0}]
    assert steady(options) == ["b", "b", "b", "b", "c"]
    assert steady(options[:3]) == ["a", "a", "a"]
    assert steady([]) == []


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcd"), st.floats(0.1, 10), min_size=1, max_size=4),
        min_size=1,
        max_size=6,
    )
)
def test_no_other_choice_among_the_options_changes_less(options: list[dict[str, float]]) -> None:
    def changes(chosen: Sequence[str]) -> int:
        return sum(one != two for one, two in itertools.pairwise(chosen))

    chosen = steady(options)
    assert all(recipe in few for recipe, few in zip(chosen, options, strict=True))
    others: list[tuple[str, ...]] = [()]
    for few in options:
        others = [(*before, recipe) for before in others for recipe in few]
    assert changes(chosen) == min(map(changes, others))


RACES_S = st.dictionaries(
    st.integers(0, 20), st.lists(st.floats(0, 10), min_size=1, max_size=8), min_size=1, max_size=8
)


@given(RACES_S, st.floats(0, 100), st.integers(0, 4))
def test_what_races_fits_the_budget_beyond_the_least(
    races_s: dict[int, list[float]], budget_s: float, least: int
) -> None:
    counts = in_time(races_s, budget_s, least)
    assert all(min(least, len(times)) <= counts[key] <= len(times) for key, times in races_s.items())
    beyond = {key: times[: counts[key]] for key, times in races_s.items() if counts[key] > least}
    of_least = sum(sum(times[:least]) for times in races_s.values())
    assert not beyond or sum(map(sum, beyond.values())) <= max(budget_s, of_least) * (1 + 1e-9)
    if least == 0:
        assert sum(sum(times[: counts[key]]) for key, times in races_s.items()) <= budget_s * (1 + 1e-9)


def test_what_a_short_race_leaves_is_for_a_long_one() -> None:
    assert in_time({"short": [1, 1], "long": [4, 4, 4]}, 10, 1) == {"short": 2, "long": 2}
    assert in_time({"short": [1, 1], "long": [4, 4, 4]}, 1, 1) == {"short": 1, "long": 1}
    assert in_time({"one": [1] * 8, "other": [1] * 8}, 6, 1) == {"one": 3, "other": 3}
