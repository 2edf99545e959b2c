# SPDX-License-Identifier: BSD-3-Clause
"""Races between sizes: where the choice changes, as far as there is time."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from grouped import grouped

from isochrone.files import NATIVE, Bench, Case, MpiLibrary, read_topology
from isochrone.launch.target import Target
from isochrone.steps.racing import Racing
from isochrone.steps.rounds import Rounds
from isochrone.tune.collectives import grids
from isochrone.tune.layout import layout_of

NAMES = ("bcast", "allreduce", "alltoall")
CALL_S = 1e-3
FASTER_FROM = {"bcast": 100_000, "allreduce": 5000, "alltoall": 20}
"""The size from which on every recipe is twice as fast as the library's own; below it is slower."""


class MadeRounds:
    """Times without noise."""

    def measure(self, title: str, cases: list[Case], repetitions: int, *rest: Any, **others: Any) -> Bench:
        times = {}
        for case in cases:
            for recipe in case.recipes:
                own_s = 0.5 * CALL_S if case.size_bytes >= FASTER_FROM[case.collective] else 2 * CALL_S
                once_s = CALL_S if recipe == NATIVE else own_s
                times[case.key.key(recipe)] = np.full(repetitions, once_s)
        return Bench((), MpiLibrary("made up", "3.1", "none"), "clock", 0.0, False, False, times, 1.0, {}, 1)


def raced(folder: Path, budget_s: float | None) -> Racing:
    """What is known after all races on four nodes of two ranks."""
    file = grouped(folder, 8, 2, 500.0, 2000.0)
    topology = read_topology(file)
    racing = Racing(
        cast("Target", SimpleNamespace(simulated=False, exact=False)),
        topology,
        file,
        layout_of(topology, file),
        cast("Rounds", MadeRounds()),
        grids(NAMES, None, 8),
        grids(NAMES, None, 8, thinned=()),
        budget_s,
        1,
        False,
    )
    racing.run()
    return racing


@pytest.mark.parametrize("budget_s", [None, 120.0])
def test_each_collective_is_raced_where_its_choice_changes(tmp_path: Path, budget_s: float | None) -> None:
    racing = raced(tmp_path, budget_s)
    whole = grids(NAMES, None, 8, thinned=())
    for name, shape, _ in racing.rows(""):
        chosen = racing.chosen((name, shape.shape))
        assert set(chosen) <= set(racing.sizes_bytes[name])
        below = [size for size in whole[name] if size < FASTER_FROM[name]]
        # The last size below, and the first above, are among those that were raced.
        assert {below[-1], whole[name][len(below)]} <= set(chosen)
        assert all((recipe == NATIVE) == (size in below) for size, recipe in chosen.items())
    # Far from the change there are few.
    assert len(racing.sizes_bytes["allreduce"]) < len(whole["allreduce"])


def test_without_time_for_more_no_size_is_added(tmp_path: Path) -> None:
    few = grids(NAMES, None, 8)
    assert raced(tmp_path, 1.0).sizes_bytes == few
    # Each that is added is one more, as time allows.
    counts = [
        sum(map(len, raced(tmp_path, budget_s).sizes_bytes.values())) for budget_s in np.linspace(3.5, 4.6, 6)
    ]
    assert counts == sorted(counts)
    assert len(set(counts)) > 2
