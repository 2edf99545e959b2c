#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that talks as plane-wave codes do, on simulated clusters of 25 to 400 nodes, in order and mapped.

Usage: qbox.py RESULT.json [--grids ROWSxCOLUMNS,...] [--run ROWSxCOLUMNS,...]
       qbox.py RESULT.json --table

The program is examples/qbox.c on the grids and nodes of Getmanskiy et al., "Optimizing rank-to-node mapping
for MPI programs on large clusters": 12 ranks a node, and each row of 12 ranks talks much. The work of a
step and its blocks are divided by the number of rows, as for one problem on more and more nodes. For each
grid the messages are mapped, and their times predicted, on links that were measured on four such nodes in
SimGrid. Those of --run are run there too, in order and mapped, with so much work that messages are a fifth
of a step in order by the prediction for the first grid. With --table the table of docs/mapping.md is
printed.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from isochrone.files import Graph, provenance
from isochrone.files.graph import Calls, rows_of
from isochrone.files.text import write_object
from isochrone.launch.process import Channel
from isochrone.mapping.collectives import broken_down
from isochrone.mapping.extend import extended_system
from isochrone.mapping.graph import TaskGraph
from isochrone.mapping.optimise import Mapping, optimise
from isochrone.mapping.predict import exchange_time_s
from isochrone.mapping.system import System, system_of_topology
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.survey import probe_and_detect

CORES = 12
DESCRIPTION = """name: tornado
nodes: {nodes}
sockets: 2
cores: 6
links:
  socket: {{latency: 0.4us, bandwidth: 6GB/s}}
  node: {{latency: 0.7us, bandwidth: 5GB/s}}
  network: {{latency: 1.6us, bandwidth: 3.2GB/s}}
"""
STEPS = 10
BLOCK, SUM = 100_000, 100
"""Doubles: those of a block are divided by the number of rows."""
SHARE = 0.2
PUBLISHED = {
    "25x12": 1.171,
    "50x12": 1.184,
    "100x12": 1.203,
    "150x12": 1.164,
    "200x12": 1.163,
    "400x12": 1.171,
}
_SOURCE = Path(__file__).parents[1] / "examples" / "qbox.c"
_log = logging.getLogger("qbox")


@dataclass(frozen=True)
class Case:
    """The program on one grid."""

    rows: int
    columns: int

    @property
    def ranks(self) -> int:
        return self.rows * self.columns

    @property
    def block(self) -> int:
        return max(1, BLOCK // self.rows)

    def graph(self) -> TaskGraph:
        """What the ranks send in all steps."""
        rows = [((row, self.columns, self.rows),) for row in range(self.rows)]
        columns = [((column * self.rows, self.rows, 1),) for column in range(self.columns)]
        count = len(rows) + len(columns)
        bytes_of = [8 * self.block] * len(rows) + [8 * SUM] * len(columns)
        calls = Calls(
            phases=np.ones(count, np.int64),
            collectives=np.array(["alltoall"] * len(rows) + ["allreduce"] * len(columns)),
            groups=np.arange(count),
            roots=np.zeros(count, np.int64),
            calls=np.full(count, STEPS),
            volume_bytes=STEPS * np.array(bytes_of, np.int64),
        )
        graph = Graph(self.ranks, rows_of([]), calls=calls, groups=(*rows, *columns))
        return replace(graph, broken_down=broken_down(graph).rows).task_graph()


def cluster(nodes: int, folder: Path) -> SimTarget:
    """A simulated cluster of so many nodes."""
    file = folder / f"tornado-{nodes}.yaml"
    file.write_text(DESCRIPTION.format(nodes=nodes), encoding="utf-8")
    return SimTarget(load_system(str(file), None))


def measured(folder: Path) -> System:
    """Four nodes, as they were measured."""
    return system_of_topology(probe_and_detect(cluster(4, folder), folder))


def run_s(program: Path, case: Case, folder: Path, mapping: Mapping, work_us: int) -> tuple[float, float]:
    """The seconds of the program in the simulator, in order and mapped."""
    target = cluster(case.ranks // CORES, folder)
    words = [str(each) for each in (case.rows, case.columns, STEPS, case.block, SUM, work_us)]
    times = []
    for at in (mapping.identity, mapping.at):
        said: list[str] = []

        def listen(channel: Channel, said: list[str] = said) -> None:
            said += [channel.receive(), channel.receive()]

        target.run_executable(program, words, talk=listen, at=at)
        times.append((float(said[0].split()[0]), said[1]))
    if times[0][1] != times[1][1]:
        raise SystemExit(f"the checksum changed with the mapping: {times}")
    return times[0][0], times[1][0]


def measure(grids: list[str], run: list[str]) -> dict[str, Any]:
    """All figures."""
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "qbox"
        subprocess.run(["smpicc", "-O2", str(_SOURCE), "-o", str(program)], check=True)
        small = measured(folder)
        work_s = None
        for grid in grids:
            case = Case(*(int(word) for word in grid.split("x")))
            system, graph = extended_system(small, case.ranks), case.graph()
            mapping = optimise(graph, system)
            before_s, after_s = (exchange_time_s(graph, system, at) for at in (mapping.identity, mapping.at))
            if work_s is None:
                # Of a step on one row.
                work_s = (1 / SHARE - 1) * before_s / STEPS * case.rows
            rest_s = STEPS * work_s / case.rows
            row = {
                "grid": grid,
                "ranks": case.ranks,
                "search_s": mapping.seconds,
                "messages_before_s": before_s,
                "messages_after_s": after_s,
                "work_s": rest_s,
                "predicted_speedup": (rest_s + before_s) / (rest_s + after_s),
            }
            if grid in run:
                work_us = round(1e6 * rest_s / STEPS)
                row["run_before_s"], row["run_after_s"] = run_s(program, case, folder, mapping, work_us)
            _log.info("%s", row)
            results.append(row)
    return {"cores": 2, "simulated": True, "results": results, "provenance": provenance()}


def table(document: dict[str, Any]) -> list[str]:
    """A line for each grid."""
    head = (
        "ranks",
        "grid",
        "messages in order, s",
        "messages mapped, s",
        "speedup of a run, predicted",
        "in SimGrid",
        "published",
    )
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join(['---:'] * len(head))} |"]
    for row in document["results"]:
        run = "" if "run_before_s" not in row else f"{row['run_before_s'] / row['run_after_s']:.2f}"
        cells = (
            f"{row['ranks']:,}",
            row["grid"],
            f"{row['messages_before_s']:.4f}",
            f"{row['messages_after_s']:.4f}",
            f"{row['predicted_speedup']:.2f}",
            run,
            f"{PUBLISHED[row['grid']]:.2f}" if row["grid"] in PUBLISHED else "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description="Maps a program that talks as plane-wave codes do.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("--grids", default=",".join(PUBLISHED))
    parser.add_argument("--run", default="25x12")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        print("\n".join(table(json.loads(options.result.read_text(encoding="utf-8")))))
        return 0
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    write_object(options.result, measure(options.grids.split(","), options.run.split(",")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
