# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone plan``: what is in a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isochrone.cli.options import AsJson, parse_size, print_json

if TYPE_CHECKING:
    from isochrone.steps.explain import Explanation

app = typer.Typer(help="Say what a plan would run, and why.", no_args_is_help=True)


@app.callback()
def _plan() -> None:
    """Say what a plan would run, and why."""


@app.command()
def explain(
    collective: Annotated[str, typer.Argument(help="Such as bcast; `isochrone info` lists them.")],
    size: Annotated[
        str, typer.Argument(help="Of a message, or of one rank's block: bytes, 64KiB; 0 if there is none.")
    ] = "0",
    nodes: Annotated[
        int | None, typer.Option("--nodes", "-N", min=1, help="Of the job (default: all that were surveyed).")
    ] = None,
    per_node: Annotated[
        int | None, typer.Option("--ppn", min=1, help="Ranks on each node (default: as surveyed).")
    ] = None,
    root: Annotated[int, typer.Option("--root", min=0, help="Of collectives that have one.")] = 0,
    plan: Annotated[Path, typer.Option("--plan", help="plan.json, or the folder it is in.")] = Path(
        "isochrone-survey"
    ),
    as_json: AsJson = False,
) -> None:
    """Say what would run for a collective of a job, and why; nothing is run.

    The job has the first nodes of the survey, its ranks node by node, on each in the survey's order. Nodes
    beyond those that were surveyed are taken to be like them.
    """
    from isochrone.steps.explain import explain as explained
    from isochrone.steps.folder import PLAN, in_folder
    from isochrone.tune.collectives import parse_collective

    name = parse_collective(collective, "COLLECTIVE")
    size_bytes = parse_size(size, "SIZE")
    found = explained(in_folder(plan, PLAN), name, size_bytes, nodes, per_node, root)
    if as_json:
        print_json({"collective": name, "size_bytes": size_bytes, "root": root, **found.document()})
        return
    for line in _lines(found):
        typer.echo(line)


def _lines(found: Explanation) -> list[str]:
    from isochrone.units import format_time, number_of
    from isochrone.words import describe_range, describe_recipe

    lines = [f"runs:  {found.recipe}", f"       {describe_recipe(found.recipe)}", f"why:   {found.reason}"]
    if found.basis != "none":
        lines.append(f"known: {found.basis}")
    if found.rule is not None:
        evidence = found.rule.evidence
        low, high = evidence.speedup_ci
        lines.append(
            f"rule:  {describe_range(found.rule.min_bytes, found.rule.max_bytes)}; "
            f"{format_time(evidence.recipe_s)}, {evidence.speedup:.2f}x "
            f"({found.rule.interval} {low:.2f} to {high:.2f}) "
            f"from {number_of(evidence.repetitions, 'repetition')}"
        )
    if found.trials is None:
        lines.append("trial: a program tries some in its own calls; to price them here takes too long")
    for number, (recipe, seconds) in enumerate(found.trials or ()):
        dearer = number == 0 and any(other_s < seconds for _, other_s in found.trials or ())
        why = ", others less, but the races of the plan found messages slow" if dearer else ""
        lines.append(
            f"{'trial:' if number == 0 else '      '} {recipe}, predicted {format_time(seconds)}{why}"
        )
    if found.trials:
        lines.append(
            "       a program tries the first that it has priced, unless its other calls have shown messages "
            "to be slow; what that takes tells the next"
        )
    if found.for_floats is not None:
        recipe, reason = found.for_floats
        if found.basis == "predicted" and recipe == found.recipe:
            lines.append("sums:  of floating-point numbers are the library's own, except with --trials all")
        elif found.for_floats != (found.recipe, found.reason):
            lines.append(f"sums:  of floating-point numbers run {recipe}: {reason}")
    if found.rule is None and found.basis != "interpolated" and found.elsewhere:
        lines.append(f"rules are for: {'; or '.join(found.elsewhere[:3])}")
        if len(found.elsewhere) > 3:
            lines[-1] += f"; and {number_of(len(found.elsewhere) - 3, 'other shape')}"
    if found.unseen:
        lines.append(f"{number_of(found.unseen, 'node')} not surveyed, and taken to be like the others")
    return lines
