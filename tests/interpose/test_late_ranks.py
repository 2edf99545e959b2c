# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that come late to the start: a program sees none of it, and all ranks go one way."""

from __future__ import annotations

from pathlib import Path

import pytest
from interposed import PROGRAMS, by_hand, by_recipes, compiled, full_plan, launched
from planned import Bench, said

_RANKS = 3
_CORRECT = "0 wrong, open 0\n"


@pytest.fixture(scope="module")
def late(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that receives whatever comes, and broadcasts."""
    return compiled(bench, tmp_path_factory.mktemp("late") / "late", PROGRAMS / "late.c", "-ldl")


@pytest.fixture(scope="module")
def late_start(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profiler that holds a rank up in MPI_Init."""
    library = tmp_path_factory.mktemp("late") / "late_start.so"
    return compiled(bench, library, "-shared", "-fPIC", PROGRAMS / "late_start.c")


@pytest.mark.parametrize(("rank", "seconds"), [(0, 16), (1, 6)])
def test_a_collective_opening_waits_for_every_rank(
    bench: Bench, late: Path, tmp_path: Path, rank: int, seconds: int
) -> None:
    plan = full_plan(bench, tmp_path)
    settings = {n: v for n, v in by_hand(bench, plan, late).items() if n != "ISOCHRONE_PLAN"}
    words = [late, plan, plan.with_name("topology.json"), str(rank), str(seconds)]
    done = launched(bench, ("-n", str(_RANKS), *words), **settings, ISOCHRONE_EXPLAIN="1")
    assert (done.returncode, done.stdout) == (0, _CORRECT), done.stderr
    assert by_recipes(done) == 20
    waits = f"isochrone: rank {rank} of {_RANKS} has not called isochrone_open, which is collective: waiting"
    assert waits in said(done)


def test_a_collective_opening_of_a_rank_that_is_turned_off_does_not_hang(
    bench: Bench, late: Path, tmp_path: Path
) -> None:
    plan = full_plan(bench, tmp_path)
    settings = {n: v for n, v in by_hand(bench, plan, late).items() if n != "ISOCHRONE_PLAN"}
    words = [late, plan, plan.with_name("topology.json"), "0", "0"]
    contexts = [
        ("-n", "1", "env", *(["ISOCHRONE=off"] if rank == 1 else ["ISOCHRONE=on"]), *words)
        for rank in range(_RANKS)
    ]
    done = launched(bench, *contexts, **settings)
    assert (done.returncode, done.stdout) == (0, "0 wrong, open 1\n"), done.stderr
    assert said(done) == [
        f"isochrone: rank 1 of {_RANKS} has turned this library off: the MPI library's own collectives run"
    ]


@pytest.mark.parametrize(
    ("rank", "seconds", "line"),
    [
        (0, 16, f"isochrone: ranks 1, 2 of {_RANKS} have given up waiting for rank 0"),
        (1, 6, f"isochrone: rank 1 of {_RANKS} has not loaded this preload, or turned it off"),
    ],
)
def test_a_rank_that_starts_late_is_left_out_by_all_and_leaves_no_message(
    bench: Bench, late: Path, late_start: Path, tmp_path: Path, rank: int, seconds: int, line: str
) -> None:
    settings = by_hand(bench, full_plan(bench, tmp_path), late)
    settings["LD_PRELOAD"] = f"{settings['LD_PRELOAD']}:{late_start}"
    done = launched(
        bench, ("-n", str(_RANKS), late), **settings, LATE_RANK=str(rank), LATE_S=str(seconds)
    )
    assert (done.returncode, done.stdout) == (0, _CORRECT), done.stderr
    assert f"{line}: the MPI library's own collectives run" in said(done)
