# SPDX-License-Identifier: BSD-3-Clause
"""An unmodified C program ends with the same bytes on a plan as without it, and says what ran."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from planned import EVIDENCE, RANKS, Bench, said, write_plan_for

from isochrone.files import Rule, read_measurements, write_plan


def test_a_program_ends_with_the_same_bytes_on_a_plan(bench: Bench) -> None:
    plain = bench.run(ranks=RANKS, arguments=("all",))
    planned = bench.run_on(bench.folder / "plan.json", RANKS, ("all",), ISOCHRONE_EXPLAIN="1")
    assert plain.returncode == 0, plain.stderr
    assert planned.returncode == 0, planned.stderr
    assert plain.stdout.startswith("hash ")
    assert planned.stdout == plain.stdout
    for recipe in ("binomial", "hierarchical(node=chain)@256", "scatter_allgather@4096", "pipeline@100"):
        assert f": {recipe}: " in planned.stderr, planned.stderr
    assert "isochrone: broadcasts on rank 0: " in planned.stderr


def _only_rules(bench: Bench, folder: Path, *rules: tuple[str, int, int, str]) -> Path:
    """A copy of the plan and its topology with other rules: shape, least and largest size, and recipe."""
    shutil.copy(bench.folder / "topology.json", folder)
    path = folder / "plan.json"
    write_plan(
        path, structs.replace(bench.plan, rules=tuple(Rule("bcast", *rule, EVIDENCE) for rule in rules))
    )
    return path


@pytest.mark.parametrize("ranks", [4, 6, 12])
def test_a_job_that_the_plan_has_no_rule_for_is_told_so_in_one_line(
    bench: Bench, tmp_path: Path, ranks: int
) -> None:
    plain = bench.run(ranks=ranks)
    planned = bench.run_on(_only_rules(bench, tmp_path, ("8 ranks in one node", 1, 9999, "flat")), ranks)
    assert (planned.returncode, planned.stdout) == (0, plain.stdout), planned.stderr
    assert said(planned) == [
        f"isochrone: the plan holds for 8 ranks in one node; this job has {ranks} ranks in one node, so "
        "recipes for collectives among all of them are only predicted, and tried; survey with ranks like "
        "these: isochrone survey -o OTHER -- LAUNCHER ..., then: isochrone run --plan OTHER"
    ]


def test_a_plan_without_rules_is_told_in_one_line_and_one_rank_needs_none(
    bench: Bench, tmp_path: Path
) -> None:
    plan = _only_rules(bench, tmp_path)
    (line,) = said(bench.run_on(plan))
    assert line.startswith("isochrone: the plan has no rule for any collective, ")
    assert said(bench.run_on(plan, ranks=1)) == []


def test_what_was_measured_and_what_was_not_are_told_apart(bench: Bench, tmp_path: Path) -> None:
    shape = "2 ranks in one node"
    plan = _only_rules(bench, tmp_path, (shape, 1, 7, "flat"), (shape, 8, 1000, "native"))
    planned = bench.run_on(plan, ISOCHRONE_EXPLAIN="1")
    reasons = {
        1: f"flat: measured 2.00x faster than native for {shape}",
        1000: f"native: measured: nothing tried was faster than native for {shape}",
        # What no rule covers is told apart by powers of two.
        **{size: f"native: {size} bytes were not measured for {shape}" for size in (2004, 4099, 100003)},
    }
    # The program compares by gathers, for which there is no plan.
    *told, counts = [line for line in said(planned) if "gather" not in line]
    assert sorted(told) == sorted(
        f"isochrone: bcast of {size} bytes from rank {root}: {reason}"
        for size, reason in reasons.items()
        for root in (0, 1)
    )
    # 1 and 7 bytes; 576 and 1000; 2004, 4099 and 100003; each from both ranks.
    assert counts == (
        "isochrone: broadcasts on rank 0: 4 by the plan's recipes, 4 by the MPI library's own as the plan "
        "says, 6 by the MPI library's own as nothing was measured"
    )


@pytest.mark.parametrize("ranks", [1, 2])
def test_without_explain_nothing_is_said_where_the_plan_fits(bench: Bench, ranks: int) -> None:
    planned = bench.run_on(bench.folder / "plan.json", ranks)
    assert planned.stderr == bench.run(ranks=ranks).stderr


def test_a_plan_keeps_its_own_names_of_levels(bench: Bench, tmp_path: Path) -> None:
    def rename(plan: dict[str, Any]) -> None:
        plan["topology"]["levels"] = ["rack"]
        for rule in plan["rules"]:
            rule["shape"] = rule["shape"].replace("one node", "one rack")

    planned = bench.run_on(_damaged(bench, tmp_path, rename), ISOCHRONE_EXPLAIN="1")
    assert "measured 2.00x faster than native for 2 ranks in one rack" in planned.stderr


def _damaged(bench: Bench, tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of the plan and its topology, the plan changed as JSON."""
    shutil.copy(bench.folder / "topology.json", tmp_path)
    document = json.loads((bench.folder / "plan.json").read_text())
    change(document)
    (tmp_path / "plan.json").write_text(json.dumps(document))
    return tmp_path / "plan.json"


@pytest.mark.parametrize(
    "change",
    [
        lambda plan: plan.update(schema_version=2),
        lambda plan: plan["topology"].update(fingerprint="another"),
        lambda plan: plan["mpi"].update(abi="libmpi.so.99"),
        lambda plan: plan["rules"][0].update(recipe="hierarchical("),
    ],
    ids=["another version", "another topology", "another library", "no recipe"],
)
def test_a_plan_that_does_not_hold_costs_one_line_and_the_program_runs(
    bench: Bench, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    plain = bench.run()
    planned = bench.run_on(_damaged(bench, tmp_path, change))
    assert (planned.returncode, planned.stdout) == (0, plain.stdout)
    assert len(said(planned)) == 1, planned.stderr


def test_a_plan_of_another_machine_costs_one_line_and_the_program_runs(bench: Bench, tmp_path: Path) -> None:
    measurements = read_measurements(bench.folder / "m.jsonl")
    elsewhere = tuple(
        structs.replace(p, host="elsewhere", signature="another kind") for p in measurements.places
    )
    write_plan_for(tmp_path, replace(measurements, places=elsewhere))
    planned = bench.run_on(tmp_path / "plan.json")
    assert (planned.returncode, planned.stdout) == (0, bench.run().stdout)
    (line,) = said(planned)
    assert "was not surveyed" in line


def test_another_host_of_the_same_kind_is_not_another_machine(bench: Bench, tmp_path: Path) -> None:
    measurements = read_measurements(bench.folder / "m.jsonl")
    twins = tuple(structs.replace(p, host="twin") for p in measurements.places)
    write_plan_for(tmp_path, replace(measurements, places=twins))
    planned = bench.run_on(tmp_path / "plan.json", ISOCHRONE_EXPLAIN="1")
    assert (planned.returncode, planned.stdout) == (0, bench.run().stdout)
    assert ": pipeline@100: " in planned.stderr, planned.stderr
