# SPDX-License-Identifier: BSD-3-Clause
"""The adaptive probe on a simulated cluster: its tree, its capacities, and what is left when it is killed."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isochrone.detect import detect
from isochrone.doctor.findings import findings
from isochrone.doctor.residuals import against_their_like
from isochrone.errors import IsochroneError
from isochrone.files import Measurements, clusters_of, read_measurements, read_topology, write_topology
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.probe import ProbeOptions, probe
from isochrone.steps.tune import tune

CLUSTER = """name: uplink
nodes: 6
sockets: 2
cores: 3
placement: random
send_overhead: 60ns
receive_overhead: 60ns
links:
  socket:  {latency: 0.3us, bandwidth: 9GB/s}
  node:    {latency: 0.6us, bandwidth: 7GB/s, capacity: 14GB/s}
  network: {latency: 1.2us, bandwidth: 6GB/s, capacity: 6GB/s}
network:
  kind: islands
  islands: [3, 3]
  uplink: {latency: 1.8us, bandwidth: 4.5GB/s, capacity: 4.5GB/s}
"""
# Three network cards of 6 GB/s could send four times as much.
CAPACITIES = [4.5e9, 6e9, 14e9, None]


@pytest.fixture
def described(tmp_path: Path, simgrid: None) -> Path:
    path = tmp_path / "uplink.yaml"
    path.write_text(CLUSTER, encoding="utf-8")
    return path


def probed(described: Path, output: Path, **options: object) -> Measurements:
    wanted = ProbeOptions(**options)  # type: ignore[arg-type]
    return probe(SimTarget(load_system(str(described))), output, wanted)


@pytest.fixture(scope="module")
def whole(simgrid: None, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """whole(mode): the file of a probe of that mode that ran to its end, made when it is asked for first."""
    folder = tmp_path_factory.mktemp("whole")
    system = folder / "uplink.yaml"
    system.write_text(CLUSTER, encoding="utf-8")

    def left_by(mode: str) -> Path:
        path = folder / f"{mode}.jsonl"
        if not path.exists():
            probed(system, path, mode=mode)
        return path

    return left_by


def pairs(measurements: Measurements) -> set[tuple[int, int]]:
    return set(measurements.pairs)


@pytest.mark.parametrize(
    "options",
    [{"mode": "adaptive"}, {"mode": "adaptive", "blind": True}, {}],
    ids=["adaptive", "blind", "all pairs"],
)
def test_the_tree_and_an_uplink_that_all_share_are_found(
    described: Path, tmp_path: Path, options: dict[str, object]
) -> None:
    found = probed(described, tmp_path / "m.jsonl", **options)
    topology, _ = detect(found, SimTarget(load_system(str(described))).truth)
    assert set(topology.accuracy.values()) == {1.0}
    assert [len(level.groups) for level in topology.levels] == [1, 2, 6, 12]
    capacities = [level.links.capacity_bytes_per_s if level.links else None for level in topology.levels]
    assert capacities == [None if each is None else pytest.approx(each, rel=0.05) for each in CAPACITIES]


def test_parameters_are_measured_of_pairs_of_every_level(whole: Callable[[str], Path]) -> None:
    found = read_measurements(whole("adaptive"))
    hosts = [place.host for place in found.places]
    inside = [hosts[sender] == hosts[receiver] for sender, receiver in found.parameters]
    assert len(found.parameters) == 12
    assert inside.count(True) == inside.count(False) == 6


def test_messages_that_fill_no_link_tell_nothing_of_what_it_carries(described: Path, tmp_path: Path) -> None:
    assert not probed(described, tmp_path / "m.jsonl", sizes_bytes=(0, 1024)).streams


def named(measurements: Measurements) -> list[str]:
    found = findings(against_their_like(measurements), measurements.places)
    return [finding.suspect.name for finding in found]


def test_pairs_whose_large_messages_met_on_an_uplink_are_not_named(whole: Callable[[str], Path]) -> None:
    found = read_measurements(whole("adaptive"))
    assert len(found.alone) > 12
    for pair, (alone_s, _) in found.alone.items():
        assert found.rtt_min_s[found.find(*pair), 0] == pytest.approx(alone_s[0], rel=0.01)
    assert named(replace(found, alone={}))
    assert not named(found)


@pytest.mark.parametrize(
    ("mode", "share"), [*(("adaptive", share) for share in (0.02, 0.3, 0.8, 0.95, 0.99)), ("all", 0.99)]
)
def test_a_probe_that_was_killed_goes_on_to_the_same_end(
    described: Path, whole: Callable[[str], Path], tmp_path: Path, mode: str, share: float
) -> None:
    expected = read_measurements(whole(mode))
    lines = int(whole(mode).read_bytes().count(b"\n") * share)
    output = tmp_path / "m.jsonl"
    command = [sys.executable, "-m", "isochrone", "probe", "--mode", mode, "--sim", str(described)]
    running = subprocess.Popen(
        [*command, "-o", str(output)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while running.poll() is None and not (output.exists() and output.read_bytes().count(b"\n") >= lines):
        time.sleep(0.002)
    # Where it was quicker than we, the file is cut.
    if running.poll() is None:
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    # The ranks end a moment after what started them; until then they hold the lock, and write.
    with output.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
    kept = output.read_bytes().splitlines(keepends=True)
    output.write_bytes(b"".join(kept[: max(lines, 1)]) + kept[-1][:20])

    found = probed(described, output, mode=mode)

    assert pairs(found) == pairs(expected)
    assert set(found.parameters) == set(expected.parameters)
    # Which large messages meet hangs on when it goes on; what that makes of the machine must not.
    assert set(list(found.alone)[:12]) == set(list(expected.alone)[:12])
    assert named(found) == named(expected)
    assert [each.pairs for each in found.streams] == [each.pairs for each in expected.streams]
    levels = [detect(each)[0].levels for each in (found, expected)]
    assert [level.groups for level in levels[0]] == [level.groups for level in levels[1]]


def test_the_fast_mode_measures_all_pairs_of_a_share_of_each_host(described: Path, tmp_path: Path) -> None:
    found = probe(
        SimTarget(load_system(str(described))),
        tmp_path / "m.jsonl",
        ProbeOptions((0,), mode="fast", share=0.5),
    )
    chosen = np.flatnonzero(found.in_pairs)
    hosts = [found.places[rank].host for rank in chosen]
    assert [hosts.count(host) for host in set(hosts)] == [3] * 6
    assert 2 * found.pairs_measured == len(chosen) * (len(chosen) - 1)
    assert read_measurements(tmp_path / "m.jsonl").ended
    topology, _ = detect(found, SimTarget(load_system(str(described))).truth)
    assert len(topology.ranks) == 18
    assert topology.accuracy["node"] == 1.0
    assert topology.job_ranks == tuple(chosen)
    write_topology(tmp_path / "t.json", topology)
    assert read_topology(tmp_path / "t.json") == topology
    with pytest.raises(IsochroneError, match="were in no pair"):
        clusters_of(topology)
    with pytest.raises(IsochroneError, match="some ranks of the job were in no pair"):
        tune(SimTarget(load_system(str(described))), tmp_path / "t.json", tmp_path / "p", tmp_path / "b")
