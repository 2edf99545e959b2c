# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone survey``: all steps in a row."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import (
    AsJson,
    Budget,
    Collectives,
    Fabric,
    Rivals,
    Sizes,
    print_json,
    tune_options,
)
from isochrone.cli.target import on_target
from isochrone.launch.target import Target


@on_target
def survey(
    target: Target,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write into.")] = Path(
        "isochrone-survey"
    ),
    fabric: Fabric = None,
    collectives: Collectives = None,
    sizes: Sizes = None,
    budget: Budget = None,
    rivals: Rivals = False,
    as_json: AsJson = False,
) -> None:
    """Survey a machine: probe it, detect its topology, tune collectives on it, and report.

    Once per machine: isochrone survey -- mpiexec -n 64. Then every day: isochrone run -- mpiexec -n 64
    ./program.
    """
    from isochrone.steps.survey import survey as run_survey

    options = tune_options(collectives, sizes, budget, rivals)
    result = run_survey(target, output, ["isochrone", *sys.argv[1:]], options, fabric)
    if as_json:
        print_json(result.document)
        return
    for line in result.lines:
        typer.echo(line)
