# SPDX-License-Identifier: BSD-3-Clause
"""bench/lab_collectives.py: what it makes of times, and its tables."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from bench_script import load

from isochrone.files import BenchKey

FIRST, OTHER, FLAT = (
    "hierarchical(machine=flat,node=flat)",
    "hierarchical(machine=chain,node=flat)",
    "ordered(chain)",
)


@pytest.fixture(scope="module")
def lab_collectives() -> ModuleType:
    return load("lab_collectives")


def figures(module: ModuleType, times: dict[str, list[float]]) -> dict:
    slowest = {BenchKey(8, 0, recipe, "gather"): np.array(each) for recipe, each in times.items()}
    chosen = module.Chosen((FIRST, OTHER), (), (FLAT,))
    return module.figures(SimpleNamespace(slowest_s=slowest), "gather", 8, chosen)


def test_the_best_is_chosen_by_other_repetitions_than_those_that_say_how_good_it_is(
    lab_collectives: ModuleType,
) -> None:
    # Lucky at first, and slow afterwards.
    times = {"native": [2.0] * 9, FIRST: [1.0] * 9, OTHER: [0.5] * 3 + [4.0] * 6, FLAT: [3.0] * 9}
    found = figures(lab_collectives, times)
    assert (found["first"], found["first_speedup"][0]) == (FIRST, 2.0)
    assert (found["best"], found["best_speedup"][0]) == (OTHER, 0.5)


def test_a_table_counts_what_is_proven_slower(lab_collectives: ModuleType) -> None:
    times = {"native": [2.0] * 9, FIRST: [4.0] * 9, OTHER: [4.0] * 9, FLAT: [1.0] * 9}
    row = {"lab": "wan", "mpi": "mpich", "collective": "gather", **figures(lab_collectives, times)}
    lines = lab_collectives.tables({"rows": [row, row]})
    assert lines[0] == "## wan, mpich"
    assert lines[-2] == "| gather | 2 | 0.50 | 0.50 | 0.50 | 2 | 2.00 | 2.00 | 2.00 | 0 |"
