# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone library``: the MPI library's own algorithms: which are best, and files that tell it so."""

from __future__ import annotations

import logging
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, Collectives, parse_sizes, print_json
from isochrone.cli.target import on_target
from isochrone.errors import UsageError
from isochrone.launch.target import Target

_log = logging.getLogger(__name__)
app = typer.Typer(
    help="Find which of its own algorithms the MPI library should use, and tell it.", no_args_is_help=True
)


@app.callback()
def _library() -> None:
    """Find which of its own algorithms the MPI library should use, and tell it."""


@app.command()
@on_target
def tune(
    target: Target,
    topology: Annotated[
        Path, typer.Option("--topology", "-t", help="topology.json, or the folder it is in.")
    ] = Path("isochrone-survey"),
    collectives: Collectives = None,
    sizes: Annotated[str | None, typer.Option("--sizes", metavar="SIZE,...", help="Message sizes.")] = None,
    as_json: AsJson = False,
) -> None:
    """Time all that the MPI library can be told to use, and write what is proven faster than its own choice.

    The file, library.json, is written beside the topology. `isochrone run` and `isochrone bench --plan` tell
    the library what it says; `isochrone library export` writes it for the library itself. The same command
    goes on with a tuning that was interrupted.
    """
    from isochrone.files import is_to_be_compared, read_plan
    from isochrone.files.library import DEFAULT
    from isochrone.steps.folder import LIBRARY, LIBRARY_TUNING, PLAN, TOPOLOGY, alone_in, in_folder
    from isochrone.steps.library import tune_library
    from isochrone.steps.rounds import forget_rounds
    from isochrone.tune.collectives import WANTED, parse_collectives
    from isochrone.units import number_of

    names = parse_collectives(collectives) if collectives is not None else WANTED
    source = in_folder(topology, TOPOLOGY)
    path = source.with_name(LIBRARY)
    wanted = None if sizes is None else parse_sizes(sizes, 1)
    with alone_in(path.parent):
        tuning = tune_library(target, source, path, names, wanted)
        forget_rounds(path.with_name(LIBRARY_TUNING))
    if as_json:
        print_json({"library": str(path), "rules": tuning.document()["rules"]})
        return
    for rule in tuning.told():
        low, high = rule.evidence.speedup_ci
        typer.echo(
            f"{rule.collective}  {rule.min_bytes}-{rule.max_bytes} B  {rule.algorithm}  "
            f"{rule.evidence.speedup:.2f}x (95 % interval {low:.2f} to {high:.2f})"
        )
    # Two rules may be of one size: for what is smaller, and what is larger.
    rest = len({(rule.collective, rule.evidence) for rule in tuning.rules if rule.algorithm == DEFAULT})
    if rest:
        typer.echo(f"At {number_of(rest, 'measured size')} nothing was proven faster than its own choice.")
    if (plan := path.with_name(PLAN)).exists() and is_to_be_compared(read_plan(plan), tuning):
        _log.info("%s was not compared with this: isochrone tune makes it anew", plan)
    typer.echo(f"Library: {path}")


@app.command()
def export(
    form: Annotated[
        str | None,
        typer.Argument(metavar="[FORM]", help="Left away, the forms are listed.", show_default=False),
    ] = None,
    survey: Annotated[
        Path, typer.Option("--survey", "-s", metavar="FOLDER", help="Where library.json and plan.json are.")
    ] = Path("isochrone-survey"),
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; by default stdout.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write what was found for the MPI library, or for a program, to read.

    What the form cannot say is left out, and named on stderr.
    """
    from isochrone.export.tuning import FORMS, find_form, read_material
    from isochrone.files.text import write_text
    from isochrone.launch.registry import library_like

    if form is None and output is not None:
        what = f"of no form is given for {output}"
        raise UsageError(what, "FORM", "name one of: isochrone library export")
    if form is None:
        if as_json:
            print_json({"forms": [{"form": f.name, "words": f.words, "for": list(f.vendors)} for f in FORMS]})
        for each in FORMS if not as_json else ():
            typer.echo(f"{each.name:<19} {each.words}")
        return
    found = find_form(form)
    material = read_material(survey, found.vendors)
    if "MPICH" in found.vendors:
        material = replace(material, library=library_like(*material.version))
    exported = found.write(material)
    path = output or Path(found.file)
    variables = exported.variables(path)
    if output is not None:
        write_text(output, exported.text)
    if as_json:
        print_json(
            {
                "form": form,
                "file": str(output) if output else None,
                "text": None if output else exported.text,
                "variables": variables,
                "left_out": list(exported.left_out),
            }
        )
        return
    for line in exported.left_out:
        _log.warning("left out: %s", line)
    if output is None:
        typer.echo(exported.text, nl=False)
    elif exported.is_file_read:
        for name, value in variables.items():
            typer.echo(f"export {name}={shlex.quote(value)}")
