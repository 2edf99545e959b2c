# SPDX-License-Identifier: BSD-3-Clause
"""A recipe gets a rule only where it is proven faster, and only for sizes that speak for it."""

from __future__ import annotations

from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.files import Evidence
from isochrone.tune.collectives import ELEMENT_BYTES, sizes_of
from isochrone.tune.rules import (
    Decision,
    Verified,
    borders_of,
    changes_of,
    confirmed,
    evidence_of,
    rules_for,
    tied,
)

EVIDENCE = Evidence(2e-6, 1e-6, 2.0, (1.9, 2.1), 20)


def _noisy(center: float, seed: int, count: int = 25) -> np.ndarray:
    return center * np.random.default_rng(seed).lognormal(0, 0.1, count)


def _verified(native: float, plan: float, seed: int, launches: int = 3, count: int = 9) -> Verified:
    return Verified(
        [_noisy(native, seed + 10 * at, count) for at in range(launches)],
        [_noisy(plan, seed + 10 * at + 5, count) for at in range(launches)],
    )


def _exact(native: float, plan: float) -> Verified:
    return Verified([np.array([native])], [np.array([plan])])


def test_a_rule_that_is_twice_as_fast_is_proven_and_one_that_is_as_fast_is_not() -> None:
    for seed in range(0, 2000, 100):
        found = {"twice": [_verified(2e-6, 1e-6, seed)], "as fast": [_verified(1e-6, 1e-6, seed + 50)]}
        assert confirmed(found, False) == {"twice"}


def test_of_many_rules_that_gain_nothing_none_is_proven() -> None:
    # With an error of 5 % for all together, more than 4 of 20 happen twice in a thousand times.
    wrong = 0
    for seed in range(20):
        found = {at: [_verified(1e-6, 1e-6, 10_000 * seed + 100 * at)] for at in range(60)}
        wrong += bool(confirmed(found, False))
    assert wrong <= 4


def test_what_is_the_best_of_several_by_the_same_times_needs_more_of_a_proof() -> None:
    # 19 of 27 turns are faster: by chance 26 times in 1000, and of four, somewhere, 104 times at the most.
    native = [np.array([2e-6] * faster + [0.5e-6] * (9 - faster)) for faster in (6, 6, 7)]
    found = {"rule": [Verified(native, [np.full(9, 1e-6)] * 3)]}
    assert confirmed(found, False) == confirmed(found, False, {"rule": 1}) == {"rule"}
    assert confirmed(found, False, {"rule": 4}) == set()


def test_a_rule_that_gains_from_two_roots_is_proven_by_the_turns_of_both() -> None:
    # 13 of 15 turns: by chance 37 times in 10,000; 26 of 30: 3 times in 100,000.
    once = Verified(
        [np.array([2e-6] * faster + [0.9e-6] * (5 - faster)) for faster in (4, 4, 5)], [np.full(5, 1e-6)] * 3
    )
    idle = {at: [_verified(1e-6, 1e-6, 100 * at)] for at in range(40)}
    assert confirmed(idle | {"one root": [once]}, False) == set()
    assert confirmed(idle | {"two roots": [once, once]}, False) == {"two roots"}


def test_of_many_rules_that_gain_from_none_of_their_roots_none_is_proven() -> None:
    wrong = 0
    for seed in range(20):
        found = {
            at: [_verified(1e-6, 1e-6, 10_000 * seed + 100 * at + 50 * root) for root in range(2)]
            for at in range(60)
        }
        wrong += bool(confirmed(found, False))
    assert wrong <= 4


def test_turns_of_which_one_has_fewer_are_compared_within_their_launch() -> None:
    # Calls of the second launch took four times as long, and the rule had fewer of them.
    launches = [1e-6, 4e-6, 2e-6]
    native, plan = Verified([np.full(9, s) for s in launches], [np.full(7, s / 1.5) for s in launches]).turns
    assert (native / plan).tolist() == pytest.approx([1.5] * 21)


def test_a_rule_that_is_slower_in_one_of_its_launches_is_not_proven() -> None:
    good = _verified(2e-6, 1e-6, 1)
    bad = Verified(good.native, [*good.plan[:2], good.native[2] * 1.2])
    assert confirmed({"good": [good], "bad": [bad]}, False) == {"good"}


