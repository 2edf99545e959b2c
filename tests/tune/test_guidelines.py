# SPDX-License-Identifier: BSD-3-Clause
"""Performance guidelines, on times that keep or break them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isochrone.cli.bench_guidelines import print_guidelines
from isochrone.cli.main import main
from isochrone.errors import UsageError
from isochrone.files import Bench, BenchKey, MpiLibrary, Place
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.bench import guideline_bench
from isochrone.tune.guidelines import MIMICS, check_guidelines, guideline_cases, totals_for

RANKS = 4
TOTALS = totals_for(RANKS, (1000, 100000))


def bench_of(scatter: float = 0.0, count: int = 20, **factors: float) -> Bench:
    """Times that keep all guidelines: of each collective as much as of the others. Some are longer."""
    random = np.random.default_rng(1)
    times = {
        BenchKey(case.size_bytes, 0, "native", case.collective): (
            factors.get(case.collective, 1.0)
            * 1e-5
            * (TOTALS[0] if case.size_bytes in (TOTALS[0], TOTALS[0] // RANKS) else TOTALS[1])
            * random.lognormal(0, scatter, count)
        )
        for case in guideline_cases(RANKS, TOTALS, ("native",))
    }
    places = tuple(Place("n", str(cpu), "") for cpu in range(RANKS))
    return Bench(places, MpiLibrary("MPI", "3.1", "libmpi.so"), "clock", 0.0, False, False, times)


def broken(bench: Bench, exact: bool = False) -> set[tuple[str, tuple[str, ...]]]:
    found = check_guidelines(bench, TOTALS, ("native",), exact)
    return {(each.collective, each.than) for each in found if each.violated}


def test_totals_are_whole_elements_on_each_rank() -> None:
    assert totals_for(3, (1, 24, 25)) == (24, 48)
    for case in guideline_cases(3, totals_for(3), ("native",)):
        assert case.size_bytes % 8 == 0


@pytest.mark.parametrize("scatter", [0.0, 0.05, 0.3])
def test_what_takes_as_long_as_the_others_breaks_none(scatter: float) -> None:
    assert broken(bench_of(scatter)) == set()


def test_what_takes_longer_than_its_mimics_is_named() -> None:
    assert broken(bench_of(0.05, allreduce=3.0)) == {
        ("allreduce", ("reduce", "bcast")),
        ("allreduce", ("reduce_scatter_block", "allgather")),
    }
    assert broken(bench_of(0.05, bcast=1.5)) == set()
    assert broken(bench_of(0.05, bcast=0.5)) == {("scatter", ("bcast",))}


def test_the_plan_is_held_against_itself_and_not_against_the_library() -> None:
    for of_native, of_plan in (({"allreduce": 3.0}, {}), ({}, {"reduce": 3.0})):
        native, plan = bench_of(0.05, **of_native), bench_of(0.05, **of_plan)
        times = {key._replace(recipe="plan"): values for key, values in plan.slowest_s.items()}
        both = replace(native, slowest_s=native.slowest_s | times)
        found = check_guidelines(both, TOTALS, ("native", "plan"), exact=False)
        violated = {(each.recipe, each.collective) for each in found if each.violated}
        assert violated == ({("native", "allreduce")} if of_native else {("plan", "reduce")})


def test_few_repetitions_prove_nothing_unless_times_are_exact() -> None:
    assert broken(bench_of(0.0, 3, bcast=0.5)) == set()
    assert broken(bench_of(0.0, 1, bcast=0.5), exact=True) == {("scatter", ("bcast",))}


def test_more_bytes_are_not_faster() -> None:
    bench = bench_of()
    key = BenchKey(TOTALS[1], 0, "native", "bcast")
    bench.slowest_s[key] = bench.slowest_s[key] / 1000
    assert ("bcast", ("bcast",)) in broken(bench)


def test_each_collective_has_guidelines_of_others_only() -> None:
    for name, than in MIMICS:
        assert name not in than


@pytest.mark.usefixtures("simgrid")
def test_they_are_checked_on_a_simulated_cluster(tmp_path: Path) -> None:
    target = SimTarget(load_system("demo"))
    found = guideline_bench(target, (1024,), ("native",), 1, tmp_path / "bench.jsonl")
    assert {(each.collective, each.than) for each in found} == set(MIMICS)
    assert all(each.ratio.estimate > 0 for each in found)


@pytest.mark.usefixtures("simgrid")
def test_the_command_names_what_is_not_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(tmp_path / "bench.jsonl")
    line = ["bench", "--sim", "demo", "--guidelines", "--sizes", "65536", "--repetitions", "1", "-o", output]
    assert main(line) == 0
    # SimGrid's `ompi` takes a ring of many steps for it.
    *named, last = capsys.readouterr().out.splitlines()
    assert any(each.startswith("native: allreduce of 64 KiB in all takes ") for each in named)
    assert last == f"native: {len(named)} of {len(MIMICS)} guidelines not kept by more than 5 %"
    assert main([*line, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["guidelines"]
    assert sum(each["violated"] for each in found) == len(named)
    assert main([*line, "--collectives", "bcast"]) == 2


def test_too_few_repetitions_for_a_proof_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for count, is_said in ((8, True), (40, False)):
        found = check_guidelines(bench_of(count=count, reduce=10.0), TOTALS, ("native",), exact=False)
        assert any(each.violated for each in found) != is_said
        print_guidelines(found, tmp_path / "bench.jsonl", as_json=False)
        assert ("Too few repetitions to prove anything of " in capsys.readouterr().out) == is_said


def test_the_number_of_ranks_has_to_be_known(tmp_path: Path) -> None:
    class Unknown:
        rank_count = None

    with pytest.raises(UsageError, match="say how many ranks"):
        guideline_bench(Unknown(), None, ("native",), 1, tmp_path / "bench.jsonl")  # type: ignore[arg-type]
