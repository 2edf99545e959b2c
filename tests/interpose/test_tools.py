# SPDX-License-Identifier: BSD-3-Clause
"""Profilers that are preloaded too, before Isochrone or behind it, run as they do without it, and the plan is
followed.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from interposed import PROGRAMS, by_hand, by_recipes, compiled, full_plan, launched, on_plan
from planned import Bench

_PLAIN = "20 broadcasts, 0 wrong values\n"
_RANKS = 2
_LINE = re.compile(r"rank (\d): init (\d+), bcast (\d+), gather (\d+), finalize (\d+)")


@pytest.fixture(scope="module")
def rounds(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of twenty broadcasts."""
    return compiled(bench, tmp_path_factory.mktemp("rounds") / "rounds", PROGRAMS / "rounds.c")


@pytest.fixture(scope="module")
def profiler(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profiler that takes the place of several functions."""
    output = tmp_path_factory.mktemp("profiler") / "profiler.so"
    return compiled(bench, output, "-shared", "-fPIC", PROGRAMS / "profiler.c")


@pytest.fixture(scope="module")
def ending(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profiler that takes the place of MPI_Finalize only."""
    output = tmp_path_factory.mktemp("ending") / "ending.so"
    return compiled(bench, output, "-shared", "-fPIC", "-DONLY_FINALIZE", PROGRAMS / "profiler.c")


@pytest.fixture(scope="module")
def plan(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan with a recipe for every broadcast."""
    return full_plan(bench, tmp_path_factory.mktemp("plan"))


def _counted(profile: Path) -> list[tuple[int, ...]]:
    """Of each rank: how often MPI_Init, MPI_Bcast, MPI_Gather and MPI_Finalize came to the profiler."""
    lines = profile.read_text().splitlines()
    found = {int(match[1]): match for match in map(_LINE.fullmatch, lines) if match}
    assert sorted(found) == list(range(_RANKS)), lines
    assert len(lines) == _RANKS
    return [tuple(map(int, found[rank].groups()[1:])) for rank in range(_RANKS)]


# The program's broadcasts, and none of what runs in their place or makes it ready.
@pytest.mark.parametrize(
    ("which", "counted"),
    [
        pytest.param("profiler", (1, 20, 0, 1), id="all"),
        pytest.param("ending", (1, 0, 0, 1), id="the end only"),
    ],
)
def test_a_profiler_sees_the_program_under_run(
    bench: Bench,
    rounds: Path,
    plan: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    which: str,
    counted: tuple[int, ...],
) -> None:
    profile = tmp_path / "profile"
    done = launched(
        bench,
        ("-n", str(_RANKS), rounds),
        before=["env", f"LD_PRELOAD={request.getfixturevalue(which)}", *on_plan(plan)],
        ISOCHRONE_EXPLAIN="1",
        PROFILE=str(profile),
    )
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    assert by_recipes(done) == 20
    assert _counted(profile) == [counted] * _RANKS


@pytest.mark.parametrize("which", ["profiler", "ending"])
@pytest.mark.parametrize("first", [True, False], ids=["tool first", "preload first"])
def test_a_tool_may_stand_on_either_side_of_the_preload(
    bench: Bench,
    rounds: Path,
    plan: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    which: str,
    first: bool,
) -> None:
    tool = str(request.getfixturevalue(which))
    profile = tmp_path / "profile"
    settings = by_hand(bench, plan, rounds)
    ours = settings["LD_PRELOAD"]
    settings |= {
        "LD_PRELOAD": f"{tool}:{ours}" if first else f"{ours}:{tool}",
        "ISOCHRONE_EXPLAIN": "1",
        "PROFILE": str(profile),
    }
    variables = [f"{name}={value}" for name, value in settings.items()]
    done = launched(bench, ("-n", str(_RANKS), "env", *variables, rounds))
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    assert by_recipes(done) == 20
    for init, bcast, gather, finalize in _counted(profile):
        assert (init, gather, finalize) == (1, 0, 1)
        # Behind the preload it may see what the program asks for, or nothing of what a recipe does.
        assert bcast in ((20,) if first and which == "profiler" else (0, 20))
