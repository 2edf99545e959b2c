# SPDX-License-Identifier: BSD-3-Clause
"""A recipe gets a rule only where it is proven faster, and only for sizes that speak for it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.files import Evidence
from isochrone.tune.rules import Decision, decide, is_slower, rules_for

EVIDENCE = Evidence(2e-6, 1e-6, 2.0, (1.9, 2.1), 20)


def _noisy(center: float, seed: int, count: int = 25) -> np.ndarray:
    return center * np.random.default_rng(seed).lognormal(0, 0.1, count)


def test_a_recipe_that_is_twice_as_fast_gets_a_rule() -> None:
    decision = decide(64, [{"native": _noisy(2e-6, 1), "chain": _noisy(1e-6, 2)}], 14, False)
    assert decision.recipe == "chain"
    assert decision.evidence.speedup_ci[0] > 1.5


@pytest.mark.parametrize("seed", range(20))
def test_a_recipe_that_is_as_fast_as_the_librarys_own_gets_none(seed: int) -> None:
    times = {"native": _noisy(1e-6, seed), "chain": _noisy(1e-6, seed + 100)}
    assert decide(64, [times], 14, False).recipe == "native"


def test_few_noisy_repetitions_prove_nothing() -> None:
    times = {"native": np.array([2e-6, 2e-6]), "chain": np.array([1e-6, 1e-6])}
    assert decide(64, [times], 1, False).recipe == "native"
    assert decide(64, [times], 1, True).recipe == "chain"


def test_the_fastest_of_several_recipes_is_chosen() -> None:
    times = {"native": np.array([3.0]), "flat": np.array([2.0]), "chain": np.array([1.0])}
    assert decide(64, [times], 1, True).recipe == "chain"


def test_a_gain_from_one_root_is_enough_where_nothing_is_lost_from_another() -> None:
    good = {"native": _noisy(2e-6, 1), "chain": _noisy(1e-6, 2)}
    even = {"native": np.full(25, 1e-6), "chain": np.full(25, 1e-6)}
    bad = {"native": _noisy(1e-6, 3), "chain": _noisy(1.5e-6, 4)}
    assert decide(64, [good, even], 14, False).recipe == "chain"
    assert decide(64, [good, bad], 14, False).recipe == "native"
    assert decide(64, [even, even], 14, False).recipe == "native"


def test_a_plan_that_is_slower_beyond_the_margin_is_found_out() -> None:
    assert is_slower(_noisy(1e-6, 1), _noisy(1.2e-6, 2), 5, False)
    assert not is_slower(_noisy(1e-6, 1), _noisy(1e-6, 2), 5, False)
    assert not is_slower(_noisy(1.2e-6, 1), _noisy(1e-6, 2), 5, False)


@given(
    st.lists(
        st.tuples(st.integers(1, 1 << 22), st.sampled_from(["native", "chain", "binomial"])),
        min_size=1,
        max_size=14,
        unique_by=lambda pair: pair[0],
    )
)
def test_rules_hold_for_each_size_that_was_decided_and_never_overlap(chosen: list[tuple[int, str]]) -> None:
    rules = rules_for("a shape", [Decision(size, recipe, EVIDENCE) for size, recipe in chosen])
    for size, recipe in chosen:
        holding = [rule.recipe for rule in rules if rule.min_bytes <= size <= rule.max_bytes]
        assert holding == ([] if recipe == "native" else [recipe])
    ends = sorted((rule.min_bytes, rule.max_bytes) for rule in rules)
    assert all(high < low for (_, high), (low, _) in pairwise(ends))


def test_nothing_is_claimed_between_a_recipe_and_the_librarys_own() -> None:
    decisions = [
        Decision(100, "native", EVIDENCE),
        Decision(1000, "chain", EVIDENCE),
        Decision(5000, "native", EVIDENCE),
    ]
    (rule,) = rules_for("a shape", decisions)
    assert (rule.min_bytes, rule.max_bytes) == (1000, 1000)
