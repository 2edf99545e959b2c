# SPDX-License-Identifier: BSD-3-Clause
"""isochrone-probe as its users meet it: the file it writes, the file it finds, and how it ends."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import isochrone
from isochrone.files import read_measurements, write_measurements

Line = dict[str, Any]
SETTINGS = {"--repetitions": "3", "--warmup": "1", "--sizes": "0,1000"}
QUICK = tuple(itertools.chain.from_iterable(SETTINGS.items()))


def lines_of(path: Path) -> list[Line]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def pairs_of(path: Path) -> list[tuple[int, int]]:
    return [(line["pair"][0], line["pair"][1]) for line in lines_of(path) if "pair" in line]


def all_pairs(ranks: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(ranks), 2))


@pytest.fixture
def output(probe: Any) -> Path:
    path: Path = probe.folder / "measurements.jsonl"
    return path


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
def test_every_pair_is_measured_once(probe: Any, output: Path, ranks: int) -> None:
    ended = probe.run(ranks, "--output", str(output), *QUICK)

    assert (ended.code, ended.messages) == (0, [])
    header, *records, end = lines_of(output)
    assert sorted(pairs_of(output)) == all_pairs(ranks)
    assert len(records) == len(all_pairs(ranks))
    for record in records:
        for times in (record["rtt_min_s"], record["rtt_median_s"], record["send_overhead_s"]):
            assert len(times) == 2
            assert all(0 <= time_s < 60 for time_s in times)
        least_and_middle = zip(record["rtt_min_s"], record["rtt_median_s"], strict=True)
        assert all(least_s <= median_s for least_s, median_s in least_and_middle)
    moments = [record["at_s"] for record in records]
    assert moments == sorted(moments)
    assert end["end"] is True
    assert end["elapsed_s"] >= max(moments, default=0)
    assert end["pairs"] == len(records)
    assert header["isochrone"] == "measurements"
    assert (header["schema_version"], header["ranks"], header["sizes_bytes"]) == (1, ranks, [0, 1000])
    assert (header["repetitions"], header["seed"], header["simulated"]) == (3, 1, probe.simulated)
    assert len(header["places"]) == ranks
    assert header["provenance"]["version"] == isochrone.__version__
    if ranks > 1:
        assert ended.progress[-1] == f"progress {len(records)} {len(records)}"


def test_the_header_names_library_and_places(probe: Any, output: Path) -> None:
    probe.run(3, "--output", str(output), *QUICK)
    header = lines_of(output)[0]

    name, abi = {
        "openmpi": ("Open MPI", "libmpi.so.40"),
        "mpich": ("MPICH", "libmpich.so.12"),
        "smpi": ("SMPI", "smpi"),
    }[probe.mpi]
    assert header["mpi"]["library"].startswith(name)
    assert header["mpi"]["abi"] == abi
    if probe.simulated:
        places = [("n0", "0"), ("n1", "0"), ("n0", "1")]
        assert [(place["host"], place["cpus"]) for place in header["places"]] == places
        assert {place["signature"] for place in header["places"]} == {"simulated"}


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_simulated_round_trips_are_those_of_the_platform_and_repeat_themselves(
    probe: Any, tmp_path: Path
) -> None:
    files = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    for path in files:
        assert probe.run(6, "--output", str(path), "--sizes", "0", "--repetitions", "2").code == 0

    header, *records, _ = lines_of(files[0])
    for record in records:
        one, other = (header["places"][rank]["host"] for rank in record["pair"])
        latency_s = 0.5e-6 if one == other else 1.5e-6
        # SimGrid's own precision for times is a nanosecond.
        assert record["rtt_min_s"][0] == pytest.approx(2 * latency_s, abs=1e-9)
    again = lines_of(files[1])
    assert again[1:] == lines_of(files[0])[1:]


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
    "an endless line": "[" * 200_000,
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


def test_output_that_cannot_be_written_ends_all_ranks_with_one_line(probe: Any, tmp_path: Path) -> None:
    for path in (tmp_path / "missing" / "file", tmp_path, Path("/dev/full")):
        ended = probe.run(3, "--output", str(path), *QUICK)

        assert ended.code == 1
        assert [str(path) in message for message in ended.messages] == [True]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--output",),
        ("--output", "x", "--bogus"),
        ("--output", "x", "--sizes", "1,x"),
        ("--output", "x", "--sizes", "-1"),
        ("--output", "x", "--sizes", "2,1"),
        ("--output", "x", "--sizes", "99999999999999"),
        ("--output", "x", "--sizes", "0.5"),
        ("--output", "x", "--repetitions", "0"),
        ("--output", "x", "--repetitions", "1e3"),
        ("--output", "x", "--seed", "-1"),
        ("--output", "x", "--precision", "2"),
        ("--output", "x", "--precision", "nan"),
        ("--output", "x", "--budget", "-1"),
        ("--output", "x", "--budget", "60s"),
        ("--output", "x", "stray"),
    ],
)
@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_a_wrong_command_line_ends_in_one_line(probe: Any, arguments: tuple[str, ...]) -> None:
    ended = probe.run(2, *arguments)

    assert ended.code == 2
    assert len(ended.messages) == 1
    assert not (probe.folder / "x").exists()


@pytest.mark.parametrize("probe", ["mpich"], indirect=True)
def test_help_and_version_are_printed_once(probe: Any) -> None:
    shown = probe.run(2, "--help")
    version = probe.run(2, "--version")

    assert (shown.code, version.code) == (0, 0)
    assert shown.output.count("--repetitions") == 1
    assert version.output == f"{isochrone.__version__}\n"


@pytest.mark.parametrize("probe", ["mpich"], indirect=True)
def test_two_probes_do_not_write_one_file(probe: Any, output: Path) -> None:
    probe.run(2, "--output", str(output), *QUICK)
    before = output.read_bytes()
    with output.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        ended = probe.run(2, "--output", str(output), *QUICK)

    assert ended.code == 1
    assert ["another probe" in message for message in ended.messages] == [True]
    assert output.read_bytes() == before


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


def test_only_the_pairs_asked_for_are_measured_and_others_later(probe: Any, output: Path) -> None:
    arguments = ("--output", str(output), *QUICK)
    ended = probe.run(4, *arguments, "--pairs", "0-3,1-2")
    assert (ended.code, ended.messages) == (0, [])
    assert sorted(pairs_of(output)) == [(0, 3), (1, 2)]
    assert probe.run(4, *arguments, "--pairs", "0-1,0-3").code == 0
    assert sorted(pairs_of(output)) == [(0, 1), (0, 3), (1, 2)]
    assert probe.run(4, *arguments).code == 0
    assert sorted(pairs_of(output)) == all_pairs(4)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ("0-9", "there is no rank 9"),
        ("3-1", "no pair of ranks"),
        ("1-1", "no pair"),
        ("x", "no pair"),
        ("-1-2", "no pair"),
    ],
)
def test_pairs_that_there_are_not_are_refused(probe: Any, output: Path, pairs: str, said: str) -> None:
    ended = probe.run(3, "--output", str(output), *QUICK, f"--pairs={pairs}")
    assert ended.code == 2
    assert said in ended.messages[0]


def test_other_parameters_are_another_run(probe: Any, output: Path) -> None:
    assert probe.run(2, "--output", str(output), *PLOGP).code == 0
    ended = probe.run(2, "--output", str(output), *PLOGP, "--method", "thesis")
    assert ended.code == 2
    assert "measured otherwise (plogp is" in ended.messages[0]


@pytest.mark.parametrize("together", ["none", "all"])
@pytest.mark.parametrize("ranks", [2, 5])
def test_every_pair_is_measured_once_whatever_runs_at_once(
    probe: Any, output: Path, ranks: int, together: str
) -> None:
    ended = probe.run(ranks, "--output", str(output), *QUICK, "--together", together)
    assert (ended.code, ended.messages) == (0, [])
    assert sorted(pairs_of(output)) == all_pairs(ranks)


@pytest.mark.parametrize("tree", ["(0-4)", "(0,2,4)(1,3)", "((0)(4))((1)(2-3))"])
def test_every_pair_is_measured_once_by_clusters(probe: Any, output: Path, tree: str) -> None:
    ended = probe.run(5, "--output", str(output), *QUICK, "--clusters", tree)
    assert (ended.code, ended.messages) == (0, [])
    assert sorted(pairs_of(output)) == all_pairs(5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("(0-1)",), "rank 2 of 3 is in no cluster: give each rank of the job one cluster"),
        (("(0-2)(3)",), "a cluster has rank 3, but there are only 3 ranks"),
        (("(0-1)(1-2)",), "--clusters: rank 1 a second time at character 10"),
        (("(0-2",), "--clusters: no end"),
        (("(0-2)", "--together", "all"), "--together excludes --clusters"),
    ],
)
def test_wrong_clusters_are_one_line(probe: Any, output: Path, options: tuple[str, ...], said: str) -> None:
    ended = probe.run(3, "--output", str(output), *QUICK, "--clusters", *options)
    assert ended.code == 2
    assert len(ended.messages) == 1
    assert said in ended.messages[0]
    assert not output.exists()


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_the_more_pairs_run_at_once_the_sooner_a_probe_is_done(probe: Any, tmp_path: Path) -> None:
    elapsed_s = []
    for together in ("none", "nodes", "all"):
        path = tmp_path / f"{together}.jsonl"
        assert probe.run(6, "--output", str(path), *QUICK, "--together", together).code == 0
        elapsed_s.append(lines_of(path)[-1]["elapsed_s"])
    assert elapsed_s[0] > elapsed_s[1] > elapsed_s[2]


def counts_of(path: Path, size: int = 0) -> list[int]:
    """Repetitions of each pair, as its line or else the header says."""
    header, *records = [line for line in lines_of(path) if "end" not in line]
    return [(line.get("repetitions") or [header["repetitions"]] * 8)[size] for line in records]


def test_repetitions_are_within_their_limits_and_read_back(probe: Any, output: Path) -> None:
    arguments = ("--sizes", "0,1000", "--repetitions", "40", "--precision", "0.3")
    ended = probe.run(4, "--output", str(output), *arguments)
    assert (ended.code, ended.messages) == (0, [])
    assert sorted(pairs_of(output)) == all_pairs(4)
    assert all(9 <= count <= 40 for size in (0, 1) for count in counts_of(output, size))
    read = read_measurements(output)
    write_measurements(output.with_name("again.jsonl"), read)
    again = read_measurements(output.with_name("again.jsonl"))
    for low, high in all_pairs(4):
        assert again.repetitions_of(low, high) == read.repetitions_of(low, high)
    assert read.repetitions == 40
    assert 9 <= read.usual_repetitions <= 40


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_times_that_are_all_alike_take_the_fewest_repetitions(probe: Any, output: Path) -> None:
    arguments = ("--sizes", "0,1000", "--repetitions", "500", "--precision", "0.05")
    assert probe.run(4, "--output", str(output), *arguments).code == 0
    assert counts_of(output, 0) == counts_of(output, 1) == [9] * 6


def test_without_precision_every_pair_has_all_repetitions_and_says_nothing(probe: Any, output: Path) -> None:
    assert probe.run(3, "--output", str(output), *QUICK).code == 0
    assert not any("repetitions" in line for line in lines_of(output)[1:])


@pytest.mark.parametrize("budget_s", ["0.0005", "0.002", "0.01"])
@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_a_budget_is_spent_and_every_pair_measured(probe: Any, output: Path, budget_s: str) -> None:
    arguments = ("--sizes", "0,1000", "--repetitions", "100000", "--budget", budget_s, "--together", "none")
    ended = probe.run(6, "--output", str(output), *arguments)
    assert (ended.code, ended.messages) == (0, [])
    assert sorted(pairs_of(output)) == all_pairs(6)
    assert 0.5 < lines_of(output)[-1]["elapsed_s"] / float(budget_s) < 1.3
    assert max(counts_of(output)) < 100_000


@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_a_budget_that_is_too_small_is_said_and_each_pair_measured_once(probe: Any, output: Path) -> None:
    process = probe.start(6, "--output", str(output), "--sizes", "0,1000", "--budget", "0.000001")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0
    notices = [line for line in errors.splitlines() if line.startswith("notice ")]
    assert ["more than the budget of 1e-06 s" in line for line in notices] == [True]
    assert sorted(pairs_of(output)) == all_pairs(6)
    assert set(counts_of(output, 0) + counts_of(output, 1)) == {1}


@pytest.mark.parametrize("together", ["none", "nodes", "all"])
@pytest.mark.parametrize("probe", ["smpi"], indirect=True)
def test_an_estimate_writes_no_file_and_is_near_the_truth(probe: Any, output: Path, together: str) -> None:
    arguments = ("--output", str(output), "--sizes", "0,1000", "--repetitions", "20", "--together", together)
    ended = probe.run(6, *arguments, "--estimate")
    assert (ended.code, ended.messages, output.exists()) == (0, [], False)
    header, found = (json.loads(line) for line in ended.output.splitlines() if line.startswith("{"))
    assert (header["ranks"], found["pairs"]) == (6, 15)
    assert 0 < found["least_pair_s"] < found["pair_s"]

    assert probe.run(6, *arguments).code == 0
    truth_s = lines_of(output)[-1]["elapsed_s"]
    assert truth_s / 2 < found["steps"] * found["pair_s"] < truth_s * 2


@pytest.mark.parametrize("probe", ["smpi", "mpich"], indirect=True)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_an_estimate_needs_few_ranks(probe: Any, output: Path, ranks: int) -> None:
    ended = probe.run(ranks, "--output", str(output), *QUICK, "--estimate")
    assert (ended.code, ended.messages) == (0, [])
    found = json.loads(ended.output.splitlines()[-1])
    assert found["pairs"] == len(all_pairs(ranks))
    assert (found["pair_s"] > 0) == (ranks > 1)


def test_an_estimate_of_some_pairs_is_of_these(probe: Any, output: Path) -> None:
    ended = probe.run(4, "--output", str(output), *QUICK, "--estimate", "--pairs", "0-1,2-3")
    assert json.loads(ended.output.splitlines()[-1])["pairs"] == 2
    ended = probe.run(3, "--output", str(output), *QUICK, "--estimate", "--pairs", "0-9")
    assert ended.code == 2
    assert ["there is no rank 9" in message for message in ended.messages] == [True]
