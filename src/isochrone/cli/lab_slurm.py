# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone lab slurm``: Slurm on a lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, LabName, print_json

app = typer.Typer(help="Slurm on a lab, with the detected topology.")


@app.command()
def up(
    name: LabName = None,
    mpi: Annotated[
        str | None,
        typer.Option("--mpi", metavar="NAME", help="Whose programs jobs run: a name of isochrone mpi list"),
    ] = None,
    per_host: Annotated[int, typer.Option("--ppn", min=1, help="CPUs of each host, and so its ranks.")] = 2,
    topology: Annotated[
        Path | None,
        typer.Option("--topology", help="topology.json of this lab, or its folder: for topology.conf."),
    ] = None,
    install: Annotated[
        bool, typer.Option("--install", help="Install Debian's packages of Slurm where they are missing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Start Slurm on a lab that is up, or start it anew. It ends with the lab.

    Then, for example: isochrone lab exec h0 -- srun -N 8 -n 16 ./program
    """
    from isochrone.files.topology import read_topology
    from isochrone.lab.labs import the_lab
    from isochrone.lab.slurm import install_slurm
    from isochrone.lab.slurm import up as start
    from isochrone.launch.registry import find_library
    from isochrone.steps.folder import TOPOLOGY, in_folder

    lab = the_lab(name)
    library = find_library(mpi)
    found = None if topology is None else read_topology(in_folder(topology, TOPOLOGY))
    if install:
        install_slurm()
    start(lab, library, per_host, found)
    folder = lab.folder / "slurm"
    if as_json:
        print_json({"lab": lab.name, "mpi": library.name, "configuration": str(folder / "slurm.conf")})
        return
    tree = "flat" if found is None else f"as in {folder / 'topology.conf'}"
    typer.echo(f"Slurm is up on {lab.name}: {per_host} CPUs a host, jobs of {library.title}, topology {tree}")


@app.command()
def down(name: LabName = None, as_json: AsJson = False) -> None:
    """End Slurm on a lab; the lab stays up."""
    from isochrone.errors import UsageError
    from isochrone.lab.labs import the_lab
    from isochrone.lab.slurm import down as end

    lab = the_lab(name, to_end=True)
    if not end(lab):
        raise UsageError(f"Slurm is not up on {lab.name!r}", todo="start it with: isochrone lab slurm up")
    if as_json:
        print_json({"lab": lab.name})
    else:
        typer.echo(f"Slurm is down on {lab.name}")
