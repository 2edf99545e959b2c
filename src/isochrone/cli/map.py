# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone map``: puts ranks where they talk cheapest."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isochrone.cli.options import AsJson, columns, parse_duration, print_json
from isochrone.errors import IsochroneError, UsageError

if TYPE_CHECKING:
    from isochrone.files import Place, Prediction
    from isochrone.mapping.graph import TaskGraph
    from isochrone.mapping.system import System
    from isochrone.steps.map import Mapped, Program


_NOTHING_KNOWN = "nothing is known of what they send"


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
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, another search.")] = 0,
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
    emit: Annotated[
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
    from isochrone.mapping.graph import task_graph
    from isochrone.steps.map import Program, map_ranks, read_program

    seconds = None if time is None else parse_duration(time, "--time")
    system = _system(topology, tree, hosts, fabric)
    chosen = objective or ("time" if system.is_measured and distances is None else "volume")
    weights = None if distances is None else _numbers(distances, "--distances")
    refuse_to_replace(output, "mapping")
    forms = _forms(emit or [], system)
    path = graph or Path("graph.json")
    # The order of the hosts needs no graph: that is how a program is started which is to be recorded.
    without_graph = method == "identity" and (graph, form, phase) == (None, None, None) and not path.exists()
    program_read = (
        Program(task_graph(sum(system.capacities), [])) if without_graph else read_program(path, form, phase)
    )
    tasks = program_read.tasks
    room = system.with_room_for(tasks.ranks, imbalance) if topology is None and hosts is None else system
    dimensions = () if grid is None else _grid(grid, "--grid")
    how: dict[str, Any] = {"objective": chosen, "method": method, "seed": seed, "seconds": seconds}
    mapped = map_ranks(
        program_read,
        room,
        distances=weights,
        fixed=_fixed(fix or [], system, tasks.ranks),
        dimensions=dimensions,
        **how,
    )
    more = None if extend is None else _more(program_read, mapped, room, dimensions, extend, how)
    if without_graph:
        mapped = replace(mapped, traffic=(), advice=None, prediction=None, unpredicted=_NOTHING_KNOWN)
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
    launches = _emit(forms, places, tuple(program or ()), extra)
    if as_json:
        figures = _figures(mapped, output, tasks.ranks, launches, drawn)
        print_json(figures if more is None else {**figures, "more": more.figures()})
        return
    for line in _lines(mapped, output, tasks.ranks, launches, drawn) + ([] if more is None else more.lines()):
        typer.echo(line)


@dataclass(frozen=True)
class _More:
    """What is predicted for a larger grid, or why nothing is."""

    grid: list[int]
    prediction: Prediction | None = None
    unpredicted: str | None = None

    def figures(self) -> dict[str, Any]:
        prediction = None if self.prediction is None else self.prediction.figures()
        return {
            "grid": self.grid,
            "ranks": prod(self.grid),
            "prediction": prediction,
            "unpredicted": self.unpredicted,
        }

    def lines(self) -> list[str]:
        from isochrone.mapping.words import predictions

        if self.prediction is None:
            return [f"Nothing is predicted for {prod(self.grid):,} ranks: {self.unpredicted}."]
        return predictions(self.prediction, prod(self.grid))


def _more(
    program: Program,
    mapped: Mapped,
    system: System,
    grid: Sequence[int],
    extend: str,
    how: dict[str, Any],
) -> _More:
    from isochrone.steps.map import predict_more

    if not grid:
        raise UsageError(
            "the grid of the ranks is not known", "--extend", "give it too: --grid 8x8 --extend 16x8"
        )
    larger = _grid(extend, "--extend")
    try:
        return _More(larger, predict_more(program, mapped, system, grid, larger, **how))
    except UsageError:
        raise
    except IsochroneError as error:
        return _More(larger, unpredicted=error.what)


def _system(topology: Path | None, tree: str | None, hosts: Path | None, fabric: Path | None) -> System:
    from isochrone.fabric.tree import read_tree
    from isochrone.files import read_survey, read_topology
    from isochrone.mapping.hosts import read_hosts
    from isochrone.mapping.system import on_hosts, system_of_hosts, system_of_topology, system_of_tree
    from isochrone.steps.folder import SURVEY, TOPOLOGY, in_folder

    if fabric is not None and (hosts is None or topology is not None):
        raise UsageError("the switches are of the hosts of a list", "--fabric", "give --hosts FILE beside it")
    if tree is not None:
        if topology is not None or hosts is not None:
            raise UsageError("a tree has no hosts", "--tree", "give --topology or --hosts, or --tree alone")
        return system_of_tree([int(number) for number in _numbers(tree, "--tree", whole=True)])
    listed = None if hosts is None else read_hosts(hosts)
    if topology is not None:
        path = in_folder(topology, TOPOLOGY)
        read = read_topology(path)
        read.check_whole(str(path))
        survey = path.with_name(SURVEY)
        system = system_of_topology(read, read_survey(survey).cores if survey.exists() else None)
        return system if listed is None else on_hosts(system, listed)
    if listed is None:
        raise UsageError(
            "no places are given", todo="give --topology of a survey, --hosts FILE, or --tree 4:8:6"
        )
    return system_of_hosts(listed, None if fabric is None else read_tree(fabric))


def _numbers(text: str, option: str, whole: bool = False) -> list[float]:
    """Numbers between colons. Raises UsageError for anything else."""
    try:
        return [float(int(word)) if whole else float(word) for word in text.split(":")]
    except ValueError:
        raise UsageError(
            f"{text[:40]!r} is no list of numbers", option, "write the innermost first, such as 4:8:6"
        ) from None


def _grid(text: str, option: str) -> list[int]:
    words = text.split("x")
    if not all(word.isascii() and word.isdigit() and 0 < len(word) < 8 and int(word) > 0 for word in words):
        raise UsageError(f"{text[:40]!r} is no grid", option, "write its dimensions, such as 8x8x16")
    return [int(word) for word in words]


def _fixed(wanted: list[str], system: System, ranks: int) -> list[int]:
    """[rank], the place of those that are fixed, -1 for the others; empty where none is."""
    if not wanted:
        return []
    fixed = [-1] * ranks
    left = list(range(system.count))
    for word in wanted:
        rank, _, host = word.partition("=")
        if not (rank.isascii() and rank.isdigit() and len(rank) < 9 and int(rank) < ranks):
            raise UsageError(
                f"{word[:40]!r} names no rank", "--fix", f"write RANK=HOST, ranks 0 to {ranks - 1}"
            )
        place = next((p for p in left if system.places and system.places[p].host == host), None)
        if place is None:
            raise UsageError(
                f"{host[:40]!r} has no place left", "--fix", "write RANK=HOST of --topology or --hosts"
            )
        left.remove(place)
        fixed[int(rank)] = place
    return fixed


def _forms(wanted: list[str], system: System) -> list[tuple[Any, Path]]:
    from isochrone.mapping.emitters import find_form

    if wanted and not system.places:
        raise UsageError("a tree has no hosts to launch on", "--emit", "give --topology or --hosts")
    forms: list[tuple[Any, Path]] = []
    for word in wanted:
        name, _, file = word.partition("=")
        form = find_form(name)
        path = Path(file or form.file)
        if path in [other for _, other in forms]:
            raise UsageError(
                f"two forms would be written to {str(path)!r}", "--emit", f"write {name}=ANOTHER_FILE"
            )
        forms.append((form, path))
    return forms


def _emit(
    forms: list[tuple[Any, Path]],
    places: tuple[Place, ...],
    program: tuple[str, ...],
    extra: str,
) -> list[dict[str, Any]]:
    from isochrone.mapping.emitters import Job, emit

    try:
        options = tuple(shlex.split(extra))
    except ValueError as error:
        raise UsageError(f"the options do not end: {error}", "--extra", "close the quotes") from None
    job = Job(places, program, options)
    return [{"form": form.name, "file": str(path), "launch": emit(form, job, path)} for form, path in forms]


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


def _figures(
    mapped: Mapped, output: Path, ranks: int, launches: list[dict[str, Any]], drawn: list[Path]
) -> dict[str, Any]:
    found = mapped.mapping
    return {
        "mapping": str(output),
        "ranks": ranks,
        "method": found.method,
        "objective": found.objective,
        "cost": found.cost,
        "identity_cost": found.identity_cost,
        "seconds": found.seconds,
        "levels": [asdict(level) for level in mapped.traffic],
        "prediction": None if mapped.prediction is None else mapped.prediction.figures(),
        "unpredicted": mapped.unpredicted,
        "busiest_way": {
            when: None if way is None else asdict(way)
            for when, way in zip(("before", "after"), mapped.busiest, strict=True)
        },
        "advice": mapped.advice,
        "emitted": launches,
        "pictures": [str(path) for path in drawn],
    }


def _lines(
    mapped: Mapped, output: Path, ranks: int, launches: list[dict[str, Any]], drawn: list[Path]
) -> list[str]:
    from isochrone.mapping.words import no_help, predictions
    from isochrone.units import format_ratio, format_time

    found = mapped.mapping
    before, after = (
        format_time(value) if found.objective in ("time", "load") else f"{value:,.0f}"
        for value in (found.identity_cost, found.cost)
    )
    gain = f", {format_ratio(found.identity_cost / found.cost)} less" if found.cost > 0 else ""
    lines = [f"{ranks} ranks, {found.objective}: {before} in their order, {after} mapped{gain}"]
    if mapped.unpredicted == _NOTHING_KNOWN:
        return [f"{ranks} ranks in their order: {_NOTHING_KNOWN}", *_written(output, launches, drawn)]
    total = max(1, sum(level.before_bytes for level in mapped.traffic))
    rows = [("bytes that meet at", "before", "after")]
    rows += [
        (level.name, f"{level.before_bytes / total:.1%}", f"{level.after_bytes / total:.1%}")
        for level in mapped.traffic
        if level.before_bytes or level.after_bytes
    ]
    lines += columns(rows)
    lines += _busiest(mapped)
    if mapped.prediction is None:
        lines.append(f"No time is predicted: {mapped.unpredicted}.")
    else:
        lines += predictions(mapped.prediction)
    if mapped.advice is not None:
        lines.append(f"{no_help(mapped.advice)}.")
    return [*lines, *_written(output, launches, drawn)]


def _written(output: Path, launches: list[dict[str, Any]], drawn: list[Path]) -> list[str]:
    lines = [f"Mapping: {output}"]
    if drawn:
        lines.append(f"Pictures: {drawn[0].parent}")
    return lines + [f"{each['form']}: {shlex.join(each['launch'])}" for each in launches]


def _busiest(mapped: Mapped) -> list[str]:
    from isochrone.units import format_time

    before, after = mapped.busiest
    if before is None or after is None:
        return []
    return [
        f"Busiest way: of {before.level} {before.group}, {format_time(before.seconds)} in their order; "
        f"of {after.level} {after.group}, {format_time(after.seconds)} mapped"
    ]
