# SPDX-License-Identifier: BSD-3-Clause
"""Every algorithm, flat and under a tree, runs in a simulation of many ranks and leaves what SimGrid's own
collective leaves: the benchmark compares.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.files import Case
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.detect import detect
from isochrone.steps.probe import probe
from isochrone.tune.collectives import collective as table_row
from isochrone.tune.collectives import is_rooted, sizes_of, timed
from isochrone.tune.forms import Form, level_algorithms

pytestmark = pytest.mark.long

SIZES_BYTES = (8, 3000)
MOST_RANKS_OF_ALL_SIZES = 100
"""More are simulated for the first size alone: exchanges send the square of their number."""


def _recipes(collective: str, levels: tuple[str, ...]) -> tuple[str, ...]:
    """Each algorithm flat, and each that groups can use in one hierarchical recipe if there are levels."""
    flat = {Form((), (way,)).text() for way in zip(*level_algorithms(collective), strict=True)}
    if not levels:
        return ("native", *sorted(flat))
    outer, inner = level_algorithms(collective)[0][0], level_algorithms(collective, outermost=False)
    nested = {
        Form(levels, ((outer,), tuple(way[at % len(way)] for way in inner))).text()
        for at in range(max(map(len, inner), default=0))
    }
    return ("native", *sorted(flat | nested))


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize("collective", timed())
@pytest.mark.parametrize(
    ("nodes", "cores", "placement"), [(16, 4, "block"), (25, 4, "cyclic"), (32, 8, "block")]
)
def test_every_algorithm_leaves_the_same_among_many_ranks(
    tmp_path: Path, collective: str, nodes: int, cores: int, placement: str
) -> None:
    system = tmp_path / "some.yaml"
    system.write_text(
        f"name: some\nnodes: {nodes}\nsockets: 1\ncores: {cores}\nplacement: {placement}\nlinks:\n"
        "  node: {latency: 0.5us, bandwidth: 10GB/s}\n  network: {latency: 2us, bandwidth: 5GB/s}\n",
        encoding="utf-8",
    )
    # SimGrid's `default` sends all blocks of an allgather at once: half an hour for 256 ranks.
    target = SimTarget(load_system(str(system), None), "mpich")
    measured, detected = tmp_path / "measurements.jsonl", tmp_path / "topology.json"
    probe(target, measured)
    topology = detect(measured, detected)
    # Groups in the order of the ranks, where results depend on it, have to be runs of ranks.
    keeps_groups = placement == "block" or not table_row(collective)["in_order"]
    levels = tuple(level.name for level in topology.levels) if keeps_groups else ()
    root = nodes * cores * 2 // 3 if is_rooted(collective) else 0
    recipes = _recipes(collective, levels)
    sizes_bytes = SIZES_BYTES[: 2 if nodes * cores <= MOST_RANKS_OF_ALL_SIZES else 1]
    cases = [Case(size, root, recipes, collective) for size in sizes_of(collective, sizes_bytes)]
    bench = run_bench(target, work_for(target, cases, 1), tmp_path / "bench.jsonl", detected)
    assert len(bench.cases) == len(cases)
