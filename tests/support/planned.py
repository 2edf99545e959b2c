# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs of a real library, run as they are and on a plan that was made for it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from isochrone import _core
from isochrone.files import (
    Evidence,
    Level,
    Links,
    Measurements,
    Plan,
    Rule,
    Topology,
    distinct_places,
    write_plan,
    write_topology,
)

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

    def run(
        self, *words: str, ranks: int = 2, arguments: tuple[str, ...] = ("quick",), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs the program; `words` come before the launcher."""
        oversubscribe = ["--oversubscribe"] if "openmpi" in self.launcher else []
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(
            [*words, self.launcher, *oversubscribe, "-n", str(ranks), str(self.program), *arguments],
            env={**os.environ, **root, **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )

    def run_on(
        self, plan: Path, ranks: int = 2, arguments: tuple[str, ...] = ("quick",), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs the program on a plan."""
        words = [sys.executable, "-m", "isochrone", "run", "--plan", str(plan), "--"]
        return self.run(*words, ranks=ranks, arguments=arguments, **environment)


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines that Isochrone has written."""
    return [line for line in done.stderr.splitlines() if line.startswith("isochrone: ")]


def write_plan_for(folder: Path, measurements: Measurements) -> Plan:
    """Writes a plan with RECIPES and its topology, one node, into a folder."""
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
