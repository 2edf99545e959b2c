# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from msgspec import structs
from planned import EVIDENCE

from isochrone.files import BenchKey, LibraryEvidence, LibraryRule
from isochrone.report.bysize import by_size
from isochrone.report.comparison import compare
from isochrone.report.headline import collective_sentence, collective_sentences


def times(median_s: float, seed: int, count: int = 20) -> np.ndarray:
    return median_s * np.random.default_rng(seed).lognormal(0, 0.01, count)


def bench(speedups: dict[int, float]) -> dict[BenchKey, np.ndarray]:
    samples = {}
    for size, speedup in speedups.items():
        samples[BenchKey(size, 0, "native")] = times(1e-5, size)
        samples[BenchKey(size, 0, "plan")] = times(1e-5 / speedup, size + 1)
    return samples


def test_the_speedup_from_a_size_up_counts_only_sizes_that_are_proven_faster() -> None:
    comparison = compare(bench({1024: 2.0, 4096: 1.0, 1 << 18: 2.0, 1 << 20: 2.0}), "bcast")
    assert comparison is not None
    assert comparison.faster_from is not None
    size, mean = comparison.faster_from
    assert size == 1 << 18
    assert mean == pytest.approx(2.0, rel=0.02)
    sentence = collective_sentence(comparison)
    assert sentence is not None
    assert "is faster than the library's own from 256 KiB: " in sentence
    assert sentence.endswith("× on average.")
    assert comparison.min_speedup == pytest.approx(1.0, rel=0.02)
    assert comparison.geomean_speedup == pytest.approx(2.0 ** (3 / 4), rel=0.02)
    assert comparison.geomean_speedup_large == pytest.approx(2.0, rel=0.02)


def test_a_slower_plan_is_said_to_be_slower() -> None:
    sentence = collective_sentence(compare(bench({1024: 0.5, 1 << 20: 2.0}), "bcast"))
    assert sentence is not None
    assert "slower at 1 KiB" in sentence


def test_no_gain_is_said_to_be_none() -> None:
    sentence = collective_sentence(compare(bench({1024: 1.0, 4096: 1.0}), "bcast"))
    assert sentence == "No gain for broadcast was proven: with the plan it is as fast as the library's own."


def told(*rules: tuple[int, int, str, float]) -> list[LibraryRule]:
    return [
        LibraryRule("bcast", low, high, name, LibraryEvidence.of(structs.replace(EVIDENCE, speedup=gain)))
        for low, high, name, gain in rules
    ]


def test_where_the_library_was_told_its_best_that_is_its_own() -> None:
    rules = told((512, 2048, "pipeline@256", 1.5), (2049, 8192, "default", 1.0))
    comparison = compare(bench({1024: 2.0, 4096: 1.0, 1 << 20: 1.0}), "bcast", rules)
    assert comparison is not None
    assert comparison.is_told
    assert comparison.rivals == ()
    assert [row.rival and row.rival.name for row in comparison.sizes] == [
        "pipeline@256",
        "its own choice",
        None,
    ]
    assert [row.own_gain for row in comparison.sizes] == [1.5, None, None]
    for row in comparison.sizes[:2]:
        assert row.rival is not None
        assert row.rival.time_s == row.native_s
        assert row.rival.speedup == row.speedup
    drawn = by_size(comparison)
    assert drawn is not None
    assert [line.kind for line in drawn.times.lines] == ["native", "plan"]
    assert drawn.times.lines[0].details == ("pipeline@256", "its own choice", None)
    sentences = collective_sentences([comparison], None)
    assert sentences[-1] == "The library was told the best of its own that was found, for broadcast."
    # Intel MPI cannot be left to itself; of what each rank knows another size one rule is for all.
    equal = [structs.replace(rule, equal="7") for rule in told((512, 2048, "default", 1.0))]
    intel = compare(bench({1024: 2.0}), "bcast", equal)
    assert intel is not None
    assert intel.sizes[0].rival is not None
    assert intel.sizes[0].rival.name == "7"
    of_all = [structs.replace(rule, collective="alltoallv") for rule in told((0, 0, "pairwise", 1.4))]
    uneven = {key._replace(collective="alltoallv"): times for key, times in bench({1024: 2.0}).items()}
    alltoallv = compare(uneven, "alltoallv", of_all)
    assert alltoallv is not None
    assert alltoallv.sizes[0].own_gain == 1.4
    untold = compare(bench({1024: 2.0}), "bcast", told((512, 2048, "default", 1.0)))
    assert untold is not None
    assert len(collective_sentences([untold], None)) == 1


