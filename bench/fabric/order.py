#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Broadcasts whose trees are laid over hosts by a fabric's routes, beside the same trees in rank order.

Usage: order.py RESULT.json

The two experiments of Subramoni et al. (Design and Evaluation of Network Topology-/Speed-Aware Broadcast
Algorithms for InfiniBand Clusters, figures 6 to 8), simulated by SimGrid, with a fabric server that rank 0
asks:

speed   hosts of 8 ranks, half of them with cables of SDR and half of DDR, in random order: the tree by rank
        order, laid by `speed`, and by rank order where all cables are DDR (128 and 256 ranks)
hops    hosts of 16 ranks on the leaf switches of a fat tree with half as many uplinks as hosts, in random
        order: the tree by rank order, and laid by `hops` (256 to 1,024 ranks)

A broadcast goes among one leader of each host, and by a binomial tree inside. Each row is the median of
several random orders; a simulation without noise needs one call of each.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from isochrone.files import Case, Level, Links, Place, Topology, provenance, write_topology
from isochrone.launch.process import Talk
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.bench import run_bench, work_for

ROOT = Path(__file__).resolve().parents[2]
ORDERS = ("", "depth_first", "breadth_first", "longest_first")
TREES = ("binomial", "knomial/4", "binary")
SIZES_BYTES = (64, 1024, 8192, 65536, 262144, 1 << 20)
SEEDS = 5
LINKS = Links(1e-6, ((0, 1e-7),), ((0, 0.0),), ((0, 1e-7), (65536, 1e-5)))
"""Of no account here: neither hops nor speeds need what was measured."""


