# SPDX-License-Identifier: BSD-3-Clause
"""`isochrone advise` on programs whose collectives are known by how they are made. Of times only what no
machine can
get wrong is asked: a sleep takes as long as it takes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from recorded import PROGRAMS, RANKS, Library

from isochrone.files.profile import Profile, read_profile

ALL = tuple(range(RANKS))


@pytest.fixture(scope="module")
def timed(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    options = [] if library.is_openmpi else ["-DPERSISTENT"]
    return library.compiled(tmp_path_factory.mktemp("timed") / "timed", PROGRAMS / "timed.c", *options)


def advised(
    library: Library, folder: Path, *words: str | Path, options: Sequence[str] = ("--json",)
) -> subprocess.CompletedProcess[str]:
    own = [sys.executable, "-m", "isochrone", "advise", *options, "-o", str(folder / "profile.json"), "--"]
    return library.run([*own, *library.line(*words)])


def told(library: Library, folder: Path, *words: str | Path) -> tuple[dict[str, Any], Profile]:
    done = advised(library, folder, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), read_profile(folder / "profile.json")


def test_a_program_that_sleeps_and_meets_once_has_nothing_to_gain(
    library: Library, timed: Path, tmp_path: Path
) -> None:
    found, profile = told(library, tmp_path, timed, "idle")
    (row,) = profile.rows
    assert (row.collective, row.calls, row.sampled, row.bytes) == ("barrier", 1, 1, 0)
    assert profile.groups == (ALL,)
    # The sleep is none of the collective's time.
    assert all(
        rank_s - spent_s >= 0.4 for rank_s, spent_s in zip(profile.rank_s, profile.collectives_s, strict=True)
    )
    assert found["kinds"][0]["calls"] == 1
    assert found["saved_share"] == 0


def test_waiting_for_a_late_rank_is_told_from_the_operation(
    library: Library, timed: Path, tmp_path: Path
) -> None:
    found, profile = told(library, tmp_path, timed, "late")
    (row,) = profile.rows
    assert (row.collective, row.calls, row.sampled) == ("barrier", 10, 10)
    # Nine of ten times that the others wait for are known to be sleeps of the last.
    assert row.seconds >= 9 * 0.04 * (RANKS - 1)
    assert 9 * 0.04 * (RANKS - 1) * 0.9 <= row.waiting_s <= row.sampled_s
    assert profile.waiting_s[-1] < min(profile.waiting_s[:-1])
    assert found["verdict"][1].startswith("The program waits: ")
    assert "no algorithm helps" in found["verdict"][1]


def test_a_program_of_broadcasts_is_all_in_them(library: Library, timed: Path, tmp_path: Path) -> None:
    found, profile = told(library, tmp_path, timed, "bcasts")
    (row,) = profile.rows
    assert (row.collective, row.calls, row.bytes) == ("bcast", 3000, 3000 << 16)
    assert 128 <= row.sampled <= 256
    (kind,) = found["kinds"]
    assert kind["size_bytes"] == 1 << 16
    assert kind["gain"]["source"] == "unknown"
    assert found["share"] > 0.5
    assert found["open_share"] <= found["share"]


def test_calls_are_told_apart_by_collective_size_root_and_communicator(
    library: Library, timed: Path, tmp_path: Path
) -> None:
    found, profile = told(library, tmp_path, timed, "kinds")
    seen = {
        (row.collective, profile.groups[row.group], row.root): set[tuple[int, int]]() for row in profile.rows
    }
    for row in profile.rows:
        seen[row.collective, profile.groups[row.group], row.root].add((row.calls, row.bytes))
    assert seen == {
        ("allreduce", ALL, 0): {(600, 2400)},
        ("bcast", (0, 2), 1): {(3, 3000)},
        ("bcast", (1, 3), 1): {(3, 3000)},
        ("bcast", ALL, 0): {(4, 4006), (2, 6000)},
        ("gather", ALL, 0): {(5, 500)},
        ("alltoallv", ALL, 0): {(1, 0)},
    }
    assert profile.untimed["nonblocking"] == 2
    assert "Not covered: nonblocking collectives (2 calls of a rank)." in found["verdict"]
    halves = [kind for kind in found["kinds"] if kind["communicators"] == 2]
    assert [(kind["collective"], kind["calls"], kind["ranks"]) for kind in halves] == [("bcast", 6, 2)]
    for row in profile.rows:
        assert 0 <= row.waiting_s <= row.sampled_s <= row.seconds * (1 + 1e-9)
        assert row.slowest_s <= row.seconds
    assert all(s <= whole for s, whole in zip(profile.collectives_s, profile.rank_s, strict=True))


def test_one_of_several_threads_that_might_call_is_sampled(
    library: Library, timed: Path, tmp_path: Path
) -> None:
    _, profile = told(library, tmp_path, timed, "alone")
    (row,) = profile.rows
    assert (row.collective, row.calls, row.sampled) == ("barrier", 10, 10)


def test_only_what_several_threads_call_is_not_sampled(library: Library, timed: Path, tmp_path: Path) -> None:
    found, profile = told(library, tmp_path, timed, "threads")
    assert {(row.collective, row.calls, row.sampled) for row in profile.rows} == {
        ("bcast", 10, 0),
        ("barrier", 10, 10),
    }
    (kind,) = (kind for kind in found["kinds"] if kind["collective"] == "bcast")
    assert kind["saved_share"] is None


def test_persistent_collectives_are_counted_when_they_are_started(
    library: Library, timed: Path, tmp_path: Path
) -> None:
    if library.is_openmpi:
        pytest.skip("Open MPI 4 has no persistent collectives")
    _, profile = told(library, tmp_path, timed, "persistent")
    assert (profile.untimed["persistent"], profile.untimed["neighbours"]) == (3, 4)


def test_a_rank_without_memory_lets_nobody_wait(library: Library, timed: Path, tmp_path: Path) -> None:
    done = advised(library, tmp_path, timed, "full")
    assert done.returncode == 1, done.stderr
    assert "nothing is recorded: a rank has no memory for what all have seen" in done.stderr


def test_a_program_without_collectives_is_told_so(library: Library, timed: Path, tmp_path: Path) -> None:
    found, profile = told(library, tmp_path, timed, "none")
    assert profile.rows == ()
    assert found["verdict"] == ["The program makes no blocking collective calls: nothing to gain here."]


def test_the_exit_code_is_the_program_s(library: Library, timed: Path, tmp_path: Path) -> None:
    done = advised(library, tmp_path, timed, "fails", options=())
    assert done.returncode == 7 or library.is_openmpi, done.stderr
    assert done.returncode != 0
