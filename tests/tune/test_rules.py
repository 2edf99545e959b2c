# SPDX-License-Identifier: BSD-3-Clause
"""A recipe gets a rule only where it is proven faster, and only for sizes that speak for it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.files import Evidence
from isochrone.statistics import FloatArray
from isochrone.tune.rules import Decision, borders, confirmed, decide, is_confirmed, ranked, rules_for

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


def test_the_fastest_that_loses_nowhere_is_chosen() -> None:
    small = {"native": _noisy(8e-6, 1), "bruck": _noisy(1e-6, 2), "pairwise": _noisy(4e-6, 3)}
    large = {"native": _noisy(1e-3, 4), "bruck": _noisy(2e-3, 5), "pairwise": _noisy(9e-4, 6)}
    assert ranked([small, large])[0] == "bruck"
    assert decide(0, [small, large], 14, False).recipe == "pairwise"


def test_a_rule_for_several_sizes_is_confirmed_where_it_is_faster_at_one_and_slower_at_none() -> None:
    def times(native: float, plan: float) -> dict[str, FloatArray]:
        return {"native": np.array([native]), "plan": np.array([plan])}

    chosen = decide(0, [{"native": np.array([2.0]), "chain": np.array([1.0])}], 1, True)
    assert confirmed(chosen, [times(2, 1), times(3, 3)], True).recipe == "chain"
    assert confirmed(chosen, [times(2, 1), times(3, 4)], True).recipe == "native"
    assert confirmed(chosen, [times(2, 2), times(3, 3)], True).recipe == "native"


def test_a_plan_is_confirmed_only_by_a_proof() -> None:
    assert is_confirmed(_noisy(1.2e-6, 1), _noisy(1e-6, 2), False)
    assert not is_confirmed(_noisy(1e-6, 1), _noisy(1e-6, 2), False)
    assert not is_confirmed(_noisy(1e-6, 1), _noisy(1.2e-6, 2), False)
    assert not is_confirmed(np.array([2e-6]), np.array([1e-6]), False)
    assert is_confirmed(np.array([2e-6]), np.array([1e-6]), True)


def test_what_took_equally_long_keeps_its_order_whatever_the_last_digits_of_a_simulated_clock() -> None:
    times = {"native": np.array([1.0]), "flat": np.array([2e-6 * (1 + 1e-6)]), "chain": np.array([2e-6])}
    assert ranked([times]) == ["flat", "chain"]


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
        (holding,) = [rule for rule in rules if rule.min_bytes <= size <= rule.max_bytes]
        single = holding.min_bytes == holding.max_bytes and len(chosen) > 1
        assert holding.recipe == ("native" if single else recipe)
    ends = sorted((rule.min_bytes, rule.max_bytes) for rule in rules)
    assert all(high < low for (_, high), (low, _) in pairwise(ends))


def test_nothing_is_claimed_between_a_recipe_and_the_librarys_own() -> None:
    decisions = [
        Decision(100, "native", EVIDENCE),
        Decision(1000, "chain", EVIDENCE),
        Decision(2000, "chain", EVIDENCE),
        Decision(5000, "native", EVIDENCE),
        Decision(9000, "native", EVIDENCE),
    ]
    found = [(rule.min_bytes, rule.max_bytes, rule.recipe) for rule in rules_for("a shape", decisions)]
    assert found == [
        (100, 100, "native"),
        (1000, 1414, "chain"),
        (1415, 2000, "chain"),
        (5000, 6708, "native"),
        (6709, 9000, "native"),
    ]


def test_a_gain_at_a_single_size_is_no_rule_and_its_evidence_claims_none() -> None:
    decisions = [Decision(10, "native", EVIDENCE), Decision(13, "chain", EVIDENCE)]
    rules = rules_for("a shape", decisions)
    assert [(rule.recipe, rule.min_bytes, rule.max_bytes) for rule in rules] == [
        ("native", 10, 10),
        ("native", 13, 13),
    ]
    assert rules[1].evidence.speedup == 1.0
    assert rules[1].evidence.recipe_s == rules[1].evidence.native_s


def test_a_border_is_tested_between_a_size_with_a_recipe_and_one_without() -> None:
    decisions = [
        Decision(100, "native", EVIDENCE),
        Decision(6400, "chain", EVIDENCE),
        Decision(8100, "flat", EVIDENCE),
        Decision(10000, "native", EVIDENCE),
        Decision(10001, "chain", EVIDENCE),
    ]
    # Between 10000 and 10001 there is nothing to test.
    assert borders(decisions) == [(800, "chain"), (9000, "flat")]


def test_the_evidence_of_a_rule_for_several_sizes_counts_each_alike() -> None:
    small = {"native": _noisy(8e-6, 1), "pairwise": _noisy(4e-6, 2)}
    large = {"native": _noisy(1e-3, 3), "pairwise": _noisy(1e-3 / 1.5, 4)}
    evidence = decide(0, [small, large], 1, False).evidence
    assert evidence.native_s == pytest.approx((8e-6 * 1e-3) ** 0.5, rel=0.05)
    assert 1.5 < evidence.speedup < 2
