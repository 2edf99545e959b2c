#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pairs and time of a probe by number of ranks: all pairs one at a time, all pairs in rounds, and adaptive.

Usage: probe_time.py FOLDER [MOST_RANKS]
       probe_time.py FOLDER --draw RESULT.json

Simulated clusters of nodes with two sockets of eight cores, from one node to 64, eight to an island; ranks in
random placement, no noise. Writes probe-time.json and its figures into FOLDER, and keeps there what was
measured: run again, it goes on. The tree that each probe tells is compared with that of all pairs. With a
result that is there already only its figures are drawn: probe-time, pairs and time by number of ranks, and
probe-time-repetitions, time by number of nodes and of round trips.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from isochrone.detect import detect
from isochrone.files import Topology, provenance, read_measurements
from isochrone.report.plots.style import LEVELS, SOFT, dress, new_figure, save, set_ticks
from isochrone.report.ticks import time_ticks
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.probe import Mode, ProbeOptions, Together, probe

NODES = (1, 2, 4, 8, 16, 32, 64)
NODES_WITH_REPETITIONS = (1, 2, 4, 8)
REPETITIONS = (8, 32)
SYSTEM = """name: bench
nodes: {nodes}
sockets: 2
cores: 8
placement: random
send_overhead: 60ns
receive_overhead: 60ns
links:
  socket:  {{latency: 0.3us, bandwidth: 9GB/s}}
  node:    {{latency: 0.6us, bandwidth: 7GB/s, capacity: 28GB/s}}
  network: {{latency: 1.2us, bandwidth: 6GB/s, capacity: 6GB/s}}
network:
  kind: islands
  islands: [{islands}]
  uplink: {{latency: 1.8us, bandwidth: 6GB/s, capacity: 12GB/s}}
"""


@dataclass(frozen=True)
class Way:
    """A way to probe."""

    name: str
    title: str
    mode: Mode
    together: Together = "nodes"
    blind: bool = False


WAYS = (
    Way("one", "all pairs, one at a time", "all", "none"),
    Way("rounds", "all pairs, in rounds", "all"),
    Way("adaptive", "adaptive", "adaptive"),
    Way("blind", "adaptive, host names hidden", "adaptive", blind=True),
)


