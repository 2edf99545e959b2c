# SPDX-License-Identifier: BSD-3-Clause
"""What a plan is verified by, with times that are made, not measured."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from grouped import grouped

from isochrone.files import NATIVE, PLAN_RECIPE, Bench, Case, MpiLibrary, read_topology
from isochrone.launch.target import Target
from isochrone.steps.racing import Racing
from isochrone.steps.rounds import Rounds
from isochrone.steps.verification import Verification
from isochrone.tune.collectives import collective
from isochrone.tune.layout import layout_of
from isochrone.tune.roots import shapes_of
from isochrone.tune.spots import Spot

SIZE = 1024
RECIPES = {"bcast": "binomial", "allreduce": "ring", "allgather": "ring", "alltoall": NATIVE}
PLAN_S = {"bcast": (5e-6, 5e-6, 5e-6), "allreduce": (12e-6, 5e-6, 5e-6), "allgather": (5e-6, 5e-6, 12e-6)}
"""Of each launch; the library's own takes 10 us."""


class MadeRounds:
    """Times of each launch by collective, with noise of a hundredth; keeps what was asked for, and at which
    sizes.
    """

    def __init__(self) -> None:
        self.launches: list[dict[str, set[str]]] = []
        self.sizes_bytes: list[dict[str, list[int]]] = []

    def measure(self, title: str, cases: Sequence[Case], repetitions: int, *rest: Any) -> Bench:
        launch = rest[-1]
        self.launches.append({case.collective: set(case.recipes) for case in cases if case.collective})
        self.sizes_bytes.append({name: [] for name in self.launches[-1]})
        for case in cases:
            self.sizes_bytes[-1][case.collective].append(case.size_bytes)
        random = np.random.default_rng(launch)
        times = {}
        for case in cases:
            for recipe in case.recipes:
                once_s = 10e-6 if recipe == NATIVE else PLAN_S[case.key.collective][launch]
                times[case.key.key(recipe)] = once_s * random.lognormal(0, 0.01, repetitions)
        return Bench((), MpiLibrary("made up", "3.1", "none"), "clock", 0.0, False, False, times, 1.0, {}, 1)


@pytest.fixture
def racing(tmp_path: Path) -> Racing:
    """Races on two nodes of four ranks, as if they had been run."""
    file = grouped(tmp_path, 8, 4, 500.0, 2000.0)
    topology = read_topology(file)
    target = cast("Target", SimpleNamespace(simulated=False, exact=False))
    sizes = dict.fromkeys(RECIPES, (SIZE,))
    rounds = cast("Rounds", MadeRounds())
    racing = Racing(target, topology, file, layout_of(topology, file), rounds, sizes, sizes, None, 1, False)
    racing.mpi = MpiLibrary("made up", "3.1", "none")
    for name, shape, members in racing.rows(""):
        spot = Spot(name, shape, (SIZE,), members)
        times = {NATIVE: 10e-6, RECIPES[name]: 10e-6 if RECIPES[name] == NATIVE else 5e-6}
        racing.times[spot] = {
            recipe: [np.full(6, once_s) for _ in spot.tuned] for recipe, once_s in times.items()
        }
    return racing


def test_what_was_slower_in_a_launch_is_not_timed_in_the_next_and_has_no_rule(racing: Racing) -> None:
    target = cast("Target", SimpleNamespace(simulated=False, exact=False))
    plan, bench = Verification(target, racing, 1, rivals=False).run()
    launches = cast("MadeRounds", racing.rounds).launches
    both = {NATIVE, PLAN_RECIPE}
    assert launches == [
        {"bcast": both, "allreduce": both, "allgather": both, "alltoall": {NATIVE}},
        {"bcast": both, "allreduce": {NATIVE}, "allgather": both, "alltoall": {NATIVE}},
        {"bcast": both, "allreduce": {NATIVE}, "allgather": both, "alltoall": {NATIVE}},
    ]
    found = {rule.collective: rule for rule in plan.rules}
    assert {name: rule.recipe for name, rule in found.items()} == {
        name: "binomial" if name == "bcast" else NATIVE for name in RECIPES
    }
    assert len(found["bcast"].evidence.launches) == 3
    # Where the library's own stays, that is what the plan runs.
    assert all(len(times) == 27 for times in bench.slowest_s.values())


