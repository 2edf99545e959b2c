# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone lab``: a cluster of namespaces on an emulated network."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isochrone.cli import lab_slurm
from isochrone.cli.options import AsJson, LabName, print_json
from isochrone.cli.target import TargetOptions, open_lab_target, with_lab_options

if TYPE_CHECKING:
    from isochrone.lab.labs import Lab
    from isochrone.lab.target import LabTarget

_log = logging.getLogger(__name__)

app = typer.Typer(help="A cluster of namespaces on an emulated network, for real MPI libraries.")

app.add_typer(lab_slurm.app, name="slurm")


@app.command()
def up(
    network: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped lab, or a description.")],
    name: Annotated[
        str | None, typer.Option("--name", help="A name of your own, to have one network up twice.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start a lab. It stays up until: isochrone lab down."""
    from isochrone.lab.description import load_network
    from isochrone.lab.start import up as start

    lab = start(load_network(network), name)
    if as_json:
        print_json(_facts(lab))
        return
    names = lab.network.host_names
    typer.echo(f"{lab.name} is up: {len(names)} hosts, {names[0]} to {names[-1]}. {lab.network.description}")


@app.command()
def status(name: LabName = None, as_json: AsJson = False) -> None:
    """Show the labs that are up, or the traffic on every link of one."""
    from isochrone.lab.labs import running_labs, the_lab

    labs = running_labs()
    if name is None and len(labs) != 1:
        if as_json:
            print_json({"labs": [_facts(lab) for lab in labs]})
            return
        if not labs:
            typer.echo("no lab is up")
        for lab in labs:
            typer.echo(f"{lab.name:<16} {len(lab.network.hosts)} hosts  {lab.network.description}")
        return
    lab = the_lab(name)
    counters = lab.status()
    if as_json:
        print_json({**_facts(lab), **counters})
        return
    typer.echo(f"{lab.name}: {len(lab.network.hosts)} hosts, up for {counters['elapsed_s']:.0f} s")
    typer.echo(f"{'link':<10}{'up':>16}{'down':>16}{'dropped':>10}{'late, mean':>14}{'most':>12}")
    for link in counters["links"]:
        late = ""
        if "late_mean_s" in link:
            late = f"{link['late_mean_s'] * 1e6:>11.1f} µs{link['late_max_s'] * 1e6:>9.0f} µs"
        dropped = link["up"]["dropped_packets"] + link["down"]["dropped_packets"]
        typer.echo(
            f"{link['name']:<10}{link['up']['bytes']:>14,} B{link['down']['bytes']:>14,} B{dropped:>10}{late}"
        )


@app.command("exec")
def execute(
    host: Annotated[str, typer.Argument(help="Such as h0.")],
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND ...", show_default=False)],
    name: Annotated[str | None, typer.Option("--lab", help="Not needed where one lab is up.")] = None,
) -> None:
    """Run a command in a host of a lab."""
    from isochrone.errors import UsageError
    from isochrone.lab.labs import the_lab

    lab = the_lab(name)
    if host not in lab.network.host_names:
        last = lab.network.host_names[-1]
        raise UsageError(f"the lab {lab.name!r} has no host {host!r}", todo=f"its hosts are h0 to {last}")
    words = lab.command(host, command)
    os.execvp(words[0], words)  # noqa: S606


@app.command()
def down(name: LabName = None, as_json: AsJson = False) -> None:
    """End a lab and everything that runs in it. Nothing of it stays behind, also after a crash."""
    from isochrone.lab.labs import find_lab, the_lab
    from isochrone.lab.start import down as end
    from isochrone.lab.start import remove_traces

    if name is not None and find_lab(name) is None and remove_traces(name):
        typer.echo(f"{name} was not up any more; its files are removed", err=as_json)
        ended = name
    else:
        lab = the_lab(name, to_end=True)
        end(lab)
        ended = lab.name
    if as_json:
        print_json({"lab": ended})
    else:
        typer.echo(f"{ended} is down")


@app.command("mpi")
@with_lab_options
def run_mpi(
    program: Annotated[list[str], typer.Argument(metavar="-- PROGRAM ...", show_default=False)],
    options: TargetOptions,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", envvar="ISOCHRONE_PLAN", help="plan.json, or the folder it is in."),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option("--map", metavar="FILE", help="Ranks where `isochrone map` put them: its mapping.json."),
    ] = None,
    unsurveyed: Annotated[
        bool,
        typer.Option("--unsurveyed", help="Without a plan: recipes are tried, as `isochrone run` does then."),
    ] = False,
) -> None:
    """Run an MPI program in a lab; without --lab, in the one that is up.

    A plan that does not hold here is reported in one line, and the program runs without it.
    """
    from isochrone.lab.labs import the_lab

    with open_lab_target(options, options.lab or the_lab(None).name) as target:
        if mapping is not None:
            target = _mapped(target, mapping, options)
        with_preload = plan is not None or unsurveyed
        variables = _settings_or_complaint(target, plan, program[0]) if with_preload else {}
        code = target.execute(program, variables)
    raise typer.Exit(code)


def _mapped(target: LabTarget, path: Path, options: TargetOptions) -> LabTarget:
    """The same lab and library, with the ranks of a mapping."""
    from isochrone.errors import UsageError
    from isochrone.files import read_mapping
    from isochrone.lab.target import LabTarget, Ranks

    given = {"-n": options.ranks, "--ppn": options.per_host, "--placement": options.placement}
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{name} and --map both say where the ranks run", todo="leave one away")
    found = read_mapping(path)
    if not found.places:
        raise UsageError("the mapping has no hosts", str(path), "map on --topology of a survey of the lab")
    ranks = Ranks.mapped(target.lab.network, [place.host for place in found.places])
    return LabTarget(target.lab, target.library, ranks, options.idle_wait)


def _settings_or_complaint(target: LabTarget, plan: Path | None, program: str) -> dict[str, str]:
    from isochrone.errors import IsochroneError
    from isochrone.launch.preload import refusal_for, settings_for
    from isochrone.launch.told import variables_for
    from isochrone.steps.folder import PLAN, in_folder

    path = None if plan is None else in_folder(plan, PLAN)
    variables = {} if path is None else variables_for(path.parent, target, path)
    try:
        # As isochrone run does, a run on a plan ends with what it did.
        settings = {"ISOCHRONE_SUMMARY": "1"} | settings_for(target.library, path, [program])
    except IsochroneError as error:
        _log.warning("%s", refusal_for(error))
        settings = {}
    return {**variables, **settings}


def _facts(lab: Lab) -> dict[str, Any]:
    return {
        "lab": lab.name,
        "network": lab.network.name,
        "description": lab.network.description,
        "hosts": lab.network.host_names,
        "process": lab.process,
        "folder": str(lab.folder),
    }
