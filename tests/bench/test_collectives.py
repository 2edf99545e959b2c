# SPDX-License-Identifier: BSD-3-Clause
"""bench/collectives.py: its jobs, what it measures and keeps, and the page that has its tables."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from bench_script import BENCH, load

from isochrone.errors import UsageError
from isochrone.sim.system import PLACEMENTS, cores_of_ranks
from isochrone.tune.collectives import timed

SCRIPT = BENCH / "collectives.py"
RESULT = SCRIPT.with_name("collectives-sim.json")
PAGE = SCRIPT.parents[1] / "docs" / "collectives.md"


@pytest.fixture(scope="module")
def cases() -> ModuleType:
    return load("collectives_cases")


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    return load("collectives_tables")


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return document


def test_a_job_has_as_many_ranks_as_are_asked_for_on_all_nodes(cases: ModuleType) -> None:
    for system, nodes in (("fram", 4), ("betzy", 4), ("idun", 16)):
        for ranks, full in ((64, 64), (61, 64), (32, 32), (31, 32)):
            for placement in PLACEMENTS:
                job = cases.job(system, placement, ranks)
                cores = cores_of_ranks(job)
                assert job.ranks == len(set(cores)) == ranks
                by_node = Counter(core // job.cores_per_node for core in cores)
                assert sorted(by_node.values())[1:] == [full // nodes] * (nodes - 1)
                assert len(by_node) == nodes


def test_a_job_that_does_not_fit_is_refused(cases: ModuleType) -> None:
    for ranks, words in ((129, "128 cores"), (3, "without any")):
        with pytest.raises(UsageError, match=words):
            cases.job("fram", "block", ranks)


def test_a_run_adds_the_rows_that_are_missing(tmp_path: Path) -> None:
    output = tmp_path / "result.json"

    def run(selectors: str) -> str:
        few = ["--systems=fram", "--placements=random", "--ranks=13", "--collectives=barrier"]
        command = [sys.executable, SCRIPT, output, *few, f"--selectors={selectors}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr

    assert "13 ranks, ompi: timed" in run("ompi")
    (row,) = json.loads(output.read_text())["rows"]
    assert row["first"].startswith("hierarchical(machine=")
    assert 0 < row["best_s"] <= row["first_s"]
    assert row["native_s"] > 0
    assert run("ompi") == ""
    run("ompi,mpich")
    rows = json.loads(output.read_text())["rows"]
    assert [row["selector"] for row in rows] == ["ompi", "mpich"]
    assert rows[0]["first_s"] == pytest.approx(rows[1]["first_s"], rel=1e-6)


def test_a_loss_counts_in_the_table(tables: ModuleType) -> None:
    row = {"native_s": 1.0, "first_s": 4.0, "best_s": 2.0, "flat_s": 0.5}
    other = {"native_s": 1.0, "first_s": 1.0, "best_s": 1.0, "flat_s": None}
    assert tables.table("x", [("y", [row, other])])[2] == (
        "| y | 2 | 0.25 | 0.62 | 0.50 | 50 % | 0.50 | 0.75 | 0.71 | 50 % | 1.00 | 1.50 | 1.41 | 0 % |"
    )


def test_the_result_has_all_that_the_page_names(result: dict[str, Any]) -> None:
    rows = result["rows"]
    assert {row["collective"] for row in rows} <= set(timed())
    assert len({row["collective"] for row in rows}) >= 11
    for key, wanted in (
        ("system", {"fram", "betzy", "idun"}),
        ("placement", set(PLACEMENTS)),
        ("selector", {"default", "ompi", "mpich"}),
    ):
        assert {row[key] for row in rows} == wanted
    assert any(row["ranks"] % 2 for row in rows)
    assert {1, 4194304} <= {row["size_bytes"] for row in rows}


def test_the_page_has_the_tables_of_the_result(tables: ModuleType, result: dict[str, Any]) -> None:
    page = PAGE.read_text(encoding="utf-8").splitlines()
    for line in tables.tables(result):
        assert line in page
