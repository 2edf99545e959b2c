#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program in a lab with its ranks in their order and where a map puts them, or prints the table.

Usage: lab_mapping.py RESULT.json LAB [--mpi NAME,...] [--groups N,...] [--repetitions N]
       lab_mapping.py RESULT.json --table

The program is examples/groups.c. For each library the lab is probed with two ranks on each host, and its
levels are detected. For each number of groups and size the program is recorded in the lab, and its ranks are
mapped on what was detected. Then it is launched with the library's own launcher and the file that
`isochrone map --emit` writes for it: with the ranks in their order, host after host, and mapped, in turn.
What RESULT.json has is not measured again. --table prints the table of docs/lab-mapping.md.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from collectives import write_rows

from isochrone.errors import IsochroneError
from isochrone.files import Topology, provenance
from isochrone.files.place import Place
from isochrone.lab.launch import launcher_variables
from isochrone.lab.target import LabTarget, Ranks, open_lab
from isochrone.launch.build import build_for
from isochrone.launch.library import MpiLibrary
from isochrone.launch.registry import find_library
from isochrone.mapping.emitters import Job, emit, forms_of
from isochrone.mapping.system import system_of_topology
from isochrone.statistics import Interval, median_ci, ratio_ci
from isochrone.steps.detect import detect
from isochrone.steps.map import map_ranks, read_program
from isochrone.steps.probe import probe
from isochrone.steps.record import record, run_in_lab

SIZES = ((10, 100000, 100), (100, 10000, 10), (1000, 1000, 1))
"""Iterations, and doubles inside and outside groups: a tenth of each of what the program's authors had."""
MOST_S = 300
_SOURCE = Path(__file__).parents[1] / "examples" / "groups.c"
_SAID = re.compile(r"^([0-9.]+) s\nchecksum (\d+)$", re.MULTILINE)
_log = logging.getLogger("lab_mapping")


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs a program in a lab, in order and mapped.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("lab", nargs="?", metavar="LAB")
    parser.add_argument("--mpi", default="mpich,openmpi,intel")
    parser.add_argument("--groups", default="2,8")
    parser.add_argument("--repetitions", type=int, default=6)
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args()
    if wanted.table:
        print("\n".join(table(json.loads(wanted.result.read_text(encoding="utf-8")))))
        return 0
    if wanted.lab is None:
        parser.error("LAB is missing")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    with open_lab(wanted.lab) as lab, tempfile.TemporaryDirectory(prefix="isochrone-lab-mapping.") as folder:
        programs = [
            Program(LabTarget(lab, find_library(name), Ranks.on(lab.network, None, 2, "block", 1)), folder)
            for name in wanted.mpi.split(",")
        ]
        for groups in map(int, wanted.groups.split(",")):
            for size in SIZES:
                for program in programs:
                    measure(wanted.result, program, (groups, *size), wanted.repetitions)
    print("\n".join(table(json.loads(wanted.result.read_text(encoding="utf-8")))))
    return 0


class Program:
    """The program, compiled for a library, and the lab's topology as that library's messages show it."""

    def __init__(self, target: LabTarget, folder: str) -> None:
        self.target = target
        self.folder = Path(folder) / target.library.name
        self.folder.mkdir()
        self.path = self.folder / "groups"
        words = [target.library.mpicc, "-O2", "-o", str(self.path), str(_SOURCE)]
        subprocess.run(words, env=os.environ | target.library.environment, check=True)
        self._topology: Topology | None = None

    def topology(self) -> Topology:
        """Probed when it is first needed."""
        if self._topology is None:
            measurements = self.folder / "measurements.jsonl"
            probe(self.target, measurements)
            self._topology = detect(measurements, self.folder / "topology.json", self.target.truth)
        return self._topology

    def run(self, words: Sequence[str], places: tuple[Place, ...]) -> tuple[float, int]:
        """The seconds of the loop and the checksum, launched with a file that says where ranks go."""
        library, lab = self.target.library, self.target.lab
        form = forms_of(library.vendor, tuple(int(part) for part in library.version.split(".")[:2]))[0]
        job = Job(places, (str(self.path), *words), tuple(extra(library, self.target.idle_wait)))
        line = emit(form, job, self.folder / form.file)
        done = subprocess.run(
            lab.command("h0", [library.launcher or word if word == "mpirun" else word for word in line]),
            env=os.environ | launcher_variables(lab, library),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=MOST_S,
            check=True,
        )
        found = said(done.stdout)
        if found is None:
            raise IsochroneError("the program said no time", str(self.path))
        return found


