# SPDX-License-Identifier: BSD-3-Clause
"""What a level rests on is said, and why another cut is none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from isochrone.cli.main import main
from isochrone.files import read_topology


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    """Four nodes of four ranks; rank 3 adds half to all its messages."""
    node = np.arange(16) // 4
    times = np.where(node[:, None] == node[None, :], 300.0, 1000.0)
    effect = np.where(np.arange(16) == 3, 1.5, 1.0)
    noise = np.exp(np.triu(np.random.default_rng(1).normal(0.0, 0.02, (16, 16)), 1))
    times = times * effect[:, None] * effect[None, :] * noise * noise.T
    np.fill_diagonal(times, 0.0)
    path = tmp_path / "m.csv"
    np.savetxt(path, times, delimiter=",")
    return path


def test_the_text_says_of_each_cut_what_it_rests_on(matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detect", str(matrix), "--why"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (level,) = (line for line in lines if line.startswith("group-1") and "4 groups of 4:" in line)
    assert "16 of 16 are nearer to their own group" in level
    others = [line for line in lines if line.startswith("no level")]
    assert others
    assert all(": " in line and line.split(": ", 1)[1] for line in others)
    assert "confidence 100 %" in lines[1]


def test_unasked_it_says_nothing_of_that(matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detect", str(matrix)]) == 0
    assert "no level" not in capsys.readouterr().out


def test_json_and_the_file_have_the_figures(matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detect", str(matrix), "--json"]) == 0
    reasons = json.loads(capsys.readouterr().out)["reasons"]
    (level,) = (each for each in reasons if each["level"] is not None)
    assert (level["level"], level["groups"], level["nearer"]) == ("group-1", 4, 16)
    assert level["margin"] == pytest.approx(1000 / 300, rel=0.1)
    assert level["needed"] < level["margin"]
    topology = read_topology(matrix.with_name("m.topology.json"))
    assert [reason.level for reason in topology.reasons] == [each["level"] for each in reasons]
    assert [reason.why for reason in topology.reasons] == [each["why"] for each in reasons]
