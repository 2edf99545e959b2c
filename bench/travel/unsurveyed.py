#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a program gains in a lab where nobody surveyed: it runs with the library's own collectives, and with
trials on the tree that hosts and hardware make, as `isochrone run` does without a plan.

Usage: unsurveyed.py RESULT.json NAME MPI [--launches N] [--calls N]
       unsurveyed.py RESULT.json --table

The program (calls.c) runs either way in turn, 16 ranks on eight hosts. Speedups are of the medians of the
last half of the calls, with 95 % intervals over launches, and of the sums of all calls, trials included. What
RESULT.json has of a lab and library is replaced.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from of_labs import run
from travel import compiled, in_turn, lab_row, launched

from isochrone.files import provenance
from isochrone.lab.target import LabTarget, Ranks, open_lab
from isochrone.launch.preload import settings_for
from isochrone.launch.registry import find_library
from isochrone.units import format_bytes


def main() -> int:
    return run(
        "Runs a program of collectives without a survey.",
        "bench/travel/unsurveyed.py",
        measured,
        table,
        8,
        200,
        "fewer than six prove nothing",
    )


def measured(wanted: argparse.Namespace) -> dict[str, Any]:
    """One lab and library."""
    library = find_library(wanted.mpi)
    with open_lab(wanted.name) as lab, tempfile.TemporaryDirectory(prefix="isochrone-unsurveyed.") as folder:
        program = compiled(library, Path(folder))
        target = LabTarget(lab, library, Ranks.on(lab.network, None, 2, "block", 1))
        ways: dict[str, Mapping[str, str]] = {
            "native": {},
            "unsurveyed": settings_for(library, None, [str(program)]),
        }
        took = in_turn(lambda told: launched(target, program, told, wanted.calls), ways, wanted.launches)
    return {
        "where": f"{wanted.name}, {library.title}",
        "launches": wanted.launches,
        "calls": wanted.calls,
        "provenance": provenance(),
    } | lab_row(took)


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines of Markdown."""
    lines = [
        "| where | collective | size | native, ms | last half of the calls | all calls |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        for kind in row["kinds"]:
            low, high = kind["intervals"]["unsurveyed"]
            native_s = sorted(kind["launches_s"]["native"])[len(kind["launches_s"]["native"]) // 2]
            lines.append(
                f"| {row['where']} | {kind['collective']} | {format_bytes(kind['size_bytes'])} | "
                f"{native_s * 1e3:.1f} | {kind['unsurveyed']:.2f} [{low:.2f}, {high:.2f}] | "
                f"{kind['all_calls']['unsurveyed']:.2f} |"
            )
    return lines


if __name__ == "__main__":
    sys.exit(main())
