# SPDX-License-Identifier: BSD-3-Clause
"""Legal programs that a library in front of MPI_Bcast could break behave on a plan as they do without it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from interposed import HAZARDS, by_recipes
from planned import KEEPS_ITS_CORE, Bench, said, write_plan_of_recipes

from isochrone.files import read_measurements

BINOMIAL = "binomial"
CHAIN = "hierarchical(node=chain)@256"
NATIVE_WITHIN = "hierarchical(node=native)"
PIPELINE = "pipeline@4096"
SCATTER = "scatter_allgather@65536"

# A program that hangs does so at once; the others take a second or two.
HANGS_SECONDS = 90
LONG_SECONDS = 300


class Case(NamedTuple):
    """One way to call the hazards."""

    arguments: tuple[str, ...]
    ranks: int = 3
    recipe: str = BINOMIAL
    launches: int = 1  # on the plan: what only sometimes goes wrong is tried more often
    seconds: float = HANGS_SECONDS
    counted: bool = True  # whether any broadcast of rank 0 runs by the recipe
    environment: Mapping[str, str] = {}


def _id(case: Case) -> str:
    words = "-".join(word for word in case.arguments if word not in ("any", ""))
    return f"{words}-{case.ranks} ranks-{case.recipe}".replace(" ", "_")


CASES = [
    # Collectives that the program does not wait for, and those of making communicators.
    *(Case(("idup", kind, "12"), 3, BINOMIAL, 3) for kind in ("same", "other", "several")),
    Case(("idup", "same", "3"), 4, NATIVE_WITHIN, 2),
    Case(("idup", "several", "1"), 2, CHAIN, 4),
    Case(("graphs", "any", "16"), 4, BINOMIAL, 2),
    Case(("graphs", "any", "4"), 4, NATIVE_WITHIN),
    *(Case(("overlap", "any", "20"), 3, recipe) for recipe in (BINOMIAL, NATIVE_WITHIN)),
    # Communicators.
    Case(("churn", "any", "20000"), 2, BINOMIAL, environment=KEEPS_ITS_CORE),
    *(Case(("kinds",), 5, recipe) for recipe in (CHAIN, NATIVE_WITHIN)),
    Case(("kinds",), 2, PIPELINE),
    Case(("kinds",), 3, SCATTER),
    # Threads.
    Case(("threads", "any", "1000"), 2, BINOMIAL),
    # The groups are for one communicator at a time: that of all ranks.
    Case(("threads", "any", "200"), 2, NATIVE_WITHIN, 2, counted=False),
    Case(("kinds", "threads"), 5),
    Case(("overlap", "threads", "20"), 3),
    Case(("threads", "any", "60"), 3, CHAIN, 1),
    # Datatypes.
    *(
        Case((kind,), 3, recipe)
        for kind in ("bottom", "bounds", "gaps", "permuted", "nested", "pairs", "64 bits")
        for recipe in (BINOMIAL, "scatter_allgather@512")
    ),
    Case(("permuted",), 4, "hierarchical(node=chain)@100"),  # segments that end within an element
    Case(("gaps",), 4, NATIVE_WITHIN),
    Case(("empty",)),
    Case(("reused", "any", "600")),
    # Callbacks, and the end.
    Case(("callbacks",)),
    Case(("callbacks",), 4, NATIVE_WITHIN),
    *(Case(("ending", how)) for how in ("plain", "self", "atexit before", "atexit after")),
    Case(("ending", "self"), 4, NATIVE_WITHIN),
]
LONG_CASES = [
    Case(("churn", "any", "20000"), 2, NATIVE_WITHIN, seconds=LONG_SECONDS, environment=KEEPS_ITS_CORE),
    Case(("churn", "any", "100000"), 2, CHAIN, seconds=LONG_SECONDS, environment=KEEPS_ITS_CORE),
    Case(("threads", "any", "2000"), 3, BINOMIAL, 5, seconds=LONG_SECONDS),
    *(Case(("idup", kind, "20"), 3, BINOMIAL, 100) for kind in ("same", "other", "several")),
    Case(("graphs", "any", "20"), 4, BINOMIAL, 100),
    Case(("overlap", "threads", "20"), 3, BINOMIAL, 100),
    *(Case(("kinds",), ranks, CHAIN, seconds=LONG_SECONDS) for ranks in range(2, 10)),
]
# One element of 2.4 GiB, and at worst a copy of it, on two ranks.
HUGE_NEEDS_GIB = 12
HUGE_CASES = [Case(("huge", kind), 2, "pipeline@1048576", seconds=LONG_SECONDS) for kind in ("dense", "gaps")]


@pytest.fixture(scope="module")
def hazards(bench: Bench) -> Bench:
    """The bench with the program of hazards."""
    return bench.with_program(*HAZARDS)


@pytest.fixture(scope="module")
def plan_of(bench: Bench) -> Callable[[str], Path]:
    """The plan by which every broadcast runs by one recipe."""
    measurements = read_measurements(bench.folder / "m.jsonl")

    def plan(recipe: str) -> Path:
        folder = bench.folder / re.sub(r"\W+", "-", recipe)
        if not (folder / "plan.json").exists():
            folder.mkdir()
            write_plan_of_recipes(folder, measurements, recipe)
        return folder / "plan.json"

    return plan


def _compare(hazards: Bench, plan: Path, case: Case) -> subprocess.CompletedProcess[str]:
    """Runs the case natively and on the plan, and expects the same exit code and output."""
    plain = hazards.run(ranks=case.ranks, arguments=case.arguments, seconds=case.seconds, **case.environment)
    assert plain.returncode == 0, plain.stderr
    assert f"ok {case.arguments[0]} " in plain.stdout
    for _ in range(case.launches):
        planned = hazards.run_on(
            plan, case.ranks, case.arguments, case.seconds, ISOCHRONE_EXPLAIN="1", **case.environment
        )
        assert (planned.returncode, planned.stdout) == (0, plain.stdout), planned.stderr
    return planned


@pytest.mark.parametrize(
    "case",
    [
        *(pytest.param(case, id=_id(case)) for case in CASES),
        *(pytest.param(case, id=_id(case), marks=pytest.mark.long) for case in LONG_CASES),
    ],
)
def test_a_program_does_on_a_plan_what_it_does_without_it(
    hazards: Bench, plan_of: Callable[[str], Path], case: Case
) -> None:
    planned = _compare(hazards, plan_of(case.recipe), case)
    if case.counted:
        assert by_recipes(planned) > 0, planned.stderr


@pytest.mark.parametrize("calls", ["0", "40"])
def test_a_broadcast_that_is_truncated_on_one_rank_fails_there_and_other_calls_go_on(
    hazards: Bench, plan_of: Callable[[str], Path], calls: str
) -> None:
    # Natively MPICH 5 says nothing of it.
    arguments = ("truncated", "any", calls)
    planned = hazards.run_on(plan_of(BINOMIAL), 2, arguments, HANGS_SECONDS, ISOCHRONE_EXPLAIN="1")
    assert planned.returncode == 0, planned.stderr
    lines = [line for line in planned.stdout.splitlines() if "UCX  WARN" not in line]
    assert lines == ["is truncated: 0 1", "ok truncated any"]
    assert by_recipes(planned) > 0, planned.stderr


def test_an_error_handler_may_make_collective_calls(hazards: Bench, plan_of: Callable[[str], Path]) -> None:
    arguments = ("told by handler", "any", "0")
    planned = hazards.run_on(plan_of(BINOMIAL), 2, arguments, HANGS_SECONDS, ISOCHRONE_EXPLAIN="1")
    assert planned.returncode == 0, planned.stderr
    lines = [line for line in planned.stdout.splitlines() if "UCX  WARN" not in line]
    assert lines == ["is truncated: 0 1", "ok told by handler any"]
    assert by_recipes(planned) > 0, planned.stderr


def test_what_a_failed_broadcast_left_behind_is_for_no_other_communicator(
    hazards: Bench, plan_of: Callable[[str], Path]
) -> None:
    arguments = ("left behind", "any", "20")
    plain = hazards.run(ranks=2, arguments=arguments, seconds=HANGS_SECONDS)
    assert (plain.returncode, plain.stderr) == (0, "")
    planned = hazards.run_on(plan_of("pipeline@1024"), 2, arguments, HANGS_SECONDS, ISOCHRONE_EXPLAIN="1")
    assert planned.returncode == 0, planned.stderr
    # At the end UCX tells of messages that nobody received, on stdout.
    lines = [line for line in planned.stdout.splitlines() if "UCX  WARN" not in line]
    assert lines == plain.stdout.splitlines()
    assert by_recipes(planned) > 0, planned.stderr


def test_a_program_whose_end_is_not_seen_ends_well(hazards: Bench, plan_of: Callable[[str], Path]) -> None:
    planned = _compare(hazards, plan_of(BINOMIAL), Case(("ending", "pmpi")))
    # How many there were need not be told at an end that is not seen.
    assert f": {BINOMIAL}: measured" in planned.stderr


def _available_gib() -> float:
    values = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return int(values["MemAvailable"].split()[0]) / (1 << 20)


@pytest.mark.long
@pytest.mark.parametrize("case", HUGE_CASES, ids=_id)
def test_one_element_may_be_larger_than_2_gib(
    hazards: Bench, plan_of: Callable[[str], Path], case: Case
) -> None:
    if _available_gib() < HUGE_NEEDS_GIB:
        pytest.skip(f"{HUGE_NEEDS_GIB} GiB of memory are not available")
    planned = _compare(hazards, plan_of(case.recipe), case)
    assert by_recipes(planned) > 0, planned.stderr


@pytest.mark.parametrize("recipe", [BINOMIAL, NATIVE_WITHIN])
def test_a_program_can_have_as_many_communicators_as_without_a_plan(
    hazards: Bench, plan_of: Callable[[str], Path], recipe: str
) -> None:
    def duplicates(done: subprocess.CompletedProcess[str]) -> list[int]:
        assert done.returncode == 0, done.stderr
        assert "ok contexts " in done.stdout
        return [int(count) for count in re.findall(r"duplicates: (\d+) \1\n", done.stdout)]

    arguments = ("contexts", "any", "2500")
    plain = duplicates(hazards.run(arguments=arguments, seconds=HANGS_SECONDS))
    planned = hazards.run_on(plan_of(recipe), 2, arguments, HANGS_SECONDS, ISOCHRONE_EXPLAIN="1")
    first, again = duplicates(planned)
    assert first >= plain[0] - 16, planned.stderr
    assert again >= plain[1] - 16, planned.stderr
    assert by_recipes(planned) >= 2 * (first + again)


@pytest.mark.parametrize("how", ["return", "handler"])
@pytest.mark.parametrize("recipe", [BINOMIAL, NATIVE_WITHIN])
def test_wrong_arguments_are_told_as_without_a_plan(
    hazards: Bench, plan_of: Callable[[str], Path], how: str, recipe: str
) -> None:
    case = Case(("errors", how), recipe=recipe)
    planned = _compare(hazards, plan_of(case.recipe), case)
    assert by_recipes(planned) > 0, planned.stderr


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("count", "isochrone: MPI_Bcast: rank 1 gives 400 bytes, rank 0 gives 800 bytes"),
        ("kind", "isochrone: MPI_Bcast: rank 1 calls MPI_Barrier, rank 0 calls MPI_Bcast"),
        ("operation", "isochrone: MPI_Allreduce: rank 1 gives MPI_MAX, rank 0 gives MPI_SUM"),
        ("root", "isochrone: MPI_Bcast: rank 1 gives root 1, rank 0 gives root 0"),
    ],
)
@pytest.mark.parametrize("recipe", [BINOMIAL, "native"])
def test_a_check_finds_ranks_that_call_with_something_else(
    hazards: Bench, plan_of: Callable[[str], Path], what: str, line: str, recipe: str
) -> None:
    done = hazards.run_on(plan_of(recipe), 3, ("unequal", what), HANGS_SECONDS, ISOCHRONE_CHECK="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"is an argument's error: 1 1 1\nok unequal {what}\n"
    assert said(done) == [line]


def test_a_check_that_finds_something_ends_the_job_by_default(
    hazards: Bench, plan_of: Callable[[str], Path]
) -> None:
    done = hazards.run_on(plan_of(BINOMIAL), 3, ("unequal", "fatal"), HANGS_SECONDS, ISOCHRONE_CHECK="1")
    assert done.returncode != 0
    assert "ok unequal" not in done.stdout
    assert "isochrone: MPI_Bcast: rank 1 gives 400 bytes, rank 0 gives 800 bytes" in said(done)


@pytest.mark.parametrize("kind", ["gaps", "permuted", "bottom", "empty", "kinds", "callbacks"])
def test_a_check_finds_nothing_in_a_right_program(
    hazards: Bench, plan_of: Callable[[str], Path], kind: str
) -> None:
    plain = hazards.run(ranks=3, arguments=(kind,), seconds=HANGS_SECONDS)
    checked = hazards.run_on(plan_of(BINOMIAL), 3, (kind,), HANGS_SECONDS, ISOCHRONE_CHECK="1")
    assert (checked.returncode, checked.stdout) == (0, plain.stdout), checked.stderr
    assert said(checked) == []
