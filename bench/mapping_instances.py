# SPDX-License-Identifier: BSD-3-Clause
"""Tasks to be mapped, and the trees for them: those of `mapping.py`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from isochrone.mapping.graph import TaskGraph, task_graph
from isochrone.mapping.readers import read_foreign_graph

IMBALANCE = 0.03
DIMACS = ("rgg_n_2_15_s0", "delaunay_n15")
STENCILS = (
    ((8, 8, 16), (4, 8, 32)),
    ((16, 16, 16), (4, 16, 64)),
    ((12, 12, 12), (4, 12, 36)),
    ((10, 12, 20), (5, 8, 60)),
    ((32, 48), (8, 6, 32)),
)


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
