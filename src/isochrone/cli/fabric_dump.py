# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone fabric dump``: writes the dumps of this machine's fabric, once or after each change."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, print_json, stopped_by_signal

LOG = logging.getLogger("isochrone.fabric")


def dump(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the dumps go.")],
    watch: Annotated[
        Path | None,
        typer.Option(
            "--watch",
            metavar="LOG",
            help="Stay, and dump again when the subnet manager's log (or the events of the plugin) says so.",
        ),
    ] = None,
    adapter: Annotated[
        str | None, typer.Option("--adapter", metavar="NAME", help="The adapter to use, such as mlx5_0.")
    ] = None,
    port: Annotated[int | None, typer.Option("--port", min=1, max=254, help="Its port.")] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="S", help="For each program that dumps.")
    ] = 600.0,
    as_json: AsJson = False,
) -> None:
    """Dump this machine's InfiniBand fabric: cables, speeds and the forwarding tables of all switches.

    Run it as root on one machine of the fabric; it needs infiniband-diags. Files are replaced when all are
    read, and fabric.json tells which belong together.
    """
    from isochrone.errors import IsochroneError
    from isochrone.fabric.dump import SubnetManagerLog
    from isochrone.fabric.dump import dump as run_dump
    from isochrone.fabric.dump import watch as run_watch

    options = (*(("-C", adapter) if adapter else ()), *(("-P", str(port)) if port else ()))
    log = SubnetManagerLog(watch) if watch is not None else None

    def once() -> bool:
        manifest, fabric = run_dump(folder, timeout, options, log.changed if log else None)
        for remark in fabric.remarks:
            LOG.warning("%s", remark)
        if not manifest.settled:
            LOG.warning("the fabric kept changing while it was read: the tables may not fit the cables")
        counts = {"hosts": len(fabric.hosts), "switches": len(fabric.switches)}
        if as_json:
            print_json(
                {
                    "folder": str(folder),
                    "generation": manifest.generation,
                    "settled": manifest.settled,
                    **counts,
                }
            )
        else:
            typer.echo(
                f"{folder}: generation {manifest.generation}, {counts['hosts']} hosts, "
                f"{counts['switches']} switches"
            )
        return manifest.settled

    def again() -> bool:
        try:
            return once()
        except IsochroneError as error:
            LOG.error("%s", error)  # the fabric may be half down
            return False

    settled = once()
    if log is not None:
        run_watch(log, again, stopped_by_signal(), settled)
