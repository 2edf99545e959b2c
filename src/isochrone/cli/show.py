# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone show``: what ranks do in a collective, as a picture, a table, a tree or a file."""

from __future__ import annotations

import logging
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isochrone.cli.options import AsJson, columns, parse_size, print_json
from isochrone.errors import UsageError

if TYPE_CHECKING:
    from isochrone._core import Layout
    from isochrone.show import Spread, Timeline

_log = logging.getLogger(__name__)


class As(StrEnum):
    """What is shown."""

    TIME = "time"
    TREE = "tree"
    GOAL = "goal"


def show(
    recipe: Annotated[
        str,
        typer.Argument(help="Such as binomial, pipeline@8192, or hierarchical(machine=flat,node=binomial)."),
    ],
    ranks: Annotated[
        int | None,
        typer.Option("--ranks", "-n", min=1, help="So many, with links as hosts usually have them."),
    ] = None,
    per_host: Annotated[
        int | None, typer.Option("--ppn", min=1, help="Of --ranks, on each host (default: all on one).")
    ] = None,
    topology: Annotated[
        Path | None,
        typer.Option(
            "--topology",
            "-t",
            metavar="FILE",
            help="topology.json, or the folder of a survey: all its ranks, with its links.",
            show_default="isochrone-survey, if it is there",
        ),
    ] = None,
    collective: Annotated[
        str, typer.Option("--collective", "-c", help="`isochrone info` lists them.")
    ] = "bcast",
    size: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="SIZE",
            help="Of the message, or of each rank's block: bytes, 64KiB.",
            show_default="64KiB",
        ),
    ] = None,
    root: Annotated[int, typer.Option("--root", min=0, help="Of collectives that have one.")] = 0,
    form: Annotated[
        As | None,
        typer.Option(
            "--as",
            help="In time; as the tree of who hears from whom; or as GOAL, for other simulators.",
            show_default="time; goal for FILE.goal",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Draw it: FILE.svg, FILE.png or FILE.pdf; or FILE.goal."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what the ranks do in a collective by a recipe: who sends what to whom, and when, by the model.

    Nothing is run. Without -o it is a table, or a tree in letters. In the picture ranks are in the order of
    the topology's groups, and messages have the colour of the level that they cross. --json has all
    operations of all ranks, with the tree.
    """
    from isochrone.show import Call, document, headline, spread_of, summary, timeline_of
    from isochrone.tune.collectives import parse_collective

    form = _form(form, output)
    name = parse_collective(collective, "--collective")
    size_bytes = None if size is None else parse_size(size, "--bytes")
    call = Call.checked(name, recipe, _layout(ranks, per_host, topology), root, size_bytes)
    timeline = timeline_of(call)
    spread = spread_of(timeline)
    if output is not None:
        _write(form, timeline, spread, output)
    if as_json:
        print_json(document(timeline, spread))
        return
    if form is As.GOAL and output is None:
        from isochrone.export.goal import goal

        typer.echo(goal(timeline), nl=False)
        return
    typer.echo(headline(call))
    typer.echo(summary(timeline))
    if output is not None:
        typer.echo(f"Written: {output}")
        return
    for line in _lines(form, timeline, spread):
        typer.echo(line)
    _log.info(
        "-o schedule.svg draws it%s", "" if form is As.TREE else "; --as tree shows who hears from whom"
    )


def _form(form: As | None, output: Path | None) -> As:
    """What is to be shown. Raises UsageError for a file that cannot be of it."""
    if output is None:
        return form or As.TIME

    from isochrone.report.plots.style import KINDS

    suffix = output.suffix.lower()
    form = form or (As.GOAL if suffix == ".goal" else As.TIME)
    if form is not As.GOAL and suffix[1:] not in KINDS:
        raise UsageError(
            f"{str(output)!r} is no picture", "-o", f"end its name with {', '.join(f'.{k}' for k in KINDS)}"
        )
    if form is As.GOAL and suffix[1:] in KINDS:
        raise UsageError("GOAL is a text, and no picture", "-o", "write it to FILE.goal")
    return form


def _layout(ranks: int | None, per_host: int | None, topology: Path | None) -> Layout:
    from isochrone.show import topology_layout, unsurveyed_layout
    from isochrone.steps.folder import DEFAULT, TOPOLOGY, in_folder

    if ranks is not None and topology is not None:
        raise UsageError("a topology has its own ranks", "--ranks", "give one of --ranks and --topology")
    if ranks is not None:
        return unsurveyed_layout(ranks, per_host)
    if per_host is not None:
        raise UsageError("how many ranks there are is not given", "--ppn", "give --ranks too")
    if topology is None and not (DEFAULT / TOPOLOGY).exists():
        raise UsageError("no ranks are given", todo="give --ranks 8, or --topology of a survey")
    return topology_layout(in_folder(topology or DEFAULT, TOPOLOGY))


def _write(form: As, timeline: Timeline, spread: Spread, output: Path) -> None:
    if form is As.GOAL:
        from isochrone.export.goal import goal
        from isochrone.files.text import write_text

        write_text(output, goal(timeline))
        return
    from isochrone.report.plots.spacetime import spacetime
    from isochrone.report.plots.spread import spread_figure
    from isochrone.report.plots.style import save_as

    figure = spread_figure(timeline.call, spread) if form is As.TREE else spacetime(timeline)
    save_as(figure, output)


def _lines(form: As, timeline: Timeline, spread: Spread) -> list[str]:
    from isochrone.show import time_table, tree_lines
    from isochrone.units import number_of

    if form is As.TREE:
        return tree_lines(timeline.call, spread)
    table, left_out = time_table(timeline)
    lines = columns(table) if len(table) > 1 else []
    if left_out:
        lines.append(f"and {number_of(left_out, 'message')} more: --json has all")
    return lines
