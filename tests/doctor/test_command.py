# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone doctor`` on a simulated cluster of 64 ranks: what is planted in its description is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from isochrone.cli.main import main

CLUSTER = """\
name: c
nodes: 8
sockets: 2
cores: 4
links:
  socket:  {latency: 0.3us, bandwidth: 10GB/s}
  node:    {latency: 0.6us, bandwidth: 8GB/s, capacity: 32GB/s}
  network: {latency: 1.5us, bandwidth: 6GB/s}
"""


pytestmark = pytest.mark.usefixtures("simgrid")


def probe(folder: Path, faults: str, noise: str) -> Path:
    system = folder / "c.yaml"
    system.write_text(CLUSTER + faults, encoding="utf-8")
    output = folder / "measurements.jsonl"
    arguments = ["--sizes", "0,65536", "--repetitions", "20", "--noise", noise, "--placement", "random"]
    assert main(["probe", "--sim", str(system), *arguments, "-o", str(output)]) == 0
    return output


@pytest.mark.parametrize("noise", [pytest.param("0", marks=pytest.mark.long), "0.1"])
@pytest.mark.parametrize(
    ("fault", "kind", "name"),
    [
        ("{cable: 3, latency: 1.5}", "cable", "node c-3, to others"),
        ("{cable: 6, bandwidth: 0.5}", "cable", "node c-6, to others"),
        ("{between: [5, 2], bandwidth: 0.5}", "way", "nodes c-2 and c-5, between them"),
        ("{between: [1, 4], latency: 1.5}", "way", "nodes c-1 and c-4, between them"),
        ("{node: 7, slowdown: 1.5}", "node", "node c-7, inside"),
    ],
)
def test_what_is_planted_is_named(
    fault: str, kind: str, name: str, noise: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = probe(tmp_path, f"faults:\n  - {fault}\n", noise)
    capsys.readouterr()
    assert main(["doctor", str(output), "--json"]) == 3
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert (found["kind"], sorted(found["name"].split()), found["factor"] > 1.3) == (
        kind,
        sorted(name.split()),
        True,
    )


def test_a_sound_cluster_is_exit_code_0_and_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = probe(tmp_path, "", "0.1")
    capsys.readouterr()
    assert main(["doctor", str(output)]) == 0
    assert capsys.readouterr().out == "64 ranks, 2016 pairs: nothing is slower than its like\n"
    assert main(["doctor", str(output), "--against", str(output)]) == 0


def test_with_few_pairs_it_says_how_many_were_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = tmp_path / "c.yaml"
    system.write_text(CLUSTER, encoding="utf-8")
    output = tmp_path / "measurements.jsonl"
    assert main(["probe", "--sim", str(system), "--mode", "fast", "-o", str(output)]) == 0
    capsys.readouterr()
    assert main(["doctor", str(output)]) == 0
    said = "64 ranks, 120 of 2016 pairs: nothing is slower than its like; of the others nothing is known\n"
    assert capsys.readouterr().out == said


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("{cable: 8, latency: 2}", "there is no node 8"),
        ("{cable: 1, slowdown: 2}", "c.yaml:10"),
        ("{node: 1, latency: 2}", "c.yaml:10"),
        ("{node: 1, slowdown: 2, one_way: true}", "c.yaml:10"),
        ("{between: [1, 1], latency: 2}", "c.yaml:10"),
        ("{cable: 1, latency: 0.5}", "c.yaml:10"),
        ("{cable: 1, bandwidth: 0}", "c.yaml:10"),
    ],
)
def test_faults_that_cannot_be_are_one_line(
    fault: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = tmp_path / "c.yaml"
    system.write_text(f"{CLUSTER}faults:\n  - {fault}\n", encoding="utf-8")
    assert main(["probe", "--sim", str(system)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_of_a_plain_matrix_pairs_are_named_without_a_host(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two sockets of eight cores, and one pair that is slow."""
    ranks = range(16)
    times_ns = [[20.0 if a // 8 == b // 8 else 60.0 for b in ranks] for a in ranks]
    file = tmp_path / "matrix.csv"
    file.write_text("\n".join(",".join(map(str, row)) for row in times_ns), encoding="utf-8")
    assert main(["doctor", str(file)]) == 0
    assert capsys.readouterr().out == "16 ranks, 120 pairs: nothing is slower than its like\n"
    times_ns[2][5] = times_ns[5][2] = 60.0
    slow = tmp_path / "slow.csv"
    slow.write_text("\n".join(",".join(map(str, row)) for row in times_ns), encoding="utf-8")
    assert main(["doctor", str(slow)]) == 3
    assert capsys.readouterr().out.startswith("ranks 2 and 5: 3.00 x as long as expected")
    assert main(["doctor", str(slow), "--against", str(file), "--json"]) == 3
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert found["name"] == "ranks 2 and 5"
