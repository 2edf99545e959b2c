# SPDX-License-Identifier: BSD-3-Clause
"""Main loops of applications are timed by `isochrone-bench` as a whole: calls, and computing after them."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.errors import IsochroneError
from isochrone.files import Case, Loop, read_work, write_topology, write_work
from isochrone.launch.target import LocalTarget
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.bench import run_bench, work_for
from isochrone.studies.places import GIVEN, Arrangement, machine_of, simulated_machine

SYSTEM = """
name: two
nodes: 2
sockets: 1
cores: 1
links:
  node:    {latency: 1us, bandwidth: 8GB/s}
  network: {latency: 3us, bandwidth: 4GB/s}
"""


def test_a_loop_is_the_same_when_it_is_read_again(tmp_path: Path) -> None:
    loop = Loop("app_1", 16, 2, 1.25e-3, 3)
    cases = [Case(64, 1, ("native",), loop=loop), Case(64, 1, ("native",))]
    work = work_for(LocalTarget(["mpiexec", "-n", "4"]), cases, 2)
    write_work(tmp_path / "work.json", work)
    assert read_work(tmp_path / "work.json") == work
    assert [case.key.collective for case in cases] == ["app_1", "bcast"]
    assert [case.calls for case in cases] == [32, 1]


@pytest.mark.usefixtures("simgrid")
def test_a_simulated_loop_takes_its_calls_and_its_computing(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(SYSTEM, encoding="utf-8")
    target = SimTarget(load_system(str(tmp_path / "two.yaml")))
    topology = tmp_path / "topology.json"
    write_topology(topology, simulated_machine(target).topology_of(Arrangement(GIVEN, 2)))
    # From one rank to the other, which the first one has to wait for.
    size, iterations, compute_s = 100_000, 5, 1e-3
    loops = [
        Loop("busy", iterations, 2, compute_s),
        Loop("idle", iterations, 3, 0.0),
        Loop("moving", iterations, 2, compute_s, 1),
    ]
    cases = [
        Case(size, 0, ("native", "flat")),
        *(Case(size, 0, ("native", "flat"), loop=loop) for loop in loops),
    ]
    bench = run_bench(target, work_for(target, cases, 1), tmp_path / "bench.jsonl", topology)
    taken = {(key.collective, key.recipe): float(times[0]) for key, times in bench.slowest_s.items()}
    call_s = taken["bcast", "flat"]
    assert taken["idle", "flat"] == pytest.approx(15 * call_s, rel=0.1)
    for name in ("busy", "moving"):
        assert taken[name, "flat"] == pytest.approx(iterations * (compute_s + 2 * call_s), rel=0.02)
        assert taken[name, "native"] > iterations * compute_s


def test_real_ranks_have_the_right_bytes_after_a_loop_whose_root_moves(tmp_path: Path, library: str) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "3"])
    topology = tmp_path / "topology.json"
    cases = [
        Case(size, 1, ("native", "binomial", "scatter_allgather"), loop=Loop("app", 4, 2, 1e-4, 2))
        for size in (1, 70_001)
    ]
    first = run_bench(target, work_for(target, [Case(0, 0, ("native",), "barrier")], 1), tmp_path / "b.jsonl")
    write_topology(topology, machine_of(target, first.places).topology_of(Arrangement(GIVEN, 3)))
    bench = run_bench(target, work_for(target, cases, 2), tmp_path / "bench.jsonl", topology)
    assert set(bench.cases) == {case.key for case in cases}
    assert all(times.min() >= 4 * 1e-4 for times in bench.slowest_s.values())


@pytest.mark.parametrize(
    ("collective", "loop", "said"),
    [
        ("reduce", Loop("app", 2, 1, 0.0, 1), "the root of 'reduce' cannot move in a loop"),
        ("barrier", Loop("app", 2, 1, 0.0, 1), "the root of 'barrier' cannot move in a loop"),
        ("bcast", Loop("app", 2, 1, 0.0, 2), "'root_step' is not a whole number from 0 to 1"),
    ],
)
def test_a_root_that_cannot_move_is_refused_in_one_line(
    tmp_path: Path, library: str, collective: str, loop: Loop, said: str
) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "2"])
    work = work_for(target, [Case(0, 0, ("native",), collective, loop=loop)], 1)
    with pytest.raises(IsochroneError, match=said):
        run_bench(target, work, tmp_path / "bench.jsonl")
