# SPDX-License-Identifier: BSD-3-Clause
"""isochrone-probe when it is told what to measure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from isochrone.files import read_measurements

ARGUMENTS = ("--repetitions", "3", "--warmup", "1", "--sizes", "0,1000", "--max-size", "64")


def talk(
    probe: Any, output: Path, requests: str, *more: str, ranks: int = 4, above: int = 0
) -> tuple[int, list[Any], list[str]]:
    """The exit code, the lines that it told, and its messages."""
    process = probe.start(
        ranks, "--output", str(output), "--follow-above", str(above), *ARGUMENTS, *more, stdin=True
    )
    told, messages = process.communicate(requests, timeout=120)
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    return process.returncode, lines, [m for m in messages.splitlines() if m.startswith("isochrone-")]


def test_it_measures_what_it_is_asked_for_and_tells_what_it_writes(probe: Any, output: Path) -> None:
    code, told, messages = talk(
        probe, output, "rtt 0-3,1-2\nplogp 0-1\nalone 0-3\nstream 5000 4 3-0,1-2\n", "--plogp"
    )
    assert (code, messages) == (0, [])
    assert [line["pair"] for line in told if "pair" in line and "alone" not in line][-1] == [0, 1]
    found = read_measurements(output)
    assert found.ended
    assert (found.pairs_measured, set(found.alone)) == (3, {(0, 3)})
    assert {frozenset(pair) for pair in found.parameters} == {frozenset((0, 1))}
    (stream,) = found.streams
    assert (stream.pairs, stream.size_bytes, stream.messages) == (((3, 0), (1, 2)), 5000, 4)
    assert stream.rate_bytes_per_s > 0
    written = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert told == written[:-1]


def test_it_ends_when_it_is_told_to_though_its_input_stays_open(probe: Any, output: Path) -> None:
    arguments = ("--output", str(output), "--follow-above", "0", *ARGUMENTS)
    process = probe.start(2, *arguments, stdin=True)
    process.stdin.write("rtt 0-1\nend\n")
    process.stdin.flush()
    assert process.wait(timeout=120) == 0
    process.communicate()
    assert read_measurements(output).ended


@pytest.mark.parametrize("more", ["alone 0-1\n", "stream 100 4 0-1\n"])
def test_a_file_that_gets_no_new_pairs_has_its_end_again(probe: Any, output: Path, more: str) -> None:
    assert talk(probe, output, "rtt 0-1\n")[0] == 0
    assert talk(probe, output, more)[0] == 0
    lines = output.read_text(encoding="utf-8").splitlines()
    assert ["end" in json.loads(line) for line in lines] == [False, False, True, False, True]
    assert read_measurements(output).ended
    assert talk(probe, output, "")[0] == 0
    assert output.read_text(encoding="utf-8").splitlines() == lines


def test_without_a_request_nothing_is_measured(probe: Any, output: Path) -> None:
    code, told, _ = talk(probe, output, "")
    assert (code, len(told)) == (0, 1)
    assert read_measurements(output).pairs_measured == 0


def test_with_few_ranks_it_measures_all_pairs_first(probe: Any, output: Path) -> None:
    code, told, _ = talk(probe, output, "alone 0-1\n", ranks=3, above=3)
    assert code == 0
    assert [line["pair"] for line in told[1:]][-1] == [0, 1]
    assert read_measurements(output).complete


@pytest.mark.parametrize(
    ("request_line", "complaint"),
    [
        ("rtt 3-0", "'3-0', which is no pair"),
        ("rtt 0-4", "'0-4', which is no pair"),
        ("rtt", "'', which is no pair"),
        ("rtt 0-1,", "'', which is no pair"),
        ("rtt 1-1", "'1-1', which is no pair"),
        ("rtt 0-99999999999999999999", "which is no pair"),
        ("guess 0-1", "begins with none of"),
        ("plogp 0-1", "without --plogp"),
        ("stream 0 4 0-1", "'0' for a number from 1"),
        ("stream 10 x 0-1", "'x' for a number"),
        ("stream 10 4 0-1,1-2", "a rank in two pairs"),
    ],
)
@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_a_request_that_makes_no_sense_is_one_line(
    probe: Any, output: Path, request_line: str, complaint: str
) -> None:
    code, _, messages = talk(probe, output, f"{request_line}\nrtt 0-1\n")
    assert code == 2
    (message,) = messages
    assert message.startswith("isochrone-probe: standard input: ")
    assert complaint in message


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_a_request_that_is_cut_off_is_refused(probe: Any, output: Path) -> None:
    code, _, messages = talk(probe, output, "rtt 0-1")
    assert (code, len(messages)) == (2, 1)
    assert "not complete" in messages[0]
