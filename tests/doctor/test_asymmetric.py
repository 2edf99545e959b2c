# SPDX-License-Identifier: BSD-3-Clause
"""A way that is slow in one direction is named, by what is measured one way."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from synthetic import synthetic

from isochrone.cli.main import main
from isochrone.doctor.asymmetric import asymmetric
from isochrone.files import Measurements
from isochrone.files.parameters import PairParameters

SIZES_BYTES = (0, *(1 << power for power in range(22)))
BYTE_S = 1 / 5e9
RANKS = 8


def measured(
    seed: int,
    noise: float = 0.05,
    slow: dict[tuple[int, int], float] | None = None,
    pairs: list[tuple[int, int]] | None = None,
    resolution_s: float = 1e-9,
) -> Measurements:
    """Parameters of pairs in both directions, some slowed down by a factor on their time for a byte."""
    random = np.random.default_rng(seed)
    sizes = np.array(SIZES_BYTES)
    parameters = {}
    for a, b in pairs or itertools.combinations(range(RANKS), 2):
        for sender, receiver in ((a, b), (b, a)):
            there_s, back_s = (
                sizes * BYTE_S * (slow or {}).get(way, 1.0)
                for way in ((sender, receiver), (receiver, sender))
            )
            rtt_s = 2e-6 + there_s + back_s
            draw = np.exp(random.normal(0, noise, (3, len(sizes))))
            waits = sizes > 16384
            gap_s = np.where(sizes > 65536, 2e-7 + (rtt_s - rtt_s[0]) / 2, 2e-7 + there_s) * draw[0]
            parameters[sender, receiver] = PairParameters(
                sender=sender,
                receiver=receiver,
                sizes_bytes=SIZES_BYTES,
                rtt_s=np.repeat(rtt_s[:, None], 4, axis=1),
                send_overhead_s=np.where(waits, 1e-6 + there_s, 2e-7) * draw[1],
                receive_overhead_s=np.where(waits, 1e-6 + back_s, 2e-7) * draw[2],
                gap_s=gap_s,
            )
    empty = np.full((RANKS, RANKS, 1), np.nan)
    hosts = [f"n{rank}" for rank in range(RANKS)]
    return synthetic(empty, hosts=hosts, resolution_s=resolution_s, parameters=parameters)


@pytest.mark.parametrize("way", [(1, 4), (4, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_a_pair_with_half_the_bandwidth_in_one_direction_is_named_with_that_direction(
    way: tuple[int, int], seed: int
) -> None:
    (found,) = asymmetric(measured(seed, slow={way: 2.0}))
    assert (found.sender, found.receiver) == way
    assert found.name == f"from rank {way[0]} on n{way[0]} to rank {way[1]} on n{way[1]}"
    assert found.factor == pytest.approx(2, rel=0.25)
    assert found.size_bytes > 1024


def test_the_evidence_is_both_values_at_one_size() -> None:
    measurements = measured(1, slow={(1, 4): 2.0})
    (found,) = asymmetric(measurements)
    index = SIZES_BYTES.index(found.size_bytes)
    name = found.parameter.replace(" ", "_") + "_s"
    values = [float(getattr(measurements.parameters[way], name)[index]) for way in ((1, 4), (4, 1))]
    assert sorted(values) == sorted([found.time_s, found.back_s])
    assert found.time_s > found.back_s


def test_the_worst_is_first() -> None:
    found = asymmetric(measured(1, slow={(1, 4): 1.8, (6, 2): 4.0}))
    assert [(each.sender, each.receiver) for each in found] == [(6, 2), (1, 4)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_none_is_named_where_both_directions_are_alike(seed: int, noise: float) -> None:
    assert asymmetric(measured(seed, noise)) == []


def test_a_pair_that_is_slow_both_ways_is_not_asymmetric() -> None:
    assert asymmetric(measured(1, slow={(1, 4): 3.0, (4, 1): 3.0})) == []


@pytest.mark.parametrize("seed", range(10))
def test_a_single_pair_is_judged_by_the_scatter_of_its_sizes(seed: int) -> None:
    assert asymmetric(measured(seed, pairs=[(1, 4)])) == []
    (found,) = asymmetric(measured(seed, noise=0.01, pairs=[(1, 4)], slow={(4, 1): 2.5}))
    assert (found.sender, found.receiver) == (4, 1)


def test_times_that_the_clock_hardly_sees_are_not_compared() -> None:
    measurements = measured(1, noise=0.0)
    there = measurements.parameters[1, 4]
    odd = dataclasses.replace(
        there, send_overhead_s=there.send_overhead_s + 2e-7 * (there.send_overhead_s < 1e-6)
    )
    parameters = {**measurements.parameters, (1, 4): odd}
    fine = dataclasses.replace(measurements, parameters=parameters)
    assert len(asymmetric(fine)) == 1
    assert asymmetric(dataclasses.replace(fine, resolution_s=1e-7)) == []


def test_parameters_of_one_direction_tell_nothing() -> None:
    measurements = measured(1, slow={(1, 4): 2.0})
    one = {way: each for way, each in measurements.parameters.items() if way[0] < way[1]}
    assert asymmetric(dataclasses.replace(measurements, parameters=one)) == []


CLUSTER = """\
name: c
nodes: 4
sockets: 1
cores: 2
links:
  node:    {latency: 0.6us, bandwidth: 8GB/s, capacity: 32GB/s}
  network: {latency: 1.5us, bandwidth: 6GB/s}
