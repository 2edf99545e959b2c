# SPDX-License-Identifier: BSD-3-Clause
"""isochrone-probe and the file it finds: its own that breaks off, a damaged one, another's."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from probe_file import QUICK, SETTINGS, all_pairs, count_lines, lines_of, pairs_of


def test_a_run_that_is_killed_is_resumed_and_measures_only_what_is_missing(probe: Any, output: Path) -> None:
    ranks, arguments = 5, ("--output", str(output), "--repetitions", "20", "--sizes", "0,1000")
    kept: list[str] = []
    for least_lines in (1, 2, 4):
        process = probe.start(ranks, *arguments)
        while process.poll() is None and count_lines(output) < least_lines:
            time.sleep(0.002)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        whole = output.read_text(encoding="utf-8").rpartition("\n")[0].splitlines()
        assert whole[: len(kept)] == kept
        kept = whole

    assert probe.run(ranks, *arguments).code == 0
    assert output.read_text(encoding="utf-8").splitlines()[: len(kept)] == kept
    assert sorted(pairs_of(output)) == all_pairs(ranks)
    assert "end" in lines_of(output)[-1]


def test_a_file_that_breaks_off_anywhere_is_completed(probe: Any, output: Path) -> None:
    ranks = 4
    assert probe.run(ranks, "--output", str(output), *QUICK).code == 0
    whole = output.read_bytes()
    chosen = random.Random(1)
    ends_of_lines = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    cuts = [0, 10, ends_of_lines[0], ends_of_lines[3], *chosen.sample(range(ends_of_lines[0], len(whole)), 3)]
    for cut in cuts:
        output.write_bytes(whole[:cut])
        kept = whole[:cut].rpartition(b"\n")[0].splitlines()

        ended = probe.run(ranks, "--output", str(output), *QUICK)

        assert ended.code == 0
        torn = cut not in (0, *ends_of_lines)
        assert len(ended.messages) == torn
        assert all("dropped" in message for message in ended.messages)
        assert output.read_bytes().splitlines()[: len(kept)] == kept
        assert sorted(pairs_of(output)) == all_pairs(ranks)
        missing = len(all_pairs(ranks)) - sum(b'"pair":' in line for line in kept)
        assert lines_of(output)[-1]["pairs"] == missing


def test_a_complete_file_is_left_as_it_is(probe: Any, output: Path) -> None:
    probe.run(3, "--output", str(output), *QUICK)
    before = output.read_bytes()

    ended = probe.run(3, "--output", str(output), *QUICK)

    assert (ended.code, ended.messages, output.read_bytes()) == (0, [], before)


def test_a_damaged_last_line_is_reported_and_measured_anew(probe: Any, output: Path) -> None:
    probe.run(3, "--output", str(output), *QUICK)
    lines = output.read_bytes().splitlines(keepends=True)[:3]
    output.write_bytes(b"".join(lines) + b'{"pair":[0,\xff\n')

    ended = probe.run(3, "--output", str(output), *QUICK)

    assert ended.code == 0
    assert [f"{output}:4: " in message for message in ended.messages] == [True]
    assert sorted(pairs_of(output)) == all_pairs(3)
    assert output.read_bytes().startswith(b"".join(lines))


def pair_line(pair: str, times: str = "[0,0]") -> str:
    return f'{{"pair":{pair},"rtt_min_s":{times},"rtt_median_s":[0,0],"send_overhead_s":[0,0],"at_s":0}}'


DAMAGES = {
    "no JSON": "{nonsense",
    "no object": "[1,2]",
    "no pair": '{"at_s":0}',
    "a pair out of range": pair_line("[0,3]"),
    "a pair of one": pair_line("[1,1]"),
    "a huge rank": pair_line("[0,18446744073709551615]"),
    "a fraction of a rank": pair_line("[0,1.5]"),
    "too few times": pair_line("[0,1]", "[0]"),
    "a negative time": pair_line("[0,1]", "[-1,0]"),
    "a time that is no number": pair_line("[0,1]", '["a",0]'),
    "an infinite time": pair_line("[0,1]", "[1e999,0]"),
    "a time that only one list has": pair_line("[0,1]", "[0,null]"),
    "an endless line": "[" * 200_000,
    "too deep a pair": pair_line("[" * 100_000 + "]" * 100_000),
    "too deep objects": '{"pair":' * 100_000 + "0" + "}" * 100_000,
    "an empty line": "",
}


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_damaged_in_the_middle_is_refused_in_one_line(probe: Any, output: Path, damage: str) -> None:
    probe.run(3, "--output", str(output), *QUICK)
    header, _, *rest = output.read_text(encoding="utf-8").splitlines(keepends=True)
    output.write_text(header + DAMAGES[damage] + "\n" + "".join(rest), encoding="utf-8")
    before = output.read_bytes()

    ended = probe.run(3, "--output", str(output), *QUICK)

    assert ended.code == 1
    assert [f"{output}:2: damaged" in message for message in ended.messages] == [True]
    assert len(ended.messages[0]) < 400 + len(str(output))
    assert output.read_bytes() == before


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_a_header_that_is_nested_too_deeply_is_refused_in_one_line(probe: Any, output: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    output.write_text(f'{{"isochrone":"measurements","schema_version":1,"ranks":{deep}}}\n', encoding="utf-8")

    ended = probe.run(3, "--output", str(output), *QUICK)

    assert ended.code == 2
    assert [f"{output}:1: not a file of measurements" in message for message in ended.messages] == [True]


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_a_pair_that_is_there_twice_counts_once(probe: Any, output: Path) -> None:
    probe.run(3, "--output", str(output), *QUICK)
    header, first, second, *_ = output.read_text(encoding="utf-8").splitlines(keepends=True)
    output.write_text("".join([header, first, first, second]), encoding="utf-8")

    ended = probe.run(3, "--output", str(output), *QUICK)

    assert ended.code == 0
    pairs = pairs_of(output)
    assert (len(pairs), set(pairs)) == (4, set(all_pairs(3)))


@pytest.mark.parametrize(
    ("change", "ranks", "named"),
    [
        ({"--seed": "2"}, 3, "seed"),
        ({"--repetitions": "4"}, 3, "repetitions"),
        ({"--sizes": "0"}, 3, "sizes_bytes"),
        ({}, 2, "ranks"),
    ],
)
def test_the_file_of_another_run_is_refused(
    probe: Any, output: Path, change: dict[str, str], ranks: int, named: str
) -> None:
    probe.run(3, "--output", str(output), *QUICK)
    before = output.read_bytes()

    arguments = itertools.chain.from_iterable((SETTINGS | change).items())
    ended = probe.run(ranks, "--output", str(output), *arguments)

    assert ended.code == 2
    assert [named in message and f"{output}:1: " in message for message in ended.messages] == [True]
    assert output.read_bytes() == before


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_the_file_of_other_places_or_another_library_is_refused(probe: Any, output: Path) -> None:
    probe.run(3, "--output", str(output), *QUICK)
    header, *rest = lines_of(output)
    for change, named in (
        ({"places": [*header["places"][:2], {**header["places"][2], "host": "n9"}]}, "rank 2 was at"),
        ({"places": header["places"][:2]}, "places"),
        ({"places": 7}, "places"),
        ({"mpi": {**header["mpi"], "abi": "libmpi.so.40"}}, "mpi"),
        ({"simulated": False}, "simulated"),
        ({"schema_version": 2}, "schema_version"),
    ):
        lines = [{**header, **change}, *rest]
        output.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

        ended = probe.run(3, "--output", str(output), *QUICK)

        assert ended.code == 2
        assert [named in message for message in ended.messages] == [True]


@pytest.mark.parametrize("text", ["dear diary\nwhat a day\n", "dear diary", "{}\n", "\n", "[]\n"])
@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_a_file_of_another_kind_is_never_touched(probe: Any, output: Path, text: str) -> None:
    output.write_text(text, encoding="utf-8")

    ended = probe.run(2, "--output", str(output), *QUICK)

    assert ended.code == 2
    assert [f"{output}:1: not a file of measurements" in message for message in ended.messages] == [True]
    assert output.read_text(encoding="utf-8") == text
