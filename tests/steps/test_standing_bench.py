# SPDX-License-Identifier: BSD-3-Clause
"""A benchmark that is started once for one work after the other, under real MPI libraries."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path

import pytest

from isochrone.errors import IsochroneError
from isochrone.files import Case, read_topology
from isochrone.launch.answers import next_object
from isochrone.launch.process import Channel
from isochrone.launch.target import LocalTarget
from isochrone.steps.bench import PROGRAM, StandingBench, run_bench, with_standing_bench, work_for
from isochrone.steps.detect import detect
from isochrone.steps.probe import probe
from isochrone.steps.rounds import Rounds


def _cases(size_bytes: int, *recipes: str) -> list[Case]:
    return [Case(size_bytes, 0, ("native", *recipes)), Case(0, 0, ("native",), "barrier")]


def test_each_work_gets_its_own_file(tmp_path: Path, library: str) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "3"])
    probe(target, tmp_path / "m.jsonl")
    topology = tmp_path / "topology.json"
    detect(tmp_path / "m.jsonl", topology)
    works = [
        work_for(target, _cases(8), 2),
        work_for(target, _cases(4096, "chain", "native:*"), 3),
        work_for(target, _cases(65536), 1),
    ]
    found = []

    def body(bench: StandingBench) -> None:
        for number, work in enumerate(works):
            found.append(
                bench.time(work, tmp_path / f"{number} of three.jsonl", topology if number else None)
            )

    with_standing_bench(target, body)
    alone = run_bench(target, works[0], tmp_path / "alone.jsonl")
    assert set(found[0].slowest_s) == set(alone.slowest_s)
    assert [{case.size_bytes for case in bench.cases} for bench in found] == [{8, 0}, {4096, 0}, {65536, 0}]
    assert {key.recipe for key in found[1].slowest_s} >= {"native", "chain"}
    assert [len(next(iter(bench.slowest_s.values()))) for bench in found] == [2, 3, 1]
    assert found[0].mpi == alone.mpi


def test_ranks_that_wait_for_the_next_work_leave_their_cores_to_others(tmp_path: Path, library: str) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "2"])

    def taken_s(idle_s: float) -> float:
        """On all cores."""

        def body(bench: StandingBench) -> None:
            bench.time(work_for(target, _cases(8), 1), tmp_path / f"{idle_s}.jsonl")
            time.sleep(idle_s)

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with_standing_bench(target, body)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    run_bench(target, work_for(target, _cases(8), 1), tmp_path / "built.jsonl")
    # A rank that spins takes all of it, or what others on its core leave.
    assert taken_s(3) < taken_s(0) + 1


def test_rounds_of_one_launch_are_kept_as_others_are(tmp_path: Path, library: str) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "2"])
    probe(target, tmp_path / "m.jsonl")
    topology_file = tmp_path / "topology.json"
    detect(tmp_path / "m.jsonl", topology_file)

    def rounds() -> Rounds:
        return Rounds(target, read_topology(topology_file), topology_file, tmp_path / "kept", quiet=True)

    once = rounds()
    with pytest.raises(IsochroneError, match="stopped"):
        once.in_one_launch(lambda: _measure_and_stop(once))
    kept = sorted((tmp_path / "kept").glob("*.jsonl"))
    assert len(kept) == 1
    # What was measured in the launch that was stopped is not measured again.
    assert rounds().measure("", _cases(64), 2, 1).cases
    assert sorted((tmp_path / "kept").glob("*.jsonl")) == kept


def _measure_and_stop(rounds: Rounds) -> None:
    rounds.measure("", _cases(64), 2, 1)
    raise IsochroneError("stopped")


def test_a_work_that_fails_ends_the_launch_with_its_reason(tmp_path: Path, library: str) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "2"])
    done = []

    def body(bench: StandingBench) -> None:
        done.append(bench.time(work_for(target, _cases(8), 1), tmp_path / "good.jsonl"))
        done.append(bench.time(work_for(target, _cases(8, "nonsense"), 1), tmp_path / "bad.jsonl"))

    with pytest.raises(IsochroneError, match=r"isochrone-bench ended with exit code.*nonsense"):
        with_standing_bench(target, body)
    assert len(done) == 1


@pytest.mark.parametrize(
    ("request_line", "reason"),
    [
        ("nonsense", "a request has files for work and output"),
        ("[1, 2]", "a request has files for work and output"),
        ('{"work": "w"}', "a request has files for work and output"),
        ('{"work": "w", "output": "o", "plan": "p"}', "a request has files for work and output"),
        ('{"work": "w", "output": "o", "other": "p"}', "a request has files for work and output"),
        ('{"work": "w", "output": 3}', "a request has files for work and output"),
        ('{"work": "/no/such", "output": "o"}', "/no/such: cannot be read"),
    ],
)
def test_a_wrong_request_gets_one_line(library: str, request_line: str, reason: str) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "2"])

    def talk(channel: Channel) -> None:
        channel.send(request_line)
        next_object(channel)

    with pytest.raises(IsochroneError, match=reason) as raised:
        target.run(PROGRAM, ["--follow"], talk)
    assert "exit code 2" in str(raised.value)


def test_files_are_not_for_a_standing_benchmark(library: str, tmp_path: Path) -> None:
    (tmp_path / "work.json").write_text(json.dumps({}))
    target = LocalTarget([f"mpiexec.{library}", "-n", "1"])
    with pytest.raises(IsochroneError, match=r"--follow.*--work|--work.*--follow"):
        target.run(PROGRAM, ["--follow", "--work", str(tmp_path / "work.json")])
    with pytest.raises(IsochroneError, match=r"--work.*required"):
        target.run(PROGRAM, [])
