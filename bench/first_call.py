#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a process spends, by itself, on the first call of a collective, on another one, and on another root.

Usage: first_call.py RESULT.json
       first_call.py RESULT.json --table

As Table III of Subramoni et al., "Design and Evaluation of Network Topology-/Speed-Aware Broadcast
Algorithms for InfiniBand Clusters" (CLUSTER 2011), has it for their broadcast, by the number of leaders:
one of each node of 16 ranks, in racks of eight nodes. At the first call a rank finds the job's places in
the topology, looks the plan up, and makes its schedule; another call with the same root uses what is kept.
It is rank 0, which has most to do. No message is sent for any of this: each rank has the files, and decides
from what is equal on all ranks. What MPI takes for a communicator of its own is not in it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from collectives import read_rows, write_rows

from isochrone import _core
from isochrone.files import Level, Place, Topology, provenance, write_topology
from isochrone.files.plan import Evidence, Plan, Rule, write_plan
from isochrone.statistics import median_ci

LEADERS = (8, 16, 32, 64, 128, 512)
PER_NODE, PER_RACK = 16, 8
RECIPE = "hierarchical(machine=binomial,rack=binomial,node=binomial)"
SIZE_BYTES = 65536
REPETITIONS = 30
THEIRS_MS = {8: (11.6, 0.13), 16: (30.8, 1.5), 32: (115.5, 2.4)}
"""First call, and another root; the same root once more was nothing."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Times what a first call costs each rank.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args()
    if not wanted.table:
        rows = [measured(leaders) for leaders in LEADERS]
        write_rows(wanted.result, {"command": "bench/first_call.py", "provenance": provenance()}, rows)
    print("\n".join(table(read_rows(wanted.result))))
    return 0


def measured(leaders: int) -> dict[str, Any]:
    """The times of one number of leaders."""
    ranks = leaders * PER_NODE
    rank = np.arange(ranks)
    members = {"machine": ranks, "rack": PER_NODE * PER_RACK, "node": PER_NODE}
    levels = []
    for name, size in members.items():
        groups = tuple(tuple(group.tolist()) for group in np.split(rank, range(size, ranks, size)))
        if not levels or len(groups) > len(levels[-1].groups):
            levels.append(Level(name, groups, None, None))
    places = [Place(f"n{at // PER_NODE}", str(at % PER_NODE), "bench") for at in range(ranks)]
    recipe = RECIPE if len(levels) == len(members) else RECIPE.replace("rack=binomial,", "")
    with tempfile.TemporaryDirectory() as folder:
        topology = Topology(tuple(places), tuple(range(ranks)), tuple(levels))
        write_topology(Path(folder) / "topology.json", topology)
        text = (Path(folder) / "topology.json").read_text(encoding="utf-8")
        where = [(place.host, place.cpus, place.signature) for place in places]
        layout = _core.match(text, where)
        evidence = Evidence(2e-5, 1e-5, 2.0, (1.9, 2.1), 20)
        rule = Rule("bcast", layout.shape(0), 0, 1 << 30, recipe, evidence)
        plan = Plan(topology.fingerprint, "topology.json", "", "libmpi.so.12", (rule,))
        write_plan(Path(folder) / "plan.json", plan)
        plan_text = (Path(folder) / "plan.json").read_text(encoding="utf-8")
    if _core.choose(plan_text, "bcast", layout, 0, SIZE_BYTES)[0] != recipe:
        raise SystemExit("the plan is not followed")
    root = ranks // 2
    return {
        "leaders": leaders,
        "ranks": ranks,
        "places_s": timed(lambda: _core.match(text, where)),
        "plan_s": timed(lambda: _core.choose(plan_text, "bcast", layout, 0, SIZE_BYTES)),
        "schedule_s": timed(lambda: _core.schedule("bcast", layout, recipe, 0, 0)),
        "other_root_s": timed(lambda: _core.schedule("bcast", layout, recipe, 0, root)),
        "repetitions": REPETITIONS,
    }


def timed(act: Callable[[], object]) -> list[float]:
    """Median and its 95 % interval, in seconds."""
    act()
    took = []
    for _ in range(REPETITIONS):
        begin = time.perf_counter()
        act()
        took.append(time.perf_counter() - begin)
    found = median_ci(took)
    return [found.estimate, found.low, found.high]


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of Markdown."""
    lines = [
        "| leaders | ranks | places, ms | plan, ms | schedule, ms | first call, ms | same root "
        "| other root, ms | theirs: first, ms | same root | other root, ms |",
        "| ---: | ---: |" + " ---: |" * 9,
    ]
    for row in rows:
        parts = [row[name][0] * 1e3 for name in ("places_s", "plan_s", "schedule_s", "other_root_s")]
        theirs = THEIRS_MS.get(row["leaders"])
        said = ("", "", "") if theirs is None else (str(theirs[0]), "0", str(theirs[1]))
        lines.append(
            f"| {row['leaders']} | {row['ranks']} | {parts[0]:.3f} | {parts[1]:.3f} | {parts[2]:.3f} | "
            f"{sum(parts[:3]):.2f} | 0 | {parts[3]:.3f} | {' | '.join(said)} |"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
