# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone evaluate``: how well clustering methods find what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, print_json


def evaluate(
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="All systems, placements and numbers of repetitions: a quarter of an hour."
        ),
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for what is measured, and for the results.")
    ] = Path("isochrone-evaluation"),
    as_json: AsJson = False,
) -> None:
    """Compare the detection with other clustering methods, on simulated clusters and on made machines.

    The clusters are simulated with and without noise; the made machines are of many classes. Writes
    results.json and figures. What was simulated is kept in the folder, and used again by the same command.
    """
    from isochrone.evaluate.cases import cases
    from isochrone.evaluate.classes import by_class
    from isochrone.evaluate.figures import write_figures
    from isochrone.evaluate.run import evaluate as run_evaluate
    from isochrone.evaluate.run import results
    from isochrone.evaluate.table import class_table, table
    from isochrone.files import provenance
    from isochrone.files.text import write_object
    from isochrone.steps.folder import open_folder

    outcomes = list(run_evaluate(cases(full), open_folder(output)))
    classes = list(by_class(6 if full else 2))
    document = {
        "full": full,
        "results": results(outcomes),
        "classes": [each.to_json() for each in classes],
        "provenance": provenance(),
    }
    path = output / "results.json"
    write_object(path, document)
    write_figures(outcomes, output, full)
    if as_json:
        print_json(document)
        return
    for line in [*table(outcomes), "", *class_table(classes)]:
        typer.echo(line)
    typer.echo(f"Results: {path}; figures beside it")