def said(out: str) -> tuple[float, int] | None:
    """Seconds and checksum, of what the program wrote."""
    found = _SAID.search(out)
    return None if found is None else (float(found[1]), int(found[2]))


def extra(library: MpiLibrary, idle_wait: bool) -> list[str]:
    """Options that let waiting ranks leave their core to others, as in all of the lab."""
    idle = str(build_for(library).idle)
    if library.vendor == "Open MPI":
        return ["--bind-to", "none", *(["-x", f"LD_PRELOAD={idle}"] if idle_wait else [])]
    return ["-env", "LD_PRELOAD", idle] if idle_wait else []


def measure(result: Path, program: Program, case: tuple[int, ...], repetitions: int) -> None:
    """Adds the row of a library and a case, if it is missing."""
    rows = json.loads(result.read_text(encoding="utf-8"))["rows"] if result.exists() else []
    target = program.target
    names = (target.lab.network.name, target.library.name, *case)
    keys = ("lab", "mpi", "groups", "iterations", "intra_doubles", "inter_doubles")
    if any(names == tuple(row[key] for key in keys) for row in rows):
        return
    topology = program.topology()
    words = [str(number) for number in case]
    graph = program.folder / "graph.json"
    recorded = record(run_in_lab(target, [str(program.path), *words]), graph)
    if recorded.why_not is not None:
        raise recorded.why_not
    system = system_of_topology(topology, target.cores)
    mapped = map_ranks(read_program(graph), system, "time")
    found, predicted = mapped.mapping, mapped.prediction
    if predicted is None:
        raise IsochroneError(mapped.unpredicted or "nothing is predicted", str(graph))
    places = {
        how: tuple(system.places[place] for place in at)
        for how, at in (("before", found.identity), ("after", found.at))
    }
    times: dict[str, list[float]] = {how: [] for how in places}
    checksums = set()
    order = random.Random(1)  # noqa: S311 - nobody is to be kept from guessing it
    for _ in range(repetitions):
        for how in order.sample(sorted(places), 2):
            seconds, checksum = program.run(words, places[how])
            times[how].append(seconds)
            checksums.add(checksum)
    if len(checksums) > 1:
        raise IsochroneError(f"the checksum changed with the mapping: {checksums}", str(program.path))
    row = {
        **dict(zip(keys, names, strict=True)),
        "ranks": len(places["after"]),
        "accuracy": topology.accuracy,
        "method": found.method,
        "predicted_before_s": predicted.identity_s,
        "predicted_after_s": predicted.mapped_s,
        "hosts_after": [place.host for place in places["after"]],
        **{f"{how}_s": each for how, each in times.items()},
        **{f"{how}_median_s": shown(median_ci(each)) for how, each in times.items()},
        "speedup": shown(ratio_ci(times["before"], times["after"])),
    }
    head = {
        "command": "bench/lab_mapping.py",
        "network": f"emulated: {target.lab.network.description}",
        "cores": target.cores,
        "idle_wait": target.idle_wait,
        "provenance": provenance(),
    }
    write_rows(result, head, [*rows, row])
    _log.info("%s: %s", names, row["speedup"])


def shown(interval: Interval) -> list[float]:
    """The estimate and its 95 % interval."""
    return [float(f"{value:.4g}") for value in (interval.estimate, interval.low, interval.high)]


def table(document: dict[str, Any]) -> list[str]:
    """A line for each case and library."""
    lines = [
        "| groups | iterations | doubles inside | outside | library | in order, s | mapped, s | speedup "
        "| predicted, s | predicted speedup |",
        "| " + " | ".join(["---:"] * 4) + " | --- | " + " | ".join(["---:"] * 5) + " |",
    ]
    for row in document["rows"]:
        numbers = [f"{row[key]:,}" for key in ("groups", "iterations", "intra_doubles", "inter_doubles")]
        timed = [
            f"{value:.2f} [{low:.2f}, {high:.2f}]"
            for value, low, high in (row["before_median_s"], row["after_median_s"], row["speedup"])
        ]
        before_s, after_s = row["predicted_before_s"], row["predicted_after_s"]
        predicted = [f"{before_s:.2f}, {after_s:.2f}", f"{before_s / after_s:.2f}"]
        lines.append("| " + " | ".join([*numbers, row["mpi"], *timed, *predicted]) + " |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
