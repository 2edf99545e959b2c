# SPDX-License-Identifier: BSD-3-Clause
"""Several plans for one run, and plans on other hosts than those that were surveyed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from interposed import PROGRAMS, compiled, launched
from msgspec.structs import replace
from planned import EVIDENCE, LINKS, Bench, said

from isochrone import _core
from isochrone.files import (
    Level,
    LibraryReference,
    Plan,
    PlannedTopology,
    Rule,
    Topology,
    read_measurements,
    write_plan,
    write_topology,
)

# The hosts of the ranks that were surveyed, and the recipe of that plan.
FOUR = ("aabb", "hierarchical(machine=chain,node=flat)@512")
TWO = ("ab", "pipeline@100")
INSIDE = ("aa", "scatter_allgather@256")


@pytest.fixture(scope="module")
def hosts(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A preload with which ranks seem to be on several hosts."""
    output = tmp_path_factory.mktemp("hosts") / "hosts.so"
    return compiled(bench, output, "-shared", "-fPIC", PROGRAMS / "hosts.c")


def surveyed(bench: Bench, folder: Path, on: str, recipe: str, signature: str = "", **mpi: str) -> Path:
    """A plan for broadcasts from any rank on some hosts."""
    folder.mkdir()
    measured = read_measurements(bench.folder / "m.jsonl")
    kind = signature or measured.places[0].signature
    names = sorted(set(on))
    places = tuple(replace(measured.places[0], host=host, cpus=None, signature=kind) for host in names)
    whole = tuple(range(len(places)))
    levels = [Level("node", tuple((place,) for place in whole), 1.0, LINKS)]
    if len(places) > 1:
        levels.insert(0, Level("machine", (whole,), 1.0, LINKS))
    topology = Topology(places, tuple(names.index(host) for host in on), tuple(levels))
    write_topology(folder / "topology.json", topology)
    layout = _core.match((folder / "topology.json").read_text(), [(host, None, kind) for host in on])
    shapes = dict.fromkeys(layout.shape(root) for root in range(layout.size))
    rules = tuple(Rule("bcast", shape, 1, 1 << 40, recipe, EVIDENCE) for shape in shapes)
    library = replace(measured.mpi, **mpi)
    plan = Plan(
        topology=PlannedTopology(topology.fingerprint, "topology.json"),
        mpi=LibraryReference(library.library, library.abi),
        rules=rules,
    )
    write_plan(folder / "plan.json", plan)
    return folder


def ran(bench: Bench, hosts: Path, plans: Sequence[Path], on: str) -> tuple[set[str], list[str]]:
    """By which recipes broadcasts ran on ranks at some hosts, and all that was said."""
    words = [word for plan in plans for word in ("--plan", str(plan))]
    done = launched(
        bench,
        ("-n", str(len(on)), bench.program, "quick"),
        before=["env", f"LD_PRELOAD={hosts}", sys.executable, "-m", "isochrone", "run", *words, "--"],
        FAKE_HOSTS=on,
        ISOCHRONE_EXPLAIN="1",
    )
    assert done.returncode == 0, done.stderr
    lines = said(done)
    return {line.split(": ")[2] for line in lines if " bytes" in line}, lines


@pytest.mark.parametrize("on", [FOUR, TWO, INSIDE], ids=["four", "two", "inside"])
def test_each_job_runs_by_the_plan_that_was_made_for_it(
    bench: Bench, hosts: Path, tmp_path: Path, on: tuple[str, str]
) -> None:
    plans = [surveyed(bench, tmp_path / where, where, recipe) for where, recipe in (FOUR, TWO, INSIDE)]
    found, lines = ran(bench, hosts, plans, on[0])
    assert on[1] in found, lines


@pytest.mark.parametrize("several", [False, True], ids=["one plan", "two plans"])
def test_a_plan_holds_on_other_hosts_of_the_same_kind(
    bench: Bench, hosts: Path, tmp_path: Path, several: bool
) -> None:
    plans = [surveyed(bench, tmp_path / "ab", *FOUR)]
    if several:
        plans.append(surveyed(bench, tmp_path / "ef", "ef", TWO[1]))
    found, lines = ran(bench, hosts, plans, "ccdd")
    # Hosts of two surveys are apart, and strangers are in no group of either: then levels have other names.
    assert FOUR[1] in found, lines


def test_a_plan_does_not_hold_on_hosts_of_another_kind(bench: Bench, hosts: Path, tmp_path: Path) -> None:
    plan = surveyed(bench, tmp_path / "ab", *FOUR, signature="another kind")
    found, lines = ran(bench, hosts, [plan], "ccdd")
    assert not found
    assert any("was not surveyed" in line for line in lines)


def test_plans_that_cannot_be_merged_cost_one_line(bench: Bench, hosts: Path, tmp_path: Path) -> None:
    plans = [
        surveyed(bench, tmp_path / "ab", *FOUR),
        surveyed(bench, tmp_path / "other", *TWO, library="MPICH Version: 3.4.1", abi="libmpich.so.12"),
    ]
    found, lines = ran(bench, hosts, plans, "aabb")
    assert not found
    (line,) = lines
    assert "a plan belongs to one MPI library" in line
    assert line.endswith("running without a plan")