def test_few_noisy_repetitions_prove_nothing() -> None:
    few = Verified([np.array([2e-6, 2e-6])], [np.array([1e-6, 1e-6])])
    assert confirmed({"few": [few]}, False) == set()
    assert confirmed({"few": [few]}, True) == {"few"}


def test_a_rule_for_several_sizes_is_proven_where_it_is_faster_at_one_and_slower_at_none() -> None:
    found = {
        "one": [_exact(2, 1), _exact(3, 3)],
        "loses": [_exact(2, 1), _exact(3, 4)],
        "none": [_exact(2, 2), _exact(3, 3)],
    }
    assert confirmed(found, True) == {"one"}


def test_the_evidence_of_a_rule_for_several_sizes_counts_each_alike() -> None:
    evidence = evidence_of([_verified(8e-6, 4e-6, 1), _verified(1e-3, 1e-3 / 1.5, 2)])
    assert evidence.native_s == pytest.approx((8e-6 * 1e-3) ** 0.5, rel=0.1)
    assert 1.5 < evidence.speedup < 2
    assert len(evidence.launches) == 3
    assert all(1.4 < speedup < 2.2 for speedup in evidence.launches)
    assert evidence.repetitions == 2 * 3 * 9


def test_what_is_tied_with_the_fastest_may_be_chosen_and_what_loses_somewhere_may_not() -> None:
    small = {"native": 8e-6, "bruck": 1e-6, "pairwise": 4e-6, "near": 4.05e-6}
    large = {"native": 1e-3, "bruck": 2e-3, "pairwise": 9e-4, "near": 9.05e-4}
    times = {name: [np.array([small[name]]), np.array([large[name]])] for name in small}
    assert set(tied(times, False)) == {"pairwise", "near"}
    assert set(tied(times, True)) == {"pairwise"}


def test_the_librarys_own_stays_where_nothing_gains_a_hundredth() -> None:
    times = {"native": [np.array([1.005])], "chain": [np.array([1.0])]}
    assert list(tied(times, True)) == ["native"]
    assert list(tied({"native": [np.array([1.0])]}, True)) == ["native"]
    assert list(tied({**times, "flat": [np.array([0.9])]}, True)) == ["flat"]


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
    for has_none, several in groupby(sorted(chosen), key=lambda pair: pair[1] == "native"):
        run = list(several)
        (low, first), (high, last) = run[0], run[-1]
        takes_over = len(run) == 2 and high == low + 1 and first != last
        alone = not has_none and len(run) < len(chosen) and (len(run) == 1 or takes_over)
        for size, recipe in run:
            (holding,) = [rule for rule in rules if rule.min_bytes <= size <= rule.max_bytes]
            assert holding.recipe == ("native" if alone else recipe)
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


@pytest.mark.parametrize("sizes", [(1, 2, 4, 8), (1024, 1025, 1026)])
def test_sizes_that_are_close_together_keep_their_recipe(sizes: tuple[int, ...]) -> None:
    rules = rules_for("a shape", [Decision(size, "chain", EVIDENCE) for size in sizes])
    assert [rule.recipe for rule in rules] == ["chain"] * len(sizes)


def test_a_gain_at_a_single_size_is_no_rule_and_its_evidence_claims_none() -> None:
    decisions = [Decision(10, "native", EVIDENCE), Decision(13, "chain", EVIDENCE)]
    rules = rules_for("a shape", decisions)
    assert [(rule.recipe, rule.min_bytes, rule.max_bytes) for rule in rules] == [
        ("native", 10, 10),
        ("native", 13, 13),
    ]
    assert rules[1].evidence.speedup == 1.0
    assert rules[1].evidence.recipe_s == rules[1].evidence.native_s


def test_what_is_left_to_trials_has_no_rule_and_ends_what_is_beside_it() -> None:
    recipes = {10: "chain", 100: None, 1000: "chain", 4000: "chain", 9000: None, 9100: None, 10000: "native"}
    decisions = [Decision(size, recipe, EVIDENCE) for size, recipe in recipes.items()]
    found = [(rule.min_bytes, rule.max_bytes, rule.recipe) for rule in rules_for("a shape", decisions)]
    assert found == [(1000, 2000, "chain"), (2001, 4000, "chain"), (10000, 10000, "native")]


