# SPDX-License-Identifier: BSD-3-Clause
"""Record: an MPI program under its launcher, with a preload that counts what its ranks send one another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from isochrone.errors import IsochroneError
from isochrone.files import Graph, provenance, read_graph, write_graph
from isochrone.files.graph import added
from isochrone.files.text import refuse_stream, refuse_to_replace
from isochrone.lab.target import LabTarget
from isochrone.launch.build import behind, build_for
from isochrone.launch.launcher import LaunchLine
from isochrone.launch.library import MpiLibrary
from isochrone.launch.options import Family
from isochrone.launch.preload import check_program, environment_of, start_with
from isochrone.launch.process import end_with_parent
from isochrone.launch.registry import library_of
from isochrone.mapping.collectives import broken_down
from isochrone.steps.folder import open_folder

_Found = TypeVar("_Found")
_PATIENCE_S = 10
_ELF = b"\x7fELF"
_STATIC = ("not a dynamic executable", "statically linked")


@dataclass(frozen=True)
class Run:
    """What is recorded, and how it is started.

    Attributes:
        library: whose programs they are.
        programs: that are started.
        start: gives the ranks variables, and returns the exit code; the program's standard output goes to
            standard error if that is asked for.
    """

    library: MpiLibrary
    programs: tuple[str, ...]
    start: Callable[[Mapping[str, str], bool], int]


@dataclass(frozen=True)
class Recorded:
    """What came of a run.

    Attributes:
        graph: what was recorded, with what it was added to; None if nothing was.
        exit_code: the launcher's.
        why_not: why nothing was recorded.
        apart: collectives that were not broken down, as they have too many messages.
    """

    graph: Graph | None
    exit_code: int = 0
    why_not: IsochroneError | None = None
    apart: tuple[str, ...] = ()


def run_of_line(line: LaunchLine) -> Run:
    """A program under its launcher.

    Raises:
        IsochroneError: it is simulated, or the launcher's library is not known.
    """
    if line.family is Family.SIMGRID:
        raise IsochroneError("simulated programs cannot be preloaded", todo="record under a real MPI library")

    def start(settings: Mapping[str, str], quiet: bool) -> int:
        preload = behind(os.environ.get("LD_PRELOAD", ""), Path(settings["LD_PRELOAD"]))
        prepared = start_with(line, {**settings, "LD_PRELOAD": preload})
        return _ended(prepared.argv, environment_of(prepared), quiet)

    return Run(library_of(line), line.programs, start)


def run_in_lab(target: LabTarget, program: Sequence[str]) -> Run:
    """A program in a lab."""
    return Run(
        target.library, (program[0],), lambda settings, quiet: target.execute(program, settings, quiet)
    )


def record(
    run: Run | None,
    output: Path,
    *,
    break_down: bool = True,
    add: Sequence[Path] = (),
    quiet: bool = False,
) -> Recorded:
    """Runs a program, and writes what its ranks sent.

    Args:
        run: the program; None: nothing is run, and what is to be added is all there is.
        output: file to write; left alone where nothing is recorded.
        break_down: whether collectives are listed as messages too.
        add: graphs of earlier runs to add.
        quiet: the program's standard output goes to standard error.

    Raises:
        IsochroneError: the program cannot be started with the preload, or a file cannot be read or written.
    """
    if run is not None:
        refuse_stream(output)
    refuse_to_replace(output, "graph")
    graphs = [read_graph(path) for path in add]
    exit_code = 0
    if run is not None:
        exit_code, found = observed(run, output, "ISOCHRONE_RECORD", read_graph, quiet)
        if isinstance(found, IsochroneError):
            return Recorded(None, exit_code, found)
        graphs.append(found)
    try:
        graph = replace(added(graphs), provenance=provenance())
    except IsochroneError as error:
        if run is None:
            raise
        # What took a whole run to record is not lost.
        alone = output.with_name(f"{output.stem}-alone{output.suffix}")
        write_graph(alone, replace(graphs[-1], provenance=provenance()))
        raise IsochroneError(f"{error}; what was recorded is in {alone}") from None
    apart: tuple[str, ...] = ()
    if break_down:
        parts = broken_down(graph)
        graph, apart = replace(graph, broken_down=parts.rows), parts.apart
    write_graph(output, graph)
    return Recorded(graph, exit_code, None, apart)


def observed(
    run: Run, output: Path, variable: str, read: Callable[[Path], _Found], quiet: bool
) -> tuple[int, _Found | IsochroneError]:
    """Runs a program with the preload that records.

    Args:
        run: the program.
        output: what is recorded is written beside it, as rank 0 may be on another host, and a rename must do.
        variable: of the environment, that tells the preload what to record, and where.
        read: reads what it has written.
        quiet: the program's standard output goes to standard error.

    Returns:
        The launcher's exit code, and what was recorded or why nothing was.
    """
    for program in run.programs:
        check_program(program, run.library)
    folder = open_folder(output.absolute().parent)
    raw = folder / f".{output.name}.{os.getpid()}.record"
    unfinished = raw.with_name(f"{raw.name}.part")
    try:
        unfinished.touch()
        unfinished.unlink()
    except OSError as error:
        raise IsochroneError(
            f"cannot write ({error.strerror})", str(output), "choose another place"
        ) from None
    settings = {"LD_PRELOAD": str(build_for(run.library).recorder), variable: str(raw)}
    try:
        exit_code = run.start(settings, quiet)
        if raw.exists():
            return exit_code, read(raw)
        return exit_code, _why_not(run, unfinished.exists(), exit_code)
    finally:
        raw.unlink(missing_ok=True)
        unfinished.unlink(missing_ok=True)


def _ended(argv: Sequence[str], environment: dict[str, str], quiet: bool) -> int:
    """The exit code of a command that has our terminal, 128 + N where signal N ended it."""
    try:
        process = subprocess.Popen(
            argv,
            env=environment,
            stdout=sys.stderr if quiet else None,
            preexec_fn=end_with_parent,  # noqa: PLW1509 - we start no threads before it
        )
    except OSError as error:
        raise IsochroneError(f"cannot be started: {error.strerror}", argv[0]) from None
    try:
        code = process.wait()
    except BaseException:
        # Politely first: a launcher alone knows the ranks on other hosts.
        process.terminate()
        try:
            process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
        raise
    return code if code >= 0 else 128 - code


def _why_not(run: Run, has_begun: bool, exit_code: int) -> IsochroneError:
    ending = f" (exit code {exit_code})" if exit_code else ""
    if has_begun:
        what = f"nothing was recorded: the program ended without MPI_Finalize{ending}"
        return IsochroneError(what, todo="let all ranks come to it, and record again")
    for program in run.programs:
        if _is_static(program):
            return IsochroneError(
                "nothing was recorded: it is a static program, which loads no preload",
                program,
                "link it with the shared MPI library",
            )
    what = f"nothing was recorded: no MPI_Init of {run.library.title} was seen{ending}"
    return IsochroneError(what, todo=f"check that the program runs, and was built for {run.library.abi}")


def _is_static(program: str) -> bool:
    found = shutil.which(program)
    if found is None:
        return False
    try:
        with Path(found).open("rb") as file:
            if file.read(len(_ELF)) != _ELF:
                return False
        done = subprocess.run(["ldd", found], capture_output=True, text=True, timeout=60, errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return False
    return any(words in done.stdout + done.stderr for words in _STATIC)
