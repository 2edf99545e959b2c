# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone report``: the page and the figures of a survey."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, print_json


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of the survey.")] = Path("isochrone-survey"),
    as_json: AsJson = False,
) -> None:
    """Write the page and the figures of a survey: report.html and figures/ in its folder."""
    from isochrone.steps.report import report as run_report

    result = run_report(folder)
    if as_json:
        print_json(result.document)
        return
    for line in result.lines:
        typer.echo(line)
