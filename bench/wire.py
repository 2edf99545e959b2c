#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times broadcasts in a lab against the least time that its links allow, or prints the table.

Usage: wire.py RESULT.json LAB [--mpi NAME,...] [--placements NAME,...] [--sizes BYTES,...] [--repetitions N]
                               [--realtime]
       wire.py RESULT.json --table

For each library and placement the lab is probed and its levels are detected. For each size the library's own
broadcast, the model's cheapest recipes, and the tree that one would write by hand are timed in turn, in one
run, from root 0: to the other rack first, a chain through the hosts of each rack, then the other ranks of
each host, in segments of several sizes. The first third of the repetitions says which recipe and which
segment are best, the others how long they take. What RESULT.json has is not measured again. --realtime starts
the ranks under SCHED_RR, so that other programs on the machine do not have their processors meanwhile.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from result_rows import milliseconds, read_rows, write_rows

from isochrone.files import BCAST, Bench, BenchKey, Case, provenance
from isochrone.lab.launch import PLACEMENTS
from isochrone.lab.target import LabTarget, Ranks, open_lab
from isochrone.launch.registry import find_library
from isochrone.statistics import FloatArray, median_ci
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.survey import probe_and_detect
from isochrone.tune.candidates import candidates
from isochrone.tune.layout import layout_of
from isochrone.tune.prices import predicted_s

NATIVE = "native"
SIZES_BYTES = (8, 65536, 1 << 20, 4 << 20)
SEGMENTS_BYTES = (0, 16384, 32768, 65536, 131072, 262144)
BY_HAND = "hierarchical(machine=chain,rack=chain,node=flat)"
MODEL_RECIPES = 6

_log = logging.getLogger("wire")


def main() -> int:
    parser = argparse.ArgumentParser(description="Times broadcasts in a lab against the links' bound.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("lab", nargs="?", metavar="LAB")
    parser.add_argument("--mpi", default="mpich,openmpi,intel")
    parser.add_argument("--placements", default=",".join(PLACEMENTS))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES_BYTES)))
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--realtime", action="store_true", help="run the ranks under SCHED_RR")
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args()
    if wanted.table:
        print("\n".join(table(read_rows(wanted.result))))
        return 0
    if wanted.lab is None:
        parser.error("LAB is missing")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    with open_lab(wanted.lab) as lab:
        if wanted.realtime:  # what this process starts inherits it; a lab's own network is above it
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        for name in wanted.mpi.split(","):
            for placement in wanted.placements.split(","):
                ranks = Ranks.on(lab.network, None, None, placement, 1)
                measure(wanted, LabTarget(lab, find_library(name), ranks))
    return 0


def measure(wanted: argparse.Namespace, target: LabTarget) -> None:
    """Adds the rows of one library in one placement, for the sizes that are missing."""
    rows = read_rows(wanted.result)
    network, hosts = target.lab.network, target.ranks.hosts
    names = (network.name, target.library.name, target.ranks.placement)
    done = {row["size_bytes"] for row in rows if (row["lab"], row["mpi"], row["placement"]) == names}
    sizes = [size for size in map(int, wanted.sizes.split(",")) if size not in done]
    if not sizes:
        return
    with tempfile.TemporaryDirectory(prefix="isochrone-wire.") as folder:
        topology = Path(folder) / "topology.json"
        layout = layout_of(probe_and_detect(target, Path(folder)), topology)
        by_hand = {
            size: [f"{BY_HAND}@{s}" if s else BY_HAND for s in SEGMENTS_BYTES if s < size] for size in sizes
        }
        model = {size: candidates(BCAST, layout, [0], size, MODEL_RECIPES) for size in sizes}
        cases = [
            Case(size, 0, tuple(dict.fromkeys((NATIVE, *by_hand[size], *model[size])))) for size in sizes
        ]
        bench = run_bench(
            target, work_for(target, cases, wanted.repetitions), Path(folder) / "bench.jsonl", topology
        )
        for size in sizes:
            bound_s = network.bound_s(hosts[0], hosts, size)
            first = model[size][0]
            rows.append(
                {
                    "lab": network.name,
                    "mpi": target.library.name,
                    "placement": target.ranks.placement,
                    "size_bytes": size,
                    "bound_s": bound_s,
                    "native_s": interval(times_of(bench, size, NATIVE)),
                    "best": best_of(bench, size, [*by_hand[size], *model[size]], bound_s),
                    "by_hand": best_of(bench, size, by_hand[size], bound_s),
                    "first": {
                        **best_of(bench, size, [first], bound_s),
                        "predicted_s": rounded(predicted_s(BCAST, layout, first, 0, size) or 0.0),
                    },
                    "repetitions": len(times_of(bench, size, NATIVE)),
                }
            )
        head = {"command": "bench/wire.py", "realtime": wanted.realtime, "provenance": provenance()}
        write_rows(wanted.result, head, rows)
        _log.info("%s, %s, %s", *names)


def times_of(bench: Bench, size_bytes: int, recipe: str) -> FloatArray:
    times: FloatArray = bench.slowest_s[BenchKey(size_bytes, 0, recipe, BCAST)]
    return times


def best_of(bench: Bench, size_bytes: int, recipes: list[str], bound_s: float) -> dict[str, Any]:
    """Which recipe is best in the first third of the repetitions, and its times in the others."""
    times = {recipe: times_of(bench, size_bytes, recipe) for recipe in recipes}
    third = max(1, min(map(len, times.values())) // 3)
    best = min(times, key=lambda recipe: float(np.median(times[recipe][:third])))
    found = interval(times[best][third:])
    return {"recipe": best, "time_s": found, "over_bound": round(found[0] / bound_s, 2)}


def interval(times: FloatArray) -> list[float]:
    """The median and its 95 % interval."""
    found = median_ci(times)
    return [rounded(value) for value in (found.estimate, found.low, found.high)]


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


def table(rows: list[dict[str, Any]]) -> list[str]:
    """A line for each library, placement and size."""
    lines = [
        "| library | placement | bytes | native, ms | by hand, ms | best recipe, ms | its recipe | bound, ms "
        "| best/bound |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |",
    ]
    for row in rows:
        best, by_hand = row["best"], row["by_hand"]
        lines.append(
            f"| {row['mpi']} | {row['placement']} | {row['size_bytes']} | {milliseconds(row['native_s'])} "
            f"| {milliseconds(by_hand['time_s'])} | {milliseconds(best['time_s'])} | `{best['recipe']}` "
            f"| {row['bound_s'] * 1e3:.1f} | {best['over_bound']:.2f} |"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
