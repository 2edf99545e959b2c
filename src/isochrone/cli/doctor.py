# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone doctor``: names what is slow in a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, MatrixUnit, print_json, unit_of


def doctor(
    measurements: Annotated[
        Path, typer.Argument(help="measurements.jsonl, or the folder of a survey; or a plain matrix.")
    ],
    against: Annotated[
        Path | None,
        typer.Option("--against", help="Older measurements of the same machine to compare with."),
    ] = None,
    unit: MatrixUnit = None,
    as_json: AsJson = False,
) -> None:
    """Name what is slow in a machine, worst first: nodes, cables, ways between nodes, ranks, pairs.

    A part is slow if its pairs take longer than others at the same level; with --against, longer than they
    did. After probe --plogp --both, pairs with one slow direction are named too. The exit code is 3 if there
    are any.
    """
    from isochrone.steps.doctor import doctor as run_doctor
    from isochrone.steps.folder import MEASUREMENTS, in_folder

    older = in_folder(against, MEASUREMENTS) if against is not None else None
    source = in_folder(measurements, MEASUREMENTS)
    given = unit_of(unit, *(file for file in (source, older) if file is not None))
    found, slow = run_doctor(source, older, given)
    if as_json:
        print_json(
            {
                "ranks": found.ranks,
                "pairs": found.pairs_measured,
                "pairs_total": found.pairs_total,
                "simulated": found.simulated,
                "findings": [finding.to_json() for finding in slow],
            }
        )
    else:
        for finding in slow:
            typer.echo(str(finding))
        if not slow:
            than = "than its like" if older is None else "than it was"
            pairs = f"{found.pairs_measured} pairs"
            unseen = ""
            if not found.complete:
                pairs = f"{found.pairs_measured} of {found.pairs_total} pairs"
                unseen = "; of the others nothing is known"
            typer.echo(f"{found.ranks} ranks, {pairs}: nothing is slower {than}{unseen}")
    if slow:
        raise typer.Exit(3)
