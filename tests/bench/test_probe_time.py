# SPDX-License-Identifier: BSD-3-Clause
"""The figures of bench/probe_time.py, drawn from the result that is kept beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from bench_script import BENCH, load

SCRIPT = BENCH / "probe_time.py"
RESULT = SCRIPT.with_name("probe-time.json")


@pytest.fixture(scope="module")
def probe_time() -> ModuleType:
    return load("probe_time")


def test_the_figures_of_a_result_are_drawn_without_measuring(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, SCRIPT, tmp_path, "--draw", RESULT], capture_output=True, text=True, check=True
    )
    assert ran.stderr == ""
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{stem}.{kind}"
        for stem in ("probe-time", "probe-time-repetitions")
        for kind in ("png", "svg", "pdf")
    }
    text = (tmp_path / "probe-time-repetitions.svg").read_text()
    for words in ("1 round trip", "8 round trips", "32 round trips", "(1,024)"):
        assert f">{words}<" in text


def test_each_number_of_round_trips_has_its_line_over_the_nodes(probe_time: ModuleType) -> None:
    document = json.loads(RESULT.read_text())
    lines = probe_time.by_repetitions(document).axes[0].lines
    assert [list(line.get_xdata()) for line in lines] == [
        [1, 2, 4, 8, 16, 32, 64],
        [1, 2, 4, 8],
        [1, 2, 4, 8],
    ]
    found = [line.get_ydata()[0] for line in lines]
    (once,) = (
        row["simulated_s"]
        for row in document["rows"]
        if (row["way"], row["nodes"], row["repetitions"]) == ("rounds", 1, 1)
    )
    often = {
        row["repetitions"]: row["simulated_s"]
        for row in document["rounds_by_nodes_and_repetitions"]
        if row["nodes"] == 1
    }
    assert found == [once, often[8], often[32]]
    assert found[0] < found[1] < found[2]


def test_a_result_of_few_ranks_has_its_figures_too(probe_time: ModuleType, tmp_path: Path) -> None:
    document = json.loads(RESULT.read_text())
    for name in ("rows", "rounds_by_nodes_and_repetitions"):
        document[name] = [row for row in document[name] if row["nodes"] == 1]
    ways = document["exponents_from_64_ranks"]
    for way in ways:
        ways[way] = {key: probe_time.exponent(document["rows"], way, key) for key in ways[way]}
    assert ways["adaptive"]["pairs"] is None
    probe_time.draw(document, tmp_path)
    assert len(list(tmp_path.iterdir())) == 6
