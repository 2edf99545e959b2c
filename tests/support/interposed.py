# SPDX-License-Identifier: BSD-3-Clause
"""Programs of C and Fortran under the preload: compiled, started in every way that launch lines know, and
ended in time.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from planned import EVIDENCE, Bench, defaults_of, said

from isochrone.files import Rule, write_plan
from isochrone.launch.launcher import read_launch_line
from isochrone.launch.preload import settings_for
from isochrone.launch.registry import library_of

MOST_S = 120
PROGRAMS = Path(__file__).parents[1] / "interpose" / "programs"
HAZARDS = sorted((PROGRAMS / "hazards").glob("*.c"))
"""The files of one program."""

# A recipe for every broadcast among so many ranks of one node.
RECIPES = {2: "pipeline@100", 3: "binomial", 4: "scatter_allgather@4096"}

# What a command and all that it starts have in their environment.
_MARK = "ISOCHRONE_TEST_MARK"

_COUNTER = re.compile(r"isochrone: broadcasts on rank 0: (\d+) by the plan's recipes, (.*)")


def is_openmpi(bench: Bench) -> bool:
    """Whether the launcher is Open MPI's."""
    return "openmpi" in bench.launcher


def compiled(bench: Bench, output: Path, *words: str | Path, language: str = "cc") -> Path:
    """What the library's compiler wrapper makes of source files and options; `language` is cc or f90."""
    compiler = bench.launcher.replace("mpiexec", f"mpi{language}")
    options = ["-O1"]
    if language == "f90":
        # A header says nothing of arguments, and compilers miss that they were alike.
        options = ["-std=legacy", "-w"]
        if shutil.which(compiler) is None or shutil.which("gfortran") is None:
            if os.environ.get("CI") == "true" and "/" not in compiler:
                pytest.fail(f"{compiler} and gfortran are missing")
            pytest.skip(f"{compiler} or gfortran is not installed")
    subprocess.run(
        [compiler, *options, "-o", str(output), *map(str, words)], check=True, cwd=output.parent, timeout=120
    )
    return output


def full_plan(bench: Bench, folder: Path, recipes: Mapping[int, str] = RECIPES) -> Path:
    """A plan with a recipe for every broadcast, in a folder."""
    shutil.copy(bench.folder / "topology.json", folder)
    rules = tuple(
        Rule("bcast", f"{size} ranks in one node", 1, 1 << 40, recipe, EVIDENCE)
        for size, recipe in recipes.items()
    )
    write_plan(folder / "plan.json", replace(bench.plan, rules=rules))
    return folder / "plan.json"


def on_plan(plan: Path) -> list[str]:
    """The words before a launch line that put it on a plan."""
    return [sys.executable, "-m", "isochrone", "run", "--plan", str(plan), "--"]


def by_hand(bench: Bench, plan: Path, *programs: Path) -> dict[str, str]:
    """The variables with which ranks load the preload, as `isochrone run` sets them."""
    names = [str(program) for program in programs]
    return settings_for(library_of(read_launch_line([bench.launcher, *names[:1]])), plan, names)


def launched(
    bench: Bench,
    *contexts: Sequence[str | Path],
    before: Sequence[str] = (),
    most_s: float = MOST_S,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Runs a launch line of one or several contexts, such as ("-n", "2", program). Fails if it hangs."""
    argv = [*before, bench.launcher, *(["--oversubscribe"] if is_openmpi(bench) else [])]
    for number, context in enumerate(contexts):
        argv += [":"] * (number > 0) + [str(word) for word in context]
    return ended(argv, {**os.environ, **defaults_of(bench.launcher), **environment}, most_s)


def ended(
    argv: Sequence[str], environment: Mapping[str, str], most_s: float = MOST_S
) -> subprocess.CompletedProcess[str]:
    """Runs a command. One that does not end in time is ended with all that it has started, and fails."""
    mark = f"{_MARK}={uuid.uuid4()}"
    process = subprocess.Popen(
        argv,
        env={**environment, **dict([mark.split("=")])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        out, err = process.communicate(timeout=most_s)
    except subprocess.TimeoutExpired:
        found = _state(mark)
        _end_all(mark)
        out, err = process.communicate()
        pytest.fail(f"{' '.join(argv)}\ndid not end within {most_s} s; stdout: {out}\nstderr: {err}\n{found}")
    finally:
        _end_all(mark)
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


def _state(mark: str) -> str:
    """What a command's processes were at: those that hang, or that a machine without memory holds up."""
    lines = [line for line in Path("/proc/meminfo").read_text().splitlines() if "MemAvailable" in line]
    for folder in _processes(mark):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            name, _, rest = (folder / "stat").read_text().rpartition(")")
            state, *numbers = rest.split()
            ticks = int(numbers[10]) + int(numbers[11])
            lines.append(f"{name}): state {state}, {ticks / os.sysconf('SC_CLK_TCK'):.1f} s of a core")
    return "\n".join(lines)


def _end_all(mark: str) -> None:
    """Ends what a command has left: launchers put ranks into groups and sessions of their own."""
    for folder in _processes(mark):
        with contextlib.suppress(OSError):
            os.kill(int(folder.name), signal.SIGKILL)


def _processes(mark: str) -> Iterator[Path]:
    """The folders in /proc of all that a command has started."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended meanwhile, or is somebody else's
                if mark.encode() in (entry / "environ").read_bytes():
                    yield entry


def by_recipes(done: subprocess.CompletedProcess[str]) -> int:
    """How many broadcasts ran by the plan's recipes on rank 0, as it says with ISOCHRONE_EXPLAIN."""
    found = [match[1] for match in map(_COUNTER.fullmatch, said(done)) if match]
    assert len(found) == 1, done.stderr
    return int(found[0])