@pytest.mark.parametrize(
    ("beside", "found"),
    [((None, None), []), ((None, "native"), ["native"] * 2), (("native", None), ["native"] * 2)],
)
def test_a_gain_at_a_single_size_is_left_to_trials_as_what_is_beside_it_is(
    beside: tuple[str | None, str | None], found: list[str]
) -> None:
    recipes = {10: beside[0], 100: "chain", 1000: beside[1]}
    decisions = [Decision(size, recipe, EVIDENCE) for size, recipe in recipes.items()]
    assert [rule.recipe for rule in rules_for("a shape", decisions)] == found


def test_a_border_is_tested_between_a_size_with_a_recipe_and_one_without() -> None:
    recipes = {100: "native", 6400: "chain", 8100: "flat", 10000: "native", 10001: "chain"}
    # Between 10000 and 10001 there is nothing to test.
    assert borders_of("bcast", recipes) == [(800, "chain"), (9000, "flat")]


def test_lone_borders_are_beside_sizes_that_alone_have_a_recipe() -> None:
    recipes = {100: "native", 6400: "chain", 8100: "native", 10000: "flat", 20000: "flat", 40000: "native"}
    assert borders_of("bcast", recipes, lone=True) == [(800, "chain"), (7200, "chain")]
    # At either end there is one side.
    assert borders_of("bcast", {4: "ring", 9: "native", 16: "native", 25: "flat"}, lone=True) == [
        (6, "ring"),
        (20, "flat"),
    ]
    assert borders_of("bcast", {4: "ring"}, lone=True) == []


def test_where_one_recipe_takes_over_from_another_both_are_tested() -> None:
    recipes = {100: "native", 6400: "chain", 8100: "flat", 8102: "ring", 10000: "ring"}
    # Between 8100 and 8102 there is one size alone, and what is beside the library's own is no change.
    assert changes_of("bcast", recipes) == [(7200, "chain"), (7201, "flat"), (8101, "ring")]
    # Whole elements, and none between these two; a call whose size ranks do not know alike has one rule.
    assert changes_of("reduce", {8: "chain", 64: "flat"}) == [(24, "chain"), (32, "flat")]
    assert changes_of("reduce", {8: "chain", 16: "flat"}) == []
    assert changes_of("alltoallv", {8: "chain", 64: "flat"}) == []


@given(
    st.sampled_from(["bcast", "reduce", "alltoall"]),
    st.dictionaries(st.integers(1, 5000), st.sampled_from(["chain", "flat", "ring"]), min_size=2, max_size=7),
)
def test_rules_of_two_recipes_end_at_sizes_that_were_measured(name: str, wanted: dict[int, str]) -> None:
    recipes = {size: recipe for raw, recipe in wanted.items() for size in sizes_of(name, [raw])}
    measured = recipes | dict(changes_of(name, recipes))
    decisions = [Decision(size, recipe, EVIDENCE) for size, recipe in measured.items()]
    rules = rules_for("a shape", decisions, name)
    step = ELEMENT_BYTES if name == "reduce" else 1
    for low, high in pairwise(sorted(rules, key=lambda rule: rule.min_bytes)):
        assert low.max_bytes + 1 == high.min_bytes
        if low.recipe != high.recipe:
            last = low.max_bytes // step * step
            assert (measured[last], measured[last + step]) == (low.recipe, high.recipe)


def test_two_sizes_next_to_each_other_are_as_one() -> None:
    recipes = {1024: "native", 4096: "chain", 4097: "flat", 16384: "native"}
    assert borders_of("bcast", recipes, lone=True) == [(2048, "chain"), (8192, "flat")]
    decisions = [Decision(size, recipe, EVIDENCE) for size, recipe in recipes.items()]
    assert {rule.recipe for rule in rules_for("a shape", decisions)} == {"native"}
    # A border that is proven makes a rule of them.
    more = [*decisions, Decision(2048, "chain", EVIDENCE)]
    found = [(rule.min_bytes, rule.max_bytes, rule.recipe) for rule in rules_for("a shape", more)]
    assert found[1:-1] == [(2048, 2896, "chain"), (2897, 4096, "chain"), (4097, 4097, "flat")]
    # Where nothing else was measured they are all that there is to know.
    assert [rule.recipe for rule in rules_for("a shape", decisions[1:3])] == ["chain", "flat"]
    # Of whole elements those are next to each other that differ by one.
    elements = {1024: "native", 4096: "chain", 4104: "flat", 16384: "native"}
    assert [size for size, _ in borders_of("reduce", elements, lone=True)] == [2048, 8200]
