# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone study``: experiments of papers as commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, FabricServer, parse_numbers, parse_sizes, print_json
from isochrone.cli.target import TargetOptions, open_target, with_target_options
from isochrone.errors import UsageError


@with_target_options
def study(
    options: TargetOptions,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            show_default=False,
            help="Which: placement, decision, speedup, order or application.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder to write into (default: isochrone-study-NAME)."),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option("--sizes", metavar="SIZE,...", help="Message sizes (default: those of the experiment)."),
    ] = None,
    rank_counts: Annotated[
        str | None,
        typer.Option("--ranks", metavar="N,...", help="Numbers of ranks (default: from two to all)."),
    ] = None,
    fabric: FabricServer = None,
    as_json: AsJson = False,
) -> None:
    """Repeat an experiment of a paper here: time what it timed, and write its tables and figures on a page.

    The same command goes on with one that was stopped.
    """
    from isochrone.steps.study import run_study
    from isochrone.studies.study import Asked
    from isochrone.studies.table import study_named

    chosen = study_named(name)
    asked = Asked(
        None if sizes is None else parse_sizes(sizes, 1),
        None if rank_counts is None else _rank_counts(rank_counts),
        fabric,
    )
    if fabric is not None and not chosen.by_fabric:
        raise UsageError(f"the study {chosen.name} asks no server of routes", "--fabric", "leave it away")
    folder = output or Path(f"isochrone-study-{chosen.name}")
    with open_target(options) as target:
        done, page = run_study(chosen, target, folder, asked, ["isochrone", *sys.argv[1:]])
    if as_json:
        print_json({**done.document(), "report": str(page)})
        return
    typer.echo(done.headline)
    typer.echo(f"Report: {page}")


def _rank_counts(text: str) -> tuple[int, ...]:
    """Each once and rising."""
    found = sorted(set(parse_numbers(text, "--ranks", "numbers of ranks", "for example 2,4,8")))
    if found[0] < 2:
        raise UsageError(f"{found[0]} is too few", "--ranks", "the least is 2")
    return tuple(found)
