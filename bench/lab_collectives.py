#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times hierarchical recipes beside real MPI libraries in a lab, or prints the tables.

Usage: lab_collectives.py RESULT.json LAB [--mpi NAME,...] [--placements NAME,...] [--collectives NAME,...]
                          [--sizes BYTES,...] [--repetitions N]
       lab_collectives.py RESULT.json --tables

For each library and placement the lab is probed and its levels are detected. For each collective and size the
model ranks recipes without any measuring; the cheapest hierarchical ones and one flat one are timed in turn
with the library's own, in one run, from root 0. The first third of the repetitions says which of them is
best, the others how much faster that is. What RESULT.json has is not measured again. --tables prints the
tables of docs/lab-collectives.md.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from collectives_cases import Chosen, choose
from result_rows import read_rows, write_rows

from isochrone.files import Bench, BenchKey, Case, provenance
from isochrone.lab.launch import PLACEMENTS
from isochrone.lab.target import LabTarget, Ranks, open_lab
from isochrone.launch.registry import find_library
from isochrone.statistics import FloatArray, geometric_mean, ratio_ci
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.survey import probe_and_detect
from isochrone.tune.collectives import grids, has_blocks, in_order, parse_collectives, words
from isochrone.tune.layout import layout_of

COLLECTIVES = ("reduce", "allreduce", "barrier", "gather", "allgather", "alltoall", "alltoallv")
SIZES_BYTES = (8, 1024, 8192, 65536)
MOST_BYTES = 1 << 18
"""Of all blocks of one rank: an exchange of more takes seconds over slow links."""
NATIVE = "native"

_log = logging.getLogger("lab_collectives")


def main() -> int:
    parser = argparse.ArgumentParser(description="Times recipes beside real MPI libraries in a lab.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("lab", nargs="?", metavar="LAB")
    parser.add_argument("--mpi", default="mpich,openmpi,intel")
    parser.add_argument("--placements", default=",".join(PLACEMENTS))
    parser.add_argument("--collectives", type=parse_collectives, default=COLLECTIVES)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES_BYTES)))
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--tables", action="store_true", help="print the tables of a result")
    wanted = parser.parse_args()
    if wanted.tables:
        print("\n".join(tables(json.loads(wanted.result.read_text(encoding="utf-8")))).rstrip())
        return 0
    if wanted.lab is None:
        parser.error("LAB is missing")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    with open_lab(wanted.lab) as lab:
        for name in wanted.mpi.split(","):
            for placement in wanted.placements.split(","):
                ranks = Ranks.on(lab.network, None, None, placement, 1)
                measure(wanted, LabTarget(lab, find_library(name), ranks))
    return 0


def measure(wanted: argparse.Namespace, target: LabTarget) -> None:
    """Adds the rows of one library in one placement that are missing, one collective after the other."""
    rows = read_rows(wanted.result)
    names = (target.lab.network.name, target.library.name, target.ranks.placement)
    done = {row["collective"] for row in rows if (row["lab"], row["mpi"], row["placement"]) == names}
    missing = [name for name in wanted.collectives if name not in done]
    if not missing:
        return
    with tempfile.TemporaryDirectory(prefix="isochrone-lab-collectives.") as folder:
        topology = Path(folder) / "topology.json"
        found = probe_and_detect(target, Path(folder))
        layout = layout_of(found, topology)
        sizes = [int(size) for size in wanted.sizes.split(",")]
        for name in missing:
            few = [size for size in sizes if size * layout.size <= MOST_BYTES] if has_blocks(name) else sizes
            chosen = {size: choose(layout, name, size) for size in grids([name], few, 1)[name]}
            cases = [Case(size, 0, (NATIVE, *one.all), name) for size, one in chosen.items()]
            bench = run_bench(
                target, work_for(target, cases, wanted.repetitions), Path(folder) / "bench.jsonl", topology
            )
            (Path(folder) / "bench.jsonl").unlink()
            rows += [
                {
                    "lab": target.lab.network.name,
                    "mpi": target.library.name,
                    "placement": target.ranks.placement,
                    "ranks": layout.size,
                    "accuracy": found.accuracy,
                    "collective": name,
                    "size_bytes": size,
                    **figures(bench, name, size, one),
                }
                for size, one in chosen.items()
            ]
            head = {"command": "bench/lab_collectives.py", "provenance": provenance()}
            write_rows(wanted.result, head, rows)
            _log.info("%s, %s, %s: %s", *names, name)


def figures(bench: Bench, name: str, size_bytes: int, chosen: Chosen) -> dict[str, Any]:
    """Medians, and the speedups of the model's first recipe and of the best one."""
    times = {
        recipe: bench.slowest_s[BenchKey(size_bytes, 0, recipe, name)] for recipe in (NATIVE, *chosen.all)
    }
    third = max(1, min(map(len, times.values())) // 3)
    ranked = chosen.hierarchical or chosen.flat
    best = min(chosen.all, key=lambda recipe: float(np.median(times[recipe][:third])))
    return {
        "native_s": median(times[NATIVE]),
        "first": ranked[0],
        "first_s": median(times[ranked[0]]),
        "first_speedup": speedup(times, ranked[0], 0),
        "best": best,
        "best_s": median(times[best]),
        "best_speedup": speedup(times, best, third),
        "repetitions": len(times[NATIVE]),
    }


def median(times: FloatArray) -> float:
    return float(f"{np.median(times):.4g}")


def speedup(times: dict[str, FloatArray], recipe: str, first: int) -> list[float]:
    """The estimate and its 95 % interval, without the first repetitions."""
    count = min(len(times[NATIVE]), len(times[recipe]))
    ratio = ratio_ci(times[NATIVE][first:count], times[recipe][first:count])
    return [round(value, 3) for value in (ratio.estimate, ratio.low, ratio.high)]


def tables(document: dict[str, Any]) -> list[str]:
    """One for each lab and library: a line for each collective."""
    lines = []
    for lab, mpi in dict.fromkeys((row["lab"], row["mpi"]) for row in document["rows"]):
        rows = [row for row in document["rows"] if (row["lab"], row["mpi"]) == (lab, mpi)]
        lines += [
            f"## {lab}, {mpi}",
            "",
            "| collective | cases | first: least | median | mean | proven slower "
            "| best: least | median | mean | proven slower |",
            "| --- | " + " | ".join(["---:"] * 9) + " |",
        ]
        for name in in_order({row["collective"] for row in rows}):
            few = [row for row in rows if row["collective"] == name]
            cells = [str(len(few))]
            for kind in ("first_speedup", "best_speedup"):
                found = [row[kind][0] for row in few]
                slower = sum(row[kind][2] < 1 for row in few)
                cells += [
                    f"{min(found):.2f}",
                    f"{np.median(found):.2f}",
                    f"{geometric_mean(found):.2f}",
                    f"{slower}",
                ]
            lines.append(f"| {words(name)} | " + " | ".join(cells) + " |")
        lines.append("")
    return lines


if __name__ == "__main__":
    sys.exit(main())
