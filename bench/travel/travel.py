#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the plan of eight nodes gives on other numbers of nodes, beside a plan that was made just for them.

Usage: travel.py RESULT.json lab NAME MPI [--shapes NODESxRANKS,...] [--budget SECONDS] [--launches N] ...
       travel.py RESULT.json sim NAME [--shapes NODESxRANKS,...]
       travel.py RESULT.json --table

In a lab a program (calls.c) runs natively, on the plan of all nodes, and on a plan of its own shape, in turn,
as often as there are launches. It makes --calls calls of each collective and size, in which the plan's trials
are; the last half of the calls tells what they come to. Launches differ by more than calls of one do, above
all of few ranks: so a speedup is that of the median launches, and a plan is slower if the whole 95 % interval
of the launches' own ratios is below 1. In a simulation, where no program runs on a plan, what the plan has,
or the three recipes that the model finds cheapest, the plan's own and the library's own are timed once. Of
the three the fastest counts: a program tries the first, and others by what that took.
What RESULT.json has is not measured again.
"""

from __future__ import annotations

import argparse
import logging
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from result_rows import read_rows, write_rows

from isochrone import _core
from isochrone.files import BenchKey, Case, Plan, provenance, read_topology
from isochrone.lab.target import LabTarget, Ranks, open_lab
from isochrone.launch.library import MpiLibrary
from isochrone.launch.preload import settings_for
from isochrone.launch.registry import find_library
from isochrone.launch.target import Target
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.statistics import RESAMPLES, geometric_mean, ratio_ci
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.survey import probe_and_detect
from isochrone.steps.tune import TuneOptions, tune
from isochrone.tune.collectives import is_rooted
from isochrone.tune.layout import layout_of

NODES = 8
KINDS = (("bcast", 8192), ("bcast", 1 << 20), ("reduce", 1 << 20), ("allreduce", 65536))
ROOT = 0
CONFIDENCE = 0.95
LEAST_LAUNCHES = 6
"""That prove anything with that confidence: of fewer all are on one side by chance more often."""
GOAL = 0.7
"""Of the gain of a plan made just for a shape."""
Times = dict[tuple[str, int], list[float]]
"""Seconds of each call on its slowest rank, by collective and size."""
_log = logging.getLogger("travel")


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the plan of eight nodes on other shapes.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("where", nargs="?", choices=("lab", "sim"))
    parser.add_argument("name", nargs="?")
    parser.add_argument("mpi", nargs="?")
    parser.add_argument("--shapes", help="by default 2, 3, 5, 6 and 7 nodes, and half of the ranks on all")
    parser.add_argument("--budget", type=float, default=60.0, help="of each tuning in a lab")
    parser.add_argument("--launches", type=int, default=8, help="fewer than six prove nothing")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args()
    if wanted.table:
        rows = read_rows(wanted.result)
        print("\n".join([*table(rows), "", *table_of_all_calls(rows)]))
        return 0
    if wanted.name is None or (wanted.where == "lab" and wanted.mpi is None):
        parser.error("where to run is missing")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    with tempfile.TemporaryDirectory(prefix="isochrone-travel.") as folder:
        (in_lab if wanted.where == "lab" else simulated)(wanted, Path(folder))
    return 0


def shapes_of(wanted: argparse.Namespace, per_node: int) -> list[tuple[int, int]]:
    """Nodes and ranks on each."""
    if wanted.shapes is None:
        return [(2, per_node), (3, per_node), (5, per_node), (6, per_node), (7, per_node), (8, per_node // 2)]
    return [
        (int(nodes), int(ranks)) for nodes, ranks in (each.split("x") for each in wanted.shapes.split(","))
    ]


def surveyed(target: Target, folder: Path, budget_s: float | None) -> tuple[Plan, float]:
    """A plan for the ranks of the target, and the share of ranks that the topology has right."""
    folder.mkdir()
    topology = folder / "topology.json"
    found = probe_and_detect(target, folder)
    names = tuple(dict.fromkeys(name for name, _ in KINDS))
    sizes = sorted({size for _, size in KINDS})
    options = TuneOptions(sizes_bytes=sizes, collectives=names, budget_s=budget_s)
    plan, _ = tune(target, topology, folder / "plan.json", folder / "bench.jsonl", options)
    return plan, min(found.accuracy.values(), default=1.0)


def add(wanted: argparse.Namespace, row: dict[str, Any]) -> None:
    """Keeps a row with its provenance, as rows may be of several runs, and says it."""
    kept_rows = [*read_rows(wanted.result), row | {"provenance": provenance()}]
    write_rows(wanted.result, {"command": "bench/travel/travel.py"}, kept_rows)
    _log.info("%s", " ".join(table([row])[2:]))


def missing(wanted: argparse.Namespace, where: str, per_node: int) -> list[tuple[int, int]]:
    """The shapes that RESULT.json has not."""
    done = {(row["where"], row["nodes"], row["per_node"]) for row in read_rows(wanted.result)}
    return [shape for shape in shapes_of(wanted, per_node) if (where, *shape) not in done]


# In a lab


def in_lab(wanted: argparse.Namespace, folder: Path) -> None:
    """All shapes in one lab, with one library."""
    library = find_library(wanted.mpi)
    where = f"{wanted.name}, {library.title}"
    left = missing(wanted, where, 2)
    if not left:
        return
    program = compiled(library, folder)
    with open_lab(wanted.name) as lab:
        whole = LabTarget(lab, library, Ranks.on(lab.network, None, 2, "block", 1))
        surveyed(whole, folder / "whole", wanted.budget)
        for nodes, per_node in left:
            target = LabTarget(lab, library, Ranks.on(lab.network, nodes * per_node, per_node, "block", 1))
            own = folder / f"{nodes}x{per_node}"
            _, right = surveyed(target, own, wanted.budget)
            ways = {"native": None, "travelled": folder / "whole", "own": own}
            variables = {
                way: settings_for(library, survey / "plan.json", [str(program)]) if survey else {}
                for way, survey in ways.items()
            }
            took = in_turn(
                lambda told, target=target: launched(target, program, told, wanted.calls),
                variables,
                wanted.launches,
            )
            add(
                wanted,
                {"where": where, "nodes": nodes, "per_node": per_node, "accuracy": right} | lab_row(took),
            )


def compiled(library: MpiLibrary, folder: Path) -> Path:
    """The program of calls for a library."""
    program = folder / "calls"
    source = Path(__file__).parent / "calls.c"
    environment = os.environ | library.environment
    subprocess.run([library.mpicc, "-O2", "-o", program, source], check=True, env=environment)
    return program


def in_turn(
    launched: Callable[[Mapping[str, str]], Times], ways: Mapping[str, Mapping[str, str]], launches: int
) -> dict[str, list[Times]]:
    """[way][launch], what calls took with the variables of each way, which run in turn."""
    took: dict[str, list[Times]] = {way: [] for way in ways}
    for launch in range(launches):
        for way, variables in ways.items():
            took[way].append(launched(variables))
        _log.info("%d of %d launches", launch + 1, launches)
    return took


def launched(target: LabTarget, program: Path, variables: Mapping[str, str], calls: int) -> Times:
    """Runs the program of calls in a lab."""
    with target.launching(variables) as launch:
        line = target.command(launch.line([str(program), *words_of(KINDS, calls)]))
        found = subprocess.run(
            line, env=target.environment(), check=True, stdout=subprocess.PIPE, text=True, timeout=600
        )
    return times_in(found.stdout)


def words_of(kinds: Sequence[tuple[str, int]], calls: int) -> list[str]:
    """The arguments of calls.c for so many calls of each kind."""
    return [str(word) for name, size in kinds for word in (name, size, calls)]


def times_in(text: str) -> Times:
    """What calls.c has printed."""
    lines = [line.split() for line in text.splitlines()]
    return {(name, int(size)): [float(each) for each in times] for name, size, *times in lines}


def late_median_s(times_s: Sequence[float]) -> float:
    """Of the last half of the calls: the first may connect ranks, and has trials in it."""
    return float(np.median(times_s[len(times_s) // 2 :]))


def lab_row(took: Mapping[str, Sequence[Mapping[tuple[str, int], Sequence[float]]]]) -> dict[str, Any]:
    """Speedups of each kind: in the last half of the calls, and in all of them."""
    kinds = []
    for kind in KINDS:
        medians: dict[str, list[float]] = {}
        whole: dict[str, list[float]] = {}
        for way, launches in took.items():
            medians[way] = [late_median_s(each[kind]) for each in launches]
            whole[way] = [sum(each[kind]) for each in launches]
        speedups = {
            way: ratio_ci(medians["native"], each) for way, each in medians.items() if way != "native"
        }
        kinds.append(
            {
                "collective": kind[0],
                "size_bytes": kind[1],
                "launches_s": medians,
                "all_calls": {way: ratio_ci(whole["native"], whole[way]).estimate for way in speedups},
                **{way: speedup.estimate for way, speedup in speedups.items()},
                "intervals": {way: [speedup.low, speedup.high] for way, speedup in speedups.items()},
                "slower": any(
                    speedup.high < 1 and speedup.confidence >= CONFIDENCE
                    for way, speedup in speedups.items()
                    if way != "own"
                ),
            }
        )
    return {"kinds": kinds}


# In a simulation


def simulated(wanted: argparse.Namespace, folder: Path) -> None:
    """All shapes on a part of one cluster, of eight nodes."""
    system = replace(load_system(wanted.name), nodes=NODES)
    per_node = system.ranks // NODES
    where = f"{wanted.name} of {NODES} nodes, simulated"
    left = missing(wanted, where, per_node)
    if not left:
        return
    surveyed(SimTarget(system), folder / "whole", None)
    plan_text = (folder / "whole" / "plan.json").read_text(encoding="utf-8")
    topology_file = folder / "whole" / "topology.json"
    whole = layout_of(read_topology(topology_file), topology_file)
    for nodes, ranks in left:
        # Of the ranks of a node every other where half of them run, so that both sockets have as many.
        at = [node * per_node + rank * per_node // ranks for node in range(nodes) for rank in range(ranks)]
        target = SimTarget(system, at=at)
        own = folder / f"{nodes}x{ranks}"
        plan, right = surveyed(target, own, None)
        layout = whole.restricted_to(at)
        own_layout = layout_of(read_topology(own / "topology.json"), own / "topology.json")
        cases, ways = [], {}
        for name, size in KINDS:
            asked = (plan_text, name, layout, ROOT, size)
            runs, _ = _core.choose(*asked)
            basis, _ = _core.basis(*asked)
            tried = (_core.predicted(*asked, math.inf) or []) if basis == "predicted" else []
            travelled = tuple(recipe for recipe, _ in tried) or (runs,)
            shape = own_layout.shape(ROOT if is_rooted(name) else None)
            best = plan.recipe(shape, size, name) or "native"
            ways[name, size] = (travelled, best, basis)
            cases.append(Case(size, ROOT, tuple(dict.fromkeys(("native", *travelled, best))), name))
        bench = run_bench(target, work_for(target, cases, 1), folder / "travel.jsonl", own / "topology.json")
        (folder / "travel.jsonl").unlink()
        kinds = []
        for (name, size), (travelled, best, basis) in ways.items():
            once = {
                recipe: float(np.median(bench.slowest_s[BenchKey(size, ROOT, recipe, name)]))
                for recipe in ("native", *travelled, best)
            }
            fastest = min(travelled, key=lambda recipe: once[recipe])
            speedup = once["native"] / once[fastest]
            kinds.append(
                {
                    "collective": name,
                    "size_bytes": size,
                    "recipes": {"travelled": fastest, "own": best},
                    "basis": basis,
                    # Trials keep the fastest.
                    "travelled": max(1.0, speedup) if basis == "predicted" else speedup,
                    "own": once["native"] / once[best],
                    # A predicted recipe that is slower does not stay.
                    "slower": None if basis == "predicted" else speedup < 1,
                }
            )
        add(wanted, {"where": where, "nodes": nodes, "per_node": ranks, "accuracy": right, "kinds": kinds})


def kept(kinds: Sequence[Mapping[str, Any]]) -> float | None:
    """How much of the gain of plans made just for a shape the travelled one has: of the logarithms of the
    geometric means. None where those gain nothing.
    """
    own, ours = (geometric_mean([kind[way] for kind in kinds]) for way in ("own", "travelled"))
    return float(np.log(ours) / np.log(own)) if own > 1.02 else None


def reaches_goal(kinds: Sequence[Mapping[str, Any]], seed: int = 1) -> str:
    """Whether launches prove that the travelled plan has GOAL of the gain: ``yes``, ``no`` or ``open``; empty
    for a simulation, which has no launches.

    By the 95 % percentile bootstrap over launches (Efron and Tibshirani, "An Introduction to the Bootstrap",
    section 13.3) of how far the logarithm of its speedup is above GOAL times that of the other plan. That has
    a value where the other plan gains nothing too, and a share of nothing has none. Fewer than six launches
    leave it open.
    """
    launches = [kind["launches_s"] for kind in kinds if "launches_s" in kind]
    if not launches:
        return ""
    count = len(launches[0]["native"])
    if count < LEAST_LAUNCHES:
        return "open"
    drawn = np.random.default_rng(seed).integers(0, count, size=(RESAMPLES, count))
    log_s = {
        way: np.mean([np.log(np.median(np.array(each[way])[drawn], axis=1)) for each in launches], axis=0)
        for way in launches[0]
    }
    gains = {way: log_s["native"] - log_s[way] for way in ("travelled", "own")}
    low, high = np.quantile(
        gains["travelled"] - GOAL * gains["own"], ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
    )
    return "yes" if low >= 0 else "no" if high < 0 else "open"


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines of Markdown."""
    lines = [
        f"| where | nodes x ranks | {' | '.join(_titles())} | "
        f"mean | of the gain | {GOAL:.0%} or more | slower |",
        "| --- | ---: |" + " ---: |" * (len(KINDS) + 4),
    ]
    for row in rows:
        kinds = row["kinds"]
        pairs = [f"{kind['travelled']:.2f} / {kind['own']:.2f}" for kind in kinds]
        means = [geometric_mean([kind[way] for kind in kinds]) for way in ("travelled", "own")]
        share = kept(kinds)
        told = [kind["slower"] for kind in kinds if kind.get("basis") != "predicted"]
        lines.append(
            f"| {row['where']} | {row['nodes']}x{row['per_node']} | {' | '.join(pairs)} | "
            f"{means[0]:.2f} / {means[1]:.2f} | {'-' if share is None else f'{share:.0%}'} | "
            f"{reaches_goal(kinds)} | "
            f"{sum(told) if told else '-'} |"
        )
    return lines


def table_of_all_calls(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines of Markdown: speedups over all calls of a lab's launches, trials included."""
    lines = [
        f"| where | nodes x ranks | {' | '.join(_titles())} |",
        "| --- |" + " ---: |" * (len(KINDS) + 1),
    ]
    for row in rows:
        found = [kind["all_calls"] for kind in row["kinds"] if "all_calls" in kind]
        if found:
            pairs = [f"{each['travelled']:.2f} / {each['own']:.2f}" for each in found]
            lines.append(f"| {row['where']} | {row['nodes']}x{row['per_node']} | {' | '.join(pairs)} |")
    return lines


def _titles() -> list[str]:
    return [f"{name} {size >> 10} KiB" for name, size in KINDS]


if __name__ == "__main__":
    sys.exit(main())
