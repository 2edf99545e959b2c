# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone fabric serve``: answers routes to whoever asks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, print_json

_PORT = 7471


def serve(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Dumps, as isochrone fabric dump writes them.")
    ],
    bind: Annotated[
        str,
        typer.Option("--bind", metavar="ADDRESS", help="Whose clients may ask; :: or 0.0.0.0: everybody's."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Of lines over TCP; 0: any free.")
    ] = _PORT,
    http_port: Annotated[
        int, typer.Option("--http-port", min=0, max=65535, help="Of HTTP and the page; 0: any free.")
    ] = _PORT + 1,
    http: Annotated[bool, typer.Option("--http/--no-http", help="Answer over HTTP too.")] = True,
    connections: Annotated[
        int, typer.Option("--connections", min=1, max=1 << 20, help="Most clients at a time.")
    ] = 16384,
    idle: Annotated[
        float,
        typer.Option("--idle", min=0.1, metavar="S", help="Close clients that ask nothing for so long."),
    ] = 600.0,
    as_json: AsJson = False,
) -> None:
    """Answer routes between hosts: in lines over TCP, in JSON over HTTP, and on a page that draws the fabric.

    New dumps in the folder are served when they are complete; dumps that cannot be used are not, and health
    says so. SIGTERM or Ctrl-C ends the server when all that was asked is answered.
    """
    from isochrone.errors import IsochroneError

    try:
        from isochrone.fabric.serve.lines import Limits
        from isochrone.fabric.serve.server import serve as run_server
    except ModuleNotFoundError as error:
        raise IsochroneError(
            f"{error.name} is not installed", "isochrone fabric serve", "pip install 'isochrone[serve]'"
        ) from None

    def ready(lines: str, web: str | None) -> None:
        if as_json:
            print_json({"lines": lines, "http": web and f"http://{web}/"})
        else:
            typer.echo(f"lines: {lines}" + (f"   page: http://{web}/" if web else ""))

    limits = Limits(connections=connections, idle_s=idle)
    run_server(folder, bind, port, http_port if http else None, limits, ready)
