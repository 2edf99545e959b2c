# SPDX-License-Identifier: BSD-3-Clause
"""Running one of the native programs: its progress, its one line of error, and its end together with ours."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO

from isochrone.errors import IsochroneError, UsageError
from isochrone.progress import Advance, part


class Channel:
    """The two ends of a talk with a running program: its standard input and output, line by line.

    Attributes:
        progress: shows the user how far it is; what the program itself says of that goes there.
    """

    def __init__(self, requests: IO[str], answers: IO[str], progress: Advance) -> None:
        self._requests = requests
        self._answers = answers
        self.progress = progress

    @contextlib.contextmanager
    def progress_to(self, advance: Advance) -> Iterator[None]:
        """Shows how far it is elsewhere, as long as the context lasts."""
        before, self.progress = self.progress, advance
        try:
            yield
        finally:
            self.progress = before

    def send(self, line: str) -> None:
        """Sends a line. Raises EndedError if the program does not read any more."""
        try:
            self._requests.write(line + "\n")
            self._requests.flush()
        except OSError:
            raise EndedError from None

    def receive(self) -> str:
        """The next line, when there is one. Raises EndedError if there will be none."""
        line = self._answers.readline()
        if not line.endswith("\n"):
            raise EndedError
        return line


class EndedError(Exception):
    """A program has ended in the middle of a talk; how it has ended says why."""


Talk = Callable[[Channel], None]
"""Talks with a program, and tells it the end in words: its standard input stays open until it has ended."""

_PATIENCE_S = 10
_TAIL_LINES = 200
_USAGE = UsageError.exit_code
_LONGEST_REASON = 400
_PR_SET_PDEATHSIG = 1
_log = logging.getLogger(__name__)


def run_program(
    argv: Sequence[str], program: str, environment: Mapping[str, str], talk: Talk | None = None
) -> None:
    """Runs a launcher's command line to its end.

    Lines ``progress DONE TOTAL`` on its stderr move the progress that is shown; lines ``notice …`` are passed
    to the log at once, and lines ``isochrone-…: …`` when it has ended well.

    Args:
        argv: the command line.
        program: name of the native program in it, for messages.
        environment: variables beyond our own.
        talk: talks with the program over its standard input and output while it runs.

    Raises:
        IsochroneError: when it cannot be started, does not exit with 0, or does so before it was told the
            end.
    """
    with part("") as progress, tempfile.TemporaryFile() as output:
        environment = {**os.environ, **environment}
        if talk is None:
            code, tail = _watch(argv, environment, output, progress)
            is_cut_short = False
        else:
            code, tail, is_cut_short = _converse(argv, environment, progress, talk)
        if code != 0:
            output.seek(0)
            tail = tail or output.read().decode(errors="replace").splitlines()
            # What it refuses of its own options, it was told by those of the command.
            refused = code == _USAGE and any(line.startswith(f"{program}:") for line in tail)
            ending = UsageError if refused else IsochroneError
            raise ending(f"{program} {_ending(code)}{_reason(tail, program)}")
        if is_cut_short:
            raise IsochroneError(
                f"{program} ended before it was told all that it is to do",
                todo="let the launcher pass standard input on to rank 0",
            )


def _watch(
    argv: Sequence[str], environment: Mapping[str, str], output: IO[bytes], progress: Advance
) -> tuple[int, list[str]]:
    process = _start(argv, environment, subprocess.DEVNULL, output)
    tail: deque[str] = deque(maxlen=_TAIL_LINES)
    try:
        _read_messages(process, tail, progress)
        code = process.wait()
    except BaseException:
        end_group(process)
        raise
    return code, _pass_on(code, tail)


def _converse(
    argv: Sequence[str], environment: Mapping[str, str], progress: Advance, talk: Talk
) -> tuple[int, list[str], bool]:
    """Also whether the talk was not at its end."""
    process = _start(argv, environment, subprocess.PIPE, subprocess.PIPE)
    if process.stdin is None or process.stdout is None:
        raise TypeError("the program was started without pipes")
    channel = Channel(process.stdin, process.stdout, progress)
    tail: deque[str] = deque(maxlen=_TAIL_LINES)

    def advance(done: int, total: int) -> None:
        channel.progress(done, total)

    messages = threading.Thread(target=_read_messages, args=(process, tail, advance))
    messages.start()
    is_cut_short = False
    try:
        try:
            talk(channel)
        except EndedError:
            is_cut_short = True
        for _ in process.stdout:
            # What it still says must not fill the pipe.
            pass
        code = process.wait()
        # Not before: Hydra passes the end of its input on to ranks that may have ended, and fails.
        with contextlib.suppress(OSError):
            process.stdin.close()
    except BaseException:
        end_group(process)
        raise
    finally:
        messages.join()
    return code, _pass_on(code, tail), is_cut_short


def _start(
    argv: Sequence[str], environment: Mapping[str, str], stdin: int, stdout: int | IO[bytes]
) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            argv,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment,
            start_new_session=True,
            preexec_fn=end_with_parent,  # noqa: PLW1509 - we start no threads before it
        )
    except OSError as error:
        raise IsochroneError(f"cannot be started: {error.strerror}", argv[0]) from None


def _read_messages(process: subprocess.Popen[str], tail: deque[str], progress: Advance) -> None:
    """Reads standard error to its end: progress, and what to keep."""
    for line in process.stderr or ():
        words = line.split()
        if len(words) == 3 and words[0] == "progress" and words[1].isdecimal() and words[2].isdecimal():
            progress(int(words[1]), int(words[2]))
        elif words[:1] == ["notice"]:
            _log.warning("%s", line.removeprefix("notice").strip())
        else:
            tail.append(line.rstrip())


def _pass_on(code: int, tail: Iterable[str]) -> list[str]:
    """The lines, after the warnings among them are logged if all went well."""
    lines = list(tail)
    if code == 0:
        for line in lines:
            if line.startswith("isochrone-"):
                _log.warning("%s", line)
    return lines


def end_with_parent() -> None:
    """For ``preexec_fn``: the process is sent SIGTERM when we end, however we end.

    If we are killed outright, ranks must not go on writing a file that the next run resumes from.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def end_group(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Ends a process that was started in a session of its own, and all that it has started there: politely
    first, because a launcher alone knows the ranks on other hosts.
    """
    # The second also where the first has ended the leader: others of the group may not heed it.
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal_number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE_S)


def exit_code_of(returncode: int) -> int:
    """The exit code that a shell gives for what `subprocess` gives: 128 + N where signal N ended it."""
    return returncode if returncode >= 0 else 128 - returncode


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    # Most real-time signals have no name.
    names = {each.value: each.name for each in signal.Signals}
    return f"was ended by signal {names.get(-code, -code)}"


def _reason(tail: Sequence[str], program: str) -> str:
    """What went wrong: the program's own line if it wrote one, else the last paragraph there is."""
    own = [line for line in tail if line.startswith(f"{program}:")]
    if own:
        return own[0].removeprefix(program).removesuffix(" (see --help)")
    lines = [line.strip() if any(c.isalnum() for c in line) else "" for line in tail]
    while lines and not lines[-1]:
        lines.pop()
    start = max((k + 1 for k, line in enumerate(lines) if not line), default=0)
    return f": {' '.join(lines[start:])[-_LONGEST_REASON:]}" if lines else ""
