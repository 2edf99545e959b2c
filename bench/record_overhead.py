# SPDX-License-Identifier: BSD-3-Clause
"""What recording costs a stencil program: without and with the recorder in turn, medians with 95 % intervals.

Usage: record_overhead.py LAUNCHER RANKS > RESULT.json

The program is examples/stencil.c, with blocks of several sizes: the smallest does little but send. Times are
those of a step on the slowest rank. Runs without and with the recorder follow one another in random order;
within each run the recorder is switched off and on in turn, so that the two differ by some milliseconds in
time and by nothing else. The first says what all of it costs, the second what counting costs.

A machine that does something else too makes both uncertain. So the instructions that the recorder itself has
in a step of four messages are counted as well, on four ranks, by callgrind, which needs `valgrind`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from isochrone.files.provenance import provenance
from isochrone.launch.build import build_for
from isochrone.launch.launcher import launch_environment, read_launch_line
from isochrone.launch.registry import library_of
from isochrone.statistics import median_ci, ratio_ci

REPETITIONS = 9
SEED = 1
STEPS = {16: 500, 64: 300, 256: 40, 1024: 4}
"""By points along the edge of a block."""
TIMES = 52
"""Of a run; the first two are left out."""
FEW, MANY = 100, 400
"""Steps, whose difference in instructions counts."""
MESSAGES = 4
"""Of a step."""
_INSTRUCTIONS = re.compile(r"^\s*([\d,]+) \(.*\[.*libisochrone_record\.so\]$", re.MULTILINE)
_TIME = re.compile(r"^([0-9.]+) s a step$", re.MULTILINE)
_SOURCE = Path(__file__).parents[1] / "examples" / "stencil.c"


def main() -> int:
    """Measures, and writes JSON to stdout."""
    parser = argparse.ArgumentParser(description="Times what recording costs a stencil program.")
    parser.add_argument("launcher", metavar="LAUNCHER", help="such as mpiexec.mpich")
    parser.add_argument("ranks", type=int, metavar="RANKS")
    wanted = parser.parse_args()
    launcher, ranks = wanted.launcher, wanted.ranks
    line = read_launch_line([launcher, "-n", str(ranks)])
    library = library_of(line)
    recorder = build_for(library).recorder
    order = random.Random(SEED)  # noqa: S311 - nobody is to be kept from guessing it
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, alternating = folder / "stencil", folder / "alternating"
        for output, how in ((program, "-UALTERNATE"), (alternating, "-DALTERNATE")):
            subprocess.run([library.mpicc, "-O2", "-w", how, "-o", str(output), str(_SOURCE)], check=True)
        settings = {
            "without": {},
            "with": {"LD_PRELOAD": str(recorder), "ISOCHRONE_RECORD": str(folder / "graph.json")},
        }

        def run(which: str, edge: int) -> list[float]:
            argv = [launcher, "-n", str(ranks), str(alternating), str(edge), str(STEPS[edge]), str(TIMES)]
            environment = {**os.environ, **launch_environment(line), **settings[which]}
            done = subprocess.run(argv, env=environment, check=True, capture_output=True, text=True)
            return [float(time) for time in _TIME.findall(done.stdout)][2:]

        def instructions(steps: int) -> int:
            tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out.%p"]
            words = [*tool, str(program), "16", str(steps), "1"]
            environment = {**os.environ, **launch_environment(line), **settings["with"]}
            more_than_cores = ["--oversubscribe"] if "openmpi" in launcher else []
            argv = [launcher, *more_than_cores, "-n", str(MESSAGES), *words]
            subprocess.run(argv, env=environment, check=True, capture_output=True)
            total = 0
            for file in folder.glob("out.*"):
                command = ["callgrind_annotate", "--threshold=100", str(file)]
                shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                total += sum(int(number.replace(",", "")) for number in _INSTRUCTIONS.findall(shown))
                file.unlink()
            return total

        each = (instructions(MANY) - instructions(FEW)) / (MANY - FEW) / MESSAGES / MESSAGES
        print(f"{each:.1f} instructions a message", file=sys.stderr)
        results = []
        for edge in STEPS:
            found: dict[str, list[float]] = {"without": [], "with": []}
            for _ in range(REPETITIONS):
                for which in order.sample(sorted(found), 2):
                    found[which] += run(which, edge)
            results.append(_row(edge, found))
            print(results[-1], file=sys.stderr)
    result = {
        "ranks": ranks,
        "cores": os.cpu_count(),
        "repetitions": REPETITIONS,
        "seed": SEED,
        "steps_of_a_time": {str(edge): steps for edge, steps in STEPS.items()},
        "times_of_a_run": TIMES,
        "instructions_a_message": round(each, 1),
        "results": results,
        "mpi": library.title,
        "provenance": provenance(),
    }
    print(json.dumps(result, indent=1))
    return 0


def _row(edge: int, found: dict[str, list[float]]) -> dict[str, object]:
    off, on = found["with"][::2], found["with"][1::2]
    return {
        "edge": edge,
        "message_bytes": 8 * edge,
        "without_s": median_ci(found["without"]).estimate,
        "recorder": _added(found["without"], found["with"]),
        "counting": _added(off, on),
    }


def _added(before: list[float], after: list[float]) -> dict[str, object]:
    ratio = ratio_ci(after, before)
    difference = median_ci([more - less for more, less in zip(after, before, strict=True)])
    return {
        "added_percent": round(100 * (ratio.estimate - 1), 2),
        "ci_percent": [round(100 * (ratio.low - 1), 2), round(100 * (ratio.high - 1), 2)],
        "added_s": difference.estimate,
        "ci_s": [difference.low, difference.high],
        "samples": len(after),
    }


if __name__ == "__main__":
    sys.exit(main())
