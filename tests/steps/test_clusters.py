# SPDX-License-Identifier: BSD-3-Clause
"""A probe by clusters: what runs at once is what the file allows. The simulated clock is exact."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from isochrone.cli.main import main
from isochrone.files import Clusters, read_clusters
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.probe import Mode, ProbeOptions, probe

pytestmark = pytest.mark.usefixtures("simgrid")

# Round trips of 64 KiB take tens of microseconds, tokens and the start of a batch one or two.
SYSTEM = """
name: small
nodes: 3
sockets: 2
cores: 2
links:
  socket:  {latency: 0.4us, bandwidth: 9GB/s}
  node:    {latency: 0.7us, bandwidth: 7GB/s}
  network: {latency: 1.3us, bandwidth: 6GB/s}
"""
TOLERANCE_S = 5e-6

# One node with its sockets apart, and the other two in an order that is not the machine's.
CLUSTERS = """
cluster {
  cluster {               # node 0
    cluster { group { 0-1 } }
    cluster { group { 2 3 } }
  }
  cluster {
    cluster { group { 4,6,8 } }
    cluster { group { 5 7 9-11 } }
  }
}
"""

Branch = tuple[int, ...]
"""From the outermost cluster to an inner one: which part at each."""


def paths(clusters: Clusters, here: Branch = ()) -> dict[int, Branch]:
    """Of each rank to its group."""
    found = dict.fromkeys(clusters.ranks, here)
    for number, part in enumerate(clusters.parts):
        found |= paths(part, (*here, number))
    return found


def common(one: Branch, other: Branch) -> Branch:
    same = itertools.takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False))
    return tuple(number for number, _ in same)


@pytest.fixture
def system(tmp_path: Path) -> Path:
    path = tmp_path / "system.yaml"
    path.write_text(SYSTEM)
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "clusters.txt"
    path.write_text(CLUSTERS)
    return path


@pytest.mark.parametrize("mode", ["all", "fast"])
def test_pairs_run_at_once_only_in_separate_clusters(
    tmp_path: Path, system: Path, tree: Path, mode: Mode
) -> None:
    output = tmp_path / "measurements.jsonl"
    target = SimTarget(load_system(str(system)))
    clusters = read_clusters(tree)
    found = probe(target, output, ProbeOptions((0, 65536), together=clusters, mode=mode, share=0.5))
    assert found.complete == (mode == "all")

    path_of = paths(clusters)
    spans = []
    for line in map(json.loads, output.read_text().splitlines()[1:-1]):
        if "alone" in line or "stream" in line:
            continue
        low, high = line["pair"]
        cluster = common(path_of[low], path_of[high])
        spans.append((cluster, line["at_s"] - sum(line["rtt_min_s"]), line["at_s"]))
    at_once = 0
    for (one, start_s, end_s), (other, other_start_s, other_end_s) in itertools.combinations(spans, 2):
        together = min(end_s, other_end_s) - max(start_s, other_start_s) > TOLERANCE_S
        at_once += together
        if common(one, other) in (one, other):
            assert not together, (one, other)
        if one != other and common(one, other) == one and mode == "all":
            assert other_end_s <= start_s + TOLERANCE_S, "the inner cluster is not first"
    assert at_once > 0


def test_what_was_detected_says_what_may_run_at_once(tmp_path: Path, system: Path) -> None:
    first, again = tmp_path / "first.jsonl", tmp_path / "again.jsonl"
    clusters = tmp_path / "clusters.txt"
    assert main(["probe", "--sim", str(system), "-o", str(first)]) == 0
    assert main(["detect", str(first), "--clusters", str(clusters)]) == 0
    assert [list(group) for group in read_clusters(clusters).groups()] == [
        list(range(rank, rank + 2)) for rank in range(0, 12, 2)
    ]
    words = ["probe", "--sim", str(system), "--together", str(clusters), "-o", str(again)]
    assert main(words) == 0
    # All pairs, and a dozen of them once more, alone.
    once = again.read_text()
    assert once.count('"pair"') - once.count('"alone"') == 66
    # The same again: nothing is missing.
    assert main(words) == 0
    assert again.read_text().count('"pair"') == once.count('"pair"')


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("cluster { group { 0-10 } }", 2, "rank 11 of 12 is in no cluster"),
        ("cluster { group { 0-12 } }", 2, "a cluster has rank 12, but there are only 12 ranks"),
        ("cluster { group { 0-11 } } }", 1, "clusters.txt:1: '}' follows after the outermost cluster"),
    ],
)
def test_a_wrong_tree_is_one_line(
    tmp_path: Path,
    system: Path,
    tree: Path,
    text: str,
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tree.write_text(text)
    output = tmp_path / "m.jsonl"
    assert main(["probe", "--sim", str(system), "--together", str(tree), "-o", str(output)]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert len(captured.err.strip().splitlines()) == 1, captured.err
    assert not output.exists()
