#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times the executor beside a tree written by hand in C, in one program and a lab of two racks.

Usage: by_hand.py RESULT.json LAB [--mpi NAME,...] [--sizes BYTES,...] [--launches N] [--calls N] [--profile]
       by_hand.py RESULT.json --table

The program (by_hand.c) makes broadcasts from rank 0 by its own loops, by MPI_Bcast on a plan that has the
same tree, and by the library's own, in turn. So all three have the same processes and connections, and the
same other load of the machine. Each size is timed in several segments, each in as many launches. The first
launch chooses the segment, of each way for itself, the others say how long it takes. Ranks run under
SCHED_RR. With --profile the shares of processor time are kept as well, of all that the launches do, as `perf`
(Debian: linux-perf) samples them. What RESULT.json has is not measured again. --table prints the tables.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from result_rows import milliseconds, read_rows, write_rows

from isochrone.files import (
    Evidence,
    LibraryReference,
    Measurements,
    Plan,
    PlannedTopology,
    Rule,
    provenance,
    read_measurements,
    read_topology,
    write_plan,
)
from isochrone.lab.target import LabTarget, Ranks, open_lab
from isochrone.launch.preload import settings_for
from isochrone.launch.registry import find_library
from isochrone.statistics import median_ci, ratio_ci
from isochrone.steps.survey import probe_and_detect
from isochrone.tune.layout import layout_of

SOURCE = Path(__file__).parent / "by_hand.c"
TREE = "hierarchical(machine=chain,rack=chain,node=flat)"
WAYS = ("by_hand", "mpi", "native")
SIZES_BYTES = (1 << 20, 4 << 20)
SEGMENTS_BYTES = (32768, 65536, 131072, 262144)
_log = logging.getLogger("by_hand")


def main() -> int:
    parser = argparse.ArgumentParser(description="Times the executor beside a tree written by hand in C.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("lab", nargs="?", metavar="LAB")
    parser.add_argument("--mpi", default="mpich,openmpi,intel")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES_BYTES)))
    parser.add_argument("--launches", type=int, default=4)
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--profile", action="store_true", help="keep the shares of processor time")
    parser.add_argument("--table", action="store_true", help="print the tables of a result")
    wanted = parser.parse_args()
    if wanted.table:
        print("\n".join(tables(read_rows(wanted.result))))
        return 0
    if wanted.lab is None:
        parser.error("LAB is missing")
    if wanted.launches < 2:
        parser.error("--launches: the first chooses, so two are needed at the least")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    rows = read_rows(wanted.result)
    head = {"command": "bench/wire/by_hand.py", "realtime": True, "provenance": provenance()}
    with open_lab(wanted.lab) as lab:
        # What this process starts inherits it; the lab's own network is above it.
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        for name in wanted.mpi.split(","):
            target = LabTarget(lab, find_library(name), Ranks.on(lab.network, None, None, "block", 1))
            done = {row["size_bytes"] for row in rows if row["mpi"] == target.library.name}
            sizes = [size for size in map(int, wanted.sizes.split(",")) if size not in done]
            if sizes:
                with tempfile.TemporaryDirectory(prefix="isochrone-by-hand.") as folder:
                    rows += measured(wanted, target, sizes, Path(folder))
                write_rows(wanted.result, head, rows)
                _log.info("%s: %s", lab.network.name, target.library.name)
    return 0


def measured(
    wanted: argparse.Namespace, target: LabTarget, sizes: list[int], folder: Path
) -> list[dict[str, Any]]:
    """A row for each size."""
    probe_and_detect(target, folder)
    measurements = read_measurements(folder / "measurements.jsonl")
    program = folder / "by_hand"
    environment = os.environ | target.library.environment
    subprocess.run([target.library.mpicc, "-O2", "-o", program, SOURCE], check=True, env=environment)
    rows = []
    network, hosts = target.lab.network, target.ranks.hosts
    for size in sizes:
        took: dict[str, dict[int, list[list[float]]]] = {way: {} for way in WAYS}
        with profiled(folder / "perf.data", wanted.profile) as shares:
            for _ in range(wanted.launches):
                for segment in SEGMENTS_BYTES:
                    write_plan(
                        folder / "plan.json", plan_of(measurements, folder / "topology.json", size, segment)
                    )
                    for way, times in launched(target, program, folder, size, segment, wanted.calls).items():
                        took[way].setdefault(segment, []).append(times)
        rows.append(
            {
                "lab": network.name,
                "mpi": target.library.name,
                "size_bytes": size,
                "bound_s": network.bound_s(hosts[0], hosts, size),
                "ways": {way: best_of(times) for way, times in took.items()},
                "shares": shares,
                "took_s": took,
            }
        )
    return rows


def plan_of(measurements: Measurements, topology_file: Path, size: int, segment: int) -> Plan:
    """The tree for broadcasts of one size from rank 0. By how much it is faster is made up."""
    topology = read_topology(topology_file)
    shape = layout_of(topology, topology_file).shape(0)
    evidence = Evidence(native_s=2.0, recipe_s=1.0, speedup=2.0, speedup_ci=(2.0, 2.0), repetitions=1)
    return Plan(
        topology=PlannedTopology(topology.fingerprint, topology_file.name),
        mpi=LibraryReference(measurements.mpi.library, measurements.mpi.abi),
        rules=(Rule("bcast", shape, size, size, f"{TREE}@{segment}", evidence),),
    )