def measure(folder: Path, nodes: int, way: Way, repetitions: int = 1) -> dict[str, Any]:
    """One row."""
    described = folder / f"{nodes}-nodes.yaml"
    islands = ", ".join(["8"] * (nodes // 8)) if nodes >= 8 else str(nodes)
    described.write_text(SYSTEM.format(nodes=nodes, islands=islands), encoding="utf-8")
    target = SimTarget(load_system(str(described)))
    output = folder / f"{nodes}-{way.name}-{repetitions}.jsonl"
    if not output.exists() or not read_measurements(output).ended:
        options = ProbeOptions(repetitions=repetitions, together=way.together, mode=way.mode, blind=way.blind)
        probe(target, output, options)
    found = read_measurements(output)
    topology, _ = detect(found, target.truth)
    return {
        "ranks": found.ranks,
        "nodes": nodes,
        "way": way.name,
        "repetitions": repetitions,
        "pairs": found.pairs_measured,
        "pairs_total": found.pairs_total,
        "simulated_s": found.elapsed_s,
        "accuracy": topology.accuracy,
        "tree": tree(topology),
    }


def tree(topology: Topology) -> list[Any]:
    """The groups of ranks at each level, to be compared."""
    place = np.array(topology.ranks)
    return [
        sorted(sorted(np.flatnonzero(np.isin(place, group)).tolist()) for group in level.groups)
        for level in topology.levels
    ]


def exponent(rows: list[dict[str, Any]], way: str, key: str) -> float | None:
    """Of the ranks in a power law that fits the rows of a way with 64 or more; None for a single one."""
    points = [(row["ranks"], row[key]) for row in rows if row["way"] == way and row["ranks"] >= 64]
    if len(points) < 2:
        return None
    return round(float(np.polyfit(np.log([x for x, _ in points]), np.log([y for _, y in points]), 1)[0]), 3)


def by_ranks(document: dict[str, Any]) -> Figure:
    """Pairs and simulated time by number of ranks, a line for each way; both axes are logarithmic."""
    figure = new_figure(10, 4)
    for axes, key, label in zip(
        figure.subplots(1, 2),
        ("pairs", "simulated_s"),
        ("pairs measured", "simulated time of a probe"),
        strict=True,
    ):
        for color, way in zip([SOFT, *LEVELS], WAYS, strict=False):
            mine = [row for row in document["rows"] if row["way"] == way.name]
            power = document["exponents_from_64_ranks"][way.name][key]
            axes.loglog(
                [row["ranks"] for row in mine],
                [row[key] for row in mine],
                "o-",
                color=color,
                label=way.title if power is None else f"{way.title}: n^{power:.2f}",
            )
        axes.set_xlabel("ranks")
        axes.set_ylabel(label)
        set_ticks(axes.xaxis, [row["ranks"] for row in mine], [str(row["ranks"]) for row in mine])
        if key == "pairs":
            axes.minorticks_off()
        else:
            set_ticks(axes.yaxis, *time_ticks(*axes.get_ylim()))
        axes.legend(frameon=False, fontsize=8)
        dress(axes)
    return figure


def by_repetitions(document: dict[str, Any]) -> Figure:
    """Simulated time of all pairs in rounds by number of nodes, a line for each number of round trips; both
    axes are logarithmic. As figure 5.18 of Reinfjell 2023.
    """
    once = [row for row in document["rows"] if row["way"] == "rounds"]
    rows = [*once, *document["rounds_by_nodes_and_repetitions"]]
    figure = new_figure(6, 4)
    axes = figure.subplots()
    for color, marker, count in zip(
        LEVELS, "osD^v", sorted({row["repetitions"] for row in rows}), strict=False
    ):
        mine = [row for row in rows if row["repetitions"] == count]
        nodes, times_s = [row["nodes"] for row in mine], [row["simulated_s"] for row in mine]
        axes.loglog(nodes, times_s, marker=marker, color=color)
        axes.annotate(
            f"{count} round trip{'s' if count > 1 else ''}",
            (nodes[-1], times_s[-1]),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            color=color,
        )
    dress(axes)
    axes.set_xlabel("nodes (ranks)")
    axes.set_ylabel("simulated time of a probe of all pairs")
    set_ticks(
        axes.xaxis, [row["nodes"] for row in once], [f"{row['nodes']}\n({row['ranks']:,})" for row in once]
    )
    low_s, high_s = min(row["simulated_s"] for row in rows), max(row["simulated_s"] for row in rows)
    axes.set_ylim(low_s / 1.6, high_s * 1.6)
    set_ticks(axes.yaxis, *time_ticks(*axes.get_ylim()))
    return figure


def draw(document: dict[str, Any], folder: Path) -> None:
    """All figures of a result."""
    save(by_ranks(document), folder, "probe-time")
    save(by_repetitions(document), folder, "probe-time-repetitions")


def main() -> int:
    parser = argparse.ArgumentParser(description="Simulates probes, by number of ranks.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("most", type=int, nargs="?", default=1024, metavar="MOST_RANKS")
    parser.add_argument("--draw", type=Path, metavar="RESULT.json", help="only the figures of a result")
    wanted = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    # Tells of every letter that a PDF file needs.
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    folder, most = wanted.folder, wanted.most
    folder.mkdir(parents=True, exist_ok=True)
    if wanted.draw:
        draw(json.loads(wanted.draw.read_text(encoding="utf-8")), folder)
        return 0
    rows = []
    for nodes in NODES:
        if nodes * 16 > most:
            break
        here = [measure(folder, nodes, way) for way in WAYS]
        expected = here[1]["tree"]
        for row in here:
            row["same_tree"] = row.pop("tree") == expected
            logging.info(
                "%s", {key: row[key] for key in ("ranks", "way", "pairs", "simulated_s", "same_tree")}
            )
        rows += here
    exponents = {
        way.name: {key: exponent(rows, way.name, key) for key in ("pairs", "simulated_s")} for way in WAYS
    }
    repeated = [
        {key: row[key] for key in ("ranks", "nodes", "repetitions", "simulated_s")}
        for nodes in NODES_WITH_REPETITIONS
        if nodes * 16 <= most
        for count in REPETITIONS
        for row in [measure(folder, nodes, WAYS[1], count)]
    ]
    document = {
        "command": "bench/probe_time.py FOLDER",
        "provenance": provenance(),
        "rows": rows,
        "exponents_from_64_ranks": exponents,
        "rounds_by_nodes_and_repetitions": repeated,
    }
    (folder / "probe-time.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    draw(document, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
