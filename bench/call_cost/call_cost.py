# SPDX-License-Identifier: BSD-3-Clause
"""What the preload adds to a call: instructions in the preload itself, by callgrind, and allocations in the
whole process, by memcheck, beside the native program. Two ranks; each figure is the difference between many
calls and few, divided by the calls between.

Usage: call_cost.py LAUNCHER > RESULT.json
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from preloaded import Bench

from isochrone.files.provenance import provenance

RANKS = 2
FEW, MANY = 2000, 6000
RECIPES = {"bcast": "binomial", "barrier": "dissemination"}
_ROW = re.compile(r"^\s*([\d,]+) \(.*\[.*libisochrone_mpi\.so\]$", re.MULTILINE)
_HEAP = re.compile(r"total heap usage: ([\d,]+) allocs")


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def instructions(bench: Bench, kind: str, calls: int, settings: dict[str, str]) -> int:
    """In the preload, of all ranks."""
    tool = ("valgrind", "--tool=callgrind", "--callgrind-out-file=out.%p")
    bench.run(settings, kind, str(calls), tool=tool)
    total = 0
    for file in bench.folder.glob("out.*"):
        command = ["callgrind_annotate", "--threshold=100", str(file)]
        shown = subprocess.run(command, capture_output=True, text=True, check=True)
        total += sum(map(_number, _ROW.findall(shown.stdout)))
        file.unlink()
    return total


def allocations(bench: Bench, kind: str, calls: int, settings: dict[str, str]) -> int:
    """In the processes of all ranks."""
    done = bench.run(settings, kind, str(calls), tool=("valgrind", "--tool=memcheck"))
    return sum(map(_number, _HEAP.findall(done.stderr)))


def _each(
    count: Callable[[Bench, str, int, dict[str, str]], int], bench: Bench, kind: str, settings: dict[str, str]
) -> float:
    few, many = (count(bench, kind, calls, settings) for calls in (FEW, MANY))
    return round((many - few) / (MANY - FEW) / RANKS, 2)


def main() -> int:
    """Measures, and writes JSON to stdout."""
    parser = argparse.ArgumentParser(description="Counts what the preload adds to a call.")
    parser.add_argument("launcher", metavar="LAUNCHER", help="such as mpiexec.mpich")
    wanted = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(wanted.launcher, Path(name), RANKS)
        for kind, recipe in RECIPES.items():
            for what in ("native", "no rule", recipe):
                settings = {}
                if what != "native":
                    settings = bench.settings(kind, recipe if what == recipe else None)
                rows.append(
                    {
                        "call": kind,
                        "runs": what,
                        "instructions_in_preload": _each(instructions, bench, kind, settings)
                        if settings
                        else 0.0,
                        "allocations": _each(allocations, bench, kind, settings),
                    }
                )
                print(rows[-1], file=sys.stderr)
        result = {
            "ranks": RANKS,
            "bytes": {"bcast": 8, "barrier": 0},
            "per": "call and rank",
            "rows": rows,
            "mpi": bench.measurements.mpi.library,
            "provenance": provenance(),
        }
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
