# SPDX-License-Identifier: BSD-3-Clause
"""What `isochrone run` and `isochrone bench` tell an MPI library that was tuned, and when they do not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec import structs
from planned import EVIDENCE
from tuned import MPICH, OPEN_MPI, Real, real, write_survey_of

from isochrone.files import Plan, PlannedTopology, Rule, compared, write_plan
from isochrone.launch import preload
from isochrone.launch import target as target_module
from isochrone.launch.launcher import OPEN_MPI_AS_ROOT, read_launch_line
from isochrone.launch.library import MpiLibrary
from isochrone.launch.target import LocalTarget
from isochrone.launch.told import told

SUMS = Path(__file__).parents[1] / "export" / "sums.c"
RANKS = 5
RULES = {
    "openmpi": [("allreduce", 60, 100, "basic_linear")],
    "mpich": [("allreduce", 60, 100, "smp")],
}
VARIABLE = {
    "openmpi": "OMPI_MCA_coll_tuned_dynamic_rules_filename",
    "mpich": "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE",
}


@pytest.fixture(params=list(RULES))
def given(request: pytest.FixtureRequest, tmp_path: Path) -> Real:
    return real(request.param, tmp_path)


def kind(given: Real) -> str:
    return "openmpi" if given.library.vendor == "Open MPI" else "mpich"


def line(given: Real, *program: str | Path) -> list[str]:
    words = ["--oversubscribe"] if given.library.vendor == "Open MPI" else []
    return [given.launcher, *words, "-n", str(RANKS), *map(str, program)]


def isochrone(
    given: Real, options: list[str], program: list[str | Path], **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "isochrone", "run", *options, "--", *line(given, *program)],
        env={**os.environ, **OPEN_MPI_AS_ROOT, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


def sums(text: str) -> list[str]:
    return re.findall(r"^allreduce .*", text, re.MULTILINE)


def test_a_program_runs_with_the_librarys_tuning(given: Real, tmp_path: Path) -> None:
    write_survey_of(tmp_path / "s", RULES[kind(given)], RANKS, given.library)
    program: list[str | Path] = [given.compiled(SUMS), "64", "400"]
    plain = sums(given.run(RANKS, program))
    done = isochrone(given, ["--plan", str(tmp_path / "s")], program, ISOCHRONE_EXPLAIN="1")
    assert done.returncode == 0, done.stderr
    told_so = sums(done.stdout)
    assert told_so[0] != plain[0]
    assert told_so[1] == plain[1]
    assert f"the MPI library is told 1 rule: {'OMPI' if kind(given) == 'openmpi' else 'MPIR'}" in done.stderr
    # Twice the same, with files that are there already.
    again = isochrone(given, ["--plan", str(tmp_path / "s")], program)
    assert sums(again.stdout) == told_so
    assert "is told" not in again.stderr


def test_what_the_user_sets_himself_stays(given: Real, tmp_path: Path) -> None:
    write_survey_of(tmp_path / "s", RULES[kind(given)], RANKS, given.library)
    options = ["--json", "--plan", str(tmp_path / "s")]
    name = VARIABLE[kind(given)]
    document = json.loads(isochrone(given, options, ["true"]).stdout)
    assert document["library"]["variables"][name].startswith(str(tmp_path / "s"))
    assert any(name in word for word in document["command"])
    own = json.loads(isochrone(given, options, ["true"], **{name: "/mine"}).stdout)
    assert name not in own["library"]["variables"]
    assert not any(name in word for word in own["command"])
    if kind(given) == "openmpi":
        # Its variables belong together.
        assert "collectives are set already" in own["library"]["refusal"]


def test_words_of_the_program_are_no_settings(given: Real, tmp_path: Path) -> None:
    write_survey_of(tmp_path / "s", RULES[kind(given)], RANKS, given.library)
    words: list[str | Path] = ["true", "coll", "coll_tuned_x", VARIABLE[kind(given)]]
    found = json.loads(isochrone(given, ["--json", "--plan", str(tmp_path / "s")], words).stdout)["library"]
    assert VARIABLE[kind(given)] in found["variables"]


def test_what_the_user_sets_in_his_home_is_his_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = MpiLibrary("o", "Open MPI", "4.1.4", "libmpi.so.40", "/o", "mpicc", None, "PATH")
    write_survey_of(tmp_path, [("bcast", 1, 9, "chain")], RANKS, OPEN_MPI)
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".openmpi" / "mca-params.conf"
    file.parent.mkdir()
    file.write_text("# coll_tuned_use_dynamic_rules = 1\nbtl = tcp,self\ncolleague = 1\n")
    assert told(tmp_path, library).variables
    file.write_text("# mine\n  coll_tuned_bcast_algorithm = 3\n")
    refusal = told(tmp_path, library).refusal
    assert refusal is not None
    assert f"{file}:2: collectives are set already" in refusal


@pytest.mark.parametrize("option", ["--export=ALL,{}=0", "--export ALL,{}=0"])
def test_what_srun_is_to_export_is_the_users_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    own = "OMPI_MCA_coll_tuned_bcast_algorithm"
    library = MpiLibrary("o", "Open MPI", "4.1.4", "libmpi.so.40", "/o", "mpicc", None, "PATH")
    write_survey_of(tmp_path, [("bcast", 1, 9, "chain")], RANKS, OPEN_MPI)
    monkeypatch.setattr(preload, "library_of", lambda _: library)
    srun = tmp_path / "bin" / "srun"
    srun.parent.mkdir()
    srun.write_text("#!/bin/sh\necho slurm 22.05.8\n")
    srun.chmod(0o755)
    line = read_launch_line([str(srun), "-n", str(RANKS), *option.format(own).split(), "true"])
    refusal = preload._to_tell(line, tmp_path / "plan.json").refusal
    assert refusal is not None
    assert f"{own}: collectives are set already" in refusal
    plain = read_launch_line([str(srun), "-n", str(RANKS), "true", f"{own}=0"])
    assert preload._to_tell(plain, tmp_path / "plan.json").variables


def test_a_tuning_of_another_library_is_refused_in_one_line(given: Real, tmp_path: Path) -> None:
    other = MPICH if kind(given) == "openmpi" else OPEN_MPI
    write_survey_of(tmp_path / "s", [("barrier", 0, 0, "tree")], RANKS, other)
    found = told(tmp_path / "s", given.library)
    assert not found.variables
    assert found.refusal is not None
    assert re.search(r"is for .* and the launcher is of", found.refusal)
    (tmp_path / "s" / "library.json").write_text("{")
    damaged = told(tmp_path / "s", given.library).refusal
    assert damaged is not None
    assert "\n" not in damaged
    (tmp_path / "s" / "library.json").unlink()
    assert told(tmp_path / "s", given.library).refusal is None


@pytest.mark.parametrize(
    ("recipe", "compared_with", "is_told"),
    [
        ("flat", "nothing", False),
        ("flat", "another", False),
        ("flat", "this", True),
        ("native", "nothing", True),
        ("found live", "nothing", True),
    ],
)
def test_beside_recipes_a_library_is_told_only_what_they_were_compared_with(
    tmp_path: Path, recipe: str, compared_with: str, is_told: bool
) -> None:
    library = MpiLibrary("o", "Open MPI", "4.1.4", "libmpi.so.40", "/o", "mpicc", None, "PATH")
    tuning = write_survey_of(tmp_path, [("bcast", 1, 9, "chain")], RANKS, OPEN_MPI)
    basis, recipe = ("live", "flat") if recipe == "found live" else ("measured", recipe)
    rule = Rule("bcast", "4 ranks in one node", 1, 9, recipe, EVIDENCE, basis)
    plan = Plan(
        topology=PlannedTopology(tuning.topology.fingerprint, "topology.json"),
        mpi=tuning.mpi,
        rules=(rule,),
    )
    other = structs.replace(tuning.rules[0], algorithm="pipeline")
    if compared_with != "nothing":
        rules = (other,) if compared_with == "another" else tuning.rules
        plan = compared(plan, structs.replace(tuning, rules=rules))
    write_plan(tmp_path / "plan.json", plan)
    found = told(tmp_path, library, plan=tmp_path / "plan.json")
    assert bool(found.variables) == is_told
    assert (found.refusal is None) == is_told
    if found.refusal is not None:
        assert "were not compared with what it says" in found.refusal
        assert "run isochrone tune" in found.refusal
    # A plan is made against all that there is, whatever plan there was.
    (tmp_path / "plan.json").write_text("{")
    assert told(tmp_path, library).variables


def test_intel_mpi_is_told_by_variables_alone(tmp_path: Path) -> None:
    intel = MpiLibrary("i", "Intel MPI", "2021.18", "libmpi.so.12", "/i", "mpicc", None, "PATH")
    write_survey_of(tmp_path, [("bcast", 1, 9, "3")], RANKS, intel)
    assert told(tmp_path, intel, RANKS).variables == {"I_MPI_ADJUST_BCAST": "3:0-2147483647"}
    assert told(tmp_path, intel, RANKS, ["mpiexec", "-genv", "I_MPI_ADJUST_BCAST=1"]).variables == {}
    assert not (tmp_path / "library").exists()
    # They would count in a job of any size.
    refusal = told(tmp_path, intel, RANKS + 1).refusal
    assert refusal is not None
    assert f"is for {RANKS} ranks, and the job has {RANKS + 1}" in refusal


def test_a_file_for_the_library_that_cannot_be_written_costs_a_line(tmp_path: Path) -> None:
    library = MpiLibrary("o", "Open MPI", "4.1.4", "libmpi.so.40", "/o", "mpicc", None, "PATH")
    write_survey_of(tmp_path, [("bcast", 1, 9, "chain")], RANKS, OPEN_MPI)
    file = told(tmp_path, library, RANKS).variables["OMPI_MCA_coll_tuned_dynamic_rules_filename"]
    for make, remove in ((os.mkdir, os.rmdir), (os.mkfifo, os.unlink)):
        Path(file).unlink()
        make(file)
        found = told(tmp_path, library, RANKS)
        assert not found.variables
        assert found.refusal is not None
        assert f"{file}: is in the way" in found.refusal
        remove(file)
        assert told(tmp_path, library, RANKS).variables


def test_a_place_to_run_gives_the_library_more_variables(
    given: Real, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[dict[str, str]] = []
    build = SimpleNamespace(program=Path, idle=Path("idle.so"))
    monkeypatch.setattr(target_module, "build_for", lambda library: build)
    monkeypatch.setattr(
        target_module, "run_program", lambda argv, name, variables, talk: found.append(variables)
    )
    place = LocalTarget(line(given))
    place.with_variables({"A": "1"}).with_variables({"B": "2"}).run("isochrone-bench", [])
    place.run("isochrone-bench", [])
    assert {"A": "1", "B": "2"}.items() <= found[0].items()
    assert not {"A", "B"} & set(found[1])
