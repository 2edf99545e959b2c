# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that come late to the start: a program sees none of it, and all ranks go one way."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from interposed import PROGRAMS, by_hand, by_recipes, compiled, full_plan, launched
from planned import Bench, said

_RANKS = 3
_CORRECT = "0 wrong, open 0\n"
_NATIVE = "the MPI library's own collectives run"


@pytest.fixture(scope="module")
def late(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that receives whatever comes, and broadcasts."""
    return compiled(bench, tmp_path_factory.mktemp("late") / "late", PROGRAMS / "late.c", "-ldl")


@pytest.fixture(scope="module")
def late_start(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profiler that holds a rank up in MPI_Init."""
    library = tmp_path_factory.mktemp("late") / "late_start.so"
    return compiled(bench, library, "-shared", "-fPIC", PROGRAMS / "late_start.c")


_OPEN_CASES = {
    (rank, seconds): f"rank {rank} of {_RANKS} has not called isochrone_open, which is collective: waiting"
    for rank, seconds in ((0, 16), (1, 6))
}
"""[rank, that is so many seconds late], what is said."""
_START_CASES = {
    (0, 16): f"ranks 1, 2 of {_RANKS} have given up waiting for rank 0: {_NATIVE}",
    (1, 6): f"rank 1 of {_RANKS} has not loaded this preload, or turned it off: {_NATIVE}",
}


def test_late_ranks_are_waited_for_or_left_out_by_all_and_no_message_is_left(
    bench: Bench, late: Path, late_start: Path, tmp_path: Path
) -> None:
    plan = full_plan(bench, tmp_path)
    settings = by_hand(bench, plan, late) | {"ISOCHRONE_EXPLAIN": "1"}
    without = {name: value for name, value in settings.items() if name != "ISOCHRONE_PLAN"}

    def opened(rank: int, seconds: int) -> subprocess.CompletedProcess[str]:
        words = [late, plan, plan.with_name("topology.json"), str(rank), str(seconds)]
        return launched(bench, ("-n", str(_RANKS), *words), **without)

    def started(rank: int, seconds: int) -> subprocess.CompletedProcess[str]:
        behind = {
            "LD_PRELOAD": f"{settings['LD_PRELOAD']}:{late_start}",
            "LATE_RANK": str(rank),
            "LATE_S": str(seconds),
        }
        return launched(bench, ("-n", str(_RANKS), late), **(settings | behind))

    # Nearly all of it is waiting.
    with ThreadPoolExecutor() as pool:
        open_runs = {case: pool.submit(opened, *case) for case in _OPEN_CASES}
        start_runs = {case: pool.submit(started, *case) for case in _START_CASES}
    for case, line in _OPEN_CASES.items():
        done = open_runs[case].result()
        assert (done.returncode, done.stdout) == (0, _CORRECT), done.stderr
        assert by_recipes(done) == 20
        assert f"isochrone: {line}" in said(done)
    for case, line in _START_CASES.items():
        done = start_runs[case].result()
        assert (done.returncode, done.stdout) == (0, _CORRECT), done.stderr
        assert f"isochrone: {line}" in said(done)


def test_a_collective_opening_ends_where_a_rank_is_turned_off(
    bench: Bench, late: Path, tmp_path: Path
) -> None:
    plan = full_plan(bench, tmp_path)
    settings = {n: v for n, v in by_hand(bench, plan, late).items() if n != "ISOCHRONE_PLAN"}
    words = [late, plan, plan.with_name("topology.json"), "0", "0"]
    contexts = [
        ("-n", "1", "env", f"ISOCHRONE={'off' if rank == 1 else 'on'}", *words) for rank in range(_RANKS)
    ]
    done = launched(bench, *contexts, **settings)
    assert (done.returncode, done.stdout) == (0, "0 wrong, open 1\n"), done.stderr
    assert said(done) == [f"isochrone: rank 1 of {_RANKS} has turned this library off: {_NATIVE}"]
