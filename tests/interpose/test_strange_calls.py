# SPDX-License-Identifier: BSD-3-Clause
"""Calls that MPI does not allow are refused as natively, or do what their program means."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from interposed import PROGRAMS, launched, on_plan
from libraries import plan_of_all, recipes_run, run_twice
from planned import Bench, write_plan_of_recipes

from isochrone.files import read_measurements


@pytest.fixture(scope="module")
def strange(bench: Bench) -> Bench:
    """The bench with the program of strange calls."""
    return bench.with_program(PROGRAMS / "strange_calls.c")


@pytest.mark.parametrize("ranks", [2, 3])
def test_wrong_arguments_of_all_collectives_are_told_as_natively(
    strange: Bench, tmp_path: Path, ranks: int
) -> None:
    line = ("-n", str(ranks), strange.program, "refused")
    plain, planned = run_twice(strange, plan_of_all(strange, tmp_path), line)
    assert planned.stdout.splitlines() == plain.stdout.splitlines(), planned.stderr
    assert not re.search(r"\(a, MPI_IN_PLACE.*class 0,", planned.stdout)
    assert recipes_run(planned)["exclusive scan"] > 0, planned.stderr


# MPICH refuses them. Open MPI does what is meant, and so does a recipe.
@pytest.mark.parametrize("algorithm", ["ring", "pairwise", "recursive_halving", "binomial"])
def test_reduced_blocks_may_lie_where_the_operand_is(strange: Bench, tmp_path: Path, algorithm: str) -> None:
    recipes = {"reduce_scatter": algorithm, "reduce_scatter_block": algorithm, "scan": "chain"}
    write_plan_of_recipes(tmp_path, read_measurements(strange.folder / "m.jsonl"), recipes)
    line = ("-n", "3", strange.program, "overlap")
    done = launched(strange, line, before=on_plan(tmp_path / "plan.json"), ISOCHRONE_EXPLAIN="1")
    assert done.stdout.splitlines() == [f"rank {rank}: 0 wrong" for rank in range(3)], done.stderr
    assert set(recipes_run(done)) == {"reduce_scatter", "reduce_scatter_block", "scan"}
