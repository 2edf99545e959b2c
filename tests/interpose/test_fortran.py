# SPDX-License-Identifier: BSD-3-Clause
"""Fortran programs follow the plan where their bindings let them; where not, one line says so."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from planned import Bench, said

_PROGRAM = """\
program broadcast
  {use}
  implicit none
  {include}
  integer :: error, value, rank
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  value = merge(7, 0, rank == 1)
  call MPI_Bcast(value, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
  if (rank == 0) print *, 'value', value
  if (rank == 0) call execute_command_line('/bin/sh -c true')
  call MPI_Finalize(error)
end program
"""
_BINDINGS = {
    "mpif.h": {"use": "", "include": "include 'mpif.h'"},
    "mpi": {"use": "use mpi", "include": ""},
    "mpi_f08": {"use": "use mpi_f08", "include": ""},
}


@pytest.fixture(params=sorted(_BINDINGS))
def fortran(bench: Bench, request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    """The bench with a Fortran program."""
    compiler = bench.launcher.replace("mpiexec", "mpif90")
    if shutil.which(compiler) is None or shutil.which("gfortran") is None:
        if os.environ.get("CI") == "true" and "/" not in compiler:
            pytest.fail(f"{compiler} and gfortran are missing")
        pytest.skip(f"{compiler} or gfortran is not installed")
    source = tmp_path / "broadcast.f90"
    source.write_text(_PROGRAM.format_map(_BINDINGS[request.param]), encoding="utf-8")
    subprocess.run([compiler, "-o", str(tmp_path / "broadcast"), str(source)], check=True, cwd=tmp_path)
    return replace(bench, program=tmp_path / "broadcast")


def test_a_fortran_program_follows_the_plan_or_is_told_once_that_it_does_not(
    fortran: Bench, request: pytest.FixtureRequest
) -> None:
    done = fortran.run_on(fortran.folder / "plan.json", ISOCHRONE_EXPLAIN="1")
    assert (done.returncode, done.stdout.split()) == (0, ["value", "7"]), done.stderr
    lines = said(done)
    if "openmpi" in fortran.launcher:
        assert lines == [
            "isochrone: this program has Open MPI's Fortran bindings, which a preload cannot see into: what "
            "it calls from Fortran runs on the MPI library's own"
        ]
    elif "mpi_f08" in request.node.name:
        assert lines == [
            "isochrone: this program started MPI where a preload cannot see it, as mpi_f08 of Fortran and "
            "MPI_Session_init do: the MPI library's own broadcasts run"
        ]
    else:
        assert "pipeline@100" in lines[0]


def test_a_fortran_program_without_a_plan_is_told_nothing(fortran: Bench) -> None:
    assert fortran.run().stderr == ""
