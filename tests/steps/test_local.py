# SPDX-License-Identifier: BSD-3-Clause
"""The MPI of this machine, which has no structure that messages could show: none is invented."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import Case, Loop, read_plan, work_document
from isochrone.launch.target import LocalTarget
from isochrone.steps.bench import PROGRAM, Limits, run_bench, work_for
from isochrone.steps.detect import detect
from isochrone.steps.probe import probe
from isochrone.tune.collectives import sizes_of, timed

LIBRARIES = {"openmpi": ["--bind-to", "core"], "mpich": ["-bind-to", "core"]}
"""With the words that bind ranks to cores."""


# Four ranks that are bound to two cores are two groups in truth, so they stay unbound.
@pytest.mark.parametrize(("ranks", "bound"), [(2, False), (2, True), (4, False)])
def test_ranks_of_one_small_machine_are_one_group(
    tmp_path: Path, library: str, ranks: int, bound: bool
) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", str(ranks), *(LIBRARIES[library] if bound else ())])
    measurements = probe(target, tmp_path / "measurements.jsonl")
    signature = measurements.places[0].signature
    if re.match(r"1x\d+x\d+ l3=[01] ", signature) is None:
        pytest.skip(f"this machine may have structure: {signature}")
    topology = detect(tmp_path / "measurements.jsonl", tmp_path / "topology.json")
    assert len(topology.ranks) == ranks
    assert [(level.name, len(level.groups)) for level in topology.levels] == [("node", 1)]


def test_every_collective_is_timed_and_checked_against_the_librarys_own(tmp_path: Path, library: str) -> None:
    measurements, topology = tmp_path / "measurements.jsonl", tmp_path / "topology.json"
    target = LocalTarget([f"mpiexec.{library}", "-n", "3"])
    probe(target, measurements)
    detect(measurements, topology)
    cases = [
        Case(size, root, ("native", row["across"][0]["name"], "native:*"), row["name"])
        for row in _core.collectives()
        if row["name"] in timed()
        for size in sizes_of(row["name"], [8, 20_000])
        for root in ((0, 2) if row["rooted"] else (0,))
    ]
    cases.append(Case(13, 1, ("native", "binomial"), "reduce"))
    bench = run_bench(target, work_for(target, cases, 2), tmp_path / "bench.jsonl", topology)
    assert {case.collective for case in bench.cases} == set(timed())
    assert len(bench.cases) == len(cases)
    assert any(key.recipe.startswith("native:") for key in bench.of("allreduce"))


def test_some_of_the_ranks_are_timed_as_a_communicator_of_their_own(tmp_path: Path, library: str) -> None:
    measurements, topology = tmp_path / "measurements.jsonl", tmp_path / "topology.json"
    target = LocalTarget([f"mpiexec.{library}", "-n", "4"])
    probe(target, measurements)
    detect(measurements, topology)
    cases = [
        Case(size, root, ("native", row["across"][0]["name"]), row["name"], members)
        for row in _core.collectives()
        for size in sizes_of(row["name"], [20_000])
        for members, roots in {"0,2-3": (0, 2), "1,3": (1,), "2": (0,), "": (3,)}.items()
        for root in (roots if row["rooted"] else (0,))
    ]
    bench = run_bench(target, work_for(target, cases, 2), tmp_path / "bench.jsonl", topology)
    assert set(bench.cases) == {case.key for case in cases}
    with pytest.raises(IsochroneError, match="'members' is no list of some of 4 ranks"):
        run_bench(
            target,
            work_for(target, [Case(8, 0, ("native",), "bcast", "2-4")], 1),
            tmp_path / "b.jsonl",
            topology,
        )
    wrong = Case(8, 0, ("native", "hierarchical(rack=flat,node=flat)"), "bcast", "2-3")
    with pytest.raises(IsochroneError, match="cannot run among 2 of the ranks"):
        run_bench(target, work_for(target, [wrong], 1), tmp_path / "b.jsonl", topology)


def test_what_is_far_slower_than_the_best_is_called_once(tmp_path: Path, library: str) -> None:
    measurements, topology = tmp_path / "measurements.jsonl", tmp_path / "topology.json"
    target = LocalTarget([f"mpiexec.{library}", "-n", "4"])
    probe(target, measurements)
    detect(measurements, topology)
    # A million messages of four bytes each against one.
    slow = "chain@4"
    case = Case(1 << 20, 0, ("native", slow, "chain"))
    limits = Limits(budget_s=1e-3, least_repetitions=2, drop=3.0)
    bench = run_bench(target, work_for(target, [case], 200, limits=limits), tmp_path / "b", topology)
    assert case.key.key(slow) not in bench.slowest_s
    # The budget is gone by then: one block, of 64 calls at most, has the least repetitions and is the last.
    assert 2 <= len(bench.slowest_s[case.key.key("native")]) <= 64


def test_a_limit_that_drops_all_is_refused(tmp_path: Path, library: str) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "2"])
    work = work_document(work_for(target, [Case(8, 0, ("native",))], 2)) | {"drop": 0.5}
    file = tmp_path / "work.json"
    file.write_text(json.dumps(work), encoding="utf-8")
    with pytest.raises(IsochroneError, match="'drop' is not a number from 1"):
        target.run(PROGRAM, ["--work", str(file), "--output", str(tmp_path / "bench.jsonl")])


def test_what_is_short_has_all_its_repetitions_when_the_time_is_over(tmp_path: Path, library: str) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "2"])
    # Each call of a loop takes a quarter of the time, and each other one far less than an even share of it.
    long = [Case(8, 0, ("native",), loop=Loop(f"long_{at}", 1, 1, 1.0)) for at in range(3)]
    short = [Case(8 + at, 0, ("native",)) for at in range(6)]
    work = work_for(target, [*long, *short], 8, limits=Limits(budget_s=4.0, least_repetitions=2))
    bench = run_bench(target, work, tmp_path / "bench.jsonl")
    turns = {key.case: len(times) for key, times in bench.slowest_s.items()}
    assert turns == {case.key: 2 for case in long} | {case.key: 8 for case in short}


def test_allreduce_and_barrier_are_tuned_by_one_command(tmp_path: Path, library: str) -> None:
    folder, launcher = tmp_path / "survey", [f"mpiexec.{library}", "-n", "4"]
    folder.mkdir()
    probe(LocalTarget(launcher), folder / "measurements.jsonl")
    detect(folder / "measurements.jsonl", folder / "topology.json")
    words = ["tune", "-t", str(folder), "--collectives", "allreduce,barrier", "--json", "--", *launcher]
    done = subprocess.run(
        [sys.executable, "-m", "isochrone", *words],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found["collectives"]) == {"allreduce", "barrier"}
    assert [size["size_bytes"] for size in found["collectives"]["barrier"]["sizes"]] == [0]
    assert {rule["collective"] for rule in found["rules"]} == {"allreduce", "barrier"}
    assert read_plan(folder / "plan.json").rules


def test_work_for_another_number_of_ranks_is_refused_by_whoever_was_started(
    tmp_path: Path, library: str
) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "2"])
    work = work_for(target, [Case(8, 5, ("native",))], 1, ranks=8)
    with pytest.raises(IsochroneError, match="the work is for 8 ranks, and 2 were started"):
        run_bench(target, work, tmp_path / "bench.jsonl")
