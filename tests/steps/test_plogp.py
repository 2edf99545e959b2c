# SPDX-License-Identifier: BSD-3-Clause
"""What a probe of PLogP parameters says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from isochrone.cli.main import main

pytestmark = pytest.mark.usefixtures("simgrid")

SYSTEM = """
name: small
nodes: 2
sockets: 1
cores: 2
eager_limit: 32KiB
links:
  socket:  {latency: 0.4us, bandwidth: 9GB/s}
  node:    {latency: 0.7us, bandwidth: 7GB/s}
  network: {latency: 9us, bandwidth: 6GB/s}
"""


def test_the_eager_limit_of_a_pair_is_in_the_text_and_in_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = tmp_path / "system.yaml"
    system.write_text(SYSTEM)
    words = ["probe", "--sim", str(system), "--plogp", "--pairs", "0-1,0-2", "-o", str(tmp_path / "m.jsonl")]
    assert main([*words, "--max-size", "262144"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (far,) = (line for line in lines if line.startswith(("2 to 0", "0 to 2")))
    (near,) = (line for line in lines if line.startswith(("1 to 0", "0 to 1")))
    assert "eager limit about 32 KiB: +" in far
    assert "eager limit" not in near

    assert main([*words, "--max-size", "262144", "--json"]) == 0
    steps = {
        frozenset((each["from"], each["to"])): each["protocol_step"]
        for each in json.loads(capsys.readouterr().out)["parameters"]
    }
    assert steps[frozenset((0, 1))] is None
    step = steps[frozenset((0, 2))]
    assert (step["below_bytes"], step["from_bytes"]) == (32768, 65536)
    assert step["rise_s"] > 1e-6


def test_levels_by_parameters_have_the_links_that_were_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = tmp_path / "system.yaml"
    system.write_text(SYSTEM)
    measured = str(tmp_path / "m.jsonl")
    assert main(["probe", "--sim", str(system), "--plogp", "--max-size", "65536", "-o", measured]) == 0
    capsys.readouterr()

    def levels(*more: str) -> list[dict[str, object]]:
        assert main(["detect", measured, "-o", str(tmp_path / "t.json"), "--json", *more]) == 0
        found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["levels"]
        return found

    expected = levels()
    assert [level["clusters"] for level in expected] == [1, 2]
    for distance in ("piecewise", "linear", "vectors"):
        assert levels("--distance", distance, "--size", "4096") == expected
    source = json.loads((tmp_path / "t.json").read_text())["source"]
    assert source["distance"] == ["vectors", 4096]
