# SPDX-License-Identifier: BSD-3-Clause
"""An unmodified program has its ranks where the mapping puts them, and gives the results that it gave."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import PROGRAMS as RECORDED
from recorded import Library
from reordered import PROGRAMS, complaints, fake_hosts, mapped, order_of, rest, write_map

from isochrone.launch.folders import cache_folder

_MPI4PY = cache_folder() / "tests" / "mpi4py-4.1.2" / "site"
_ANOTHER_ORDER = [2, 0, 3, 1]


def _shuffled(ranks: int) -> list[int]:
    order = list(range(ranks))
    random.Random(ranks).shuffle(order)
    return order


@pytest.mark.parametrize("ranks", [1, 2, 5, 9])
def test_whatever_a_program_does_with_the_world_has_the_same_result(
    library: Library, tmp_path: Path, ranks: int
) -> None:
    at = _shuffled(ranks) if ranks > 2 else list(reversed(range(ranks)))
    plain = library.run(library.line(library.program, ranks=ranks))
    assert plain.returncode == 0, plain.stderr
    assert order_of(plain) == list(range(ranks))
    assert "0 wrong values at the end" in rest(plain), plain.stderr
    done = mapped(library, [write_map(tmp_path / "mapping.json", at)], library.program, ranks=ranks)
    assert (done.returncode, order_of(done)) == (0, at), done.stderr
    assert rest(done) == rest(plain), done.stderr
    assert complaints(done) == []


@pytest.mark.parametrize("ranks", [3, 8])
def test_a_mapping_without_hosts_numbers_the_ranks_as_they_are_launched(
    library: Library, tmp_path: Path, ranks: int
) -> None:
    at = _shuffled(ranks)
    mapping = write_map(tmp_path / "mapping.json", at, hosts=())
    done = mapped(library, [mapping], library.program, "order", ranks=ranks)
    assert (done.returncode, order_of(done)) == (0, at), done.stderr


@pytest.mark.parametrize(
    ("launched", "hosts", "at", "expected"),
    [
        ("aabb", "baab", [2, 1, 0, 3], [2, 1, 0, 3]),
        ("abab", "aabb", [0, 1, 2, 3], [0, 2, 1, 3]),
        ("bcaab", "aabbc", [4, 3, 2, 0, 1], [3, 2, 4, 0, 1]),
    ],
)
def test_ranks_are_told_by_their_hosts_and_on_one_host_by_their_order(
    library: Library, tmp_path: Path, launched: str, hosts: str, at: list[int], expected: list[int]
) -> None:
    mapping = write_map(tmp_path / "mapping.json", at, list(hosts))
    done = mapped(
        library,
        [mapping],
        library.program,
        "order",
        ranks=len(at),
        environment=fake_hosts(library, tmp_path, launched),
    )
    assert (done.returncode, order_of(done)) == (0, expected), done.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU")
def test_on_one_host_ranks_are_told_by_the_cpus_that_they_are_bound_to(
    library: Library, tmp_path: Path
) -> None:
    first, second = map(str, sorted(os.sched_getaffinity(0))[:2])
    script = tmp_path / "bound"
    script.write_text(
        f"#!/bin/sh\ncase ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in 0|1) cpu={first};; *) cpu={second};; esac\n"
        'exec taskset -c $cpu "$@"\n'
    )
    script.chmod(0o755)
    # The numbers of places say one thing, the CPUs another.
    mapping = write_map(tmp_path / "mapping.json", [0, 1, 2, 3], None, [second, first, second, first])
    done = mapped(library, [mapping], script, library.program, "order", ranks=4)
    assert (done.returncode, order_of(done)) == (0, [2, 0, 3, 1]), done.stderr


@pytest.mark.parametrize(
    ("at", "hosts", "said"),
    [
        ([1, 0], None, "it is for 2 ranks (2 on "),
        (
            [1, 0, 2, 3],
            ["x", "x", "y", "y"],
            "it is for 4 ranks (2 on x, 2 on y), and this job has 4 ranks (4 on ",
        ),
        ([3, 2, 1, 4], (), "leaves a place empty"),
    ],
)
def test_a_mapping_of_another_job_costs_one_line(
    library: Library, tmp_path: Path, at: list[int], hosts: list[str] | None, said: str
) -> None:
    mapping = write_map(tmp_path / "mapping.json", at, hosts)
    done = mapped(library, [mapping], library.program, "order", ranks=4)
    assert (done.returncode, order_of(done)) == (0, [0, 1, 2, 3]), done.stderr
    (line,) = complaints(done)
    assert said in line
    assert "map for this job, or launch as the mapping says" in line
    assert line.endswith("ranks keep the order in which they were launched")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _huge(path: Path) -> None:
    os.truncate(path, 1 << 40)


def _other_numbers(path: Path) -> None:
    document = json.loads(path.read_text())
    document["at"][2] = -1
    path.write_text(json.dumps(document))


def _too_deep(path: Path) -> None:
    path.write_text('{"isochrone":' + "[" * 200_000 + "]" * 200_000 + "}")


@pytest.mark.parametrize(
    ("damage", "seen_by"),
    [
        (_pipe, "command"),
        (_other_numbers, "command"),
        (Path.unlink, "ranks"),
        (_pipe, "ranks"),
        (_huge, "ranks"),
        (_other_numbers, "ranks"),
        (_too_deep, "ranks"),
        (lambda path: path.write_text('{"isochrone": "mapping",'), "ranks"),
    ],
)
def test_a_damaged_mapping_costs_one_line(
    library: Library, tmp_path: Path, damage: Callable[[Path], None], seen_by: str
) -> None:
    mapping = write_map(tmp_path / "mapping.json", _ANOTHER_ORDER)
    words: list[str | Path] = [library.program, "order"]
    if seen_by == "ranks":
        # The command sees another file than the ranks do.
        damaged = write_map(tmp_path / "damaged.json", _ANOTHER_ORDER)
        damage(damaged)
        words = ["env", f"ISOCHRONE_MAP={damaged}", *words]
    else:
        damage(mapping)
    done = mapped(library, [mapping], *words, ranks=4)
    assert (done.returncode, order_of(done)) == (0, [0, 1, 2, 3]), done.stderr
    (line,) = complaints(done)
    assert ("damaged.json" if seen_by == "ranks" else "mapping.json") in line
    assert "ranks keep the order in which they" in line


def test_a_job_that_aborts_has_its_exit_code(library: Library, tmp_path: Path) -> None:
    mapping = write_map(tmp_path / "mapping.json", _ANOTHER_ORDER)
    assert mapped(library, [mapping], library.program, "abort", ranks=4).returncode == 7


def test_ranks_that_a_mapped_program_starts_are_a_world_of_their_own(
    library: Library, tmp_path: Path
) -> None:
    if not library.is_openmpi:
        pytest.skip("Debian's MPICH 4.0 cannot start ranks")
    done = mapped(library, [write_map(tmp_path / "mapping.json", [1, 0])], library.program, "spawn", ranks=2)
    assert (done.returncode, order_of(done)) == (0, [1, 0]), done.stderr


@pytest.mark.parametrize(
    ("without", "how"),
    [
        pytest.param(0, ["-u", "LD_PRELOAD"], marks=pytest.mark.long),
        pytest.param(0, ["ISOCHRONE=off"], marks=pytest.mark.long),
        (1, ["-u", "LD_PRELOAD"]),
    ],
)
def test_a_rank_without_the_preload_is_not_waited_for(
    library: Library, tmp_path: Path, without: int, how: list[str]
) -> None:
    words: list[str | Path] = []
    for rank in range(2):
        words += [":", "-n", "1"] if rank else []
        words += ["env", *how] if rank == without else []
        words += [library.program, "order"]
    done = mapped(library, [write_map(tmp_path / "mapping.json", [1, 0])], *words, ranks=1)
    assert order_of(done) == [0, 1], done.stderr
    assert [line for line in complaints(done) if "not all ranks" in line] == complaints(done)
    assert len(complaints(done)) == (1 if without == 1 else 0)


@pytest.mark.parametrize("binding", ["MPIF_H", "MPI_MODULE", "MPI_F08"])
def test_a_fortran_program_is_mapped(library: Library, tmp_path: Path, binding: str) -> None:
    mapping = write_map(tmp_path / "mapping.json", _ANOTHER_ORDER)
    program = library.compiled(tmp_path / "own", PROGRAMS / "fortran.F90", f"-D{binding}", language="f90")
    done = mapped(library, [mapping], program, ranks=4)
    assert (done.returncode, order_of(done)) == (0, _ANOTHER_ORDER), done.stderr
    assert rest(done) == ["0 wrong values"]
    more = library.compiled(tmp_path / "more", RECORDED / "fortran.F90", f"-D{binding}", language="f90")
    done = mapped(library, [mapping], more, ranks=4)
    assert (done.returncode, rest(done)) == (0, ["0 wrong values"]), done.stderr


@pytest.mark.skipif(not _MPI4PY.is_dir(), reason="the tests of mpi4py have not installed it")
def test_a_program_of_mpi4py_is_mapped(library: Library, tmp_path: Path) -> None:
    if not library.is_openmpi:
        pytest.skip("the wheel of mpi4py does not find Debian's MPICH by its name")
    mapping = write_map(tmp_path / "mapping.json", _ANOTHER_ORDER)
    done = mapped(
        library,
        [mapping],
        "python3",
        PROGRAMS / "python.py",
        ranks=4,
        environment={"PYTHONPATH": str(_MPI4PY)},
    )
    assert (done.returncode, order_of(done)) == (0, _ANOTHER_ORDER), done.stderr
    assert rest(done) == ["0 wrong values"]


def test_what_is_recorded_keeps_its_order(library: Library, tmp_path: Path) -> None:
    mapping = write_map(tmp_path / "mapping.json", _ANOTHER_ORDER)
    settings = {"ISOCHRONE_RECORD": str(tmp_path / "graph.json")}
    done = mapped(library, [mapping], library.program, "order", ranks=4, environment=settings)
    assert (done.returncode, order_of(done)) == (0, [0, 1, 2, 3]), done.stderr
    (line,) = complaints(done)
    assert "record without it, then map" in line
