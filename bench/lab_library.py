#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times MPI libraries in a lab as they are, told their best algorithms one by one, and with exported files.

Usage: lab_library.py RESULT.json LAB [--mpi NAME,...] [--collectives NAME,...] [--sizes BYTES,...]
                      [--launches N] [--folder FOLDER]
       lab_library.py RESULT.json --table

For each library the lab is probed and `isochrone library tune` makes its library.json. Then launches
alternate between the library as it is, with all that it can be told while it runs, and the library with the
files that `isochrone run` gives it. What RESULT.json has is not measured again. --table prints the table.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from result_rows import write_rows

from isochrone.errors import IsochroneError
from isochrone.files import Case, provenance
from isochrone.lab.target import LabTarget, Ranks, open_lab
from isochrone.launch.registry import find_library
from isochrone.launch.told import told
from isochrone.statistics import FloatArray, ratio_ci
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.folder import LIBRARY, TOPOLOGY, open_folder
from isochrone.steps.library import tune_library
from isochrone.steps.survey import probe_and_detect
from isochrone.tune.collectives import parse_collectives, sizes_of

NATIVE = "native"
REPETITIONS = 9
SIZES_BYTES = (64, 8192, 65536, 262144, 1048576)
Times = dict[tuple[str, int], dict[str, list[FloatArray]]]
_log = logging.getLogger("lab_library")


def main() -> int:
    parser = argparse.ArgumentParser(description="Times MPI libraries in a lab with exported files.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("lab", nargs="?", metavar="LAB")
    parser.add_argument("--mpi", default="mpich,openmpi,intel")
    parser.add_argument("--collectives", type=parse_collectives, default=("bcast", "allreduce"))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES_BYTES)))
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keep the surveys, and go on with those that are there")
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args()
    if wanted.table:
        print("\n".join(table(json.loads(wanted.result.read_text(encoding="utf-8"))["rows"])))
        return 0
    if wanted.lab is None:
        parser.error("LAB is missing")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    with open_lab(wanted.lab) as lab, tempfile.TemporaryDirectory(prefix="isochrone-lab-library.") as made:
        for name in wanted.mpi.split(","):
            target = LabTarget(lab, find_library(name), Ranks.on(lab.network, None, None, None, 1))
            measure(wanted, target, open_folder((wanted.folder or Path(made)) / target.library.name))
    return 0


def measure(wanted: argparse.Namespace, target: LabTarget, folder: Path) -> None:
    """Adds the rows of one library, unless they are there."""
    rows = json.loads(wanted.result.read_text(encoding="utf-8"))["rows"] if wanted.result.exists() else []
    if any((row["lab"], row["mpi"]) == (target.lab.network.name, target.library.name) for row in rows):
        return
    sizes = [int(size) for size in wanted.sizes.split(",")]
    if not (folder / TOPOLOGY).exists():
        probe_and_detect(target, folder)
    if not (folder / LIBRARY).exists():
        tune_library(target, folder / TOPOLOGY, folder / LIBRARY, wanted.collectives, sizes)
    to_tell = told(folder, target.library, target.rank_count)
    if to_tell.refusal is not None:
        raise IsochroneError(to_tell.refusal)
    at_its_best = target.with_variables(to_tell.variables)
    times: Times = defaultdict(lambda: defaultdict(list))
    keys = [(name, size) for name in wanted.collectives for size in sizes_of(name, sizes)]
    for launch in range(wanted.launches):
        for place, recipes in ((target, (NATIVE, "native:*")), (at_its_best, (NATIVE,))):
            cases = [Case(size, 0, recipes, name) for name, size in keys]
            work = work_for(place, cases, REPETITIONS, seed=launch + 1)
            output = folder / "bench.jsonl"
            for key, samples in run_bench(place, work, output, folder / TOPOLOGY).slowest_s.items():
                column = "files" if place is not target else key.recipe
                times[key.collective, key.size_bytes][column].append(samples)
            output.unlink()
    rows += [
        {
            "lab": target.lab.network.name,
            "mpi": target.library.name,
            "ranks": target.rank_count,
            "collective": name,
            "size_bytes": size,
            **figures(times[name, size]),
        }
        for name, size in keys
    ]
    write_rows(wanted.result, {"command": "bench/lab_library.py", "provenance": provenance()}, rows)
    _log.info("%s: %s", target.name, ", ".join(wanted.collectives))


def figures(times: Mapping[str, Sequence[FloatArray]]) -> dict[str, Any]:
    """Medians over all launches, and how much faster the files make the library, with a 95 % interval."""
    together = {column: np.concatenate(list(parts)) for column, parts in times.items()}
    medians = {column: float(np.median(samples)) for column, samples in together.items()}
    best = min((name for name in medians if name != "files"), key=medians.__getitem__)
    ratio = ratio_ci(together[NATIVE], together["files"])
    return {
        "default_s": rounded(medians[NATIVE]),
        "best": best.removeprefix("native:"),
        "best_s": rounded(medians[best]),
        "files_s": rounded(medians["files"]),
        "speedup": [rounded(figure) for figure in (ratio.estimate, ratio.low, ratio.high)],
    }


def rounded(figure: float) -> float:
    return float(f"{figure:.4g}")


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Markdown."""
    lines = [
        "| library | collective | bytes | default, ms | best told, ms | with files, ms | default / files |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        estimate, low, high = row["speedup"]
        lines.append(
            f"| {row['mpi']} | {row['collective']} | {row['size_bytes']} | {row['default_s'] * 1e3:.2f} "
            f"| {row['best_s'] * 1e3:.2f} ({row['best']}) | {row['files_s'] * 1e3:.2f} "
            f"| {estimate:.2f} [{low:.2f}, {high:.2f}] |"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
