# SPDX-License-Identifier: BSD-3-Clause
"""What a plan is verified by, with times that are made, not measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from isochrone.files import Bench, Case, MpiLibrary, read_topology
from isochrone.launch.target import Target
from isochrone.steps.detect import detect
from isochrone.steps.racing import Racing
from isochrone.steps.rounds import Rounds
from isochrone.steps.verification import Verification
from isochrone.tune.layout import layout_of
from isochrone.tune.rules import NATIVE, PLAN_RECIPE
from isochrone.tune.spots import Spot

SIZE = 1024
RECIPES = {"bcast": "binomial", "allreduce": "ring", "allgather": "ring", "alltoall": NATIVE}
PLAN_S = {"bcast": (5e-6, 5e-6, 5e-6), "allreduce": (12e-6, 5e-6, 5e-6), "allgather": (5e-6, 5e-6, 12e-6)}
"""Of each launch; the library's own takes 10 us."""


class MadeRounds:
    """Times of each launch by collective, with noise of a hundredth; keeps what was asked for."""

    def __init__(self) -> None:
        self.launches: list[dict[str, set[str]]] = []

    def measure(self, title: str, cases: Sequence[Case], repetitions: int, *rest: Any) -> Bench:
        launch = rest[-1]
        self.launches.append({case.collective: set(case.recipes) for case in cases if case.collective})
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
    node = np.arange(8) // 4
    latency_ns = np.where(node[:, None] == node[None, :], 500.0, 2000.0)
    np.fill_diagonal(latency_ns, 0)
    np.save(tmp_path / "matrix.npy", latency_ns)
    file = tmp_path / "topology.json"
    detect(tmp_path / "matrix.npy", file)
    topology = read_topology(file)
    target = cast("Target", SimpleNamespace(simulated=False, exact=False))
    sizes = dict.fromkeys(RECIPES, (SIZE,))
    rounds = cast("Rounds", MadeRounds())
    racing = Racing(target, topology, file, layout_of(topology, file), rounds, sizes, None, 1, False)
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
