# SPDX-License-Identifier: BSD-3-Clause
"""A program of a real MPI library, natively and on a plan with one rule."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from isochrone.files import (
    Evidence,
    Level,
    LibraryReference,
    Links,
    Plan,
    PlannedTopology,
    Rule,
    Topology,
    distinct_places,
    read_measurements,
    write_plan,
    write_topology,
)
from isochrone.launch.launcher import read_launch_line
from isochrone.launch.preload import settings_for
from isochrone.launch.registry import library_of
from isochrone.launch.target import LocalTarget

LINKS = Links(1e-6, ((0, 1e-7),), ((0, 0.0),), ((0, 1e-7), (65536, 1e-5)))
EVIDENCE = Evidence(2e-5, 1e-5, 2.0, (1.9, 2.1), 20)


class Bench:
    """A program, a launcher, and a folder for plans."""

    def __init__(self, launcher: str, folder: Path, ranks: int) -> None:
        self.launcher = launcher
        self.folder = folder
        self.ranks = ranks
        self.program = folder / "calls"
        compiler = launcher.replace("mpiexec", "mpicc")
        source = Path(__file__).with_name("calls.c")
        subprocess.run([compiler, "-O1", "-g", "-o", str(self.program), str(source)], check=True)
        measured = folder / "m.jsonl"
        target = LocalTarget([launcher, "-n", str(ranks)])
        target.run("isochrone-probe", ["--output", str(measured), "--repetitions", "1", "--sizes", "0"])
        self.measurements = read_measurements(measured)

    def settings(self, kind: str, recipe: str | None) -> dict[str, str]:
        """The variables of ranks on a plan with one rule; without one where there is no recipe."""
        places, ranks = distinct_places(self.measurements.places)
        topology = Topology(places, ranks, (Level("node", (tuple(range(len(places))),), 1.0, LINKS),))
        write_topology(self.folder / "topology.json", topology)
        # A rule for another size where there is to be none for this one.
        sizes = (0, 64) if recipe else (1 << 30, 1 << 31)
        rule = Rule(kind, f"{self.ranks} ranks in one node", *sizes, recipe or "flat", EVIDENCE)
        mpi = self.measurements.mpi
        plan = Plan(
            topology=PlannedTopology(topology.fingerprint, "topology.json"),
            mpi=LibraryReference(mpi.library, mpi.abi),
            rules=(rule,),
        )
        write_plan(self.folder / "plan.json", plan)
        library = library_of(read_launch_line([self.launcher, str(self.program)]))
        return settings_for(library, self.folder / "plan.json", [str(self.program)])

    def run(
        self, settings: dict[str, str], *arguments: str, tool: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Runs the program under a tool, with variables for its ranks."""
        more_than_cores = ["--oversubscribe"] if "openmpi" in self.launcher else []
        words = [self.launcher, *more_than_cores, "-n", str(self.ranks), "env"]
        words += [f"{name}={value}" for name, value in settings.items()]
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(
            [*words, *tool, str(self.program), *arguments],
            env={**os.environ, **root},
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=True,
        )
