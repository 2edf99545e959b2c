# SPDX-License-Identifier: BSD-3-Clause
"""Puts the commands together, and turns every ending into an exit code and at most one line on stderr."""

from __future__ import annotations

import logging
import math
import os
import signal
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from io import TextIOWrapper
from itertools import pairwise
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

import isochrone
from isochrone.cli import (
    advise,
    bench,
    compare,
    detect,
    doctor,
    evaluate,
    fabric,
    info,
    lab,
    library,
    merge,
    model,
    mpi,
    plan,
    probe,
    record,
    report,
    run,
    show,
    study,
    survey,
    tune,
)
from isochrone.cli import map as map_cli
from isochrone.cli.options import WithProgram
from isochrone.errors import IsochroneError, UsageError


class Commands(typer.Typer):
    """All commands, none of which takes what is not a number for one."""

    def __call__(self, *args: Any, **settings: Any) -> Any:
        """Runs a command line."""
        command = typer.main.get_command(self)
        _refuse_nan(command)
        return command(*args, **settings)


app = Commands(
    name="isochrone",
    help="Maps a cluster by timing messages, and makes unmodified MPI programs follow the map.",
    add_completion=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_NEAR = 0.65
# In the order of `isochrone --help`: what a newcomer needs, then the steps on their own, then what is at
# hand.
for _name, _command in (
    ("survey", survey.survey),
    ("run", run.run),
    ("probe", probe.probe),
    ("detect", detect.detect),
    ("tune", tune.tune),
    ("merge", merge.merge),
    ("advise", advise.advise),
    ("record", record.record),
    ("map", map_cli.map_),
    ("bench", bench.bench),
    ("compare", compare.compare),
    ("model", model.model),
    ("report", report.report),
    ("doctor", doctor.doctor),
    ("study", study.study),
    ("evaluate", evaluate.evaluate),
    ("show", show.show),
    ("info", info.info),
):
    app.command(_name, cls=WithProgram if _name == "map" else None)(_command)
app.add_typer(plan.app, name="plan")
app.add_typer(library.app, name="library")
app.add_typer(mpi.app, name="mpi")
app.add_typer(lab.app, name="lab")
app.add_typer(fabric.app, name="fabric")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"isochrone {isochrone.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


class _Stopped(BaseException):
    """A signal asked us to stop. Not an Exception, and unknown to Typer: it passes through everything but
    clean-up.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number
        self.name = signal.Signals(number).name


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line, by default that of the process.

    Returns:
        0 ok, 1 failure, 2 usage, 3 a gate not met, 128 + N when stopped by signal N.
    """
    debug = os.environ.get("ISOCHRONE_DEBUG", "") not in ("", "0")
    _log_to_stderr(debug)
    stops: list[_Stopped] = []
    done = False

    def stop(number: int, frame: FrameType | None) -> None:
        if not done:
            stops.append(_Stopped(number))
            raise stops[-1]

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        _refuse_empty(words)
        result = app(args=words, prog_name="isochrone", standalone_mode=False)
        sys.stdout.flush()
    except _Stopped as stopped:
        return _say_stopped(stopped, stopped)
    except SystemExit as ended:  # so Typer ends when whoever reads our output has enough
        return ended.code if isinstance(ended.code, int) else 1
    except BrokenPipeError:
        # Whoever read our output has enough.
        _give_up_stdout()
        return 128 + signal.SIGPIPE
    except Exception as error:
        if isinstance(error, OSError) and _is_of_stdout(error):
            _give_up_stdout()
            print(f"isochrone: standard output: cannot write ({error.strerror})", file=sys.stderr)
            return 1
        if stops:
            # Compiled libraries turn what is raised within them into errors of their own.
            return _say_stopped(stops[-1], error)
        if debug:
            raise
        message, code = _describe(error)
        if message:
            print(f"isochrone: {message}", file=sys.stderr)
        return code
    finally:
        done = True
    return result if isinstance(result, int) else 0


def _refuse_empty(words: Sequence[str]) -> None:
    """An empty path would be the working folder, and is hardly meant: a variable of the shell is not set."""
    ours = words[: words.index("--")] if "--" in words else words
    for before, word in pairwise(["", *ours]):
        if not word:
            raise UsageError("an empty word is given", before or None, "write a value, or leave it away")


def _refuse_nan(command: Any) -> None:
    """Has a command, and all commands in it, refuse what is not a number: Typer takes one for a number of any
    range.
    """
    for each in getattr(command, "commands", {}).values():
        _refuse_nan(each)
    invoke = command.invoke

    def invoke_checked(context: typer.Context) -> Any:
        for option in command.params:
            value = context.params.get(option.name)
            if isinstance(value, float) and math.isnan(value):
                raise UsageError(f"{value} is no number", option.opts[0])
        return invoke(context)

    command.invoke = invoke_checked


def process() -> NoReturn:
    """The life of an `isochrone` process. A stop that comes when all is done and said changes no exit code:
    while it ends, Python would give the signals back their own effect.
    """
    _open_what_is_closed()
    # Names of files may be no text: they are said as they are.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")
    code = main()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)


