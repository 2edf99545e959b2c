# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone probe``: times messages between all pairs of ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isochrone.cli.options import AsJson, parse_sizes, print_json
from isochrone.cli.target import on_target
from isochrone.launch.target import Target


@on_target
def probe(
    target: Target,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write, or to go on writing.")
    ] = Path("measurements.jsonl"),
    sizes: Annotated[
        str | None, typer.Option("--sizes", metavar="BYTES,...", help="Message sizes, ascending, 0 first.")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option("--repetitions", min=1, help="Timed ping-pongs for each pair and size.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Time messages between all pairs of ranks.

    The same command goes on with a run that was interrupted: only what is missing is measured.
    """
    from isochrone.steps.probe import SIZES_BYTES
    from isochrone.steps.probe import probe as run_probe

    found = run_probe(target, output, parse_sizes(sizes) if sizes else SIZES_BYTES, repetitions)
    if as_json:
        print_json(
            {
                "measurements": str(output),
                "ranks": found.ranks,
                "pairs_measured": found.pairs_measured,
                "pairs_total": found.pairs_total,
                "probe_seconds": found.elapsed_s,
            }
        )
        return
    clock = "simulated " if found.simulated else ""
    typer.echo(
        f"{found.pairs_measured} of {found.pairs_total} pairs of {found.ranks} ranks "
        f"in {found.elapsed_s:.3g} {clock}s: {output}"
    )
