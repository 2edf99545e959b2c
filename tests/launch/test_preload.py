# SPDX-License-Identifier: BSD-3-Clause
"""Programs get the preload in their ranks, and run without it where a plan does not hold."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from isochrone.errors import IsochroneError
from isochrone.files import LibraryReference, PlannedTopology
from isochrone.files.place import Place
from isochrone.files.plan import Plan, write_plan
from isochrone.files.topology import Level, Topology, write_topology
from isochrone.launch.launcher import read_launch_line
from isochrone.launch.library import MpiLibrary, identify
from isochrone.launch.preload import check_library, check_program, prepare, with_variables

DEBIAN = {"Open MPI": "openmpi", "MPICH": "mpich"}
MakeLauncher = Callable[[str, str], Path]

_PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    int value = 7;
    MPI_Init(&argc, &argv);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    printf("explain %s\\n", getenv("ISOCHRONE_EXPLAIN") ? getenv("ISOCHRONE_EXPLAIN") : "not set");
    MPI_Finalize();
    return 5;
}
"""


def _plan_for(library: MpiLibrary, folder: Path) -> Path:
    topology = Topology(
        places=(Place("n0", None, "s"),), ranks=(0, 0), levels=(Level("node", ((0,),), None, None),)
    )
    write_topology(folder / "topology.json", topology)
    plan = Plan(
        topology=PlannedTopology(topology.fingerprint, "topology.json"),
        mpi=LibraryReference(f"{library.vendor} v{library.version}", library.abi),
        rules=(),
    )
    if library.vendor == "MPICH":
        plan = structs.replace(plan, mpi=LibraryReference(f"MPICH Version: {library.version}", library.abi))
    write_plan(folder / "plan.json", plan)
    return folder / "plan.json"


def _library(vendor: str) -> MpiLibrary:
    return identify(Path(str(shutil.which(f"mpicc.{DEBIAN[vendor]}"))), "PATH")


@pytest.fixture
def program(vendor: str, tmp_path: Path) -> Path:
    (tmp_path / "program.c").write_text(_PROGRAM, encoding="utf-8")
    path = tmp_path / "program"
    subprocess.run([f"mpicc.{DEBIAN[vendor]}", "-o", str(path), str(tmp_path / "program.c")], check=True)
    return path


def _run(vendor: str, program: Path, plan: Path) -> tuple[int, list[str], str | None]:
    start = prepare(read_launch_line([f"mpiexec.{DEBIAN[vendor]}", "-n", "2", str(program)]), plan)
    environment = {**os.environ, **start.environment}
    done = subprocess.run(start.argv, capture_output=True, text=True, env=environment, timeout=60)
    return done.returncode, sorted(done.stdout.split("\n"))[1:], start.refusal


