# SPDX-License-Identifier: BSD-3-Clause
"""What is compiled once and kept in the user's cache folder: whole or not at all, by one process at a time,
whatever ends it.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from isochrone.errors import IsochroneError
from isochrone.launch.lock import locked
from isochrone.launch.process import end_group, end_with_parent
from isochrone.progress import Advance, part

Make = Callable[[Path], None]
"""Makes what belongs into a folder, which is there and empty."""
Commands = Callable[[Path, Path], list[list[str]]]
"""The command lines that build something, from a folder to work in, which may hold what earlier builds left
there, and the folder for what is built.
"""

DIGEST_LENGTH = 16
_SHARE = 0.5
"""Of the step that needs it: only a guess, since what is built is built once."""
_NINJA_STATUS = "[%f/%t] "
_NINJA_LINE = re.compile(r"\[(\d+)/(\d+)\] ")
_LONGEST_REASON = 400
_log = logging.getLogger(__name__)


def built_once(
    folder: Path, title: str, commands: Commands, environment: Mapping[str, str], work: Path | None = None
) -> Path:
    """The folder, after building what belongs there if it is not there yet. Says on the log when it builds.

    Processes that ask at the same time wait for the one that builds. What killed ones have left is removed.

    Args:
        folder: its name ends with a dash and a digest of DIGEST_LENGTH of what it is built from. Those that
            differ in nothing else are built by turns.
        title: for people, such as ``the MPI part for MPICH 4.0.2``.
        environment: of the commands.
        work: a folder to work in that stays; without it, a temporary one.

    Raises:
        IsochroneError: a command fails; the message has the first error and where the log is.
    """

    def build(stage: Path) -> None:
        _log.info("building %s, once, into %s", title, folder)
        with part("building", _SHARE) as advance:
            _build(folder, stage, title, commands, environment, work, advance)

    name = folder.name[: -DIGEST_LENGTH - 1]
    waiting = f"waiting for another isochrone that builds {title}"
    try:
        return made_once(folder, name, folder.is_dir, build, waiting)
    except OSError as error:
        raise IsochroneError(f"{title} cannot be built: {error}", str(folder)) from None


def made_once(folder: Path, name: str, is_whole: Callable[[], bool], make: Make, waiting: str) -> Path:
    """The folder, after making it if it is not whole yet.

    Args:
        name: of what is made by turns: the folder's own, without its digest if it has one.
        is_whole: whether the folder is there, and has what belongs into it.
        waiting: what is said on the log by whoever waits for another process.

    Raises:
        OSError: the folder cannot be made. What `make` raises leaves nothing behind.
    """
    if is_whole():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_name(f"{name}.lock"), waiting):
        if not is_whole():
            _remove_leftovers(folder.parent, name)
            with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as temporary:
                stage = Path(temporary) / "stage"
                stage.mkdir()
                make(stage)
                # Only what is whole gets the name that others look for.
                shutil.rmtree(folder, ignore_errors=True)
                stage.rename(folder)
    return folder


def _remove_leftovers(parent: Path, name: str) -> None:
    """Temporary folders of those that were killed: whoever holds the lock has none yet."""
    temporary = re.compile(rf"{re.escape(name)}(?:-[0-9a-f]{{{DIGEST_LENGTH}}})?\.\w{{8}}")
    for path in parent.iterdir():
        if temporary.fullmatch(path.name) and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def _build(
    folder: Path,
    stage: Path,
    title: str,
    commands: Commands,
    environment: Mapping[str, str],
    work: Path | None,
    advance: Advance,
) -> None:
    log = folder.with_name(f"{folder.name}.log")
    work = work or stage.with_name("work")
    work.mkdir(exist_ok=True)
    with log.open("w", encoding="utf-8") as output:
        for command in commands(work, stage):
            if _run(command, {**environment, "NINJA_STATUS": _NINJA_STATUS}, output, advance) != 0:
                output.flush()
                todo = f"see {log}"
                reason = _reason(log)
                if "CMAKE_CXX_COMPILER" in reason:
                    reason, todo = "no C++ compiler was found", f"install one, such as g++, or {todo}"
                raise IsochroneError(f"building {title} failed: {reason}", todo=todo)
    log.unlink(missing_ok=True)


def _run(command: list[str], environment: Mapping[str, str], output: IO[str], advance: Advance) -> int:
    """Runs a command to its end, or ends it and all that it has started together with us."""
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=end_with_parent,  # noqa: PLW1509 - as in launch.process
    ) as process:
        try:
            for line in process.stdout or ():
                output.write(line)
                if step := _NINJA_LINE.match(line):
                    advance(int(step[1]), int(step[2]))
            return process.wait()
        except BaseException:
            end_group(process)
            raise


def _reason(log: Path) -> str:
    """The first error in a log: the compiler's line, or the first sentence of what CMake says."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    for at, line in enumerate(lines):
        if line.startswith("CMake Error"):
            return _sentence(lines[at + 1 :]) or line
        if "error:" in line or "undefined reference" in line:
            return line.strip()
    return lines[-1].strip() if lines else "no message"


def _sentence(lines: list[str]) -> str:
    """The first sentence of the indented lines that these begin with."""
    end = next((at for at, line in enumerate(lines) if line and not line.startswith(" ")), len(lines))
    text = " ".join(" ".join(lines[:end]).split())
    return re.split(r"(?<=\.) ", text)[0][:_LONGEST_REASON]


def tool(name: str) -> str:
    """A build tool's path.

    Raises:
        IsochroneError: there is none.
    """
    # The wheel's own tool comes first: it is new enough whatever the system has.
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise IsochroneError(
            f"{name} was not found", todo=f"install it, for example with: pip install {name}"
        )
    return found


def ninja(work: Path) -> list[str]:
    """The command that builds a folder that CMake has configured. Ninja itself, not ``cmake --build``: it
    ends its compilers when it is told to end.
    """
    return [tool("ninja"), "-C", str(work), "-j", str(len(os.sched_getaffinity(0)))]
