# SPDX-License-Identifier: BSD-3-Clause
"""isochrone-probe with --plogp: the parameters of pairs."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from probe_file import Line, all_pairs, lines_of

from isochrone.files import read_measurements, write_measurements

PLOGP = ("--plogp", "--max-size", "64", "--sizes", "0", "--repetitions", "5", "--patience", "0.01")


def parameters_of(path: Path) -> dict[tuple[int, int], Line]:
    """By sender and receiver."""
    found = {}
    for line in lines_of(path):
        for entry in line.get("plogp") or ():
            if "from" in entry:
                low, high = line["pair"]
                found[entry["from"], low if entry["from"] == high else high] = entry
    return found


@pytest.mark.parametrize("ranks", [2, 4])
def test_parameters_of_every_pair_have_every_size_and_are_read_back(
    probe: Any, output: Path, ranks: int
) -> None:
    ended = probe.run(ranks, "--output", str(output), *PLOGP)
    assert (ended.code, ended.messages) == (0, [])
    found = parameters_of(output)
    assert sorted(tuple(sorted(pair)) for pair in found) == all_pairs(ranks)
    for entry in found.values():
        assert {0, 1, 2, 4, 8, 16, 32, 64} <= set(entry["sizes_bytes"])
        assert entry["sizes_bytes"] == sorted(set(entry["sizes_bytes"]))
        assert all(quartiles == sorted(quartiles) for quartiles in entry["rtt_s"])
        lengths = {len(entry[name]) for name in ("rtt_s", "send_overhead_s", "receive_overhead_s", "gap_s")}
        assert lengths == {len(entry["sizes_bytes"])}
    read = read_measurements(output)
    assert sorted(read.parameters) == sorted(found)
    write_measurements(output.with_name("again.jsonl"), read)
    again = read_measurements(output.with_name("again.jsonl"))
    for pair, entry in found.items():
        assert again.parameters[pair].document() == entry


def test_both_directions_are_measured_when_asked_for(probe: Any, output: Path) -> None:
    assert probe.run(3, "--output", str(output), *PLOGP, "--both").code == 0
    assert sorted(parameters_of(output)) == sorted(itertools.permutations(range(3), 2))


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_simulated_parameters_are_those_of_the_platform(probe: Any, output: Path) -> None:
    large = ("--max-size", "131072", "--patience", "0")
    assert (
        probe.run(4, "--output", str(output), *PLOGP[:1], *large, *PLOGP[3:5], "--repetitions", "2").code == 0
    )
    places = [(place["host"], place["cpus"]) for place in lines_of(output)[0]["places"]]
    for (sender, receiver), found in read_measurements(output).parameters.items():
        latency_s = 0.5e-6 if places[sender][0] == places[receiver][0] else 1.5e-6
        assert found.rtt_s[0, 2] == pytest.approx(2 * latency_s, abs=2e-9)
        assert found.latency_s == pytest.approx(latency_s - found.gap_s[0], abs=1e-9)
        assert {1 << k for k in range(18)} <= set(found.sizes_bytes)


def test_other_parameters_are_another_run(probe: Any, output: Path) -> None:
    assert probe.run(2, "--output", str(output), *PLOGP).code == 0
    ended = probe.run(2, "--output", str(output), *PLOGP, "--method", "thesis")
    assert ended.code == 2
    assert "measured otherwise (plogp is" in ended.messages[0]
