#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time and memory of detection from the few pairs that adaptive probing chooses, by number of ranks.

Usage: sparse_detect.py RESULT.json [MOST_RANKS]

Made machines of islands, nodes, sockets and cores, ranks in random order, messages with lognormal noise; each
in a process of its own, on one core. Nothing is sent: pairs are chosen, and what would be measured is made.
Then that is written as measurements.jsonl, of four sizes, and `isochrone detect` runs on it as a command.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from isochrone.adaptive.choose_pairs import choose_pairs
from isochrone.adaptive.table import Pair, Table
from isochrone.detect.levels import judged
from isochrone.detect.partitions import meeting_level, same
from isochrone.files import Measurements, MpiLibrary, Place, provenance, read_topology, write_measurements

SHAPES = ((4, 8, 2, 16), (8, 16, 2, 16), (10, 25, 4, 10))
LATENCIES_S = (1.8e-6, 1.2e-6, 0.6e-6, 0.3e-6)
BYTES_PER_S = np.array([5e9, 6e9, 8e9, 10e9])
NOISE = 0.03
REPETITIONS = 20
SIZES_BYTES = (0, 1 << 10, 1 << 16, 1 << 20)

Shape = tuple[int, ...]
Times = tuple[float, float]


def truth_of(shape: Shape) -> list[np.ndarray]:
    """The group of each rank at each level, outermost first: ranks are in random order."""
    place = np.random.default_rng(1).permutation(int(np.prod(shape)))
    return [place // int(np.prod(shape[k:])) for k in range(len(shape))]


def measure(shape: Shape, folder: Path) -> dict[str, Any]:
    """One row: what is chosen on a machine of so many parts in each part, and what detection makes of it. The
    measurements are left in the folder.
    """
    random = np.random.default_rng(2)
    truth = truth_of(shape)
    ranks = len(truth[0])
    table = Table(ranks)
    times_s: dict[Pair, Times] = {}
    start_s = time.process_time()
    for pairs in choose_pairs(table, [f"n{node}" for node in truth[2]], 1):
        for low, high in pairs:
            meets = sum(int(labels[low] == labels[high]) for labels in truth) - 1
            of_pair_s = LATENCIES_S[meets] * np.exp(random.normal(0.0, NOISE, (2, REPETITIONS))).mean(axis=0)
            times_s[low, high] = float(of_pair_s.min()), float(np.median(of_pair_s))
            table.add((low, high), *times_s[low, high], REPETITIONS)
    chosen_s = time.process_time()
    before_bytes = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found, _ = judged(table.distances)
    detected_s = time.process_time()
    after_bytes = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    write_measurements(folder / "measurements.jsonl", made(truth, times_s))
    return {
        "ranks": ranks,
        "parts": shape,
        "pairs": len(table.measured),
        "share": len(table.measured) / (ranks * (ranks - 1) / 2),
        "choose_cpu_s": chosen_s - start_s,
        "detect_cpu_s": detected_s - chosen_s,
        "most_bytes": after_bytes,
        "most_bytes_before_detection": before_bytes,
        "exact": are(truth, [verdict.labels for verdict in found]),
    }


def made(truth: list[np.ndarray], times_s: dict[Pair, Times]) -> Measurements:
    """What the probe would have measured, by one-way times of the smallest message, the least and the
    median.
    """
    first, second = np.array(sorted(times_s)).T
    least_s, median_s = np.array([times_s[pair] for pair in sorted(times_s)]).T
    bandwidth = BYTES_PER_S[meeting_level(truth, first, second)]
    more_s = np.array(SIZES_BYTES) / bandwidth[:, None]
    return Measurements(
        sizes_bytes=SIZES_BYTES,
        repetitions=REPETITIONS,
        seed=1,
        places=tuple(Place(f"n{node}", str(rank), "made") for rank, node in enumerate(truth[2].tolist())),
        mpi=MpiLibrary("none", "none", "none"),
        resolution_s=1e-9,
        overhead_s=0.0,
        simulated=True,
        first=first,
        second=second,
        rtt_min_s=2 * (least_s[:, None] + more_s),
        rtt_median_s=2 * (median_s[:, None] + more_s),
        send_overhead_s=np.full(more_s.shape, 1e-7),
    )


def run(truth: list[np.ndarray], folder: Path) -> dict[str, Any]:
    """What `isochrone detect` takes, all of the process, and whether it finds the levels."""
    command = [sys.executable, "-m", "isochrone", "detect", str(folder)]
    start_s = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    topology = read_topology(folder / "topology.json")
    return {
        "file_bytes": (folder / "measurements.jsonl").stat().st_size,
        "command_wall_s": time.monotonic() - start_s,
        "command_cpu_s": used.ru_utime + used.ru_stime,
        "command_most_bytes": 1024 * used.ru_maxrss,
        "command_exact": are(truth, [np.array(topology.labels(level)) for level in topology.levels]),
    }


def are(truth: list[np.ndarray], levels: list[np.ndarray]) -> bool:
    """Whether levels are the true ones."""
    return len(levels) == len(truth) and all(map(same, levels, truth))


def main() -> int:
    parser = argparse.ArgumentParser(description="Times detection from few pairs.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("most", type=int, nargs="?", default=10_000, metavar="MOST_RANKS")
    wanted = parser.parse_args()
    rows = []
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for shape in (shape for shape in SHAPES if np.prod(shape) <= wanted.most):
            with tempfile.TemporaryDirectory() as name:
                row = pool.apply(measure, (shape, Path(name))) | run(truth_of(shape), Path(name))
            print(row, file=sys.stderr, flush=True)
            rows.append(row)
    document = {"command": "bench/sparse_detect.py RESULT.json", "provenance": provenance(), "rows": rows}
    wanted.result.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
