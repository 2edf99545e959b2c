# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone fabric compare``: routes beside measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, print_json

_SHOWN = 20


def compare(
    fabric: Annotated[
        Path, typer.Argument(metavar="FABRIC", help="Dumps of a fabric, or a topology.conf of Slurm.")
    ],
    measured: Annotated[
        Path, typer.Argument(metavar="SURVEY", help="A survey's folder, or a topology.json.")
    ],
    as_json: AsJson = False,
) -> None:
    """Say which hosts the times put elsewhere than the routes do.

    The exit code is 3 if there are any.
    """
    from isochrone.fabric.compare import compare as run_compare
    from isochrone.fabric.tree import read_tree
    from isochrone.files import read_topology
    from isochrone.files.text import printable
    from isochrone.steps.folder import TOPOLOGY, in_folder

    tiers = run_compare(read_tree(fabric), read_topology(in_folder(measured, TOPOLOGY)))
    if as_json:
        print_json({"tiers": [tier.to_json() for tier in tiers]})
    elif not tiers:
        typer.echo("All hosts are below one switch: there is nothing to compare.")
    for tier in tiers if not as_json else ():
        beside = f"level {tier.level} of {tier.groups} groups" if tier.level else "no groups of hosts"
        typer.echo(
            printable(
                f"tier {tier.tier}, {tier.switches} switches: measured as {beside}, "
                f"{100 * tier.agreement:.1f} % of the hosts agree"
            )
        )
        for each in tier.apart[:_SHOWN]:
            where = f"with those of {each.measured_with}" if each.measured_with else "in a group of no switch"
            typer.echo(printable(f"  {each.host}: at {each.switch} by the routes, measured {where}"))
        if len(tier.apart) > _SHOWN:
            typer.echo(f"  and {len(tier.apart) - _SHOWN} more")
    if any(tier.apart for tier in tiers):
        raise typer.Exit(3)
