# SPDX-License-Identifier: BSD-3-Clause
"""Fortran programs follow the plan, whichever of the three bindings they use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from interposed import PROGRAMS, by_recipes, compiled, full_plan, is_openmpi, launched, on_plan
from planned import KEEPS_ITS_CORE, Bench, said

_BINDINGS = ("MPIF_H", "MPI_MODULE", "MPI_F08")
_TWO = ("-n", "2")

# The module without its types is in the same library as the header.
_apart = pytest.mark.parametrize("binding", ["MPIF_H", "MPI_F08"], indirect=True, scope="module")

# Broadcasts of `kinds`.
_KINDS = {"MPIF_H": 9, "MPI_MODULE": 9, "MPI_F08": 10}


@pytest.fixture(scope="module", params=_BINDINGS)
def binding(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def fortran(bench: Bench, binding: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Fortran program with one of the bindings."""
    output = tmp_path_factory.mktemp("fortran") / "fortran"
    return compiled(bench, output, PROGRAMS / "fortran.F90", f"-D{binding}", language="f90")


def test_a_fortran_program_follows_the_plan(
    bench: Bench, binding: str, fortran: Path, tmp_path: Path
) -> None:
    plain = launched(bench, (*_TWO, fortran, "kinds"))
    assert (plain.returncode, plain.stdout) == (0, "0 wrong values\n"), plain.stderr
    plan = full_plan(bench, tmp_path)
    planned = launched(bench, (*_TWO, fortran, "kinds"), before=on_plan(plan), ISOCHRONE_EXPLAIN="1")
    assert (planned.returncode, planned.stdout) == (0, plain.stdout), planned.stderr
    assert said(planned)[0].startswith("isochrone: bcast of 4 bytes from rank 1: pipeline@100: measured ")
    # Bindings that call MPI_Bcast, and it PMPI_Bcast, pass by twice.
    assert by_recipes(planned) == _KINDS[binding]


def test_a_fortran_program_without_a_plan_is_told_nothing(bench: Bench, fortran: Path) -> None:
    assert launched(bench, (*_TWO, fortran, "kinds")).stderr == ""


@_apart
@pytest.mark.parametrize("times", [5_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_communicators_that_fortran_frees_leave_nothing_behind(
    bench: Bench, fortran: Path, tmp_path: Path, times: int
) -> None:
    plan = full_plan(bench, tmp_path)
    done = launched(
        bench,
        (*_TWO, fortran, "many", str(times)),
        before=on_plan(plan),
        most_s=60 + times / 200,
        ISOCHRONE_EXPLAIN="1",
        **KEEPS_ITS_CORE,
    )
    found = re.fullmatch(r"grew by (-?\d+) KiB\n0 wrong values\n", done.stdout)
    assert done.returncode == 0, done.stderr
    assert found, done.stdout
    assert by_recipes(done) == times
    assert int(found[1]) < 256


def test_counts_beyond_int_of_fortran_follow_the_plan(bench: Bench, tmp_path: Path) -> None:
    if is_openmpi(bench):
        pytest.skip("Open MPI has no such interface")
    program = compiled(
        bench, tmp_path / "large", PROGRAMS / "fortran.F90", "-DMPI_F08", "-DLARGE", language="f90"
    )
    plan = full_plan(bench, tmp_path)
    done = launched(bench, (*_TWO, program, "kinds"), before=on_plan(plan), ISOCHRONE_EXPLAIN="1")
    assert (done.returncode, done.stdout) == (0, "0 wrong values\n"), done.stderr
    assert by_recipes(done) == 12


@_apart
@pytest.mark.parametrize(("start", "end"), [("c", "fortran"), ("fortran", "c")])
def test_mpi_may_start_and_end_in_different_languages(
    bench: Bench, binding: str, mixed: Path, tmp_path: Path, start: str, end: str
) -> None:
    plan = full_plan(bench, tmp_path)
    planned = launched(bench, (*_TWO, mixed, start, end), before=on_plan(plan), ISOCHRONE_EXPLAIN="1")
    assert (planned.returncode, planned.stdout) == (0, "1060 1060\n"), planned.stderr
    # Five from C and five from Fortran.
    assert by_recipes(planned) == 10


@pytest.fixture(scope="module")
def mixed(bench: Bench, binding: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A C program with a Fortran side of one of the bindings."""
    folder = tmp_path_factory.mktemp("mixed")
    c_side = compiled(bench, folder / "mixed.o", "-c", PROGRAMS / "mixed.c")
    return compiled(bench, folder / "mixed", PROGRAMS / "mixed.F90", c_side, f"-D{binding}", language="f90")


@_apart
@pytest.mark.parametrize("c_first", [True, False], ids=["C at rank 0", "Fortran at rank 0"])
def test_c_and_fortran_programs_in_one_job_follow_the_plan_together(
    bench: Bench, fortran: Path, tmp_path: Path, c_first: bool
) -> None:
    c_program = compiled(bench, tmp_path / "rounds", PROGRAMS / "rounds.c")
    contexts = [("-n", "1", c_program), ("-n", "1", fortran, "rounds")]
    contexts = contexts if c_first else contexts[::-1]
    plain = launched(bench, *contexts)
    assert (plain.returncode, plain.stdout) == (0, "20 broadcasts, 0 wrong values\n"), plain.stderr
    plan = full_plan(bench, tmp_path)
    planned = launched(bench, *contexts, before=on_plan(plan), ISOCHRONE_EXPLAIN="1")
    assert (planned.returncode, planned.stdout) == (0, plain.stdout), planned.stderr
    assert by_recipes(planned) == 20
