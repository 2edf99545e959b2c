# SPDX-License-Identifier: BSD-3-Clause
"""isochrone-probe as its users meet it: the file it writes, which pairs are in it, and how it ends."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Any

import pytest
from probe_file import QUICK, all_pairs, lines_of, pairs_of

import isochrone


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
