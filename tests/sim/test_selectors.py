# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid's models of how libraries choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.files import Case
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.bench import run_bench, work_for
from isochrone.tune.collectives import sizes_of, timed

SIZES_BYTES = (8, 4096, 16384, 65536, 1 << 20)


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize("selector", ["default", "ompi", "mpich"])
@pytest.mark.parametrize("ranks", [3, 7, 12])
def test_every_collective_can_be_timed_where_ranks_are_no_power_of_two(
    tmp_path: Path, selector: str, ranks: int
) -> None:
    system = tmp_path / "some.yaml"
    system.write_text(
        f"name: some\nnodes: {ranks}\nsockets: 1\ncores: 1\nlinks:\n"
        "  node: {latency: 0.5us, bandwidth: 10GB/s}\n  network: {latency: 2us, bandwidth: 5GB/s}\n",
        encoding="utf-8",
    )
    target = SimTarget(load_system(str(system), None), selector)
    cases = [Case(size, 0, ("native",), name) for name in timed() for size in sizes_of(name, SIZES_BYTES)]
    bench = run_bench(target, work_for(target, cases, 1), tmp_path / "bench.jsonl")
    assert len(bench.cases) == len(cases)
