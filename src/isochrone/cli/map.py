# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone map``: puts ranks where they talk cheapest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isochrone.cli.map_options import (
    extra_options_of,
    forms_of,
    grid_of,
    numbers,
    places_that_are_fixed,
    system_of,
)
from isochrone.cli.map_output import NOTHING_KNOWN, More, figures_of, lines_of
from isochrone.cli.options import AsJson, parse_duration, print_json
from isochrone.errors import IsochroneError, UsageError

if TYPE_CHECKING:
    from isochrone.mapping.graph import TaskGraph
    from isochrone.mapping.system import System
    from isochrone.steps.map import Mapped, Program


def map_(
    graph: Annotated[
        Path | None,
        typer.Argument(
            help="What `isochrone record` wrote; a graph of METIS or the Matrix Market, statistics of Intel "
            "MPI, or monitoring files of Open MPI.",
            show_default="graph.json",
        ),
    ] = None,
    program: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- PROGRAM ...]", show_default=False, help="For --emit, what is started."),
    ] = None,
    topology: Annotated[
        Path | None,
        typer.Option(
            "--topology", "-t", metavar="FILE", help="topology.json, or the folder of a survey: the places."
        ),
    ] = None,
    tree: Annotated[
        str | None,
        typer.Option(
            "--tree", metavar="N:N:...", help="Or places of a regular tree, innermost first, such as 4:8:6."
        ),
    ] = None,
    hosts: Annotated[
        Path | None,
        typer.Option(
            "--hosts",
            metavar="FILE",
            help="Or lines of a host and its number of cores; with --topology, the hosts to use of it.",
        ),
    ] = None,
    fabric: Annotated[
        Path | None,
        typer.Option(
            "--fabric",
            metavar="FILE",
            help="The switches of --hosts: a topology.conf of Slurm, or a folder of an InfiniBand fabric's "
            "dumps.",
        ),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective",
            metavar="time|load|volume|hops",
            help="Seconds of all messages by the measured links; seconds of the busiest way; bytes times "
            "--distances; or bytes times links of the tree. time where links are measured, else volume.",
        ),
    ] = None,
    distances: Annotated[
        str | None,
        typer.Option(
            "--distances", metavar="D:D:...", help="Of volume, innermost level first; 1:2:3:... if not given."
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="portfolio, multisection, cartesian, greedy, swaps or identity.",
        ),
    ] = "portfolio",
    time: Annotated[
        str | None,
        typer.Option(
            "--time", metavar="TIME", help="Search for so long, such as 10s; else until the usual is done."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**63 - 1, help="Another seed, another search.")
    ] = 0,
    imbalance: Annotated[
        float,
        typer.Option(
            "--imbalance",
            min=0,
            max=10,
            help="Where there are more tasks than places: how much more than its share a place may hold.",
        ),
    ] = 0.03,
    grid: Annotated[
        str | None,
        typer.Option("--grid", metavar="NxN...", help="The ranks are a grid, row by row, such as 8x8x16."),
    ] = None,
    extend: Annotated[
        str | None,
        typer.Option(
            "--extend",
            metavar="NxN...",
            help="Predict for a larger --grid as well, of ranks that do as much each, on more such nodes.",
        ),
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option("--fix", metavar="RANK=HOST", help="A rank that has to be on a host; again for more."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="NAME", help="Of the graph: metis, matrix-market, intel or openmpi."
        ),
    ] = None,
    phase: Annotated[
        int | None, typer.Option("--phase", min=0, help="Only what was sent in this phase of the recording.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write the mapping to.")] = Path(
        "mapping.json"
    ),
    emitted: Annotated[
        list[str] | None,
        typer.Option(
            "--emit",
            metavar="FORM[=FILE]",
            help="Write a launcher's file too, such as openmpi-sequential or slurm-hostfile; again for more.",
        ),
    ] = None,
    extra: Annotated[
        str, typer.Option("--extra", metavar="OPTIONS", help="For --emit, more options for the launcher.")
    ] = "",
    pictures: Annotated[
        Path | None,
        typer.Option(
            "--pictures",
            metavar="FOLDER",
            help="Draw what ranks send before and after, and write both graphs for GraphViz.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Put ranks where they talk cheapest.

    Reads what ranks send one another, and finds the place for each at which that costs least: in seconds on a
    measured topology, or in bytes times distance on a tree. The result is never worse than ranks in their
    order. For example: isochrone map graph.json --topology isochrone-survey --emit openmpi-sequential
    """
    from isochrone.files import MappingFile, provenance, write_mapping
    from isochrone.files.text import refuse_to_replace
    from isochrone.mapping.emitters import Job, check_words, emit
    from isochrone.mapping.graph import task_graph
    from isochrone.steps.map import Program, map_ranks, read_program

    seconds = None if time is None else parse_duration(time, "--time")
    system = system_of(topology, tree, hosts, fabric)
    chosen = objective or ("time" if system.is_measured and distances is None else "volume")
    weights = None if distances is None else numbers(distances, "--distances")
    refuse_to_replace(output, "mapping")
    read = {"--hosts": hosts, "--topology": topology, "--fabric": fabric, "GRAPH": graph}
    forms = forms_of(emitted or [], system, read)
    job = Job((), tuple(program or ()), extra_options_of(extra))
    for chosen_form, _ in forms:
        check_words(chosen_form, job)
    path = graph or Path("graph.json")
    # The order of the hosts needs no graph: that is how a program is started which is to be recorded.
    without_graph = method == "identity" and (graph, form, phase) == (None, None, None) and not path.exists()
    program_read = (
        Program(task_graph(sum(system.capacities), [])) if without_graph else read_program(path, form, phase)
    )
    tasks = program_read.tasks
    room = system.with_room_for(tasks.ranks, imbalance) if topology is None and hosts is None else system
    dimensions = () if grid is None else grid_of(grid, "--grid")
    larger = () if extend is None else grid_of(extend, "--extend")
    if larger and not dimensions:
        raise UsageError(
            "the grid of the ranks is not known", "--extend", "give it too: --grid 8x8 --extend 16x8"
        )
    how: dict[str, Any] = {
        "objective": chosen,
        "distances": weights,
        "method": method,
        "seed": seed,
        "seconds": seconds,
    }
    mapped = map_ranks(
        program_read,
        room,
        fixed=places_that_are_fixed(fix or [], system, tasks.ranks),
        dimensions=dimensions,
        **how,
    )
    more = None if not larger else _more(program_read, mapped, room, dimensions, larger, how)
    if without_graph:
        mapped = replace(mapped, traffic=(), advice=None, prediction=None, unpredicted=NOTHING_KNOWN)
    found = mapped.mapping
    places, identity = (
        tuple(system.places[place] for place in at) if system.places else ()
        for at in (found.at, found.identity)
    )
    write_mapping(
        output,
        MappingFile(
            at=found.at,
            places=places,
            identity=identity,
            method=found.method,
            objective=found.objective,
            cost=found.cost,
            identity_cost=found.identity_cost,
            seconds=found.seconds,
            levels=mapped.traffic,
            prediction=mapped.prediction,
            advice=mapped.advice,
            provenance=provenance(),
        ),
    )
    drawn = [] if pictures is None else _draw(pictures, tasks, room, mapped)
    launches = [
        {"form": form.name, "file": str(path), "launch": emit(form, replace(job, places=places), path)}
        for form, path in forms
    ]
    if as_json:
        figures = figures_of(mapped, output, tasks.ranks, launches, drawn)
        print_json(figures if more is None else {**figures, "more": more.figures()})
        return
    for line in lines_of(mapped, output, tasks.ranks, launches, drawn) + (
        [] if more is None else more.lines()
    ):
        typer.echo(line)


def _more(
    program: Program,
    mapped: Mapped,
    system: System,
    grid: Sequence[int],
    larger: Sequence[int],
    how: dict[str, Any],
) -> More:
    from isochrone.steps.map import predict_more

    try:
        return More(list(larger), predict_more(program, mapped, system, grid, larger, **how))
    except UsageError:
        raise
    except IsochroneError as error:
        return More(list(larger), unpredicted=error.what)


def _draw(folder: Path, tasks: TaskGraph, system: System, mapped: Mapped) -> list[Path]:
    from isochrone.export.graphviz import system_dot, tasks_dot
    from isochrone.files.text import write_text
    from isochrone.report.plots.style import save
    from isochrone.report.plots.traffic import traffic

    drawn = [folder / "tasks.dot", folder / "system.dot"]
    write_text(drawn[0], tasks_dot(tasks, system, mapped.mapping.at))
    write_text(drawn[1], system_dot(system))
    figure = traffic(tasks, system.groups, mapped.mapping.at, mapped.traffic)
    return drawn if figure is None else [*drawn, *save(figure, folder, "traffic")]