def test_the_rival_of_each_size_is_the_best_that_the_library_can_be_told_to_use() -> None:
    samples = bench({1024: 1.5, 4096: 1.5})
    for size, chain, flat in ((1024, 3e-6, 6e-6), (4096, 8e-6, 5e-6)):
        samples[BenchKey(size, 0, "native:chain")] = times(chain, 5)
        samples[BenchKey(size, 0, "native:flat")] = times(flat, 6)
    comparison = compare(samples, "bcast")
    assert comparison is not None
    assert [row.rival.name for row in comparison.sizes if row.rival] == ["chain", "flat"]
    rival = comparison.sizes[0].rival
    assert rival is not None
    assert rival.speedup is not None
    assert rival.speedup.high < 1.0


def test_the_librarys_own_choice_is_one_of_the_selectable_ones() -> None:
    samples = bench({1024: 1.5, 4096: 1.5, 65536: 1.5})
    for size, told in ((1024, 3e-6), (4096, 3e-5)):
        samples[BenchKey(size, 0, "native:chain")] = times(told, 5, 5)
    comparison = compare(samples, "bcast")
    assert comparison is not None
    assert [row.rival and row.rival.algorithm for row in comparison.sizes] == ["chain", "native", None]
    own = comparison.sizes[1]
    assert own.rival is not None
    assert (own.rival.name, own.rival.time_s) == ("its own choice", own.native_s)
    assert own.rival.speedup == own.speedup


def test_what_was_timed_with_a_fast_root_alone_is_not_the_best_selectable() -> None:
    samples = {}
    for root, native_s in ((0, 1e-5), (3, 9e-5)):
        samples[BenchKey(64, root, "native")] = times(native_s, root)
        samples[BenchKey(64, root, "plan")] = times(native_s / 2, root)
        samples[BenchKey(64, root, "native:flat")] = times(native_s * 1.5, root)
    samples[BenchKey(64, 0, "native:chain")] = times(1.2e-5, 7)
    comparison = compare(samples, "bcast")
    assert comparison is not None
    rival = comparison.sizes[0].rival
    assert rival is not None
    assert rival.algorithm == "native"
    assert rival.time_s == comparison.sizes[0].native_s


def test_roots_are_taken_together_each_repetition_with_its_own_roots() -> None:
    samples = {}
    for root, native_s in ((0, 1e-5), (3, 9e-5)):
        disturbance = times(1.0, root)
        samples[BenchKey(64, root, "native")] = native_s * disturbance
        samples[BenchKey(64, root, "plan")] = native_s / 2 * disturbance
    comparison = compare(samples, "bcast")
    assert comparison is not None
    speedup = comparison.sizes[0].speedup
    assert speedup is not None
    assert (speedup.low, speedup.high) == pytest.approx((2.0, 2.0))
    assert comparison.roots == (0, 3)


def test_a_broadcast_to_nobody_takes_no_time_and_is_not_compared() -> None:
    zeros = np.zeros(5)
    comparison = compare({BenchKey(8, 0, "native"): zeros, BenchKey(8, 0, "plan"): zeros}, "bcast")
    assert comparison is not None
    assert comparison.compared == ()
    assert collective_sentence(comparison) is None


def test_nothing_of_the_librarys_own_is_nothing_to_compare_with() -> None:
    assert compare({BenchKey(8, 0, "plan"): np.ones(3)}, "bcast") is None


def test_a_difference_that_is_not_shown_is_no_gain() -> None:
    samples = {
        BenchKey(size, 0, recipe): np.full(5, time_s)
        for size in (1024, 4096)
        for recipe, time_s in (("native", 1.001e-5), ("plan", 1e-5))
    }
    comparison = compare(samples, "bcast")
    assert comparison.faster_from is None


def test_communicators_of_some_ranks_are_not_taken_for_all_ranks() -> None:
    key = BenchKey(1024, 0, "native")
    samples = {
        key: np.full(9, 2e-4),
        key._replace(recipe="plan"): np.full(9, 2e-4),
        key._replace(members="0-3"): np.full(9, 9e-4),
        key._replace(recipe="plan", members="0-3"): np.full(9, 1e-4),
    }
    found = compare(samples, "bcast")
    assert found is not None
    (size,) = found.sizes
    assert size.native_s.estimate == 2e-4
    assert size.speedup is not None
    assert size.speedup.estimate == 1.0
