# SPDX-License-Identifier: BSD-3-Clause
"""What the preload adds to a call: instructions in the preload itself, by callgrind, and allocations in the
whole process, by memcheck, beside the native program. Two ranks; each figure is the difference between many
calls and few, divided by the calls between.

    python bench/call_cost/call_cost.py mpiexec.mpich > bench/call-cost-mpich.json
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import isochrone
from isochrone.files import (
    Evidence,
    Level,
    Links,
    Plan,
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

RANKS = 2
FEW, MANY = 2000, 6000
LINKS = Links(1e-6, ((0, 1e-7),), ((0, 0.0),), ((0, 1e-7), (65536, 1e-5)))
EVIDENCE = Evidence(2e-5, 1e-5, 2.0, (1.9, 2.1), 20, None)
RECIPES = {"bcast": "binomial", "barrier": "dissemination"}
_ROW = re.compile(r"^\s*([\d,]+) \(.*\[.*libisochrone_mpi\.so\]$", re.MULTILINE)
_HEAP = re.compile(r"total heap usage: ([\d,]+) allocs")


def _number(text: str) -> int:
    return int(text.replace(",", ""))


class Bench:
    """A program, a launcher, and a folder for plans."""

    def __init__(self, launcher: str, folder: Path) -> None:
        self.launcher = launcher
        self.folder = folder
        self.program = folder / "calls"
        compiler = launcher.replace("mpiexec", "mpicc")
        source = Path(__file__).with_name("calls.c")
        subprocess.run([compiler, "-O1", "-g", "-o", str(self.program), str(source)], check=True)
        measured = folder / "m.jsonl"
        target = LocalTarget([launcher, "-n", str(RANKS)])
        target.run("isochrone-probe", ["--output", str(measured), "--repetitions", "1", "--sizes", "0"])
        self.measurements = read_measurements(measured)

    def settings(self, kind: str, recipe: str | None) -> dict[str, str]:
        """The variables of ranks on a plan with one rule; without one where there is no recipe."""
        places, ranks = distinct_places(self.measurements.places)
        topology = Topology(places, ranks, (Level("node", (tuple(range(len(places))),), 1.0, LINKS),))
        write_topology(self.folder / "topology.json", topology)
        # A rule for another size where there is to be none for this one.
        sizes = (0, 64) if recipe else (1 << 30, 1 << 31)
        rule = Rule(kind, f"{RANKS} ranks in one node", *sizes, recipe or "flat", EVIDENCE)
        mpi = self.measurements.mpi
        plan = Plan(topology.fingerprint, "topology.json", mpi.library, mpi.abi, (rule,))
        write_plan(self.folder / "plan.json", plan)
        library = library_of(read_launch_line([self.launcher, str(self.program)]))
        return settings_for(library, self.folder / "plan.json", [str(self.program)])

    def run(self, kind: str, calls: int, settings: dict[str, str], *tool: str) -> str:
        """What the tool says on stderr."""
        words = [
            self.launcher,
            *(["--oversubscribe"] if "openmpi" in self.launcher else []),
            "-n",
            str(RANKS),
        ]
        words += ["env", *(f"{name}={value}" for name, value in settings.items()), "valgrind", *tool]
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run(
            [*words, str(self.program), kind, str(calls)],
            env={**os.environ, **root}, capture_output=True, text=True, cwd=self.folder, check=True,
        )  # fmt: skip
        return done.stderr

    def instructions(self, kind: str, calls: int, settings: dict[str, str]) -> int:
        """In the preload, of both ranks."""
        self.run(kind, calls, settings, "--tool=callgrind", "--callgrind-out-file=out.%p")
        total = 0
        for file in self.folder.glob("out.*"):
            shown = subprocess.run(
                ["callgrind_annotate", "--threshold=100", str(file)],
                capture_output=True,
                text=True,
                check=True,
            )
            total += sum(map(_number, _ROW.findall(shown.stdout)))
            file.unlink()
        return total

    def allocations(self, kind: str, calls: int, settings: dict[str, str]) -> int:
        """In the processes of both ranks."""
        return sum(map(_number, _HEAP.findall(self.run(kind, calls, settings, "--tool=memcheck"))))


def _each(count: Callable[[str, int, dict[str, str]], int], kind: str, settings: dict[str, str]) -> float:
    few, many = (count(kind, calls, settings) for calls in (FEW, MANY))
    return round((many - few) / (MANY - FEW) / RANKS, 2)


def main() -> int:
    """Measures, and writes JSON to stdout."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    rows = []
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(sys.argv[1], Path(name))
        for kind, recipe in RECIPES.items():
            for what in ("native", "no rule", recipe):
                settings = {}
                if what != "native":
                    settings = bench.settings(kind, recipe if what == recipe else None)
                rows.append(
                    {
                        "call": kind,
                        "runs": what,
                        "instructions_in_preload": _each(bench.instructions, kind, settings)
                        if settings
                        else 0.0,
                        "allocations": _each(bench.allocations, kind, settings),
                    }
                )
                print(rows[-1], file=sys.stderr)
        result = {
            "ranks": RANKS,
            "bytes": {"bcast": 8, "barrier": 0},
            "per": "call and rank",
            "rows": rows,
            "provenance": {
                "command": ["bench/call_cost/call_cost.py", *sys.argv[1:]],
                "library": bench.measurements.mpi.library,
                "version": isochrone.__version__,
                "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            },
        }
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
