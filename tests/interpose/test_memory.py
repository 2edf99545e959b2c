# SPDX-License-Identifier: BSD-3-Clause
"""The preload and the executor do nothing wrong with memory, and their threads do not race."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from interposed import HAZARDS, PROGRAMS, by_hand, launched, on_plan
from libraries import bench_of, missing, plan_of_all, recipes_run
from planned import Bench

from isochrone.launch.cached import tool

pytestmark = pytest.mark.long

_SOURCES = Path(__file__).parents[2]
_MOST_S = 900
_TARGETS = ("isochrone_mpi", "isochrone_mpi_tests")

# What the MPI library and those below it do among themselves is not looked at.
_OTHERS = ("libmpich.so", "libucp.so", "libuct.so", "libucs.so", "libfabric.so", "libhwloc.so", "libpmix.so")

# A sanitizer must be loaded before all else.
_NOTHING_FIRST = {"LD_PRELOAD": ""}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench_of("mpich", tmp_path_factory.mktemp("memory"))


def _built(preset: str) -> Path:
    """The folder of a preset's build of the preload and of the executor's tests."""
    for words in (["--preset", preset], ["--build", "--preset", preset, "--target", *_TARGETS]):
        subprocess.run([tool("cmake"), *words], cwd=_SOURCES, check=True, capture_output=True)
    return _SOURCES / "build" / preset


def _found_in(folder: Path, name: str) -> Path:
    return next(folder.rglob(name))


def _instrumented(bench: Bench, build: Path, flags: Sequence[str], *sources: Path) -> Path:
    """A program with a sanitizer, which must be loaded before all else: so the preload is linked to it."""
    program = bench.folder / f"{sources[0].stem}-{build.name}"
    preload = _found_in(build, "libisochrone_mpi.so")
    words = ["-O1", "-g", "-pthread", "-w", *flags, "-o", str(program), *map(str, sources), str(preload)]
    subprocess.run([bench.compiler, *words, f"-Wl,--no-as-needed,-rpath,{preload.parent}"], check=True)
    return program


def _run_on_plan(
    bench: Bench, folder: Path, program: Path, *arguments: str, ranks: int, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs a program that is linked to the preload on a plan for all calls."""
    settings = by_hand(bench, plan_of_all(bench, folder), program) | {"ISOCHRONE_EXPLAIN": "1"}
    line = ("-n", str(ranks), program, *arguments)
    return launched(bench, line, most_s=_MOST_S, **{**settings, **_NOTHING_FIRST, **environment})


def test_threads_in_collectives_at_once_do_not_race(bench: Bench, tmp_path: Path) -> None:
    build = _built("mpich-tsan")
    suppressions = tmp_path / "suppressions"
    suppressions.write_text("".join(f"called_from_lib:{name}\nrace:{name}\n" for name in _OTHERS))
    program = _instrumented(bench, build, ["-fsanitize=thread"], *HAZARDS)
    settings = {
        "TSAN_OPTIONS": f"suppressions={suppressions} exitcode=66 ignore_noninstrumented_modules=1",
        # UCX locks in threads that have ended, where the sanitizer does not live any more.
        "UCX_MEM_EVENTS": "no",
    }
    done = _run_on_plan(bench, tmp_path, program, "threads", "any", "200", ranks=2, **settings)
    assert done.returncode == 0, done.stderr
    assert "WARNING: ThreadSanitizer" not in done.stderr
    assert recipes_run(done)["broadcast"] > 0, done.stderr


_ASAN = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1", **_NOTHING_FIRST}


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_the_executor_stays_within_its_memory(bench: Bench, ranks: int) -> None:
    program = _found_in(_built("mpich-asan"), "isochrone_mpi_tests")
    done = launched(bench, ("-n", str(ranks), program), most_s=_MOST_S, **_ASAN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[  PASSED  ]" in done.stdout


@pytest.mark.parametrize("ranks", [2, 3])
def test_random_calls_stay_within_their_memory(bench: Bench, tmp_path: Path, ranks: int) -> None:
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-sanitize=alignment"]
    program = _instrumented(bench, _built("mpich-asan"), flags, PROGRAMS / "random_calls.c")
    done = _run_on_plan(bench, tmp_path, program, "11", "600", ranks=ranks, **_ASAN)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": 0 wrong, ") == ranks
    assert min(recipes_run(done).values()) > 0, done.stderr


def test_valgrind_finds_no_error_in_random_calls(bench: Bench, tmp_path: Path) -> None:
    if shutil.which("valgrind") is None:
        missing("valgrind is not installed")
    program = bench.with_program(PROGRAMS / "random_calls.c").program
    log = tmp_path / "valgrind.%p"
    tooled = ("valgrind", "--quiet", f"--log-file={log}", program, "12", "150")
    settings = {"ISOCHRONE_EXPLAIN": "1"}
    plan = plan_of_all(bench, tmp_path)
    done = launched(bench, ("-n", "2", *tooled), before=on_plan(plan), most_s=_MOST_S, **settings)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": 0 wrong, ") == 2, done.stdout
    assert min(recipes_run(done).values()) > 0, done.stderr
    errors = [text for path in tmp_path.glob("valgrind.*") for text in _errors(path)]
    assert not [text for text in errors if "isochrone" in text], "\n".join(errors)


def _errors(log: Path) -> list[str]:
    """The errors of a log, with their stacks."""
    lines = [line.split("== ", 1)[-1] for line in log.read_text().splitlines()]
    return "\n".join("" if line.startswith("==") else line for line in lines).split("\n\n")
