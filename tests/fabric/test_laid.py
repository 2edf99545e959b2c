# SPDX-License-Identifier: BSD-3-Clause
"""Trees that are laid over simulated hosts by what a fabric's server says of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fat_trees import Net
from served import Server, serving

from isochrone.errors import IsochroneError
from isochrone.files import Case
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.detect import detect
from isochrone.steps.probe import probe
from isochrone.steps.tune import TuneOptions, tune

NODES = 8
SLOW = (1, 2, 3, 6)
"""Hosts with cables of a quarter of the others' speed."""
SIZE_BYTES = 262144


INSIDE = "node=binomial"
RECIPES = {
    "by rank": f"hierarchical(machine=binomial,{INSIDE})",
    "depth first": f"hierarchical(machine=depth_first(binomial),{INSIDE})",
    "breadth first": f"hierarchical(machine=breadth_first(binomial),{INSIDE})",
    "longest first": f"hierarchical(machine=longest_first(binomial),{INSIDE})",
}


@pytest.fixture(scope="module")
def target(simgrid: None, tmp_path_factory: pytest.TempPathFactory) -> SimTarget:
    """A cluster on one switch."""
    faults = "".join(f"  - {{cable: {node}, bandwidth: 0.25}}\n" for node in SLOW)
    path = tmp_path_factory.mktemp("system") / "node.yaml"
    path.write_text(
        f"name: node\nnodes: {NODES}\nsockets: 1\ncores: 2\nlinks:\n"
        "  node: {latency: 0.5us, bandwidth: 10GB/s}\n  network: {latency: 2us, bandwidth: 4GB/s}\n"
        f"faults:\n{faults}"
    )
    return SimTarget(load_system(str(path)))


@pytest.fixture(scope="module")
def topology(target: SimTarget, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What its measurements say, in which hosts of both speeds are alike."""
    folder = tmp_path_factory.mktemp("topology")
    probe(target, folder / "measurements.jsonl")
    found = detect(folder / "measurements.jsonl", folder / "topology.json")
    assert [level.name for level in found.levels] == ["machine", "node"]
    return folder / "topology.json"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its fabric."""
    net = Net()
    net.add("switch")
    for node in range(NODES):
        net.join(net.add(f"node-{node}"), "switch", "4xSDR" if node in SLOW else "4xQDR")
    with serving(net.dump(tmp_path_factory.mktemp("dumps"))) as found:
        yield found


def _times(
    target: SimTarget, topology: Path, folder: Path, fabric: str | None, root: int
) -> dict[str, float]:
    work = work_for(target, [Case(SIZE_BYTES, root, tuple(RECIPES.values()))], 1, fabric=fabric)
    bench = run_bench(target, work, folder / "bench.jsonl", topology)
    (case,) = bench.cases
    return {name: float(bench.slowest_s[case.key(recipe)][0]) for name, recipe in RECIPES.items()}


@pytest.mark.parametrize("root", [0, 5, 15])
@pytest.mark.parametrize("by", ["speed@", "time@"])
def test_slow_cables_get_the_ends_of_the_tree(
    target: SimTarget, topology: Path, server: Server, tmp_path: Path, root: int, by: str
) -> None:
    without = _times(target, topology, tmp_path, None, root)
    laid = _times(target, topology, tmp_path, f"{by}127.0.0.1:{server.port}", root)
    assert laid["by rank"] == pytest.approx(without["by rank"], rel=1e-9)
    # Paths over one slow cable instead of two or three: what sends is fast.
    assert without["by rank"] > 1.5 * laid["longest first"], (without, laid)


def test_hosts_that_are_equally_far_are_taken_as_the_topology_says(
    target: SimTarget, topology: Path, server: Server, tmp_path: Path
) -> None:
    without = _times(target, topology, tmp_path, None, 3)
    assert _times(target, topology, tmp_path, f"hops@127.0.0.1:{server.port}", 3) == pytest.approx(
        without, rel=1e-9
    )


def test_a_benchmark_ends_where_nobody_answers(target: SimTarget, topology: Path, tmp_path: Path) -> None:
    with pytest.raises(IsochroneError, match=r"the fabric server 127\.0\.0\.1:1: Connection refused"):
        _times(target, topology, tmp_path, "127.0.0.1:1", 0)


def test_tuning_with_a_fabric_tries_trees_laid_over_its_hosts(
    target: SimTarget, topology: Path, server: Server, tmp_path: Path
) -> None:
    recipe_s = {}
    for name, fabric in (("without", None), ("with", f"speed@127.0.0.1:{server.port}")):
        folder = tmp_path / name
        folder.mkdir()
        plan, _ = tune(
            target,
            topology,
            folder / "plan.json",
            folder / "bench.jsonl",
            TuneOptions((8192,), fabric=fabric),
        )
        (rule,) = plan.rules
        recipe_s[name] = rule.evidence.recipe_s
        tried = "".join(path.read_text() for path in folder.rglob("*.jsonl"))
        assert ("hierarchical(machine=longest_first(" in tried) == (fabric is not None)
    assert recipe_s["with"] <= recipe_s["without"] * (1 + 1e-9)
