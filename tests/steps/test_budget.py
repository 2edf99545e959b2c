# SPDX-License-Identifier: BSD-3-Clause
"""Repetitions, budgets and estimates on simulated clusters, where the same command takes the same time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typed import Done, typed

from isochrone.files import Measurements, read_measurements

pytestmark = pytest.mark.usefixtures("simgrid")

SYSTEM = """\
name: small
nodes: 3
sockets: 2
cores: 2
links:
  socket:  {latency: 0.3us, bandwidth: 10GB/s}
  node:    {latency: 0.6us, bandwidth: 8GB/s}
  network: {latency: 1.5us, bandwidth: 6GB/s}
"""


def run(folder: Path, *words: str) -> Done:
    (folder / "small.yaml").write_text(SYSTEM, encoding="utf-8")
    done = typed(folder, "probe", "--sim", "small.yaml", *words)
    assert done.returncode == 0, done.stderr
    return done


def probed(folder: Path, *words: str) -> Measurements:
    output = folder / "m.jsonl"
    output.unlink(missing_ok=True)
    run(folder, "-o", "m.jsonl", *words)
    found = read_measurements(output)
    assert found.complete
    return found


def test_there_are_the_fewer_repetitions_the_less_noise_there_is(tmp_path: Path) -> None:
    arguments = ("--repetitions", "100", "--precision", "0.05")
    quiet = probed(tmp_path, "--noise", "0.02", *arguments)
    loud = probed(tmp_path, "--noise", "0.4", *arguments)
    assert quiet.usual_repetitions < 15
    assert loud.usual_repetitions > 3 * quiet.usual_repetitions


def test_a_gap_is_found_amid_noise_in_few_times_the_time(tmp_path: Path) -> None:
    elapsed_s = {}
    for noise in ("0", "0.3"):
        output = tmp_path / f"{noise}.jsonl"
        words = ("--plogp", "--max-size", "16", "--pairs", "0-11", "--sizes", "0", "--repetitions", "20")
        run(tmp_path, "-o", str(output), *words, "--noise", noise)
        found = read_measurements(output).parameters[0, 11]
        assert found.gap_s == pytest.approx([30e-9] * 6, rel=0.1 if float(noise) else 1e-3)
        elapsed_s[noise] = json.loads(output.read_text(encoding="utf-8").splitlines()[-1])["elapsed_s"]
    assert elapsed_s["0.3"] < 8 * elapsed_s["0"]


def test_where_there_is_no_noise_one_repetition_is_enough(tmp_path: Path) -> None:
    plain = probed(tmp_path)
    precise = probed(tmp_path, "--precision", "0.05", "--budget", "1s")
    assert precise.repetitions == precise.usual_repetitions == 1
    # SimGrid's own precision for times is a nanosecond.
    of_first = precise.first == 0
    assert precise.rtt_min_s[of_first] == pytest.approx(plain.rtt_min_s[plain.first == 0], abs=1e-9)


@pytest.mark.parametrize("budget_s", [0.03, 0.1])
def test_a_budget_is_spent_by_what_is_noisy(tmp_path: Path, budget_s: float) -> None:
    found = probed(tmp_path, "--noise", "0.5", "--precision", "0.001", "--budget", f"{budget_s * 1000:g}ms")
    assert budget_s / 2 < found.elapsed_s < budget_s * 1.3


def test_more_time_gives_more_repetitions(tmp_path: Path) -> None:
    counts = [
        probed(tmp_path, "--noise", "0.5", "--precision", "0.001", "--budget", each).usual_repetitions
        for each in ("60ms", "200ms")
    ]
    assert counts[0] < counts[1]


def test_a_budget_that_is_too_small_is_said_in_a_line_and_all_pairs_are_there(tmp_path: Path) -> None:
    done = run(tmp_path, "--noise", "0.1", "--budget", "0.001ms")
    assert "each pair once takes about" in done.stderr
    assert "what several pairs get together is not measured" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 2
    found = read_measurements(tmp_path / "measurements.jsonl")
    assert (found.complete, found.usual_repetitions) == (True, 1)
    assert not found.streams


def test_with_time_for_it_what_several_pairs_get_together_is_measured_too(tmp_path: Path) -> None:
    assert probed(tmp_path, "--budget", "60s").streams


def test_the_adaptive_mode_keeps_to_its_budget_too(tmp_path: Path) -> None:
    run(tmp_path, "-o", "m.jsonl", "--mode", "adaptive", "--noise", "0.1", "--budget", "300ms")
    found = read_measurements(tmp_path / "m.jsonl")
    assert found.ended
    assert found.parameters
    assert found.elapsed_s < 0.6


def estimated(folder: Path, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(folder, *words, "--estimate", "--json").stdout)
    assert not (folder / "measurements.jsonl").exists()
    return found


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--noise", "0.1"),
        ("--noise", "0.1", "--together", "none", "--sizes", "0,65536"),
        ("--mode", "fast", "--share", "0.5"),
        ("--mode", "adaptive"),
        ("--noise", "0.3", "--precision", "0.001", "--budget", "50ms"),
        ("--pairs", "0-1,0-5,2-9"),
    ],
    ids=lambda words: " ".join(words) or "plain",
)
def test_an_estimate_is_within_a_factor_of_three(tmp_path: Path, words: tuple[str, ...]) -> None:
    expected = estimated(tmp_path, *words)
    run(tmp_path, "-o", "m.jsonl", *words)
    truth = read_measurements(tmp_path / "m.jsonl")
    assert expected["ranks"] == truth.ranks
    assert expected["expected_s"] / 3 < truth.elapsed_s < expected["expected_s"] * 3
    assert expected["rough"] == ("adaptive" in words)
    if not expected["rough"]:
        assert expected["pairs"] == truth.pairs_measured


def test_an_estimate_is_one_line(tmp_path: Path) -> None:
    done = run(tmp_path, "--estimate")
    assert done.stdout.count("\n") == 1
    assert done.stdout.startswith("66 of 66 pairs of 12 ranks in ")
