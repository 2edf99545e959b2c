# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone model``: which model of communication times may be trusted, and how far."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isochrone.cli.options import AsJson, columns, print_json

if TYPE_CHECKING:
    from isochrone.models.subjects import Subject


def model(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            show_default=False,
            help="measurements.jsonl, bench.jsonl, or folders of surveys; output of the OSU or the Intel MPI "
            "Benchmarks; tables with commas. What a file does not say goes behind its name: "
            "bcast.txt:ranks=64,algorithm=chain,mapping=core.",
        ),
    ],
    within: Annotated[
        float,
        typer.Option("--within", min=0.1, max=1000.0, metavar="PERCENT", help="Error that is good enough."),
    ] = 20.0,
    topology: Annotated[
        Path | None,
        typer.Option("--topology", metavar="FILE", help="Of the hosts, if none is beside the files."),
    ] = None,
    regions: Annotated[
        str | None,
        typer.Option(
            "--regions",
            metavar="RANKS,...",
            help="Up to how many ranks fill a socket, a node: a covariate for files that tell no places.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="For models.json and plots of residuals."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Fit Hockney, LogP, LogGP, PLogP and linear models with covariates to times, and say which to trust.

    Each is judged by what it was not fitted to: one message size, or one number of ranks, left out at a
    time. Errors are the median of |log(predicted / measured)|, and what 95 % of them keep to, shown as
    percentages. Models of messages price collectives by simulating their algorithms.
    """
    from isochrone.errors import IsochroneError

    try:
        import statsmodels.regression.linear_model  # noqa: F401 - is it there?

        from isochrone.models.text import document
        from isochrone.steps.model import model as run_model
    except ModuleNotFoundError as error:
        raise IsochroneError(
            f"{error.name} is not installed", "isochrone model", "pip install 'isochrone[models]'"
        ) from None
    from isochrone.files import provenance
    from isochrone.files.text import write_object
    from isochrone.models.readers.labels import parse_argument
    from isochrone.steps.folder import open_folder

    borders = _borders(regions)
    share = within / 100
    found_in = [parse_argument(each) for each in files]
    judged, found = run_model(found_in, topology, borders, share)
    result = {
        "within": share,
        "files": [str(path) for path, _ in found_in],
        "subjects": [document(subject, share) for subject in judged],
        "left_out": list(found.left_out),
        "provenance": provenance(),
    }
    if output is not None:
        from isochrone.models.figures import write_figures

        folder = open_folder(output)
        write_object(folder / "models.json", result)
        write_figures(judged, folder, share)
    if as_json:
        print_json(result)
        return
    typer.echo("\n\n".join(_lines(subject) for subject in judged))
    for each in found.left_out:
        typer.echo(f"left out: {each}", err=True)
    if output is not None:
        typer.echo(f"\nModels: {output / 'models.json'}; plots of residuals beside it")


def _lines(subject: Subject) -> str:
    from isochrone.models.text import heading, parameter_lines, table

    lines = [heading(subject), *(columns(table(subject)) if subject.judged else ())]
    for why in dict.fromkeys(subject.unfitted.values()):
        names = ", ".join(name for name, reason in subject.unfitted.items() if reason == why)
        lines.append(f"not fitted: {names}: {why}")
    lines += [": ".join(row) for row in parameter_lines(subject)]
    return "\n".join([*lines, *subject.sentences])


def _borders(text: str | None) -> list[int]:
    """Raises UsageError for what is no list of numbers of ranks."""
    from isochrone.errors import UsageError

    words = [] if text is None else text.split(",")
    if not all(word.isdecimal() and len(word) < 8 and int(word) > 1 for word in words):
        raise UsageError(f"{text!r} is no list of numbers of ranks", "--regions", "write for example 64,128")
    return [int(word) for word in words]
