# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone run``: an unmodified MPI program on a tuned plan, or with its ranks mapped."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, FabricServer, print_json

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
    plans: Annotated[
        list[Path] | None,
        typer.Option(
            "--plan",
            envvar="ISOCHRONE_PLAN",
            readable=False,  # one that is not costs a line, and the program runs
            help="plan.json, or the folder it is in; isochrone-survey if not given. Give --plan again to add "
            "up several, as `isochrone merge` does; in the variable a colon is between them.",
        ),
    ] = None,
    maps: Annotated[
        list[Path] | None,
        typer.Option(
            "--map",
            metavar="FILE",
            readable=False,
            help="A mapping: the ranks of MPI_COMM_WORLD run where it says. Or a topology.json or survey: "
            "grids and graphs that may be reordered are. Give --map twice for both.",
        ),
    ] = None,
    fabric: FabricServer = None,
    trials: Annotated[
        str | None,
        typer.Option(
            "--trials",
            metavar="on|off|all",
            help="Whether what is faster is tried in the program's own calls (default: on, but for "
            "reductions of floating-point numbers; all: for these too).",
        ),
    ] = None,
    learn: Annotated[
        bool,
        typer.Option("--learn", help="Keep what the trials found beside the plan: later runs begin with it."),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Do not say at the end what ran and what it saved."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run an unmodified MPI program on a tuned plan, or with its ranks mapped.

    The program runs as it is, under the launcher as it is: a preload in its ranks replaces the collectives
    that the plan has rules for. A plan that does not hold here is reported in one line, and the program runs
    without it. At the end rank 0 says what ran by recipes, and about how much time that saved.
    What the plan has no rule for is tried: where the model finds a recipe that may be faster, the program's
    own calls alternate between that and the MPI library's own, at a cost of about 2 % of their time in the
    long run, and the better one stays. Where there is no isochrone-survey all is found so, with the tree of
    the machine from host names and hardware.
    ISOCHRONE_EXPLAIN=1 makes it say which recipe ran for what; ISOCHRONE=off takes the preload out.
    With --map no plan is needed: where there is no isochrone-survey, only ranks are put in order.
    With --json, print what would be run, and do not run it.
    Where library.json is beside the plan, the MPI library is told what that says of its own algorithms,
    unless you tell it yourself.
    In a lab: isochrone lab mpi --plan FOLDER -- PROGRAM
    """
    from isochrone.errors import UsageError
    from isochrone.launch.launcher import read_launch_line, require_program
    from isochrone.launch.preload import execute, prepare
    from isochrone.steps.folder import DEFAULT, PLAN, TOPOLOGY, in_folder
    from isochrone.steps.learn import fold_learned, learned_beside
    from isochrone.steps.merge import one_plan

    understood = read_launch_line(line)
    require_program(understood)
    if trials not in (None, "on", "off", "all"):
        raise UsageError(f"{trials!r} is none of on, off and all", "--trials")
    on_plans = [in_folder(plan, PLAN) for plan in plans or [DEFAULT]]
    if not plans and not os.path.lexists(DEFAULT / PLAN if maps else DEFAULT):
        on_plans = []
    live = {} if trials is None else {"ISOCHRONE_TRIALS": trials}
    if learn:
        if trials == "off":
            raise UsageError("nothing is learned without trials", "--learn", "leave --trials off away")
        if len(on_plans) != 1:
            raise UsageError("there is no one plan to keep it with", "--learn", "name one, or survey first")
        live["ISOCHRONE_LEARN"] = str(learned_beside(on_plans[0]))
    if not as_json:
        for each in on_plans:
            fold_learned(each)
    on_plan, no_plan = one_plan(on_plans)
    start = prepare(
        understood,
        on_plan,
        summary=not quiet,
        maps=[in_folder(path, TOPOLOGY) for path in maps or []],
        fabric=fabric,
        unsurveyed=not on_plans and not maps and trials != "off",
        live=live,
    )
    if no_plan is not None:
        start = replace(start, refusal=no_plan)
    if as_json:
        print_json(
            {
                "command": list(start.argv),
                "environment": dict(start.environment),
                "withheld": sorted(start.withheld),
                "refusal": start.refusal,
                "map_refusal": start.map_refusal,
                "library": {
                    "variables": dict(start.told.variables),
                    "refusal": start.told.refusal,
                    "left_out": list(start.told.left_out),
                },
            }
        )
        return
    for refusal in (start.refusal, start.map_refusal, start.told.refusal):
        if refusal is not None:
            _log.warning("%s", refusal)
    if start.told.variables and os.environ.get("ISOCHRONE_EXPLAIN", "") not in ("", "0"):
        _log.info("%s", start.told.words)
    execute(start)
