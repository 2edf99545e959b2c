# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone merge``: surveys of one machine, added up."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, print_json

_log = logging.getLogger(__name__)


def merge(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER FOLDER ...", show_default=False, help="Of surveys.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")],
    as_json: AsJson = False,
) -> None:
    """Add up surveys of one machine, so that one plan serves all the jobs that they were made for.

    Surveys of the same hosts with other numbers of ranks, of hosts some of which are in both, or of other
    hosts. Where two have rules for the same, the newer counts. All must be of one MPI library.
    `isochrone report` shows the result, and `isochrone run --plan` runs on it.
    """
    from isochrone.steps.folder import PLAN, in_folder
    from isochrone.steps.learn import fold_learned
    from isochrone.steps.merge import merge as merged
    from isochrone.units import number_of

    for folder in folders:
        fold_learned(in_folder(folder, PLAN))
    found = merged(folders, output)
    hosts = len({place.host for place in found.topology.places})
    rules = found.plan.rules
    shapes = len({rule.shape for rule in rules})
    if as_json:
        print_json(
            {
                "folder": str(output),
                "surveys": [str(folder) for folder in folders],
                "hosts": hosts,
                "ranks": len(found.topology.ranks),
                "levels": [level.name for level in found.topology.levels],
                "rules": dict(sorted(Counter(rule.collective for rule in rules).items())),
                "shapes": shapes,
                "notes": list(found.notes),
            }
        )
        return
    for note in found.notes:
        _log.warning("%s", note)
    typer.echo(
        f"{number_of(hosts, 'host')}, {number_of(len(found.topology.ranks), 'rank')}; levels: "
        f"{', '.join(level.name for level in found.topology.levels)}"
    )
    typer.echo(f"{number_of(len(rules), 'rule')} for {number_of(shapes, 'shape')} of communicators")
    typer.echo(f"Survey: {output}")
