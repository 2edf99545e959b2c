# SPDX-License-Identifier: BSD-3-Clause
"""Some of the ranks of a simulated cluster, timed beside the others, take as long as they do alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from isochrone.files import Bench, Case, format_members
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.survey import probe_and_detect

RANKS = 12
SYSTEM = """name: pairs
nodes: 3
sockets: 2
cores: 2
links:
  socket: {latency: 0.3us, bandwidth: 9GB/s}
  node: {latency: 0.5us, bandwidth: 8GB/s}
  network: {latency: 2us, bandwidth: 5GB/s}
"""
RECIPES = {
    "bcast": ("native", "ordered(chain)@1024"),
    "reduce": ("native", "ordered(binomial)"),
    "allreduce": ("native", "ordered(recursive_doubling)"),
    "barrier": ("native", "dissemination"),
}


@pytest.mark.parametrize("ranks", [[0, 1], [0, 1, 4, 5], [3, 7, 11], [1, 2, 5, 6, 9, 10], list(range(RANKS))])
def test_members_take_as_long_beside_the_others_as_alone(
    simgrid: None, write_system: Callable[[str], Path], tmp_path: Path, ranks: Sequence[int]
) -> None:
    system = load_system(write_system(SYSTEM))

    def timed(target: SimTarget, cases: Sequence[Case], name: str) -> Bench:
        folder = tmp_path / name
        folder.mkdir()
        probe_and_detect(target, folder)
        return run_bench(target, work_for(target, cases, 1), folder / "bench.jsonl", folder / "topology.json")

    # In between all ranks call, and others of them.
    groups = ["", format_members(ranks), format_members([rank for rank in range(RANKS) if rank % 2])]
    cases = [
        Case(0 if name == "barrier" else 10_000, 0, recipes, name, members)
        for name, recipes in RECIPES.items()
        for members in groups
    ]
    beside = timed(SimTarget(system), cases, "beside").slowest_s
    alone = timed(
        SimTarget(system, at=ranks), [case for case in cases if not case.members], "alone"
    ).slowest_s
    for key, times in alone.items():
        other = beside[key._replace(members=groups[1])]
        # When calls come after others, ranks look for messages at other moments, some 20 ns apart.
        assert list(other) == pytest.approx(list(times), abs=system.send_overhead_s), key


def test_calls_that_take_longer_than_the_window_of_a_simulation_do_not_count_for_each_other(
    simgrid: None, write_system: Callable[[str], Path], tmp_path: Path
) -> None:
    """Many are in one block: where one begins before the one before has ended, its time would hold both."""
    slow = SYSTEM.replace("latency: 2us, bandwidth: 5GB/s", "latency: 1ms, bandwidth: 100kB/s")
    target = SimTarget(load_system(write_system(slow)))
    case = Case(1_000_000, 0, ("native", "chain", "flat"))
    many = run_bench(target, work_for(target, [case], 20, patient=True), tmp_path / "many.jsonl")
    once = run_bench(target, work_for(target, [case], 1), tmp_path / "once.jsonl")
    assert all(times[0] > 10 for times in once.slowest_s.values())
    for key, (alone_s,) in once.slowest_s.items():
        assert len(many.slowest_s[key]) == 20
        # What ranks agree on goes over the same slow links, and may still when the next call begins.
        assert list(many.slowest_s[key]) == pytest.approx([alone_s] * 20, rel=0.002), key