def _open_what_is_closed() -> None:
    """Gives standard streams that were closed to nobody. Left closed, the next file that is opened would get
    their number, and what is meant for them.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None and os.open(os.devnull, os.O_RDWR) == number:
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115


def _is_of_stdout(error: OSError) -> bool:
    """Whether what failed is the printing of results: it names no file, and comes from `echo`, or our own
    last flush.
    """
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return error.filename is None and at is not None and at.tb_frame.f_code.co_name in ("echo", "main")


def _give_up_stdout() -> None:
    """What is printed from now on goes nowhere: Python would complain again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_stopped(stopped: _Stopped, ending: BaseException) -> int:
    notes = "".join(f"; {note}" for note in getattr(ending, "__notes__", ()))
    print(f"isochrone: stopped by {stopped.name}{notes}", file=sys.stderr)
    return stopped.exit_code


def _describe(error: Exception) -> tuple[str, int]:
    """The line for an error, and its exit code."""
    if isinstance(error, IsochroneError):
        return str(error), error.exit_code
    # Typer's errors came from Click at first, and are its own by now: their form is the same.
    usage: Any = error
    if hasattr(usage, "format_message") and hasattr(usage, "exit_code"):
        if getattr(usage, "possibilities", None):
            usage.possibilities = _near(usage.option_name, usage.possibilities)
        context = getattr(usage, "ctx", None)
        hint = f"; see: {context.command_path} --help" if context is not None else ""
        message = " ".join(usage.format_message().split()).rstrip(".")
        return message and message + hint, int(usage.exit_code)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}", 1
    text = " ".join(str(error).split())
    return f"a fault of isochrone itself: {type(error).__name__}: {text}; ISOCHRONE_DEBUG=1 shows where", 1


def _near(option: str, options: Sequence[str]) -> list[str]:
    """Those that the option may be a slip of the hand for; dashes are alike in all."""
    named = {known.lstrip("-"): known for known in options}
    return [named[near] for near in get_close_matches(option.lstrip("-"), named, cutoff=_NEAR)]


class _ToStderr(logging.Handler):
    """Writes to whatever stderr is by then: while a progress bar is there, it puts lines above itself."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes one line."""
        try:
            print(self.format(record), file=sys.stderr, flush=True)
        except Exception:
            self.handleError(record)


def _log_to_stderr(debug: bool) -> None:
    handler = _ToStderr()
    handler.setFormatter(logging.Formatter("isochrone: %(message)s"))
    log = logging.getLogger("isochrone")
    log.handlers = [handler]
    log.setLevel(logging.DEBUG if debug else logging.INFO)
    log.propagate = False
