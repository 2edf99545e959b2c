# SPDX-License-Identifier: BSD-3-Clause
"""Timing broadcasts on simulated clusters."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tuned import write_survey_of

from isochrone.files import Case, LibraryReference, Plan, PlannedTopology, read_topology, write_plan
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.bench import work_for

pytestmark = pytest.mark.usefixtures("simgrid")


def _isochrone(*words: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "isochrone", *map(str, words)], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_blocks_on_both_sides_of_the_eager_limit_reach_the_receives_that_are_for_them(tmp_path: Path) -> None:
    system, topology = tmp_path / "system.yaml", tmp_path / "topology.json"
    system.write_text(
        "name: three\nnodes: 3\nsockets: 1\ncores: 1\neager_limit: 16KiB\n"
        "links: {node: {latency: 1us, bandwidth: 10GB/s}, network: {latency: 2us, bandwidth: 10GB/s}}\n",
        encoding="utf-8",
    )
    _isochrone("probe", "--sim", system, "-o", tmp_path / "measurements.jsonl")
    _isochrone("detect", tmp_path / "measurements.jsonl", "-o", topology)

    # The blocks have 16385, 16384 and 16384 bytes; rank 1 awaits one of each from rank 0, the smaller first.
    _isochrone(
        *("bench", "--sim", system, "-t", topology, "-r", "scatter_allgather"),
        *("--sizes", "49153", "--repetitions", "1", "-o", tmp_path / "bench.jsonl"),
    )

    lines = [json.loads(line) for line in (tmp_path / "bench.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {line["recipe"] for line in lines if "recipe" in line} == {"native", "scatter_allgather"}


def test_what_the_library_sets_up_in_its_first_call_is_not_timed(tmp_path: Path) -> None:
    system = tmp_path / "system.yaml"
    system.write_text(
        "name: isles\nnodes: 5\nsockets: 1\ncores: 3\n"
        "links: {node: {latency: 1us, bandwidth: 10GB/s}, network: {latency: 2us, bandwidth: 10GB/s}}\n"
        "network: {kind: islands, islands: [3, 2], uplink: {latency: 4us, bandwidth: 10GB/s}}\n",
        encoding="utf-8",
    )
    _isochrone(
        *("bench", "--sim", system, "-r", "native", "-r", "native:SMP_binomial", "--sizes", "2048,8"),
        *("--repetitions", "2", "-o", tmp_path / "bench.jsonl"),
    )
    lines = [json.loads(line) for line in (tmp_path / "bench.jsonl").read_text(encoding="utf-8").splitlines()]
    times: dict[tuple[int, str], list[float]] = {}
    for line in lines:
        if "recipe" in line:
            times.setdefault((line["bytes"], line["recipe"]), []).append(line["slowest_s"])
    assert len(times) == 4
    for (_, recipe), (first, second) in times.items():
        assert first == pytest.approx(second, rel=1e-6), recipe


def test_without_a_topology_recipes_know_the_hosts_alone(tmp_path: Path) -> None:
    system = tmp_path / "system.yaml"
    system.write_text(
        "name: pair\nnodes: 2\nsockets: 1\ncores: 3\n"
        "links: {node: {latency: 1us, bandwidth: 10GB/s}, network: {latency: 9us, bandwidth: 1GB/s}}\n"
        "network: {kind: star}\n",
        encoding="utf-8",
    )
    line = [
        "bench",
        "--sim",
        system,
        "--sizes",
        "65536",
        "--repetitions",
        "1",
        "-o",
        tmp_path / "bench.jsonl",
    ]
    tree = "hierarchical(machine=flat,node=chain)@8192"
    table = _isochrone(*line, "-r", "binomial", "-r", tree)
    assert "binomial" in table
    assert tree in table
    with pytest.raises(AssertionError, match="'rack'"):
        _isochrone(*line[:-1], tmp_path / "other.jsonl", "-r", "hierarchical(rack=flat,node=chain)")
    with pytest.raises(AssertionError, match="'frob'"):
        _isochrone(*line[:-1], tmp_path / "other.jsonl", "-r", "frob")


def test_a_plan_is_timed_on_the_topology_that_it_was_made_for(tmp_path: Path) -> None:
    for name, ranks in (("a", 4), ("b", 3)):
        write_survey_of(tmp_path / name, [], ranks=ranks)
    topology = read_topology(tmp_path / "a" / "topology.json")
    plan = Plan(
        topology=PlannedTopology(topology.fingerprint, "topology.json"),
        mpi=LibraryReference("made up", "x"),
        rules=(),
    )
    write_plan(tmp_path / "a" / "plan.json", plan)
    line = ["bench", "--sim", "demo", "--plan", tmp_path / "a", "-o", tmp_path / "bench.jsonl"]
    with pytest.raises(AssertionError, match=r"b/topology\.json: the plan was made for another topology"):
        _isochrone(*line, "-t", tmp_path / "b")


def test_what_is_named_is_timed_as_often_as_was_asked_and_everything_less_often() -> None:
    target = SimTarget(load_system("demo"))
    for recipe, expected in (("native:binomial_tree", 100), ("native:*", 7), ("chain", 100)):
        cases = [Case(8, 0, ("native", recipe))]
        assert work_for(target, cases, 100).rival_repetitions == expected
