#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time and memory of detection from the few pairs that adaptive probing chooses, by number of ranks.

Usage: sparse_detect.py RESULT.json [MOST_RANKS]

Made machines of islands, nodes, sockets and cores, ranks in random order, messages with lognormal noise; each
in a process of its own, on one core. Nothing is sent: pairs are chosen, and what would be measured is made.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from isochrone.adaptive.choose_pairs import choose_pairs
from isochrone.adaptive.table import Table
from isochrone.detect.levels import judged
from isochrone.detect.partitions import same
from isochrone.files import provenance

SHAPES = ((4, 8, 2, 16), (8, 16, 2, 16), (10, 25, 4, 10))
LATENCIES_S = (1.8e-6, 1.2e-6, 0.6e-6, 0.3e-6)
NOISE = 0.03
REPETITIONS = 20


def measure(shape: tuple[int, ...]) -> dict[str, Any]:
    """One row: what is chosen on a machine of so many parts in each part, and what detection makes of it."""
    random = np.random.default_rng(1)
    ranks = int(np.prod(shape))
    place = random.permutation(ranks)
    truth = [place // int(np.prod(shape[k:])) for k in range(1, len(shape))]
    table = Table(ranks, REPETITIONS)
    start_s = time.process_time()
    for pairs in choose_pairs(table, [f"n{node}" for node in truth[1]], 1):
        for low, high in pairs:
            meets = sum(int(labels[low] == labels[high]) for labels in truth)
            times_s = LATENCIES_S[meets] * np.exp(random.normal(0.0, NOISE, (2, REPETITIONS))).mean(axis=0)
            table.add((low, high), float(times_s.min()), float(np.median(times_s)))
    chosen_s = time.process_time()
    before_bytes = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found, _ = judged(table.distances)
    detected_s = time.process_time()
    levels = [verdict.labels for verdict in found][1:]
    return {
        "ranks": ranks,
        "parts": shape,
        "pairs": table.pairs,
        "share": table.pairs / (ranks * (ranks - 1) / 2),
        "choose_cpu_s": chosen_s - start_s,
        "detect_cpu_s": detected_s - chosen_s,
        "most_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "most_bytes_before_detection": before_bytes,
        "exact": len(levels) == len(truth) and all(map(same, levels, truth)),
    }


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print("\n".join(__doc__.strip().splitlines()[2:3]), file=sys.stderr)
        return 2
    most = int(sys.argv[2]) if len(sys.argv) == 3 else 10_000
    rows = []
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for row in pool.imap(measure, [shape for shape in SHAPES if np.prod(shape) <= most], chunksize=1):
            print(row, file=sys.stderr, flush=True)
            rows.append(row)
    document = {"command": "bench/sparse_detect.py RESULT.json", "provenance": provenance(), "rows": rows}
    Path(sys.argv[1]).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
