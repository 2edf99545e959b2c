# SPDX-License-Identifier: BSD-3-Clause
"""Patterns of point-to-point messages are timed by `isochrone-bench` beside collectives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import Case, read_bench
from isochrone.launch.target import LocalTarget
from isochrone.steps.bench import run_bench, work_for

NAMES = [row["name"] for row in _core.patterns()]


def _cases(*sizes: int, members: str = "", root: int = 0) -> list[Case]:
    return [
        Case(size, root if row["rooted"] else 0, ("native",), row["name"], members, is_pattern=True)
        for row in _core.patterns()
        for size in sizes
    ]


# Of 2 ranks and of 3 or 5 the grid of a halo is a ring, of 4 and 6 it has two dimensions. What is wrong in a
# message ends the benchmark.
@pytest.mark.parametrize("ranks", [2, 3, 4, 6])
def test_every_pattern_is_timed_and_its_messages_are_checked(
    tmp_path: Path, library: str, ranks: int
) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", str(ranks)])
    cases = [
        *_cases(0, 8, 20_000, 300_001, root=ranks - 1),
        Case(8, 0, ("native",)),
    ]
    bench = run_bench(target, work_for(target, cases, 2), tmp_path / "bench.jsonl")
    assert set(bench.cases) == {case.key for case in cases}
    assert set(bench.moved_bytes) == {case.key for case in cases if case.is_pattern}
    counted = {
        case.collective: moved // 8 for case, moved in bench.moved_bytes.items() if case.size_bytes == 8
    }
    neighbours = {2: 2, 3: 2, 4: 4, 6: 4}[ranks]
    assert counted == {
        **dict.fromkeys(NAMES, 1),
        "bidirectional": 2,
        "multipair": ranks // 2,
        "fanin": ranks - 1,
        "halo": 2 * neighbours,
    }
    assert all(times.min() > 0 for times in bench.slowest_s.values())


def test_some_of_the_ranks_send_and_the_others_wait(tmp_path: Path, library: str) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "4"])
    cases = [*_cases(20_000, members="1,3"), *_cases(8, members="0-2", root=2)]
    bench = run_bench(target, work_for(target, cases, 2), tmp_path / "bench.jsonl")
    assert set(bench.cases) == {case.key for case in cases}
    alone = work_for(target, [Case(8, 0, ("native",), "halo", "1", is_pattern=True)], 1)
    with pytest.raises(IsochroneError, match="the pattern 'halo' needs 2 ranks"):
        run_bench(target, alone, tmp_path / "b.jsonl")


@pytest.mark.usefixtures("simgrid")
def test_simulated_links_give_the_times_and_bandwidths_that_they_have(tmp_path: Path) -> None:
    system = tmp_path / "system.yaml"
    system.write_text(
        "name: two\nnodes: 2\nsockets: 1\ncores: 1\n"
        "links: {node: {latency: 1us, bandwidth: 10GB/s}, network: {latency: 2us, bandwidth: 1GB/s}}\n",
        encoding="utf-8",
    )
    words = ["bench", "--sim", str(system), "--patterns", ",".join(NAMES), "--sizes", "1,1000000", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "isochrone", *words, "-o", str(tmp_path / "bench.jsonl")],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = {(row["pattern"], row["size_bytes"]): row for row in json.loads(done.stdout)["results"]}
    assert set(found) == {(name, size) for name in NAMES for size in (1, 1_000_000)}
    assert found["pingpong", 1]["median_s"] == pytest.approx(found["pingping", 1]["median_s"], rel=0.5)
    stream = found["bandwidth", 1_000_000]["bytes_per_s"]
    assert 0.7e9 < stream < 1.05e9
    assert found["multipair", 1_000_000]["bytes_per_s"] == pytest.approx(stream, rel=0.05)
    assert found["fanin", 1_000_000]["bytes_per_s"] == pytest.approx(stream, rel=0.05)
    assert read_bench(tmp_path / "bench.jsonl").simulated