def launched(
    target: LabTarget, program: Path, folder: Path, size: int, segment: int, calls: int
) -> dict[str, list[float]]:
    """Seconds of each call on its slowest rank, by way."""
    settings = settings_for(target.library, folder / "plan.json", [str(program)]) | {
        "ISOCHRONE_TRIALS": "off",
        "ISOCHRONE_SUMMARY": "1",
    }
    network, hosts = target.lab.network, target.ranks.hosts
    of_a_rack, of_a_host = len(network.hosts) // 2, len(hosts) // len(network.hosts)
    words = [str(word) for word in (program, of_a_rack, of_a_host, size, segment, calls)]
    with target.launching(settings) as launch:
        line = target.command(launch.line(words))
        found = subprocess.run(
            line, env=target.environment(), check=True, capture_output=True, text=True, timeout=600
        )
    if f"{calls + 1} broadcasts by {TREE}@{segment}" not in found.stderr:
        raise SystemExit(f"MPI_Bcast did not run on the plan: {found.stderr}")
    lines = [line.split() for line in found.stdout.splitlines()]
    return {way: [float(each) for each in times] for way, *times in lines}


def best_of(times: Mapping[int, list[list[float]]]) -> dict[str, Any]:
    """The segment that is best in the first launch, and what it takes in the others."""
    best = min(times, key=lambda segment: float(np.median(times[segment][0])))
    found = median_ci([each for launch in times[best][1:] for each in launch])
    return {"segment_bytes": best, "time_s": [found.estimate, found.low, found.high]}


# Where the processors' time goes


@contextmanager
def profiled(output: Path, is_wanted: bool) -> Iterator[dict[str, float]]:
    """What is sampled while the block runs: shares, by program and what it is in, when it has ended."""
    shares: dict[str, float] = {}
    if not is_wanted:
        yield shares
        return
    sampler = subprocess.Popen(["perf", "record", "-q", "-a", "-F", "499", "-e", "cpu-clock", "-o", output])
    try:
        yield shares
    finally:
        sampler.send_signal(signal.SIGINT)
        sampler.wait()
    words = ["perf", "report", "-i", str(output), "--sort", "comm,dso,sym", "-t", "|", "--stdio"]
    said = subprocess.run(
        words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ).stdout
    for line in said.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        share, program, place, symbol = (word.strip() for word in line.split("|", 3))
        what = kind_of(program, place, symbol)
        shares[what] = shares.get(what, 0.0) + float(share.rstrip("%")) / 100


RANKS, NETWORK, IDLE = "by_hand", "isochrone-lab", "swapper"
COPIES = ("copy", "memmove", "memcpy", "clear_page", "csum")
WAITING = ("sched", "switch", "yield", "nanosleep", "hrtimer", "epoll", "poll", "halt")


def kind_of(program: str, place: str, symbol: str) -> str:
    """What a sample is counted as."""
    name = symbol.lower()
    if program == IDLE:
        return "idle"
    if program == NETWORK:
        return "the lab's network"
    if program != RANKS:
        return "other programs"
    if any(part in name for part in WAITING):
        return "ranks: waiting and changing ranks"
    if any(part in name for part in COPIES):
        return "ranks: copies"
    if "isochrone_mpi" in place:
        return "ranks: this library"
    return "ranks: the system's network" if symbol.startswith("[k]") else "ranks: MPI library and program"


def tables(rows: list[dict[str, Any]]) -> list[str]:
    """A line for each library and size, then the shares."""
    lines = [
        "| library | bytes | bound, ms | by hand in C, ms | segment | by the plan, ms | segment "
        "| library's own, ms | plan over hand |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        ways = row["ways"]
        hand, plan = ways["by_hand"], ways["mpi"]
        pairs = {
            way: [
                each for launch in row["took_s"][way][str(ways[way]["segment_bytes"])][1:] for each in launch
            ]
            for way in ("by_hand", "mpi")
        }
        ratio = ratio_ci(pairs["mpi"], pairs["by_hand"])
        lines.append(
            f"| {row['mpi']} | {row['size_bytes']} | {row['bound_s'] * 1e3:.1f} "
            f"| {milliseconds(hand['time_s'])} | {hand['segment_bytes']} "
            f"| {milliseconds(plan['time_s'])} | {plan['segment_bytes']} "
            f"| {milliseconds(ways['native']['time_s'])} "
            f"| {ratio.estimate:.2f} [{ratio.low:.2f}, {ratio.high:.2f}] |"
        )
    kinds = sorted({kind for row in rows for kind in row["shares"]})
    if kinds:
        lines += ["", f"| library | bytes | {' | '.join(kinds)} |", "| --- | ---: |" + " ---: |" * len(kinds)]
        for row in rows:
            cells = " | ".join(f"{100 * row['shares'].get(kind, 0):.0f} %" for kind in kinds)
            lines.append(f"| {row['mpi']} | {row['size_bytes']} | {cells} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
