# SPDX-License-Identifier: BSD-3-Clause
"""However a program calls MPI, and whichever of its ranks have the preload, it ends as it does without it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from interposed import (
    PROGRAMS,
    by_hand,
    by_recipes,
    compiled,
    full_plan,
    is_openmpi,
    launched,
    on_plan,
)
from planned import Bench, said, write_plan_of_recipes

from isochrone.files import read_measurements

_PLAIN = "20 broadcasts, 0 wrong values\n"
_WITHOUT = "not loaded this preload, or turned it off: the MPI library's own collectives run"


@pytest.fixture(scope="module")
def rounds(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of twenty broadcasts."""
    return compiled(bench, tmp_path_factory.mktemp("rounds") / "rounds", PROGRAMS / "rounds.c")


@pytest.fixture(scope="module")
def plan(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan with a recipe for every broadcast."""
    return full_plan(bench, tmp_path_factory.mktemp("plan"))


def _setting(variables: Mapping[str, str]) -> list[str]:
    """The words before a program that set variables for it alone, under any launcher."""
    return ["env", *(f"{name}={value}" for name, value in variables.items())]


def test_broadcasts_by_large_counts_follow_the_plan(bench: Bench, plan: Path, tmp_path: Path) -> None:
    if is_openmpi(bench):
        pytest.skip("Open MPI has no MPI_Bcast_c")
    program = compiled(bench, tmp_path / "large", PROGRAMS / "rounds.c", "-DLARGE")
    done = launched(bench, ("-n", "2", program), before=on_plan(plan), ISOCHRONE_EXPLAIN="1")
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    assert by_recipes(done) == 20


@pytest.mark.parametrize("large", [False, True], ids=["int", "large"])
def test_exchanges_of_mixed_types_follow_the_plan(bench: Bench, tmp_path: Path, large: bool) -> None:
    if large and is_openmpi(bench):
        pytest.skip("Open MPI has no MPI_Alltoallw_c")
    measurements = read_measurements(bench.folder / "m.jsonl")
    write_plan_of_recipes(tmp_path, measurements, {"alltoallw": "linear/2"})
    options = ["-DLARGE"] if large else []
    program = compiled(bench, tmp_path / "mixed", PROGRAMS / "mixed_types.c", *options)
    before = on_plan(tmp_path / "plan.json")
    done = launched(bench, ("-n", "3", program), before=before, ISOCHRONE_EXPLAIN="1")
    assert (done.returncode, done.stdout) == (0, "20 exchanges, 0 wrong values\n"), done.stderr
    assert any(line.startswith("isochrone: alltoallws on rank 0: 20 by") for line in said(done)), done.stderr


def test_a_program_that_starts_mpi_by_a_session_runs_as_it_is(
    bench: Bench, plan: Path, tmp_path: Path
) -> None:
    if is_openmpi(bench):
        pytest.skip("Open MPI 4.1 has no sessions")
    program = compiled(bench, tmp_path / "session", PROGRAMS / "rounds.c", "-DSESSION")
    done = launched(bench, ("-n", "2", program), before=on_plan(plan), ISOCHRONE_EXPLAIN="1")
    # How the job ends is not asked: the ranks leave without ending MPI, and for the launcher that is now and
    # then a broken job, natively too.
    assert done.stdout.startswith(_PLAIN), done.stderr
    (line,) = said(done)
    assert "MPI_Session_init" in line


def test_data_at_addresses_of_its_own_follows_the_plan(bench: Bench, plan: Path, tmp_path: Path) -> None:
    program = compiled(bench, tmp_path / "bottom", PROGRAMS / "rounds.c", "-DBOTTOM")
    done = launched(bench, ("-n", "2", program), before=on_plan(plan), ISOCHRONE_EXPLAIN="1")
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    assert by_recipes(done) == 20


@pytest.mark.parametrize("io", ["", "romio321"])
def test_broadcasts_within_the_mpi_library_do_no_harm(
    bench: Bench, plan: Path, tmp_path: Path, io: str
) -> None:
    if io and bench.launcher != "mpiexec.openmpi":
        pytest.skip("Open MPI 4.1 has two kinds of files")
    program = compiled(bench, tmp_path / "files", PROGRAMS / "files.c")
    chosen = {"OMPI_MCA_io": io} if io else {}
    line = ("-n", "2", program, tmp_path / "data")
    plain = launched(bench, line, **chosen)
    assert (plain.returncode, plain.stdout) == (0, "0 wrong values\n"), plain.stderr
    planned = launched(bench, line, before=on_plan(plan), ISOCHRONE_EXPLAIN="1", **chosen)
    assert (planned.returncode, planned.stdout) == (0, plain.stdout), planned.stderr
    # The program's own; those of the library's input and output may come beside them.
    assert by_recipes(planned) >= 5


@pytest.mark.parametrize("kept", ["nothing", pytest.param("settings", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("ranks", "missing", "line"),
    [
        (3, {2}, f"isochrone: rank 2 of 3 has {_WITHOUT}"),
        (3, {1}, f"isochrone: rank 1 of 3 has {_WITHOUT}"),
        (3, {0}, None),
        (
            4,
            {1, 2},
            f"isochrone: ranks 1, 2 of 4 have {_WITHOUT}",
        ),
    ],
    ids=["last", "middle", "first", "two"],
)
def test_a_preload_that_some_ranks_miss_costs_one_line(
    bench: Bench, rounds: Path, plan: Path, ranks: int, missing: set[int], line: str | None, kept: str
) -> None:
    with_preload = by_hand(bench, plan, rounds)
    without = {} if kept == "nothing" else {n: v for n, v in with_preload.items() if n != "LD_PRELOAD"}
    contexts = [
        ("-n", "1", *_setting(without if rank in missing else with_preload), rounds) for rank in range(ranks)
    ]
    done = launched(bench, *contexts)
    # Nobody receives what is sent to a rank 0 that is without, and UCX says so on stdout.
    shown = "".join(text for text in done.stdout.splitlines(keepends=True) if " UCX " not in text)
    assert shown == _PLAIN, done.stderr
    # MPICH 5 takes a message that nobody received for an error, after the program's last line.
    assert done.returncode == 0 or (line is None and "unmatched message" in done.stderr), done.stderr
    (found,) = said(done)
    if line is None:
        assert "rank 0" in found
        assert "has not loaded this preload" in found
    else:
        assert found == line


def test_a_preload_that_all_ranks_have_by_hand_follows_the_plan(
    bench: Bench, rounds: Path, plan: Path
) -> None:
    with_preload = by_hand(bench, plan, rounds) | {"ISOCHRONE_EXPLAIN": "1"}
    contexts = [("-n", "1", *_setting(with_preload), rounds) for _ in range(3)]
    done = launched(bench, *contexts)
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    assert by_recipes(done) == 20


def test_a_program_of_another_library_behind_a_script_runs_as_it_is(
    bench: Bench, plan: Path, tmp_path: Path
) -> None:
    if "/" in bench.launcher:
        pytest.skip("between the libraries of the system")
    other = replace(bench, launcher="mpiexec.mpich" if is_openmpi(bench) else "mpiexec.openmpi")
    program = compiled(other, tmp_path / "rounds", PROGRAMS / "rounds.c")
    script = tmp_path / "script"
    script.write_text(f"exec {program}\n")
    # To this launcher's ranks each is a job of its own.
    plain = launched(bench, ("-n", "2", "/bin/sh", script))
    assert (plain.returncode, plain.stdout) == (0, _PLAIN * 2), plain.stderr
    planned = launched(bench, ("-n", "2", "/bin/sh", script), before=on_plan(plan))
    assert (planned.returncode, planned.stdout) == (0, plain.stdout), planned.stderr
    lines = said(planned)
    assert 1 <= len(lines) <= 2, planned.stderr
    assert all("built for another MPI library" in line for line in lines)


_HOSTILE = ("a pipe", "a device", "a folder", "a large file")
_MOST_ADDRESSES = 8 << 30
_MOST_MIB = 1024


def _hostile(folder: Path, what: str) -> Path:
    path = folder / "hostile"
    if what == "a pipe":
        os.mkfifo(path)
    elif what == "a device":
        path = Path("/dev/zero")
    elif what == "a folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(300 << 20)
    return path


@pytest.mark.parametrize("what", _HOSTILE)
@pytest.mark.parametrize("variable", ["ISOCHRONE_PLAN", "ISOCHRONE_TOPOLOGY"])
def test_a_hostile_file_in_the_place_of_a_plan_costs_the_ranks_one_line(
    bench: Bench, rounds: Path, plan: Path, tmp_path: Path, what: str, variable: str
) -> None:
    path = _hostile(tmp_path, what)
    settings = by_hand(bench, plan, rounds) | {variable: str(path)}
    # The limit saves the machine; what was taken is said by the program.
    limited = ["prlimit", f"--as={_MOST_ADDRESSES}"]
    done = launched(bench, ("-n", "2", *limited, *_setting(settings), rounds, str(_MOST_MIB)), most_s=20)
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    assert "has taken" not in done.stderr
    (line,) = said(done)
    assert str(path) in line


@pytest.mark.parametrize("what", _HOSTILE)
def test_a_hostile_file_in_the_place_of_a_plan_costs_run_one_line(
    bench: Bench, rounds: Path, tmp_path: Path, what: str
) -> None:
    path = _hostile(tmp_path, what)
    if what == "a folder":
        path = path / "plan.json"
        path.mkdir()
    limited = ["prlimit", f"--as={_MOST_ADDRESSES}"]
    done = launched(bench, ("-n", "2", rounds), before=[*limited, *on_plan(path)], most_s=20)
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    (line,) = [line for line in done.stderr.splitlines() if str(path) in line]
    assert line.endswith("running without a plan")


@pytest.mark.long
def test_more_segments_than_an_int_can_count_are_right(bench: Bench, tmp_path: Path) -> None:
    program = compiled(bench, tmp_path / "huge", PROGRAMS / "huge.c")
    plan = full_plan(bench, tmp_path, {2: "pipeline@1"})
    done = launched(bench, ("-n", "2", program), before=on_plan(plan), most_s=300, ISOCHRONE_EXPLAIN="1")
    assert (done.returncode, done.stdout) == (0, "0 wrong values\n"), done.stderr


@pytest.mark.long
def test_python_programs_follow_the_plan(bench: Bench, plan: Path, tmp_path: Path) -> None:
    if bench.launcher != "mpiexec.openmpi":
        pytest.skip("the wheel of mpi4py does not find this library")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", "mpi4py"]
    made = subprocess.run(
        [*pip, "--target", str(tmp_path), "mpi4py"], capture_output=True, text=True, timeout=300
    )
    if made.returncode != 0:
        if os.environ.get("CI") == "true":
            pytest.fail(made.stderr)
        pytest.skip("mpi4py is not to be had")
    line = ("-n", "2", sys.executable, PROGRAMS / "python.py")
    plain = launched(bench, line, PYTHONPATH=str(tmp_path))
    assert (plain.returncode, plain.stdout) == (0, "0 wrong values\n"), plain.stderr
    planned = launched(bench, line, before=on_plan(plan), PYTHONPATH=str(tmp_path), ISOCHRONE_EXPLAIN="1")
    assert (planned.returncode, planned.stdout) == (0, plain.stdout), planned.stderr
    # An object is two: its length and itself.
    assert by_recipes(planned) == 30
