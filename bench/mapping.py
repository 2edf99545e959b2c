#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Process mapping beside Scotch and KaHIP on the same instances, with the same balance, several seeds each.

Usage: mapping.py RESULT.json [--graphs FOLDER] [--seeds N] [--only NAME]
       mapping.py RESULT.json --tables

FOLDER may hold rgg_n_2_15_s0.graph.gz and delaunay_n15.graph.gz of the 10th DIMACS challenge. Scotch's gmap
is taken if it is on the PATH, and KaHIP if its Python module is installed: tasks are parted level by level,
as SharedMap does. J is counted in both directions. With --tables the tables of a result are printed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mapping_instances import IMBALANCE, Instance, Uneven, instances
from scipy.sparse import csr_matrix

from isochrone import _core
from isochrone.files import provenance
from isochrone.files.text import write_object
from isochrone.mapping.graph import TaskGraph
from isochrone.mapping.optimise import optimise, undirected
from isochrone.mapping.system import system_of_tree

Csr = tuple[Any, Any, Any]


def csr(graph: TaskGraph) -> Csr:
    """The graph in compressed rows; an edge weighs what one direction does."""
    first, neighbours, weights = undirected(graph, graph.volume_bytes[:, None] / 2)
    return first, neighbours, weights[:, 0].astype(np.int64)


