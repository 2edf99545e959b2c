# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone run``: an unmodified MPI program on a tuned plan."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, print_json

_log = logging.getLogger(__name__)


def run(
    line: Annotated[
        list[str],
        typer.Argument(
            metavar="-- LAUNCHER ... PROGRAM ...",
            show_default=False,
            help="The command as you would type it without isochrone: -- mpiexec -n 64 ./program",
        ),
    ],
    plan: Annotated[
        Path,
        typer.Option("--plan", envvar="ISOCHRONE_PLAN", help="plan.json, or the folder it is in."),
    ] = Path("isochrone-survey"),
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Do not say at the end what ran and what it saved."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run an unmodified MPI program on a tuned plan.

    The program runs as it is, under the launcher as it is: a preload in its ranks replaces the collectives
    that the plan has rules for. A plan that does not hold here is reported in one line, and the program runs
    without it. At the end rank 0 says what ran by recipes, and about how much time that saved.
    ISOCHRONE_EXPLAIN=1 makes it say which recipe ran for what; ISOCHRONE=off takes the preload out.
    With --json, print what would be run, and do not run it.
    In a lab: isochrone lab mpi --plan FOLDER -- PROGRAM
    """
    from isochrone.launch.launcher import read_launch_line, require_program
    from isochrone.launch.preload import execute, prepare
    from isochrone.steps.folder import PLAN, in_folder

    understood = read_launch_line(line)
    require_program(understood)
    start = prepare(understood, in_folder(plan, PLAN), summary=not quiet)
    if as_json:
        print_json(
            {
                "command": list(start.argv),
                "environment": dict(start.environment),
                "withheld": sorted(start.withheld),
                "refusal": start.refusal,
            }
        )
        return
    if start.refusal is not None:
        _log.warning("%s", start.refusal)
    execute(start)
