# SPDX-License-Identifier: BSD-3-Clause
"""Random calls of all collectives leave the same on a plan as natively."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from interposed import MOST_S, PROGRAMS, launched, on_plan
from planned import Bench, said, write_plan_of_recipes

from isochrone.files import read_measurements

# Recipes of each collective, in turn over all rows that its table has.
RECIPES = [
    {
        "bcast": "binomial",
        "reduce": "binomial",
        "allreduce": "recursive_doubling",
        "barrier": "dissemination",
        "gather": "binomial",
        "gatherv": "flat",
        "scatter": "binomial",
        "scatterv": "binomial",
        "allgather": "bruck",
        "allgatherv": "ring",
        "alltoall": "bruck",
        "alltoallv": "linear/8",
        "alltoallw": "pairwise",
        "reduce_scatter_block": "binomial",
        "reduce_scatter": "flat",
        "scan": "recursive_doubling",
        "exscan": "recursive_doubling",
    },
    {
        "bcast": "scatter_allgather@512",
        "reduce": "pipeline@64",
        "allreduce": "ring",
        "barrier": "dissemination",
        "gather": "flat",
        "gatherv": "binomial",
        "scatter": "flat",
        "scatterv": "chain",
        "allgather": "neighbour_exchange",
        "allgatherv": "recursive_doubling",
        "alltoall": "linear/2",
        "alltoallv": "pairwise",
        "alltoallw": "linear/8",
        "reduce_scatter_block": "ring",
        "reduce_scatter": "pairwise",
        "scan": "chain@128",
        "exscan": "chain@64",
    },
    {
        "bcast": "knomial/3",
        "reduce": "knomial/5@100",
        "allreduce": "rabenseifner@256",
        "barrier": "binomial",
        "gather": "knomial/3",
        "gatherv": "chain",
        "scatter": "knomial/3",
        "scatterv": "binary",
        "allgather": "linear",
        "allgatherv": "bruck",
        "alltoall": "pairwise",
        "alltoallv": "linear/32",
        "alltoallw": "linear",
        "reduce_scatter_block": "recursive_halving",
        "reduce_scatter": "recursive_halving",
        "scan": "recursive_doubling@32",
        "exscan": "chain",
    },
    {
        "bcast": "chain@1000",
        "reduce": "flat",
        "allreduce": "pipeline@333",
        "barrier": "recursive_doubling",
        "gather": "chain",
        "gatherv": "binary",
        "scatter": "chain",
        "scatterv": "flat",
        "allgather": "ring",
        "allgatherv": "sparbit",
        "alltoall": "bruck",
        "alltoallv": "pairwise",
        "alltoallw": "linear/2",
        "reduce_scatter_block": "pairwise",
        "reduce_scatter": "ring",
        "scan": "chain",
        "exscan": "recursive_doubling@8",
    },
    {
        "bcast": "flat",
        "reduce": "binary",
        "allreduce": "knomial/4",
        "barrier": "dissemination",
        "gather": "binary",
        "gatherv": "knomial/4",
        "scatter": "binary",
        "scatterv": "knomial/4",
        "allgather": "recursive_doubling",
        "allgatherv": "neighbour_exchange",
        "alltoall": "linear",
        "alltoallv": "linear/2",
        "alltoallw": "pairwise",
        "reduce_scatter_block": "flat",
        "reduce_scatter": "binomial",
        "scan": "chain",
        "exscan": "chain",
    },
]
# Who has the time gives more, such as a million.
LONG_CALLS = int(os.environ.get("RANDOM_CALLS", "10000"))

_COUNTER = re.compile(r"isochrone: ([\w ]+?)s on rank 0: (\d+) by the plan's recipes")


def _compare(bench: Bench, folder: Path, recipes: dict[str, str], ranks: int, seed: int, calls: int) -> None:
    program = bench.with_program(PROGRAMS / "random_calls.c").program
    write_plan_of_recipes(folder, read_measurements(bench.folder / "m.jsonl"), recipes)
    line = ("-n", str(ranks), program, str(seed), str(calls))
    most_s = MOST_S + calls / 10
    plain = launched(bench, line, most_s=most_s)
    on_it = on_plan(folder / "plan.json")
    planned = launched(bench, line, before=on_it, most_s=most_s, ISOCHRONE_EXPLAIN="1")
    assert (plain.returncode, planned.returncode) == (0, 0), plain.stderr + planned.stderr
    assert sorted(plain.stdout.splitlines()) == sorted(planned.stdout.splitlines()), planned.stderr
    assert plain.stdout.count(": 0 wrong, ") == ranks, plain.stdout
    counted = dict(found.groups() for line in said(planned) if (found := _COUNTER.match(line)))
    assert len(counted) == len(recipes), counted
    assert all(int(count) > 0 for count in counted.values()), counted


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_random_calls_leave_the_same_as_natively(bench: Bench, tmp_path: Path, ranks: int) -> None:
    _compare(bench, tmp_path, RECIPES[ranks % len(RECIPES)], ranks, seed=ranks, calls=3000 // ranks**2)


@pytest.mark.long
@pytest.mark.parametrize("recipes", RECIPES, ids=lambda recipes: recipes["allreduce"])
@pytest.mark.parametrize("ranks", [3, 4, 7])
def test_many_random_calls_leave_the_same_as_natively(
    bench: Bench, tmp_path: Path, ranks: int, recipes: dict[str, str]
) -> None:
    _compare(bench, tmp_path, recipes, ranks, seed=100 + ranks, calls=LONG_CALLS)
