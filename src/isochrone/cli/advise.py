# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone advise``: what a program is to gain from a plan."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isochrone.cli.options import AsJson, columns, print_json
from isochrone.cli.record import run_of
from isochrone.cli.target import TargetOptions, with_lab_options

if TYPE_CHECKING:
    from isochrone.advise import Advice, Kind

_log = logging.getLogger(__name__)
_MOST_KINDS = 12


@with_lab_options
def advise(
    options: TargetOptions,
    line: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- LAUNCHER ... PROGRAM ...",
            show_default=False,
            help="The command as you would type it without isochrone: -- mpiexec -n 64 ./program. With --lab "
            "the program alone.",
        ),
    ] = None,
    plans: Annotated[
        list[Path] | None,
        typer.Option(
            "--plan",
            help="plan.json, or the folder it is in; isochrone-survey if there is one. Again for several.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Keep the times as profile.json.")
    ] = None,
    profile: Annotated[
        Path | None,
        typer.Option("--profile", metavar="FILE", help="Run nothing: the times of an earlier run."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run an unmodified MPI program once, and say what a plan would gain, honestly if nothing.

    The MPI library's own collectives run. A preload takes the time of each blocking call, and of up to 256
    of a kind when each rank came and left. What is before the last rank has come is waiting, which no
    algorithm helps; the rest, until the last rank has left, is the operation. MPI_Pcontrol(0) in the program
    switches the preload off, MPI_Pcontrol(1) on. With --json the program's output goes to stderr. The exit
    code is the program's.
    """
    from isochrone.advise import verdict
    from isochrone.errors import UsageError
    from isochrone.steps.advise import advise as advised
    from isochrone.steps.folder import DEFAULT, PLAN, in_folder
    from isochrone.steps.merge import one_plan

    if (line is None or not line) == (profile is None):
        example = "./program" if options.lab is not None else "mpiexec -n 4 ./program"
        raise UsageError(
            "no program is given" if profile is None else "a program and --profile are given",
            todo=f"end the command with, for example: -- {example}"
            if profile is None
            else "give one of them",
        )
    given = plans or ([DEFAULT] if (DEFAULT / PLAN).exists() else [])
    plan, refusal = one_plan([in_folder(each, PLAN) for each in given])
    if refusal is not None:
        _log.warning("%s", refusal)
    with contextlib.ExitStack() as stack:
        source = profile if profile is not None else run_of(line or [], options, stack)
        done = advised(source, output, plan, as_json)
    if done.found is None:
        _log.error("%s", done.why_not)
        raise typer.Exit(done.exit_code or 1)
    sentences = verdict(done.found)
    if as_json:
        print_json({**asdict(done.found), "verdict": sentences, "exit_code": done.exit_code})
    else:
        for text in _lines(done.found, sentences):
            typer.echo(text)
    if done.exit_code != 0:
        _log.warning("the program ended with exit code %d", done.exit_code)
        raise typer.Exit(done.exit_code)


def _lines(found: Advice, sentences: list[str]) -> list[str]:
    from isochrone.units import format_time, number_of

    lines = [f"{format_time(found.run_s)} from the start of MPI to its end"]
    if found.kinds:
        head = (
            "collective",
            "size",
            "calls",
            "a call",
            "of the run",
            "waiting",
            "operation",
            "gain",
            "saved",
            "ranks",
        )
        lines += columns([head, *(_row(kind) for kind in found.kinds[:_MOST_KINDS])])
        if len(found.kinds) > _MOST_KINDS:
            lines.append(
                f"and {number_of(len(found.kinds) - _MOST_KINDS, 'kind')} with less time: --json has all"
            )
        lines.append(
            "waiting: of a call, before its last rank has come; operation: from then until its last rank has "
            f"left, the median (clocks of ranks differ by up to {format_time(found.sync_error_s)})"
        )
        if any(kind.gain.source == "predicted" for kind in found.kinds):
            lines.append("~: predicted by the model, and not measured")
    return [*lines, *sentences]


def _row(kind: Kind) -> tuple[str, ...]:
    from isochrone.units import format_bytes, format_percent, format_time

    predicted = "~" if kind.gain.source == "predicted" else ""
    communicators = f"{kind.communicators} x " if kind.communicators > 1 else ""
    return (
        kind.collective,
        "-" if kind.size_bytes is None else format_bytes(round(kind.size_bytes)),
        f"{kind.calls:,}",
        format_time(kind.call_s),
        format_percent(kind.share),
        "?" if kind.waiting is None else format_percent(kind.waiting),
        "?" if kind.operation_s is None else format_time(kind.operation_s),
        "?" if kind.gain.source == "unknown" else f"{predicted}{kind.gain.factor:.2f}x",
        "?" if kind.saved_share is None else f"{predicted}{format_percent(kind.saved_share)}",
        f"{communicators}{kind.where}",
    )
