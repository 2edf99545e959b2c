# SPDX-License-Identifier: BSD-3-Clause
"""What changed from one benchmark to another is told, and noise is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benched import CASES, bench_of, times_of

from isochrone.compare.changes import ERROR, changes_between
from isochrone.compare.conditions import differing_conditions
from isochrone.files import Bench, MpiLibrary, Place


def test_what_is_a_third_slower_is_proven_and_the_rest_is_not() -> None:
    found = changes_between(
        [bench_of(times_of("native"), seed=1)], [bench_of(times_of("native", bcast=1.33), seed=2)]
    )
    assert {(change.case.collective, change.verdict) for change in found.changes} == {
        ("bcast", "slower"),
        ("allreduce", ""),
    }
    assert all(change.ratio.low < 1.33 < change.ratio.high for change in found.changes[:2])
    assert found.means["bcast"].low < 1.33 < found.means["bcast"].high
    assert found.means["allreduce"].low < 1 < found.means["allreduce"].high


def test_the_other_way_around_it_is_faster() -> None:
    slow, fast = bench_of(times_of("native", bcast=1.5), seed=1), bench_of(times_of("native"), seed=2)
    assert {change.verdict for change in changes_between([slow], [fast]).changes[:2]} == {"faster"}
    assert not changes_between([slow], [fast]).over


def test_of_many_equal_pairs_of_benchmarks_few_tell_of_any_change() -> None:
    told = 0
    for seed in range(100):
        first, second = (bench_of(times_of("native", "plan"), seed=2 * seed + half) for half in (0, 1))
        told += any(change.changed for change in changes_between([first], [second]).changes)
    # 5 % may; more than 12 of 100 happen once in a thousand times.
    assert ERROR == 0.05
    assert told <= 12


def test_a_gate_is_for_what_is_slower_by_more_than_is_allowed() -> None:
    first, second = bench_of(times_of("native"), seed=1), bench_of(times_of("native", bcast=1.2), seed=2)
    assert {change.case.collective for change in changes_between([first], [second]).over} == {"bcast"}
    assert len(changes_between([first], [second], allowed=0.05).over) == 2
    assert not changes_between([first], [second], allowed=0.2).over
    assert not changes_between([second], [first]).over


def test_what_differs_from_launch_to_launch_is_no_change() -> None:
    # Each launch is off by its own few percent, which its repetitions do not show.
    def launches(seed: int, **slower: float) -> list[Bench]:
        offsets = np.random.default_rng(seed).lognormal(0, 0.04, 5)
        return [
            bench_of(
                {key: offset * time for key, time in times_of("native", **slower).items()}, 0.005, seed + at
            )
            for at, offset in enumerate(offsets)
        ]

    one = changes_between(launches(10)[:1], launches(20)[:1])
    assert all(change.changed for change in one.changes)
    assert not any(change.changed for change in changes_between(launches(10), launches(20)).changes)
    # Nor are all together, though each launch has many repetitions.
    for seed in range(5):
        means = changes_between(launches(10 + seed), launches(20 + seed)).means
        assert all(mean.low < 1 < mean.high for mean in means.values())
    found = changes_between(launches(10), launches(20, bcast=1.5))
    assert [change.verdict for change in found.changes] == ["slower"] * 2 + [""] * 2


def test_one_recipe_is_compared_with_another() -> None:
    first = bench_of(times_of("native", "binomial"))
    second = bench_of(times_of("native", "plan", bcast=0.5), seed=2)
    found = changes_between([first], [second], "binomial", "plan")
    assert [(change.recipe, change.other_recipe) for change in found.changes] == [("binomial", "plan")] * 4
    assert [change.verdict for change in found.changes] == ["faster", "faster", "", ""]
    assert (found.only_first, found.only_second) == ((), ())
    alone = changes_between([first], [second], "native")
    assert {change.recipe for change in alone.changes} == {"native"}


def test_what_only_one_has_is_listed() -> None:
    first, second = bench_of(times_of("native", "binomial")), bench_of(times_of("plan", "native"), seed=2)
    found = changes_between([first], [second])
    assert {change.recipe for change in found.changes} == {"native"}
    assert {recipe for _, recipe in found.only_first} == {"binomial"}
    assert {recipe for _, recipe in found.only_second} == {"plan"}
    assert len(found.only_first) == len(found.only_second) == len(CASES)


def test_without_noise_one_time_proves_as_much_as_many() -> None:
    first = bench_of(times_of("native"), noise=0, turns=1, simulated=True)
    second = bench_of(times_of("native", bcast=1.01), noise=0, turns=1, simulated=True)
    assert [change.verdict for change in changes_between([first], [second]).changes] == ["slower"] * 2 + [
        ""
    ] * 2
    assert not any(change.changed for change in changes_between([first], [first]).changes)
    # One time each on a real machine proves nothing.
    first, second = replace(first, simulated=False), replace(second, simulated=False)
    assert not any(change.changed for change in changes_between([first], [second]).changes)


def test_a_benchmark_is_no_different_from_itself_even_where_times_are_0() -> None:
    nothing = bench_of(dict.fromkeys(times_of("native"), 0.0), simulated=True)
    found = changes_between([nothing], [nothing])
    assert [change.ratio.estimate for change in found.changes] == [1.0] * 4
    assert not any(change.changed for change in found.changes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"simulated": True}, ["one is simulated and another is not"]),
        ({"places": (Place("n0", "0", "s"),)}, ["one has 4 ranks, another 1"]),
        ({"places": tuple(Place("n0", str(at), "s") for at in range(4))}, ["on other hosts"]),
        ({"places": tuple(Place(f"n{at % 2}", "0", "s") for at in range(4))}, ["in another order"]),
        ({"places": tuple(Place(f"n{at // 2}", None, "s") for at in range(4))}, ["other processors"]),
        ({"places": tuple(Place(f"n{at // 2}", str(at % 2), "t") for at in range(4))}, ["hardware"]),
        (
            {"mpi": MpiLibrary("Open MPI v4.1.4", "3.1", "x")},
            ["one was MPICH 4.0.2, of another Open MPI v4.1.4"],
        ),
        ({"mpi": MpiLibrary("MPICH 4.0.2", "4.0", "other.so")}, ["of another MPICH 4.0.2 (other.so)"]),
        ({"oversubscribed": True}, ["only in some of them"]),
        ({"elapsed_s": None}, ["1 of 3 did not come to the end"]),
    ],
)
def test_what_else_differs_is_said(change: dict[str, object], said: list[str]) -> None:
    first = bench_of(times_of("native"))
    found = differing_conditions([first, first, replace(first, **change)])  # type: ignore[arg-type]
    assert len(found) == len(said)
    assert all(words in sentence for words, sentence in zip(said, found, strict=True)), found
