# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone fabric``: InfiniBand fabrics from their dumps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.fabric_compare import compare
from isochrone.cli.fabric_dump import dump
from isochrone.cli.fabric_export import export
from isochrone.cli.fabric_load import load
from isochrone.cli.fabric_serve import serve
from isochrone.cli.options import AsJson, print_json

app = typer.Typer(help="Read InfiniBand fabrics, check them, and answer routes.", no_args_is_help=True)
app.command("dump")(dump)
app.command("serve")(serve)
app.command("load")(load)
app.command("export")(export)
app.command("compare")(compare)

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Dumps of ibnetdiscover and dump_fts, or a file of them.")
]


@app.command()
def check(folder: Folder, as_json: AsJson = False) -> None:
    """Say what is wrong with a fabric.

    The exit code is 3 if there is a fault, and not only infos.
    """
    from isochrone.fabric.check import check as run_check
    from isochrone.fabric.folder import read_fabric
    from isochrone.fabric.routes import Routes

    fabric = read_fabric(folder)
    findings = run_check(Routes(fabric))
    counts = {
        "hosts": len(fabric.hosts),
        "switches": len(fabric.switches),
        "links": sum(1 for _ in fabric.cables()),
    }
    if as_json:
        print_json(
            {
                **counts,
                "findings": [finding.to_json() for finding in findings],
                "remarks": fabric.remarks,
            }
        )
    else:
        for remark in fabric.remarks:
            typer.echo(f"note: {remark}", err=True)
        typer.echo(f"{counts['hosts']} hosts, {counts['switches']} switches, {counts['links']} links")
        for finding in findings:
            example = f", such as {finding.examples[0]}" if finding.examples else ""
            typer.echo(f"{finding.severity}: {finding.kind}: {finding.words}{example}")
    if any(finding.severity == "fault" for finding in findings):
        raise typer.Exit(3)


@app.command()
def route(
    folder: Folder,
    source: Annotated[str, typer.Argument(metavar="A", help="A host, or a GUID.")],
    target: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    as_json: AsJson = False,
) -> None:
    """Print the switches and ports that packets pass from one host to another."""
    from isochrone.errors import IsochroneError
    from isochrone.fabric.folder import read_fabric
    from isochrone.fabric.model import guid_text
    from isochrone.fabric.routes import Routes

    routes = Routes(read_fabric(folder))
    found = routes.route(routes.vertex(source), routes.vertex(target))
    if not found.arrives:
        last = f" after {found.hops[-1].switch.name}" if found.hops else ""
        raise IsochroneError(f"the route from {source} to {target} {found.ending}{last}", str(folder))
    if as_json:
        print_json(
            {
                "hops": len(found.hops),
                "path": [
                    {
                        "switch": guid_text(hop.switch.guid),
                        "name": hop.switch.name,
                        "in_port": hop.in_port,
                        "out_port": hop.out_port,
                    }
                    for hop in found.hops
                ],
                "speed": found.speed_gbps,
            }
        )
        return
    typer.echo(source)
    for hop in found.hops:
        name = f"  {hop.switch.name}" if hop.switch.name else ""
        typer.echo(f"  {guid_text(hop.switch.guid)}  in {hop.in_port:3}  out {hop.out_port:3}{name}")
    speed = f", {found.speed_gbps:g} Gb/s" if found.speed_gbps else ""
    typer.echo(f"{target}: {len(found.hops)} hops{speed}")
