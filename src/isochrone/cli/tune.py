# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone tune``: finds the best recipe for each message size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import (
    AsJson,
    Budget,
    Collectives,
    FabricServer,
    Rivals,
    Sizes,
    print_json,
    tune_options,
)
from isochrone.cli.target import on_target
from isochrone.launch.target import Target


@on_target
def tune(
    target: Target,
    topology: Annotated[
        Path, typer.Option("--topology", "-t", help="topology.json, or the folder it is in.")
    ] = Path("isochrone-survey"),
    collectives: Collectives = None,
    sizes: Sizes = None,
    budget: Budget = None,
    rivals: Rivals = False,
    fabric: FabricServer = None,
    as_json: AsJson = False,
) -> None:
    """Find the best algorithms for each collective and message size, and write the plan beside the topology.

    The MPI library's own is kept wherever nothing is proven faster. The same command goes on with a tuning
    that was interrupted.
    """
    from isochrone.files import NATIVE
    from isochrone.report import collectives_document, compare_all, read_told
    from isochrone.steps.folder import BENCH, PLAN, TOPOLOGY, alone_in, in_folder
    from isochrone.steps.tune import forget
    from isochrone.steps.tune import tune as run_tune
    from isochrone.tune.collectives import words
    from isochrone.units import number_of

    options = tune_options(collectives, sizes, budget, rivals, fabric)
    source = in_folder(topology, TOPOLOGY)
    path = source.with_name(PLAN)
    with alone_in(path.parent):
        plan, bench = run_tune(target, source, path, source.with_name(BENCH), options)
        forget(path.parent, options)
    if as_json:
        print_json(
            {
                "plan": str(path),
                "rules": plan.document()["rules"],
                **collectives_document(compare_all(bench, read_told(path.parent, plan))),
            }
        )
        return
    recipes = [rule for rule in plan.rules if rule.recipe != NATIVE]
    for rule in recipes:
        typer.echo(
            f"{rule.collective}  {rule.min_bytes}-{rule.max_bytes} B  {rule.recipe}  "
            f"{rule.evidence.speedup:.2f}x  ({rule.shape})"
        )
    if not recipes:
        tuned = ", ".join(words(name) for name in options.collectives)
        typer.echo(f"Nothing was proven faster than the MPI library's own: {tuned}.")
    elif len(recipes) < len(plan.rules):
        rest = number_of(len(plan.rules) - len(recipes), "rule")
        typer.echo(f"By {rest} the MPI library's own stays.")
    typer.echo(f"Plan: {path}")
