# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone fabric load``: which cables carry most of some traffic."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, print_json

LOG = logging.getLogger("isochrone.fabric")


def load(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Dumps of a fabric.")],
    traffic: Annotated[
        Path | None,
        typer.Argument(
            metavar="[TRAFFIC]",
            help="Lines of host,host,bytes, or what isochrone record wrote. Without it each host sends "
            "a byte to each other.",
        ),
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Print so many cables.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Print how many bytes flow over cables by the routes, those that take longest first."""
    from isochrone.fabric import loads
    from isochrone.fabric.folder import read_fabric
    from isochrone.fabric.model import guid_text
    from isochrone.fabric.routes import Routes

    rows = loads.read_traffic(traffic) if traffic is not None else None
    routes = Routes(read_fabric(folder))
    found = loads.of_traffic(routes, rows) if rows is not None else loads.uniform(routes)
    shown = found.cables if as_json else found.cables[:most]
    if found.lost:
        LOG.warning("%g bytes are between hosts without a route", found.lost)
    if as_json:
        print_json(
            {
                "lost": found.lost,
                "cables": [
                    {
                        "node": guid_text(each.node.guid),
                        "name": each.node.name,
                        "port": each.port.number,
                        "to": each.other.name if each.other else None,
                        "bytes": each.volume,
                        "seconds": each.seconds if math.isfinite(each.seconds) else None,
                    }
                    for each in shown
                ],
            }
        )
        return
    typer.echo(f"{'bytes':>12}  {'seconds':>10}  cable")
    for each in shown:
        name = each.node.name or guid_text(each.node.guid)
        other = (each.other.name or guid_text(each.other.guid)) if each.other else "?"
        typer.echo(f"{each.volume:12.6g}  {each.seconds:10.4g}  {name} port {each.port.number} to {other}")
    if len(found.cables) > len(shown):
        typer.echo(f"and {len(found.cables) - len(shown)} more", err=True)
