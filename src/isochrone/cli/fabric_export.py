# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone fabric export``: a fabric in the forms of schedulers and other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isochrone.cli.options import AsJson, print_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from isochrone.fabric.routes import Routes

_BYTES = 65536
WORDS = {
    "topology.conf": "Slurm's tree of switches, with link speeds",
    "topology.yaml": "the same for Slurm from 25.05 on",
    "topology-block.yaml": "leaf switches as blocks, for Slurm from 25.05 on",
    "graphviz": "a drawing, for dot",
    "hops.csv": "switches between each two hosts",
    "delays.csv": "nanoseconds that a bit takes over the slowest cable between each two hosts",
    "times.csv": "seconds of a message of --bytes, by the PLogP parameters of --survey and speeds of cables",
}


def _writers(survey: Path | None, size_bytes: int) -> dict[str, Callable[[Routes], str]]:
    from isochrone.errors import UsageError
    from isochrone.export import graphviz, slurm
    from isochrone.fabric.delays import by_hops, by_speed, by_times, csv_text
    from isochrone.fabric.tree import tree
    from isochrone.labels import natural

    def hosts(routes: Routes) -> list[str]:
        return sorted(routes.wiring.hosts, key=natural)

    def times(routes: Routes) -> str:
        from isochrone.files import read_topology
        from isochrone.steps.folder import TOPOLOGY, in_folder

        if survey is None:
            raise UsageError("times need what was measured", "times.csv", "give --survey FOLDER")
        names, matrix = by_times(routes, read_topology(in_folder(survey, TOPOLOGY)), size_bytes)
        return csv_text(matrix, names, f"seconds for {size_bytes} bytes")

    return {
        "topology.conf": lambda routes: slurm.topology_conf(tree(routes)),
        "topology.yaml": lambda routes: slurm.topology_yaml(tree(routes)),
        "topology-block.yaml": lambda routes: slurm.block_yaml(tree(routes)),
        "graphviz": lambda routes: graphviz.fabric_dot(routes.fabric),
        "hops.csv": lambda routes: csv_text(by_hops(routes, hosts(routes)), hosts(routes), "hops"),
        "delays.csv": lambda routes: csv_text(by_speed(routes, hosts(routes)), hosts(routes), "ns for a bit"),
        "times.csv": times,
    }


def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Dumps of a fabric.")],
    form: Annotated[
        str,
        typer.Argument(
            metavar="FORM", help="; ".join(f"{name}: {words}" for name, words in WORDS.items()) + "."
        ),
    ],
    survey: Annotated[
        Path | None,
        typer.Option(
            "--survey", metavar="FOLDER", help="Of times.csv: a survey's folder, or a topology.json."
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            "--bytes", min=0, max=1 << 40, help=f"Of times.csv: the size of a message (default: {_BYTES})."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; by default stdout.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a fabric for Slurm, GraphViz or other programs."""
    from isochrone.errors import IsochroneError, UsageError
    from isochrone.fabric.folder import read_fabric
    from isochrone.fabric.routes import Routes
    from isochrone.files.text import write_text

    writer = _writers(survey, _BYTES if size is None else size).get(form)
    if writer is None:
        raise UsageError(f"{form!r} is no form", "FORM", f"use {', '.join(WORDS)}")
    for option, is_given in (("--survey", survey is not None), ("--bytes", size is not None)):
        if is_given and form != "times.csv":
            raise UsageError("is of times.csv only", option, "leave it away")
    try:
        text = writer(Routes(read_fabric(folder)))
    except IsochroneError as error:
        # What forms cannot have is of the dumps; they know of no files.
        error.where = error.where or str(folder)
        raise
    if output is not None:
        write_text(output, text)
    if as_json:
        print_json({"form": form, "file": str(output) if output else None, "text": None if output else text})
    elif output is None:
        typer.echo(text, nl=False)
