# SPDX-License-Identifier: BSD-3-Clause
"""isochrone-probe with --precision, --budget and --estimate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from probe_file import QUICK, all_pairs, lines_of, pairs_of

from isochrone.files import read_measurements, write_measurements


def counts_of(path: Path, size: int = 0) -> list[int]:
    """Repetitions of each pair, as its line or else the header says."""
    header, *records = [line for line in lines_of(path) if "end" not in line]
    return [(line.get("repetitions") or [header["repetitions"]] * 8)[size] for line in records]


def test_repetitions_are_within_their_limits_and_read_back(probe: Any, output: Path) -> None:
    arguments = ("--sizes", "0,1000", "--repetitions", "40", "--precision", "0.3")
    ended = probe.run(4, "--output", str(output), *arguments)
    assert (ended.code, ended.messages) == (0, [])
    assert sorted(pairs_of(output)) == all_pairs(4)
    assert all(9 <= count <= 40 for size in (0, 1) for count in counts_of(output, size))
    read = read_measurements(output)
    write_measurements(output.with_name("again.jsonl"), read)
    again = read_measurements(output.with_name("again.jsonl"))
    assert again.pairs == read.pairs == all_pairs(4)
    assert again.repetitions_of(np.arange(6)).tolist() == read.repetitions_of(np.arange(6)).tolist()
    assert read.repetitions == 40
    assert 9 <= read.usual_repetitions <= 40


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_times_that_are_all_alike_take_the_fewest_repetitions(probe: Any, output: Path) -> None:
    arguments = ("--sizes", "0,1000", "--repetitions", "500", "--precision", "0.05")
    assert probe.run(4, "--output", str(output), *arguments).code == 0
    assert counts_of(output, 0) == counts_of(output, 1) == [9] * 6


def test_without_precision_every_pair_has_all_repetitions_and_says_nothing(probe: Any, output: Path) -> None:
    assert probe.run(3, "--output", str(output), *QUICK).code == 0
    assert not any("repetitions" in line for line in lines_of(output)[1:])


@pytest.mark.parametrize("budget_s", ["0.0005", "0.002", "0.01"])
@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_a_budget_is_spent_and_every_pair_measured(probe: Any, output: Path, budget_s: str) -> None:
    arguments = ("--sizes", "0,1000", "--repetitions", "100000", "--budget", budget_s, "--together", "none")
    ended = probe.run(6, "--output", str(output), *arguments)
    assert (ended.code, ended.messages) == (0, [])
    assert sorted(pairs_of(output)) == all_pairs(6)
    assert 0.5 < lines_of(output)[-1]["elapsed_s"] / float(budget_s) < 1.3
    assert max(counts_of(output)) < 100_000


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_a_budget_that_is_too_small_is_said_and_each_pair_measured_once(probe: Any, output: Path) -> None:
    process = probe.start(6, "--output", str(output), "--sizes", "0,1000", "--budget", "0.000001")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0
    notices = [line for line in errors.splitlines() if line.startswith("notice ")]
    assert ["more than the budget of 1e-06 s" in line for line in notices] == [True]
    assert sorted(pairs_of(output)) == all_pairs(6)
    assert set(counts_of(output, 0) + counts_of(output, 1)) == {1}


@pytest.mark.parametrize("together", ["none", "nodes", "all"])
@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_an_estimate_writes_no_file_and_is_near_the_truth(probe: Any, output: Path, together: str) -> None:
    arguments = ("--output", str(output), "--sizes", "0,1000", "--repetitions", "20", "--together", together)
    ended = probe.run(6, *arguments, "--estimate")
    assert (ended.code, ended.messages, output.exists()) == (0, [], False)
    header, found = (json.loads(line) for line in ended.output.splitlines() if line.startswith("{"))
    assert (header["ranks"], found["pairs"]) == (6, 15)
    assert 0 < found["least_pair_s"] < found["pair_s"]

    assert probe.run(6, *arguments).code == 0
    truth_s = lines_of(output)[-1]["elapsed_s"]
    assert truth_s / 2 < found["steps"] * found["pair_s"] < truth_s * 2


@pytest.mark.parametrize("probe", ["smpi", "mpich"], indirect=True)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_an_estimate_needs_few_ranks(probe: Any, output: Path, ranks: int) -> None:
    ended = probe.run(ranks, "--output", str(output), *QUICK, "--estimate")
    assert (ended.code, ended.messages) == (0, [])
    found = json.loads(ended.output.splitlines()[-1])
    assert found["pairs"] == len(all_pairs(ranks))
    assert (found["pair_s"] > 0) == (ranks > 1)


def test_an_estimate_of_some_pairs_is_of_these(probe: Any, output: Path) -> None:
    ended = probe.run(4, "--output", str(output), *QUICK, "--estimate", "--pairs", "0-1,2-3")
    assert json.loads(ended.output.splitlines()[-1])["pairs"] == 2
    ended = probe.run(3, "--output", str(output), *QUICK, "--estimate", "--pairs", "0-9")
    assert ended.code == 2
    assert ["there is no rank 9" in message for message in ended.messages] == [True]
