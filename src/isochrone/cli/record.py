# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone record``: what the ranks of a program send one another."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isochrone.cli.options import AsJson, print_json
from isochrone.cli.target import TargetOptions, open_lab_target, with_lab_options

if TYPE_CHECKING:
    from isochrone.files import Graph
    from isochrone.steps.record import Recorded, Run

_log = logging.getLogger(__name__)


class Collectives(StrEnum):
    """What becomes of collectives."""

    BROKEN_DOWN = "broken-down"
    APART = "apart"


@with_lab_options
def record(
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
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")] = Path("graph.json"),
    collectives: Annotated[
        Collectives,
        typer.Option(
            "--collectives", help="Listed as the messages that libraries usually make of them, or kept apart."
        ),
    ] = Collectives.BROKEN_DOWN,
    add: Annotated[
        list[Path] | None,
        typer.Option("--add", metavar="GRAPH", help="Add what an earlier run sent; again for more."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run an unmodified MPI program, and record what its ranks send one another.

    A preload in the ranks counts messages and bytes by pair and size, and the calls of collectives; rank 0
    writes them when the program ends MPI. MPI_Pcontrol(0) in the program switches that off, MPI_Pcontrol(1)
    on, and MPI_Pcontrol(N) begins phase N. The exit code is the program's.
    Without a program the graphs of --add are added up. With --json the program's output goes to stderr.
    """
    from isochrone.errors import UsageError
    from isochrone.steps.record import record as run_and_record

    if not line and (options.lab is not None or not add):
        example = "./program" if options.lab is not None else "mpiexec -n 4 ./program"
        raise UsageError("no program is given", todo=f"end the command with, for example: -- {example}")
    with contextlib.ExitStack() as stack:
        found = run_and_record(
            run_of(line, options, stack) if line else None,
            output,
            break_down=collectives is Collectives.BROKEN_DOWN,
            add=add or (),
            quiet=as_json,
        )
    if found.graph is None:
        _log.error("%s", found.why_not)
        raise typer.Exit(found.exit_code or 1)
    if found.apart:
        _log.warning(
            "some calls of %s are kept apart: they have too many messages to be listed",
            ", ".join(found.apart),
        )
    figures = _figures(found, found.graph, output)
    if as_json:
        print_json(figures)
    else:
        for text in _lines(figures):
            typer.echo(text)
    if found.exit_code != 0:
        _log.warning("the program ended with exit code %d", found.exit_code)
        raise typer.Exit(found.exit_code)


def run_of(line: list[str], options: TargetOptions, stack: contextlib.ExitStack) -> Run:
    """The program under its launcher, or in a lab that is up until `stack` ends."""
    from isochrone.launch.launcher import read_launch_line, require_program
    from isochrone.steps.record import run_in_lab, run_of_line

    if options.lab is not None:
        options.check()
        return run_in_lab(stack.enter_context(open_lab_target(options, options.lab)), line)
    replace(options, launch=line).check(("launch", "lab"))
    understood = read_launch_line(line)
    require_program(understood)
    return run_of_line(understood)


def _figures(found: Recorded, graph: Graph, output: Path) -> dict[str, Any]:
    own, pieces, listed = graph.rows, graph.pieces, graph.broken_down
    of_collectives = [pieces] if listed is None else [pieces, listed]
    collective_bytes = sum(int(rows.volume_bytes.sum()) for rows in of_collectives)
    volume_bytes = int(own.volume_bytes.sum()) + collective_bytes
    return {
        "graph": str(output),
        "ranks": graph.ranks,
        "runs": graph.runs,
        "messages": sum(int(rows.messages.sum()) for rows in (own, *of_collectives)),
        "bytes": volume_bytes,
        "collective_calls": int(graph.calls.calls.sum()),
        "collectives": "apart" if listed is None else "broken-down",
        "collective_bytes": collective_bytes,
        "collective_share": collective_bytes / volume_bytes if volume_bytes else 0.0,
        "apart": list(found.apart),
        "phases": graph.phases,
        "exit_code": found.exit_code,
    }


def _lines(figures: dict[str, Any]) -> list[str]:
    runs = f" in {figures['runs']} runs" if figures["runs"] > 1 else ""
    phases = f", {len(figures['phases'])} phases" if len(figures["phases"]) > 1 else ""
    share = f"{figures['collective_share']:.1%} of the bytes are of collectives"
    if figures["collectives"] == "apart" and figures["collective_calls"]:
        share = f"beside them {figures['collective_calls']:,} calls of collectives, kept apart"
    return [
        f"{figures['ranks']} ranks{runs}{phases}: {figures['messages']:,} messages, "
        f"{figures['bytes']:,} bytes; {share}",
        f"Graph: {figures['graph']}",
    ]
