# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs of a real library, run as they are and on a plan that was made for it."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from isochrone import _core
from isochrone.files import (
    Evidence,
    Level,
    LibraryReference,
    Links,
    Measurements,
    Plan,
    PlannedTopology,
    Rule,
    Topology,
    distinct_places,
    write_plan,
    write_topology,
)
from isochrone.launch.build import build_for
from isochrone.launch.launcher import read_launch_line
from isochrone.launch.registry import library_of

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
MOST_RANKS = 9
MOST_BYTES = 1 << 40
EVIDENCE = Evidence(2e-5, 1e-5, 2.0, (1.9, 2.1), 20)
LINKS = Links(1e-6, ((0, 1e-7),), ((0, 0.0),), ((0, 1e-7), (65536, 1e-5)))


@dataclass(frozen=True)
class Bench:
    """A launcher and its compiler, a compiled program, and a folder with a plan for it."""

    launcher: str
    compiler: str
    program: Path
    folder: Path
    plan: Plan

    def with_program(self, *sources: Path) -> Bench:
        """The same with another program, which is compiled; the first of its files names it."""
        program = self.folder / sources[0].stem
        # GCC takes MPI_UNWEIGHTED and the like for arrays that are too small.
        quiet = ["-Wno-stringop-overread", "-Wno-stringop-overflow"]
        command = [self.compiler, "-O1", "-pthread", *quiet, "-o", str(program), *map(str, sources)]
        subprocess.run(command, check=True)
        return replace(self, program=program)

    def run(
        self,
        *words: str,
        ranks: int = 2,
        arguments: tuple[str, ...] = ("quick",),
        seconds: float = 300,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        """Runs the program; `words` come before the launcher. One that takes too long fails the test."""
        oversubscribe = ["--oversubscribe"] if "openmpi" in self.launcher else []
        defaults = defaults_of(self.launcher)
        return _run_whole(
            [*words, self.launcher, *oversubscribe, "-n", str(ranks), str(self.program), *arguments],
            {**os.environ, **defaults, **environment},
            seconds,
        )

    def run_on(
        self,
        plan: Path,
        ranks: int = 2,
        arguments: tuple[str, ...] = ("quick",),
        seconds: float = 300,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        """Runs the program on a plan."""
        words = [sys.executable, "-m", "isochrone", "run", "--plan", str(plan), "--"]
        return self.run(*words, ranks=ranks, arguments=arguments, seconds=seconds, **environment)


KEEPS_ITS_CORE = {"OMPI_MCA_mpi_yield_when_idle": "0"}
"""For two ranks that wait tens of thousands of times. Each time that one of Open MPI's yields, a busy program
may have its core for milliseconds.
"""


@functools.cache
def defaults_of(launcher: str) -> dict[str, str]:
    """Variables for a launcher and its ranks: root may start more ranks than cores, and those that wait leave
    their core to others.
    """
    if "openmpi" in launcher:
        how = {"OMPI_MCA_mpi_yield_when_idle": "1"}
    else:
        idle = build_for(library_of(read_launch_line([launcher, "-n", "1"]))).idle
        how = {"LD_PRELOAD": str(idle), "I_MPI_WAIT_MODE": "1", "I_MPI_FABRICS": "shm"}
    return {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "ISOCHRONE_SUMMARY": "0",
        **how,
    }


def _run_whole(
    command: list[str], environment: dict[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    """Runs a command; if it does not end in time, ends it with all that it has started."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        output, errors = _end(process)
        words = " ".join(command)
        raise AssertionError(f"not ended after {seconds:g} s: {words}\n{output}\n{errors}") from None
    except BaseException:
        _end(process)
        raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Ends a launcher and its ranks, and gives what they had written."""
    # A launcher ends its ranks if it is asked to; those that spin in MPI may not end with it otherwise.
    for how in (signal.SIGTERM, signal.SIGKILL):
        os.killpg(process.pid, how)
        try:
            return process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            pass
    return "", "(and does not end when it is killed)"


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines that Isochrone has written."""
    return [line for line in done.stderr.splitlines() if line.startswith("isochrone: ")]


def write_plan_for(folder: Path, measurements: Measurements) -> Plan:
    """Writes a plan with RECIPES and its topology, one node, into a folder."""
    return _write(folder, measurements, {"bcast": RECIPES})


def write_plan_of_recipes(folder: Path, measurements: Measurements, recipes: str | Mapping[str, str]) -> Plan:
    """Writes a plan for one node and up to MOST_RANKS ranks: one recipe for all calls of a collective, by its
    name. A recipe alone is for broadcasts.
    """
    named = {"bcast": recipes} if isinstance(recipes, str) else recipes
    rules = {
        collective: dict.fromkeys(range(2, MOST_RANKS + 1), ((0, MOST_BYTES, recipe),))
        for collective, recipe in named.items()
    }
    return _write(folder, measurements, rules)


def _write(
    folder: Path,
    measurements: Measurements,
    recipes: Mapping[str, Mapping[int, Sequence[tuple[int, int, str]]]],
) -> Plan:
    places, ranks = distinct_places(measurements.places)
    topology = Topology(places, ranks, (Level("node", (tuple(range(len(places))),), 1.0, LINKS),))
    write_topology(folder / "topology.json", topology)
    # Ranks beyond those that were measured share their places: in one node the shape is the same.
    count = max((len(ranks), *(size for of_size in recipes.values() for size in of_size)))
    of_ranks = [measurements.places[rank % len(ranks)] for rank in range(count)]
    layout = _core.match(
        (folder / "topology.json").read_text(), [(p.host, p.cpus, p.signature) for p in of_ranks]
    )
    # In one node there is nothing to say of the root.
    rules = tuple(
        Rule(collective, layout.restricted_to(range(size)).shape(0), low, high, recipe, EVIDENCE)
        for collective, of_size in recipes.items()
        for size, here in of_size.items()
        for low, high, recipe in here
    )
    plan = Plan(
        topology=PlannedTopology(topology.fingerprint, "topology.json"),
        mpi=LibraryReference(measurements.mpi.library, measurements.mpi.abi),
        rules=rules,
    )
    write_plan(folder / "plan.json", plan)
    return plan