"""


def doctor(folder: Path, fault: str, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict]:
    system = folder / "c.yaml"
    system.write_text(CLUSTER + (f"faults:\n  - {fault}\n" if fault else ""), encoding="utf-8")
    output = folder / "measurements.jsonl"
    arguments = ["--plogp", "--both", "--max-size", "131072", *arguments]
    assert main(["probe", "--sim", str(system), *arguments, "-o", str(output)]) == 0
    capsys.readouterr()
    status = main(["doctor", str(output), "--json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    assert status == (3 if found else 0)
    return [each for each in found if each["kind"] == "asymmetric"]


@pytest.mark.usefixtures("simgrid")
@pytest.mark.parametrize(
    ("fault", "ways"),
    [
        ("", []),
        ("{between: [1, 3], bandwidth: 0.5}", []),
        ("{between: [1, 3], bandwidth: 0.5, one_way: true}", [[2, 6], [2, 7], [3, 6], [3, 7]]),
        ("{between: [3, 1], bandwidth: 0.5, one_way: true}", [[6, 2], [6, 3], [7, 2], [7, 3]]),
        ("{between: [2, 0], latency: 2, one_way: true}", [[4, 0], [4, 1], [5, 0], [5, 1]]),
    ],
)
def test_a_simulated_way_that_is_slow_in_one_direction_is_named(
    fault: str, ways: list[list[int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sorted(each["ranks"] for each in doctor(tmp_path, fault, [], capsys)) == ways


@pytest.mark.usefixtures("simgrid")
def test_what_one_node_sends_over_a_slow_cable_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = doctor(tmp_path, "{cable: 2, bandwidth: 0.5, one_way: true}", [], capsys)
    assert len(found) == 12
    assert {each["ranks"][0] for each in found} == {4, 5}


@pytest.mark.usefixtures("simgrid")
def test_a_few_pairs_that_are_not_connected_can_be_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fault = "{between: [1, 3], bandwidth: 0.5, one_way: true}"
    (found,) = doctor(tmp_path, fault, ["--pairs", "2-6,0-5"], capsys)
    assert found["ranks"] == [2, 6]
    assert found["factor"] > 1.3


def test_a_clock_without_a_resolution_tells_nothing_of_times_of_nothing() -> None:
    fine = measured(1, slow={(1, 4): 2.0}, resolution_s=0.0)
    none_s = np.zeros(len(SIZES_BYTES))
    nothing = dataclasses.replace(
        fine.parameters[2, 3], gap_s=none_s, send_overhead_s=none_s, receive_overhead_s=none_s
    )
    (found,) = asymmetric(dataclasses.replace(fine, parameters={**fine.parameters, (2, 3): nothing}))
    assert (found.sender, found.receiver) == (1, 4)