class Scattered(SimTarget):
    """A simulated cluster that is given its hosts in another order."""

    def __init__(self, description: Path, nodes: Sequence[int]) -> None:
        super().__init__(load_system(str(description)))
        cores = self.system.cores_per_node
        self.at = [node * cores + core for node in nodes for core in range(cores)]

    def run(self, program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        """As the base class does, on the hosts in that order."""
        from isochrone.sim.build import build_programs, find_tools

        self.run_executable(build_programs(find_tools()) / program, arguments, None, talk, self.at)


def write_places(path: Path, target: Scattered) -> None:
    """The topology of the ranks: one machine of hosts."""
    cores, name = target.system.cores_per_node, target.system.name
    places = tuple(Place(f"{name}-{at // cores}", str(at % cores), "") for at in target.at)
    everyone = tuple(range(len(places)))
    hosts = tuple(everyone[first : first + cores] for first in everyone[::cores])
    levels = (Level("machine", (everyone,), 1.0, LINKS), Level("node", hosts, 1.0, LINKS))
    write_topology(path, Topology(places, everyone, levels))


def times(target: Scattered, folder: Path, fabric: str | None) -> dict[str, dict[int, float]]:
    """Seconds of each tree in each order, by size."""
    recipes = {
        f"{order or 'rank order'} {tree}": f"hierarchical(machine={f'{order}({tree})' if order else tree},"
        "node=binomial)"
        for tree in TREES
        for order in (ORDERS if fabric else ORDERS[:1])
    }
    write_places(folder / "topology.json", target)
    cases = [Case(size, 0, tuple(recipes.values())) for size in SIZES_BYTES]
    work = work_for(target, cases, 1, fabric=fabric)
    bench = run_bench(target, work, folder / "bench.jsonl", folder / "topology.json")
    return {
        name: {case.size_bytes: float(bench.slowest_s[case.key(recipe)][0]) for case in bench.cases}
        for name, recipe in recipes.items()
    }


def speed(hosts: int, seed: int, folder: Path) -> dict[str, dict[int, float]]:
    """One random allocation of hosts of both kinds."""
    from fat_trees import Net
    from served import serving

    order = Random(seed).sample(range(hosts), hosts)  # noqa: S311 - for repetition, not for secrets
    slow = range(hosts // 2)
    net = Net()
    for kind in ("DDR", "SDR"):
        net.add(f"spine-{kind}")
    net.join("spine-DDR", "spine-SDR", "12xDDR")
    for host in range(hosts):
        kind = "SDR" if host in slow else "DDR"
        net.join(net.add(f"node-{host}"), f"spine-{kind}", f"4x{kind}")
    system = (
        f"name: node\nnodes: {hosts}\nsockets: 1\ncores: 8\nlinks:\n"
        "  node: {latency: 0.6us, bandwidth: 2GB/s, capacity: 6GB/s}\n"
        "  network: {latency: 3us, bandwidth: 16Gbit/s}\n"
    )
    faults = "".join(f"  - {{cable: {host}, bandwidth: 0.5}}\n" for host in slow)
    (folder / "all-ddr.yaml").write_text(system)
    (folder / "mixed.yaml").write_text(f"{system}faults:\n{faults}")
    with serving(net.dump(folder / "dumps")) as server:
        found = times(Scattered(folder / "mixed.yaml", order), folder, f"speed@127.0.0.1:{server.port}")
    alike = times(Scattered(folder / "all-ddr.yaml", order), folder, None)
    return found | {name.replace("rank order", "all DDR"): row for name, row in alike.items()}


def hops(hosts: int, seed: int, folder: Path) -> dict[str, dict[int, float]]:
    """One random allocation of hosts of a fat tree."""
    from fat_trees import Net
    from served import serving

    on_leaf = 8
    leaves = hosts // on_leaf
    order = Random(seed).sample(range(hosts), hosts)  # noqa: S311 - for repetition, not for secrets
    net = Net()
    for spine in range(on_leaf // 2):
        net.add(f"spine-{spine}")
    for leaf in range(leaves):
        net.add(f"leaf-{leaf}")
        for spine in range(on_leaf // 2):
            net.join(f"leaf-{leaf}", f"spine-{spine}", "4xSDR")
        for host in range(on_leaf):
            net.join(net.add(f"node-{leaf * on_leaf + host}"), f"leaf-{leaf}", "4xSDR")
    (folder / "tree.yaml").write_text(
        f"name: node\nnodes: {hosts}\nsockets: 1\ncores: 16\nlinks:\n"
        "  node: {latency: 0.6us, bandwidth: 2GB/s, capacity: 6GB/s}\n"
        "  network: {latency: 2.3us, bandwidth: 8Gbit/s}\n"
        f"network: {{kind: fat-tree, down: [{on_leaf}, {leaves}], up: [1, {on_leaf // 2}],\n"
        "  uplinks: [{latency: 2.6us, bandwidth: 8Gbit/s, capacity: 8Gbit/s}]}\n"
    )
    with serving(net.dump(folder / "dumps")) as server:
        return times(Scattered(folder / "tree.yaml", order), folder, f"hops@127.0.0.1:{server.port}")


def medians(of_seeds: Sequence[dict[str, dict[int, float]]]) -> dict[str, Any]:
    """Seconds by size, and the gain over rank order: of each tree, and of the best of them for each size."""
    found: dict[str, Any] = {"trees": {}}
    for name in of_seeds[0]:
        order, _, tree = name.rpartition(" ")
        rows = {size: [each[name][size] for each in of_seeds] for size in SIZES_BYTES}
        base = {size: [each[f"rank order {tree}"][size] for each in of_seeds] for size in SIZES_BYTES}
        found["trees"].setdefault(tree, {})[order] = {
            str(size): {
                "median_s": statistics.median(rows[size]),
                "speedup": round(
                    statistics.median(b / t for b, t in zip(base[size], rows[size], strict=True)), 3
                ),
            }
            for size in SIZES_BYTES
        }

    def best(seed: dict[str, dict[int, float]], size: int, is_laid: bool) -> float:
        return min(
            row[size]
            for name, row in seed.items()
            if (name.startswith("rank order") != is_laid) and "DDR" not in name
        )

    found["best_laid_over_best_by_rank"] = {
        str(size): round(
            statistics.median(best(seed, size, False) / best(seed, size, True) for seed in of_seeds), 3
        )
        for size in SIZES_BYTES
    }
    return found


def main(result: Path) -> None:
    """Simulates all, and writes it."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    document: dict[str, Any] = {
        "provenance": {**provenance(), "cores": os.cpu_count()},
        "simulated": True,
        "seeds": SEEDS,
    }
    for name, experiment, hosts, ranks in (
        ("speed", speed, 16, 8),
        ("speed", speed, 32, 8),
        ("hops", hops, 16, 16),
        ("hops", hops, 32, 16),
        ("hops", hops, 64, 16),
    ):
        of_seeds = []
        for seed in range(SEEDS):
            with tempfile.TemporaryDirectory() as folder:
                of_seeds.append(experiment(hosts, seed, Path(folder)))
        found = medians(of_seeds)
        document.setdefault(name, {})[str(hosts * ranks)] = found
        print(name, hosts * ranks, found["best_laid_over_best_by_rank"], file=sys.stderr)
        for tree, orders in found["trees"].items():
            for order, row in orders.items():
                print(
                    f"  {tree:>10} {order:>14}",
                    *(f"{row[str(s)]['speedup']:6.2f}" for s in SIZES_BYTES),
                    file=sys.stderr,
                )
    result.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Simulates broadcasts whose trees are laid over a fabric.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    main(parser.parse_args().result)