def test_where_one_recipe_takes_over_from_another_both_are_verified(racing: Racing) -> None:
    name, size = "bcast", 4 * SIZE
    ((_, shape, _),) = [row for row in racing.rows("") if row[0] == name]
    (spot,) = [spot for spot in racing.times if spot.collective == name]
    racing.times[Spot(name, shape, (size,))] = {
        "flat" if recipe == RECIPES[name] else recipe: times for recipe, times in racing.times[spot].items()
    }
    racing.sizes_bytes[name] = (SIZE, size)
    target = cast("Target", SimpleNamespace(simulated=False, exact=False))
    plan, bench = Verification(target, racing, 1, rivals=False).run()
    sizes = [SIZE, 2 * SIZE, 2 * SIZE + 1, size]
    asked = cast("MadeRounds", racing.rounds).sizes_bytes
    assert [sorted(set(launch[name])) for launch in asked] == [sizes] * 3
    assert [
        (rule.min_bytes, rule.max_bytes, rule.recipe) for rule in plan.rules if rule.collective == name
    ] == [
        (SIZE, isqrt(2 * SIZE * SIZE), "binomial"),
        (isqrt(2 * SIZE * SIZE) + 1, 2 * SIZE, "binomial"),
        (2 * SIZE + 1, isqrt((2 * SIZE + 1) * size), "flat"),
        (isqrt((2 * SIZE + 1) * size) + 1, size, "flat"),
    ]
    # Borders are no sizes of their own in what is shown.
    assert {case.size_bytes for case in bench.cases if case.collective == name} == {SIZE, size}


def test_in_a_part_the_librarys_own_has_a_rule_only_where_it_beat_all_that_raced(racing: Racing) -> None:
    members = "0-3"
    racing.times.clear()
    layout = racing.layouts[members] = racing.layouts[""].restricted_to(range(4))
    raced_s = {"bcast": {}, "allreduce": {"ring": 11e-6, "flat": 9.9e-6}, "alltoall": {"ring": 14e-6}}
    raced_s["allgather"] = {"ring": 10.5e-6}
    random = np.random.default_rng(1)
    for name, others_s in raced_s.items():
        shape = shapes_of(layout, 1, collective(name)["rooted"])[0]
        racing.shapes[name, members] = [shape]
        times_s = {NATIVE: 10e-6, **others_s}
        racing.times[Spot(name, shape, (SIZE,), members)] = {
            recipe: [once_s * random.lognormal(0, 0.005, 6) for _ in shape.tuned]
            for recipe, once_s in times_s.items()
        }
    target = cast("Target", SimpleNamespace(simulated=False, exact=False))
    plan, _ = Verification(target, racing, 1, rivals=False).run()
    # Beside the library's own broadcast nothing raced. The flat allreduce is as fast as the library's own:
    # programs may find another that is faster.
    assert {rule.collective: rule.recipe for rule in plan.rules} == dict.fromkeys(
        ("alltoall", "allgather"), NATIVE
    )


def test_in_a_part_what_is_not_proven_once_more_is_left_to_trials(racing: Racing) -> None:
    members = "0-3"
    whole = dict(racing.times)
    racing.layouts[members] = racing.layouts[""].restricted_to(range(4))
    for spot, times in whole.items():
        shape = shapes_of(racing.layouts[members], 1, collective(spot.collective)["rooted"])[0]
        racing.shapes[spot.collective, members] = [shape]
        racing.times[Spot(spot.collective, shape, (SIZE,), members)] = {
            recipe: each[:1] for recipe, each in times.items()
        }
    target = cast("Target", SimpleNamespace(simulated=False, exact=False))
    plan, _ = Verification(target, racing, 1, rivals=False).run()
    order = racing.layouts[members].order()
    shapes = {racing.shapes[name, members][0].shape for name in RECIPES}
    found = {
        rule.collective: rule.recipe for rule in plan.rules if rule.shape in shapes and rule.order == order
    }
    # An allreduce is slower in one of the launches, an allgather in another, and no alltoall raced.
    assert found == {"bcast": "binomial"}
