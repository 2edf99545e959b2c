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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from isochrone import _core
from isochrone.files import provenance
from isochrone.files.text import write_object
from isochrone.mapping.graph import TaskGraph, task_graph
from isochrone.mapping.optimise import optimise, undirected
from isochrone.mapping.readers import read_foreign_graph
from isochrone.mapping.system import system_of_tree

IMBALANCE = 0.03
DIMACS = ("rgg_n_2_15_s0", "delaunay_n15")
STENCILS = (
    ((8, 8, 16), (4, 8, 32)),
    ((16, 16, 16), (4, 16, 64)),
    ((12, 12, 12), (4, 12, 36)),
    ((10, 12, 20), (5, 8, 60)),
    ((32, 48), (8, 6, 32)),
)
Csr = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Uneven:
    """Racks of nodes of some cores each, one task a core.

    Attributes:
        cores: [rack][node].
        inside: [rack][node], distance between the cores of a node.
        within: [rack], between nodes of a rack.
        between: between racks.
    """

    cores: tuple[tuple[int, ...], ...]
    inside: tuple[tuple[int, ...], ...]
    within: tuple[int, ...]
    between: int

    def levels(self) -> tuple[list[list[int]], list[list[list[float]]]]:
        """[level][place], the groups, and [level][group][term], their distances."""
        rack = [r for r, nodes in enumerate(self.cores) for cores in nodes for _ in range(cores)]
        sizes = [cores for nodes in self.cores for cores in nodes]
        node = [n for n, cores in enumerate(sizes) for _ in range(cores)]
        inside = [[float(distance)] for nodes in self.inside for distance in nodes]
        within = [[float(distance)] for distance in self.within]
        return [[0] * len(node), rack, node], [[[float(self.between)]], within, inside]

    def matrix(self) -> Any:
        """[place, place], the distances."""
        groups, distances = self.levels()
        labels = np.array(groups)
        found = np.zeros((labels.shape[1],) * 2, np.int64)
        for label, of in zip(labels, distances, strict=True):
            same = label[:, None] == label[None, :]
            found = np.where(same, np.array([int(d[0]) for d in of])[label][:, None], found)
        np.fill_diagonal(found, 0)
        return found


def uneven(tasks: int, seed: int) -> Uneven:
    """A machine that grew: racks of fast and slow networks, nodes of 4 to 24 cores, old and new."""
    random = np.random.default_rng(seed)
    left, racks = tasks, []
    while left > 0:
        nodes = []
        for _ in range(int(random.integers(3, 9))):
            cores = min(left, int(random.choice([4, 6, 12, 16, 24])))
            if cores > 0:
                nodes.append(cores)
            left -= cores
        racks.append(tuple(nodes))
    return Uneven(
        tuple(racks),
        tuple(tuple(int(d) for d in random.integers(1, 4, len(nodes))) for nodes in racks),
        tuple(int(d) for d in random.integers(8, 30, len(racks))),
        100,
    )


@dataclass(frozen=True)
class Instance:
    """Tasks, and a tree for them: a regular one, innermost first, or an uneven one."""

    name: str
    graph: TaskGraph
    arity: tuple[int, ...] = ()
    distances: tuple[int, ...] = (1, 10, 100)
    uneven: Uneven | None = None

    @property
    def places(self) -> int:
        """Number of places."""
        return self.graph.ranks if self.uneven is not None else math.prod(self.arity)

    @property
    def most(self) -> int:
        """How many tasks a place may hold."""
        if self.uneven is not None:
            return 1
        even = math.ceil(self.graph.ranks / self.places)
        return max(even, int((1 + IMBALANCE) * even))


def stencil(dimensions: Sequence[int], order: Sequence[int] | None = None) -> TaskGraph:
    """A grid whose neighbours exchange one byte each way, numbered row by row, or as `order` says."""
    strides = [math.prod(dimensions[i + 1 :]) for i in range(len(dimensions))]
    number = np.arange(math.prod(dimensions)) if order is None else np.asarray(order)
    rows = []
    for at in product(*map(range, dimensions)):
        one = sum(a * stride for a, stride in zip(at, strides, strict=True))
        for a, size, stride in zip(at, dimensions, strides, strict=True):
            if a + 1 < size:
                pair = (int(number[one]), int(number[one + stride]))
                rows += [(*pair, 0, 1), (*pair[::-1], 0, 1)]
    return task_graph(len(number), rows)


def random_geometric(tasks: int, seed: int) -> TaskGraph:
    """Points of the unit square, those near each other with an edge, about 12 a task."""
    points = np.random.default_rng(seed).random((tasks, 2))
    pairs = cKDTree(points).query_pairs(math.sqrt(12 / (math.pi * tasks)), output_type="ndarray")
    return _both_ways(tasks, pairs)


def power_law(tasks: int, seed: int) -> TaskGraph:
    """Preferential attachment, four edges a task (Barabasi and Albert, 1999)."""
    random = np.random.default_rng(seed)
    ends = list(range(5))
    pairs = []
    for new in range(5, tasks):
        for old in {ends[int(i)] for i in random.integers(0, len(ends), 4)}:
            pairs.append((new, old))
            ends += [new, old]
    return _both_ways(tasks, np.array(pairs))


def _both_ways(tasks: int, pairs: Any) -> TaskGraph:
    ones = np.ones(len(pairs), np.int64)
    rows = [np.stack([pairs[:, a], pairs[:, 1 - a], 0 * ones, ones], axis=1) for a in (0, 1)]
    return task_graph(tasks, np.concatenate(rows))


def instances(graphs: Path | None) -> list[Instance]:
    """All that are at hand."""
    found = []
    for name in DIMACS:
        path = None if graphs is None else graphs / f"{name}.graph.gz"
        if path is not None and path.is_file():
            found.append(Instance(name, read_foreign_graph(path), (4, 8, 6)))
    random = np.random.default_rng(1)
    for dimensions, arity in STENCILS:
        name = "x".join(map(str, dimensions))
        found.append(Instance(name, stencil(dimensions), arity))
        order = random.permutation(math.prod(dimensions))
        found.append(Instance(f"{name} in any order", stencil(dimensions, order), arity))
    for seed in (1, 2):
        found.append(Instance(f"random geometric 4096, {seed}", random_geometric(4096, seed), (4, 16, 64)))
        found.append(Instance(f"random geometric 20000, {seed}", random_geometric(20000, seed), (4, 8, 6)))
        found.append(Instance(f"power law 2048, {seed}", power_law(2048, seed), (4, 16, 32)))
    for seed, (name, graph) in enumerate(
        (
            ("random geometric 512", random_geometric(512, 3)),
            ("random geometric 1500", random_geometric(1500, 4)),
            ("power law 600", power_law(600, 3)),
            ("power law 1200", power_law(1200, 4)),
            ("8x8x8", stencil((8, 8, 8))),
            ("30x40", stencil((30, 40))),
        )
    ):
        machine = uneven(graph.ranks, seed)
        found.append(Instance(f"{name} on uneven nodes", graph, uneven=machine))
    return found


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
