#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs in a lab with their ranks in order and where a map puts them, or prints the table.

Usage: lab_mapping.py RESULT.json LAB [--programs NAME,...] [--mpi NAME,...] [--repetitions N]
       lab_mapping.py RESULT.json --table

For each library the lab is probed with two ranks on each host, and its levels are detected. Each program is
recorded in the lab, its ranks are mapped on what was detected, and its time is predicted. Then it is
launched with the library's own launcher and the file that `isochrone map --emit` writes for it: with the
ranks in their order, host after host, and mapped, in turn. What RESULT.json has is not measured again.
--table prints the tables of docs/lab-mapping.md.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from result_rows import write_rows

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
from isochrone.steps.map import map_ranks, read_program
from isochrone.steps.record import record, run_in_lab
from isochrone.steps.survey import probe_and_detect

MOST_S = 300
_EXAMPLES = Path(__file__).parents[1] / "examples"
_MELT = Path(__file__).parents[1] / "tests" / "interpose" / "programs" / "melt.lammps"
_log = logging.getLogger("lab_mapping")


@dataclass(frozen=True)
class Kind:
    """A program to run.

    Attributes:
        file: its source, or the name of an installed one.
        cases: arguments.
        said: finds `seconds`, and `result`, which no mapping may change, in what it prints.
        mpi: the libraries that it runs with.
    """

    file: Path | str
    cases: tuple[tuple[str, ...], ...]
    said: re.Pattern[str]
    mpi: tuple[str, ...] = ("mpich-5.0.2", "openmpi-5.0.11", "intel")


KINDS = {
    # Groups, iterations, and doubles inside and outside of groups: a tenth of what the program's authors had.
    "groups": Kind(
        _EXAMPLES / "groups.c",
        tuple(
            (groups, *size)
            for groups in ("2", "8")
            for size in (("10", "100000", "100"), ("100", "10000", "10"), ("1000", "1000", "1"))
        ),
        re.compile(r"^(?P<seconds>[0-9.]+) s\n(?P<result>checksum \d+)$", re.MULTILINE),
    ),
    # Points along the edge of a block, and steps.
    "stencil": Kind(
        _EXAMPLES / "stencil.c",
        (("256", "400"), ("2048", "20")),
        re.compile(r"^(?P<seconds>\S+) s a step\n(?P<result>sum \S+)$", re.MULTILINE),
    ),
    "lammps": Kind(
        "lmp",
        (("-log", "none", "-in", str(_MELT)),),
        re.compile(r"(?P<result>^ +300 .*)\nLoop time of (?P<seconds>\S+)", re.MULTILINE),
        ("openmpi-4.1.4",),
    ),
}


_log = logging.getLogger("lab_mapping")


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs programs in a lab, in order and mapped.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("lab", nargs="?", metavar="LAB")
    parser.add_argument("--programs", default=",".join(KINDS))
    parser.add_argument("--mpi", help="only these of a program's libraries")
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
        networks: dict[str, Measured] = {}
        for kind in (KINDS[name] for name in wanted.programs.split(",")):
            for case in kind.cases:
                for name in kind.mpi if wanted.mpi is None else wanted.mpi.split(","):
                    if name not in networks:
                        ranks = Ranks.on(lab.network, None, 2, "block", 1)
                        networks[name] = Measured(LabTarget(lab, find_library(name), ranks), folder)
                    measure(wanted.result, networks[name], kind, case, wanted.repetitions)
    print("\n".join(table(json.loads(wanted.result.read_text(encoding="utf-8")))))
    return 0


