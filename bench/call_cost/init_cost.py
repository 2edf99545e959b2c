# SPDX-License-Identifier: BSD-3-Clause
"""What a plan adds to MPI_Init: natively and on a plan in turn, medians with 95 % intervals.

Usage: init_cost.py LAUNCHER RANKS > RESULT.json
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from preloaded import Bench

from isochrone.files.provenance import provenance
from isochrone.statistics import median_ci

REPETITIONS = 40


def main() -> int:
    """Measures, and writes JSON to stdout."""
    parser = argparse.ArgumentParser(description="Times what a plan adds to MPI_Init.")
    parser.add_argument("launcher", metavar="LAUNCHER", help="such as mpiexec.mpich")
    parser.add_argument("ranks", type=int, metavar="RANKS")
    wanted = parser.parse_args()
    times: dict[str, list[float]] = {"native": [], "plan": []}
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(wanted.launcher, Path(name), wanted.ranks)
        settings = {"native": {}, "plan": bench.settings("bcast", "binomial")}
        for _ in range(REPETITIONS):
            for which, variables in settings.items():
                times[which].append(float(bench.run(variables, "init", "0").stdout))
    differences = [plan - native for native, plan in zip(times["native"], times["plan"], strict=True)]
    found = {**times, "added": differences}
    intervals = {name: median_ci(values) for name, values in found.items()}
    result = {
        "ranks": wanted.ranks,
        "repetitions": REPETITIONS,
        "median_s": {name: interval.estimate for name, interval in intervals.items()},
        "ci_s": {name: [interval.low, interval.high] for name, interval in intervals.items()},
        "mpi": bench.measurements.mpi.library,
        "provenance": provenance(),
    }
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