def test_every_rank_runs_on_the_plan_and_the_exit_code_is_the_programs(
    vendor: str, program: Path, tiny_native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOCHRONE_EXPLAIN", "1")
    plan = _plan_for(_library(vendor), tmp_path)
    code, lines, refusal = _run(vendor, program, plan)
    assert (code, lines, refusal) == (5, ["explain 1"] * 2 + [f"on plan {plan}"] * 2, None)


@pytest.mark.parametrize("damage", ["{", '{"isochrone": "plan", "schema_version": 99}', None])
def test_a_damaged_or_missing_plan_costs_one_line_and_the_program_still_runs(
    vendor: str, program: Path, tmp_path: Path, damage: str | None
) -> None:
    plan = tmp_path / "plan.json"
    if damage is not None:
        plan.write_text(damage, encoding="utf-8")
    code, lines, refusal = _run(vendor, program, plan)
    assert (code, lines) == (5, ["explain not set"] * 2)
    assert refusal is not None
    assert str(plan) in refusal
    assert refusal.endswith("running without a plan")


def test_a_plan_for_another_topology_than_the_one_beside_it_is_refused(
    vendor: str, program: Path, tmp_path: Path
) -> None:
    plan = _plan_for(_library(vendor), tmp_path)
    other = Topology(
        places=(Place("n1", None, "s"),), ranks=(0,), levels=(Level("node", ((0,),), None, None),)
    )
    write_topology(tmp_path / "topology.json", other)
    assert "another topology" in str(_run(vendor, program, plan)[2])


def test_a_plan_of_another_library_version_or_abi_is_refused() -> None:
    plan = Plan(
        topology=PlannedTopology("f" * 64, "topology.json"),
        mpi=LibraryReference("Open MPI v4.1.4, package", "libmpi.so.40"),
        rules=(),
    )
    here = MpiLibrary("x", "Open MPI", "4.1.4", "libmpi.so.40", "/l", "/c", None, "PATH")
    check_library(plan, here, "plan.json")
    for other in (replace(here, version="5.0.1"), replace(here, abi="libmpi.so.80")):
        with pytest.raises(IsochroneError, match=r"the plan is for Open MPI 4.1.4"):
            check_library(plan, other, "plan.json")


def test_a_program_that_needs_another_mpi_library_is_refused(vendor: str, program: Path) -> None:
    check_program(str(program), _library(vendor))
    with pytest.raises(IsochroneError, match=r"the program needs libmpi"):
        check_program(str(program), replace(_library(vendor), abi="libmpi.so.99"))


def test_a_script_and_a_missing_program_are_left_to_the_launcher() -> None:
    library = MpiLibrary("x", "Open MPI", "4.1.4", "libmpi.so.40", "/l", "/c", None, "PATH")
    check_program("sh", library)
    check_program("./no-such-program", library)


def test_open_mpi_gets_the_variables_for_each_program(launcher: MakeLauncher) -> None:
    path = launcher("openmpi4", "mpirun")
    line = read_launch_line(["mpirun", "-n", "1", "./a", "x", ":", "-n", "2", "./b"])
    expected = f"{path} -x LD_PRELOAD=/p -n 1 ./a x : -x LD_PRELOAD=/p -n 2 ./b"
    assert with_variables(line, {"LD_PRELOAD": "/p"}) == tuple(expected.split())


def test_hydra_gets_the_variables_once_for_all(launcher: MakeLauncher) -> None:
    path = launcher("hydra", "mpiexec")
    line = read_launch_line(["mpiexec", "-n", "1", "./a", ":", "-n", "2", "./b"])
    expected = f"{path} -genv LD_PRELOAD /p -n 1 ./a : -n 2 ./b"
    assert with_variables(line, {"LD_PRELOAD": "/p"}) == tuple(expected.split())


@pytest.mark.parametrize(
    ("given", "export"),
    [("", "ALL"), ("--export=PATH,HOME", "PATH,HOME"), ("--export NONE", "NONE")],
)
def test_srun_exports_the_variables_beside_what_the_user_exports(
    launcher: MakeLauncher, given: str, export: str
) -> None:
    path = launcher("slurm", "srun")
    line = read_launch_line(["srun", "-n", "2", *given.split(), "./a", "--export=mine"])
    expected = f"{path} --export={export},LD_PRELOAD=/p -n 2 ./a --export=mine"
    assert with_variables(line, {"LD_PRELOAD": "/p"}) == tuple(expected.split())


@pytest.mark.parametrize("vendor", ["MPICH"], indirect=True)
def test_what_srun_is_to_export_is_not_in_its_own_environment(
    vendor: str, tiny_native: Path, launcher: MakeLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher("slurm", "srun")
    plan = _plan_for(_library(vendor), tmp_path)
    monkeypatch.setenv("ISOCHRONE_MPI", str(shutil.which(f"mpicc.{DEBIAN[vendor]}")))
    monkeypatch.setenv("ISOCHRONE_EXPLAIN", "1")
    monkeypatch.setenv("LD_PRELOAD", "/profiler.so")
    start = prepare(read_launch_line(["srun", "sh"]), plan)
    assert start.refusal is None
    assert start.withheld == {"LD_PRELOAD", "ISOCHRONE_EXPLAIN"}
    assert ",LD_PRELOAD=/profiler.so:/" in start.argv[1]


def test_what_srun_cannot_pass_on_is_refused(launcher: MakeLauncher) -> None:
    launcher("slurm", "srun")
    with pytest.raises(IsochroneError, match="commas"):
        with_variables(read_launch_line(["srun", "./a"]), {"ISOCHRONE_PLAN": "/a,b"})


def test_a_launch_line_with_its_own_preload_is_left_alone(launcher: MakeLauncher) -> None:
    launcher("openmpi4", "mpirun")
    with pytest.raises(IsochroneError, match="sets LD_PRELOAD itself"):
        with_variables(read_launch_line(["mpirun", "-x", "LD_PRELOAD=/q", "./a"]), {"LD_PRELOAD": "/p"})


def test_a_simulated_program_runs_without_a_preload(launcher: MakeLauncher, tmp_path: Path) -> None:
    launcher("simgrid", "smpirun")
    start = prepare(read_launch_line(["smpirun", "-np", "2", "./a"]), tmp_path / "plan.json")
    assert "cannot be preloaded" in str(start.refusal)
    assert start.argv[1:] == ("-np", "2", "./a")
