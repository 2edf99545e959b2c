# SPDX-License-Identifier: BSD-3-Clause
"""All steps in a row on simulated clusters whose wiring is known: what is found is true, and nothing gets
slower."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("simgrid")

LINKS = """\
links:
  socket:  {latency: 0.3us, bandwidth: 10GB/s}
  node:    {latency: 0.6us, bandwidth: 8GB/s, capacity: 32GB/s}
  network: {latency: 1.5us, bandwidth: 6GB/s}
"""


def _isochrone(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "isochrone", *words], capture_output=True, text=True, timeout=1200
    )


def _survey(folder: Path, *words: str) -> dict[str, Any]:
    done = _isochrone("survey", "-o", str(folder), "--json", *words)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert Path(found["report"]).stat().st_size > 100_000
    return found


def _system(folder: Path, nodes: int, sockets: int, cores: int, placement: str) -> Path:
    path = folder / "system.yaml"
    path.write_text(
        f"name: odd\nnodes: {nodes}\nsockets: {sockets}\ncores: {cores}\nplacement: {placement}\n{LINKS}",
        encoding="utf-8",
    )
    return path


FEW = ("--collectives", "bcast,allgather,barrier", "--sizes", "8,4KiB,256KiB")
"""One of each kind: with a root, with blocks, without data."""


@pytest.mark.parametrize(
    ("shape", "placement", "levels"),
    [
        ((3, 2, 5), "random", [("machine", 1), ("node", 3), ("socket", 6)]),
        ((7, 1, 3), "cyclic", [("machine", 1), ("node", 7)]),
        ((1, 2, 4), "cyclic", [("node", 1), ("socket", 2)]),
        ((1, 1, 2), "block", [("node", 1)]),
        ((1, 1, 1), "block", [("node", 1)]),
    ],
    ids=["3x2x5", "7x1x3", "one node", "2 ranks", "1 rank"],
)
def test_a_cluster_of_odd_shape_is_found_as_it_is(
    tmp_path: Path, shape: tuple[int, int, int], placement: str, levels: list[tuple[str, int]]
) -> None:
    found = _survey(tmp_path / "s", "--sim", str(_system(tmp_path, *shape, placement)), *FEW)
    ranks = shape[0] * shape[1] * shape[2]
    assert found["ranks"] == ranks
    assert [(level["name"], level["clusters"]) for level in found["levels"]] == levels
    assert all(value == 1.0 for value in found["accuracy"].values())
    assert found["pairs_measured"] == found["pairs_total"] == ranks * (ranks - 1) // 2
    if ranks > 1:
        assert found["broadcast"]["min_speedup"] >= 0.98
    else:
        assert found["broadcast"] is None


def test_the_same_survey_gives_the_same_figures(tmp_path: Path) -> None:
    system = str(_system(tmp_path, 2, 1, 3, "cyclic"))
    first = _survey(tmp_path / "a", "--sim", system, *FEW)
    second = _survey(tmp_path / "b", "--sim", system, *FEW)
    for found in (first, second):
        found.pop("report")
        # Where all pairs are alike it is what rounding leaves.
        for level in found["levels"]:
            level["spread"] = round(level["spread"], 9)
    assert _rounded(first) == _rounded(second)


def _rounded(value: Any) -> Any:
    """Numbers to nine digits: the last ones of a simulated clock depend on how far it has come."""
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


@pytest.mark.long
@pytest.mark.parametrize("system", ["fram", "arm1", "idun", "betzy"])
@pytest.mark.parametrize("placement", ["block", "cyclic", "random"])
def test_a_shipped_cluster_is_found_at_every_level_of_its_truth(
    tmp_path: Path, system: str, placement: str
) -> None:
    found = _survey(tmp_path / "s", "--sim", system, "--placement", placement)
    expected = {
        "fram": {"switch", "node", "socket"},
        "arm1": {"numa", "socket", "node"},
        "idun": {"node", "socket"},
        "betzy": {"l3", "socket", "node"},
    }
    assert expected[system] <= set(found["accuracy"])
    assert set(found["accuracy"].values()) == {1.0}
    assert found["broadcast"]["min_speedup"] >= 0.98
    if system == "betzy" and placement != "block":
        assert found["broadcast"]["geomean_speedup_large"] >= 1.3


@pytest.mark.long
@pytest.mark.parametrize("system", ["fram", "idun"])
@pytest.mark.parametrize("seed", [1, 2])
def test_nodes_are_found_under_ten_percent_noise(tmp_path: Path, system: str, seed: int) -> None:
    folder = str(tmp_path / "measurements.jsonl")
    words = ["--sim", system, "--placement", "random", "--seed", str(seed), "--noise", "0.1"]
    done = _isochrone("probe", "-o", folder, "--sizes", "0", *words)
    assert done.returncode == 0, done.stderr
    done = _isochrone("detect", folder, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accuracy"]["node"] == 1.0