def j_of(instance: Instance, rows: Csr, at: Any) -> int:
    """J of a mapping. Raises ValueError where it does not keep the balance."""
    first, neighbours, weights = rows
    if np.bincount(at, minlength=instance.places).max() > instance.most:
        raise ValueError("a place holds too much")
    one, other = at[np.repeat(np.arange(len(first) - 1), np.diff(first))], at[neighbours]
    if instance.uneven is not None:
        return int((instance.uneven.matrix()[one, other] * weights).sum())
    cost, span = np.zeros(len(neighbours), np.int64), 1
    for arity, distance in zip(instance.arity, instance.distances, strict=True):
        cost[one // span != other // span] = distance
        span *= arity
    return int((cost * weights).sum())


def scotch(instance: Instance, rows: Csr, seed: int) -> Any:
    """Scotch's gmap on its tleaf architecture."""
    first, neighbours, weights = rows
    with tempfile.TemporaryDirectory() as folder:
        graph, target, out = (Path(folder) / name for name in ("graph", "target", "map"))
        lines = [f"0\n{len(first) - 1} {len(neighbours)}\n0 010"]
        for v in range(len(first) - 1):
            ends = range(first[v], first[v + 1])
            lines.append(" ".join([str(len(ends)), *(f"{weights[e]} {neighbours[e]}" for e in ends)]))
        graph.write_text("\n".join(lines) + "\n", encoding="ascii")
        if instance.uneven is not None:
            text = _decomposition(instance.uneven)
        else:
            tree = [f"{a} {d}" for a, d in zip(instance.arity[::-1], instance.distances[::-1], strict=True)]
            text = f"tleaf {len(tree)} {' '.join(tree)}\n"
        target.write_text(text, encoding="ascii")
        # It knows ratios only: where places hold one task each, there is nothing to spare.
        spare = instance.most * instance.places / instance.graph.ranks - 1
        begin = time.monotonic()
        line = [str(shutil.which("scotch_gmap")), f"-b{max(spare, 0.0)}", str(graph), str(target), str(out)]
        subprocess.run(line, check=True, capture_output=True, env={**os.environ, "SCOTCH_SEED": str(seed)})
        took_s = time.monotonic() - begin
        table = np.loadtxt(out, skiprows=1, dtype=np.int64)
    at = np.empty(len(first) - 1, np.int64)
    at[table[:, 0]] = table[:, 1]
    return at, took_s


def _decomposition(machine: Uneven) -> str:
    """The machine as a target of Scotch: its places as leaves of a binary tree, and their distances."""
    number: dict[int, int] = {}

    def halve(parts: list[Any], at: int) -> None:
        if len(parts) > 1:
            middle = len(parts) // 2
            halve(parts[:middle], 2 * at)
            halve(parts[middle:], 2 * at + 1)
        elif isinstance(parts[0], list):
            halve(parts[0], at)
        else:
            number[parts[0]] = at

    count = iter(range(sum(map(sum, machine.cores))))
    halve([[[next(count) for _ in range(cores)] for cores in nodes] for nodes in machine.cores], 1)
    distances = machine.matrix()
    lines = [f"deco\n0\n{len(number)} {max(number.values())}"]
    lines += [f"{place} 1 {number[place]}" for place in range(len(number))]
    lines += [" ".join(map(str, distances[place, :place])) for place in range(1, len(number))]
    return "\n".join(lines) + "\n"


def kahip(mode: str) -> Callable[[Instance, Csr, int], Any]:
    """KaHIP, level by level, with what balance is left for each (as SharedMap)."""

    def run(instance: Instance, rows: Csr, seed: int) -> Any:
        if instance.uneven is not None:
            raise ValueError("parts of equal size only")
        import kahip as library

        first, neighbours, weights = rows
        matrix = csr_matrix((weights, neighbours, first))
        tasks, at = matrix.shape[0], np.zeros(matrix.shape[0], np.int64)

        def divide(ids: Any, level: int, place: int) -> None:
            if level < 0:
                at[ids] = place
                return
            part = matrix[ids][:, ids]
            inside = math.prod(instance.arity[: level + 1])
            slack = ((1 + IMBALANCE) * inside * tasks / (instance.places * len(ids))) ** (1 / (level + 1))
            spare = 0.0 if instance.most == 1 else max(slack - 1, 0.0)
            _, sides = library.kaffpa(
                [1] * len(ids), part.indptr.tolist(), part.data.astype(int).tolist(), part.indices.tolist(),
                instance.arity[level], spare, True, seed, getattr(library, mode),
            )  # fmt: skip
            step = inside // instance.arity[level]
            for side in range(instance.arity[level]):
                divide(ids[np.array(sides) == side], level - 1, place + side * step)

        begin = time.monotonic()
        divide(np.arange(tasks), len(instance.arity) - 1, 0)
        return at, time.monotonic() - begin

    return run


def ours(method: str, seconds: float | None) -> Callable[[Instance, Csr, int], Any]:
    """A method of Isochrone, for so long."""

    def run(instance: Instance, rows: Csr, seed: int) -> Any:
        if instance.uneven is not None:
            return _on_uneven(instance.uneven, rows, method, seconds, seed)
        system = system_of_tree(instance.arity).with_room_for(instance.graph.ranks, IMBALANCE)
        found = optimise(
            instance.graph, system, "volume", instance.distances, method=method, seed=seed, seconds=seconds
        )
        return np.array(found.at), found.seconds

    return run


def _on_uneven(machine: Uneven, rows: Csr, method: str, seconds: float | None, seed: int) -> Any:
    first, neighbours, weights = rows
    groups, distances = machine.levels()
    problem = _core.MappingProblem(
        first, neighbours, weights[:, None].astype(np.float64), groups, distances, [1] * len(groups[0])
    )
    begin = time.monotonic()
    at = problem.search(method, seed, len(os.sched_getaffinity(0)), seconds)
    return np.array(at), time.monotonic() - begin


def mappers() -> dict[str, Callable[[Instance, Csr, int], Any]]:
    """All that are at hand, by name."""
    found = {
        "identity": ours("identity", None),
        "greedy": ours("greedy", None),
        "isochrone 1s": ours("portfolio", 1.0),
        "isochrone": ours("portfolio", None),
    }
    if shutil.which("scotch_gmap"):
        found["scotch"] = scotch
    try:
        import kahip as _  # noqa: F401
    except ImportError:
        return found
    return found | {"kahip eco": kahip("ECO"), "kahip strong": kahip("STRONG")}


def measure(graphs: Path | None, seeds: int, only: str | None) -> list[dict[str, Any]]:
    """Every mapper on every instance, in turn for each seed."""
    results = []
    for instance in instances(graphs):
        if only is not None and only not in instance.name:
            continue
        rows = csr(instance.graph)
        for seed in range(seeds):
            for name, mapper in mappers().items():
                if seed > 0 and name in ("identity", "greedy"):
                    continue
                result: dict[str, Any] = {"instance": instance.name, "mapper": name, "seed": seed}
                try:
                    at, took_s = mapper(instance, rows, seed)
                    result |= {"j": j_of(instance, rows, at), "seconds": round(took_s, 3)}
                except ValueError as error:
                    result["failure"] = str(error)
                results.append(result)
                print(result, flush=True)
    return results


def tables(results: list[dict[str, Any]]) -> str:
    """Median J and seconds of each mapper on each instance, as Markdown."""
    names = list(dict.fromkeys(each["mapper"] for each in results))
    lines = [f"| instance | {' | '.join(names)} |", "| --- |" + " ---: |" * len(names)]
    for instance in dict.fromkeys(each["instance"] for each in results):
        cells = []
        for name in names:
            of = [e for e in results if (e["instance"], e["mapper"]) == (instance, name)]
            good = [each for each in of if "j" in each]
            if not good:
                cells.append(of[0]["failure"] if of else "-")
                continue
            middle = statistics.median(each["j"] for each in good)
            took_s = statistics.median(each["seconds"] for each in good)
            cells.append(f"{middle:,.0f} ({took_s:.2g} s)")
        lines.append(f"| {instance} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", type=Path)
    parser.add_argument("--graphs", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    if not options.tables:
        results = measure(options.graphs, options.seeds, options.only)
        document = {"cores": len(os.sched_getaffinity(0)), "results": results, "provenance": provenance()}
        write_object(options.result, document)
    print(tables(json.loads(options.result.read_text(encoding="utf-8"))["results"]))


if __name__ == "__main__":
    main()