class Measured:
    """The lab as a library's messages show it, and programs that are compiled for the library."""

    def __init__(self, target: LabTarget, folder: str) -> None:
        self.target = target
        self.folder = Path(folder) / target.library.name
        self.folder.mkdir()
        self._topology: Topology | None = None

    def program(self, kind: Kind) -> str:
        """The path of a program."""
        if isinstance(kind.file, str):
            return shutil.which(kind.file) or kind.file
        path = self.folder / kind.file.stem
        if not path.exists():
            words = [self.target.library.mpicc, "-O2", "-o", str(path), str(kind.file)]
            subprocess.run(words, env=os.environ | self.target.library.environment, check=True)
        return str(path)

    def topology(self) -> Topology:
        """Probed when it is first needed."""
        if self._topology is None:
            self._topology = probe_and_detect(self.target, self.folder)
        return self._topology

    def run(self, kind: Kind, words: Sequence[str], places: tuple[Place, ...]) -> tuple[float, str]:
        """What a program says, launched with a file that says where ranks go: seconds and result."""
        library, lab = self.target.library, self.target.lab
        form = forms_of(library.vendor, tuple(int(part) for part in library.version.split(".")[:2]))[0]
        job = Job(places, (self.program(kind), *words), tuple(extra(library, self.target.idle_wait)))
        line = emit(form, job, self.folder / form.file)
        done = subprocess.run(
            lab.command("h0", [library.launcher or word if word == "mpirun" else word for word in line]),
            env=os.environ | launcher_variables(lab, library),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=MOST_S,
            check=False,
        )
        if done.returncode != 0:
            raise IsochroneError(f"exit code {done.returncode}: {done.stderr[-2000:]}", line[-1])
        found = kind.said.search(done.stdout)
        if found is None:
            raise IsochroneError("the program said no time", self.program(kind))
        return float(found["seconds"]), found["result"]


def extra(library: MpiLibrary, idle_wait: bool) -> list[str]:
    """Options that let waiting ranks leave their core to others, as in all of the lab."""
    idle = str(build_for(library).idle)
    if library.vendor == "Open MPI":
        return ["--bind-to", "none", *(["-x", f"LD_PRELOAD={idle}"] if idle_wait else [])]
    return ["-env", "LD_PRELOAD", idle] if idle_wait else []


def measure(result: Path, measured: Measured, kind: Kind, case: tuple[str, ...], repetitions: int) -> None:
    """Adds the row of a library and a case, if it is missing."""
    rows = json.loads(result.read_text(encoding="utf-8"))["rows"] if result.exists() else []
    target = measured.target
    shown_words = [Path(word).name if "/" in word else word for word in case]
    names = (target.lab.network.name, target.library.name, Path(kind.file).stem, " ".join(shown_words))
    keys = ("lab", "mpi", "program", "arguments")
    if any(names == tuple(row[key] for key in keys) for row in rows):
        return
    topology = measured.topology()
    graph = measured.folder / "graph.json"
    graph.unlink(missing_ok=True)
    recorded = record(run_in_lab(target, [measured.program(kind), *case]), graph)
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
    results = set()
    order = random.Random(1)  # noqa: S311 - nobody is to be kept from guessing it
    for _ in range(repetitions):
        for how in order.sample(sorted(places), 2):
            seconds, said = measured.run(kind, case, places[how])
            times[how].append(seconds)
            results.add(said)
    if len(results) > 1:
        raise IsochroneError(f"the result changed with the mapping: {results}", measured.program(kind))
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
        "| program | library | in order, s | mapped, s | speedup | predicted, s | predicted speedup |",
        "| --- | --- | " + " | ".join(["---:"] * 5) + " |",
    ]
    for row in document["rows"]:
        # What takes a millisecond and less has three digits too.
        timed = [
            f"{value:.3g} [{low:.3g}, {high:.3g}]"
            for value, low, high in (row["before_median_s"], row["after_median_s"], row["speedup"])
        ]
        before_s, after_s = row["predicted_before_s"], row["predicted_after_s"]
        predicted = [f"{before_s:.3g}, {after_s:.3g}", f"{before_s / after_s:.3g}"]
        words = f"`{row['program']} {row['arguments']}`"
        lines.append("| " + " | ".join([words, row["mpi"], *timed, *predicted]) + " |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
