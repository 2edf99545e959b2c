# SPDX-License-Identifier: BSD-3-Clause
"""What a program sends is recorded exactly, whatever way it sends it, and the program does not notice."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from planned import KEEPS_ITS_CORE
from recorded import PROGRAMS, RANKS, Library, calls, figures, ring, rows

from isochrone.files import read_graph

ALL = tuple(range(RANKS))


def test_blocking_messages_are_counted_by_size(library: Library, tmp_path: Path) -> None:
    graph = library.recorded(tmp_path, "blocking")
    assert rows(graph) == ring([(1, 0), (6, 3 * 100 + 101 + 102 + 103)])
    assert calls(graph) == {("barrier", ALL, 0): [(7, 0)]}


def test_messages_with_requests_are_counted_and_those_to_itself_are_not(
    library: Library, tmp_path: Path
) -> None:
    assert rows(library.recorded(tmp_path, "nonblocking")) == ring([(2, 3200)])


def test_persistent_messages_are_counted_when_they_are_started(library: Library, tmp_path: Path) -> None:
    assert rows(library.recorded(tmp_path, "persistent")) == ring([(9, 5 * 3000 + 4 * 3001)])


def test_exchanges_count_once(library: Library, tmp_path: Path) -> None:
    assert rows(library.recorded(tmp_path, "exchange")) == ring([(2, 1001)])


def test_one_sided_data_are_counted_in_the_direction_that_they_go(library: Library, tmp_path: Path) -> None:
    found = rows(library.recorded(tmp_path, "onesided"))
    forth = sorted([(1, 10000), (1, 256), (1, 4)])
    back = sorted([(1, 20000), (1, 256), (1, 4)])
    assert found == ring(forth) | {(target, source): back for source, target in ring(forth)}


def test_ranks_of_other_communicators_are_those_of_the_world(library: Library, tmp_path: Path) -> None:
    graph = library.recorded(tmp_path, "subcomms")
    inside = {(rank, (rank - 2) % 4): [(1, 700)] for rank in ALL}
    between = {(0, 3): [(1, 800)], (2, 3): [(1, 800)], (1, 2): [(1, 800)], (3, 2): [(1, 800)]}
    assert rows(graph) == inside | between
    assert calls(graph) == {("bcast", (2, 0), 1): [(2, 1800)], ("bcast", (3, 1), 1): [(2, 1800)]}


def test_neighbours_of_a_grid_get_what_they_are_sent(library: Library, tmp_path: Path) -> None:
    found = rows(library.recorded(tmp_path, "neighbours"))
    pairs = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    assert found == {pair: [(1, 60), (1, 70)] for pair in pairs}


def test_collectives_are_kept_as_calls_in_place_or_not(library: Library, tmp_path: Path) -> None:
    graph = library.recorded(tmp_path, "collectives")
    expected = {
        ("allreduce", ALL, 0): [(2, 8000)],
        ("reduce", ALL, 1): [(1, 4000)],
        ("bcast", ALL, 1): [(2, 8000)],
        ("bcast", ALL, 0): [(1, 0)],
        ("scan", ALL, 0): [(1, 4000)],
        ("exscan", ALL, 0): [(1, 4000)],
        ("gather", ALL, 0): [(1, 40)],
        ("scatter", ALL, 0): [(1, 40)],
        ("allgather", ALL, 0): [(1, 40)],
        ("allgatherv", ALL, 0): [(1, 160)],
        ("alltoall", ALL, 0): [(1, 40)],
        ("reduce_scatter_block", ALL, 0): [(1, 40)],
        ("reduce_scatter", ALL, 0): [(1, 160)],
        ("barrier", ALL, 0): [(1, 0)],
    }
    if not library.is_openmpi:
        expected["bcast", ALL, 0] = [(1, 0), (3, 12000)]
    assert rows(graph) == {}
    assert calls(graph) == expected
    assert graph.broken_down is not None
    assert set(graph.broken_down.collectives) == {name for name, _, _ in expected}


def test_collectives_of_which_ranks_know_their_own_sizes_are_rows(library: Library, tmp_path: Path) -> None:
    pieces = library.recorded(tmp_path, "pieces").pieces
    found = {
        (str(name), int(source), int(target)): int(volume_bytes)
        for name, source, target, volume_bytes in zip(
            pieces.collectives, pieces.sources, pieces.targets, pieces.volume_bytes, strict=True
        )
    }
    exchanges = {
        (name, rank, (rank + 1) % RANKS): 4 * (1 + rank)
        for name in ("alltoallv", "alltoallw")
        for rank in ALL
    }
    others = range(1, RANKS)
    gathers = {("gatherv", rank, 0): 8 * (1 + rank) for rank in others}
    assert found == exchanges | gathers | {("scatterv", 0, rank): 8 * (1 + rank) for rank in others}


def test_a_program_divides_its_record_into_phases(library: Library, tmp_path: Path) -> None:
    graph = library.recorded(tmp_path, "phases")
    by_phase = {
        phase: graph.task_graph(phase).volume_bytes.tolist()
        for phase in np.unique(graph.rows.phases).tolist()
    }
    assert by_phase == {1: [10] * RANKS, 2: [30] * RANKS, 5: [90] * RANKS}


def test_messages_of_several_threads_are_all_counted(library: Library, tmp_path: Path) -> None:
    assert rows(library.recorded(tmp_path, "threads")) == ring([(4000, 64000)])


@pytest.mark.parametrize("times", [5_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_communicators_that_are_freed_leave_nothing_behind(
    library: Library, tmp_path: Path, times: int
) -> None:
    done = library.record(
        tmp_path / "graph.json", library.program, "many", str(times), ranks=2, **KEEPS_ITS_CORE
    )
    assert done.returncode == 0, done.stderr
    grown = re.search(r"grew by (-?\d+) KiB", done.stdout)
    assert grown is not None, done.stdout
    assert int(grown[1]) < 2 * 1024
    graph = read_graph(tmp_path / "graph.json")
    assert rows(graph) == {(0, 1): [(times, times)], (1, 0): [(times, times)]}
    assert len(graph.groups) == 1


@pytest.mark.parametrize("binding", ["MPIF_H", "MPI_MODULE", "MPI_F08"])
def test_a_fortran_program_gives_the_same_result_and_exact_counts(
    library: Library, tmp_path: Path, binding: str
) -> None:
    program = library.compiled(tmp_path / "fortran", PROGRAMS / "fortran.F90", f"-D{binding}", language="f90")
    plain = library.run(library.line(program))
    assert (plain.returncode, plain.stdout) == (0, "0 wrong values\n"), plain.stderr
    done = library.record(tmp_path / "graph.json", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(plain.stdout)
    graph = read_graph(tmp_path / "graph.json")
    assert rows(graph) == ring([(1, 800), (1, 1200), (3, 600)])
    assert calls(graph) == {
        ("allreduce", ALL, 0): [(2, 8000)],
        ("gather", ALL, 0): [(1, 40)],
        ("allgather", ALL, 0): [(1, 40)],
        ("alltoall", ALL, 0): [(1, 20)],
        ("reduce", ALL, 0): [(1, 4)],
    }


def test_runs_add_up(library: Library, tmp_path: Path) -> None:
    first, both = tmp_path / "first.json", tmp_path / "both.json"
    assert library.record(first, library.program, "exchange").returncode == 0
    done = library.record(
        both, library.program, "exchange", "subcomms", options=["--add", str(first), "--json"]
    )
    assert done.returncode == 0, done.stderr
    assert "0 wrong values" in done.stderr  # the program's output makes way for ours
    assert (figures(done)["runs"], figures(done)["ranks"]) == (2, RANKS)
    graph = read_graph(both)
    assert all((4, 2002) in [*found, (4, 2002)] for found in rows(graph).values())
    assert {pair: found for pair, found in rows(graph).items() if pair == (0, 1)} == {(0, 1): [(4, 2002)]}
    assert sum(int(count) for count in graph.calls.calls) == 4
    assert [place.host for place in graph.places] == [graph.places[0].host] * RANKS


def test_a_run_that_cannot_be_added_to_another_is_kept_by_itself(library: Library, tmp_path: Path) -> None:
    first, both = tmp_path / "first.json", tmp_path / "both.json"
    assert library.record(first, library.program, "exchange", ranks=RANKS - 1).returncode == 0
    done = library.record(both, library.program, "exchange", options=["--add", str(first)])
    assert done.returncode == 1
    assert f"what was recorded is in {tmp_path / 'both-alone.json'}" in done.stderr
    assert not both.exists()
    assert read_graph(tmp_path / "both-alone.json").ranks == RANKS


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("exit", "0"), "the program ended without MPI_Finalize"),
        (("exit", "7"), "the program ended without MPI_Finalize"),
        (("abort",), "the program ended without MPI_Finalize (exit code"),
    ],
)
def test_a_job_that_dies_leaves_no_half_file(
    library: Library, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = library.record(tmp_path / "graph.json", library.program, *words)
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if "nothing was recorded" in line]
    assert said in line
    assert list(tmp_path.iterdir()) == []


def test_a_rank_that_ends_at_once_does_not_hide_that_mpi_began(library: Library, tmp_path: Path) -> None:
    slow = library.compiled(tmp_path / "slow", PROGRAMS / "slow.c", "-rdynamic", "-ldl")
    done = library.record(tmp_path / "graph.json", slow)
    assert done.returncode != 0
    assert "the program ended without MPI_Finalize" in done.stderr
    assert list(tmp_path.iterdir()) == [slow]


def test_a_program_that_never_starts_mpi_is_told_of(library: Library, tmp_path: Path) -> None:
    done = library.record(tmp_path / "graph.json", "/bin/true")
    assert done.returncode == 1
    assert "nothing was recorded: no MPI_Init of" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_known_before_the_program_runs(library: Library, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    done = library.record(Path("/proc/graph.json"), "touch", ran)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("isochrone: ")]
    assert line.startswith("isochrone: /proc/graph.json: cannot write (")
    assert not ran.exists()


def test_a_static_program_is_told_of(library: Library, tmp_path: Path) -> None:
    (tmp_path / "none.c").write_text("int main(void) { return 0; }\n")
    compiler = library.launcher.replace("mpiexec", "mpicc")
    done = library.run(["cc", "-static", "-o", str(tmp_path / "none"), str(tmp_path / "none.c")])
    assert done.returncode == 0, f"{compiler}: {done.stderr}"
    done = library.record(tmp_path / "graph.json", tmp_path / "none")
    assert done.returncode == 1
    assert "static program" in done.stderr
    assert not (tmp_path / "graph.json").exists()


def test_a_program_of_another_library_is_not_started(library: Library, tmp_path: Path) -> None:
    other = "mpicc.mpich" if library.is_openmpi else "mpicc.openmpi"
    done = library.run([other, "-w", "-pthread", "-o", str(tmp_path / "other"), str(PROGRAMS / "kinds.c")])
    assert done.returncode == 0, done.stderr
    done = library.record(tmp_path / "graph.json", tmp_path / "other")
    assert done.returncode == 1
    assert "the program needs libmpi" in done.stderr
    assert done.stdout == ""


def test_a_file_of_another_kind_is_not_replaced(library: Library, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"isochrone": "plan"}\n')
    done = library.record(tmp_path / "plan.json", library.program, "exchange")
    assert done.returncode == 1
    assert "holds plan" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("without", [0, 1])
def test_a_rank_without_the_preload_is_not_waited_for(library: Library, tmp_path: Path, without: int) -> None:
    words: list[str | Path] = []
    for rank in range(2):
        words += [":", "-n", "1"] if rank else []
        words += ["env", "-u", "LD_PRELOAD"] if rank == without else []
        words += [library.program, "exchange"]
    done = library.record(tmp_path / "graph.json", *words, ranks=1)
    assert "0 wrong values\n" in done.stdout, done.stderr
    assert "nothing was recorded" in done.stderr
    assert ("not all ranks have loaded this preload" in done.stderr) == (without == 1)
    assert list(tmp_path.iterdir()) == []
