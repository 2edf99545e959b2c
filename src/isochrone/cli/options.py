# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, and the target that they describe."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isochrone.errors import UsageError

if TYPE_CHECKING:
    from isochrone.launch.target import Target

LaunchLine = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="-- LAUNCHER ...",
        show_default=False,
        help="The launcher as you would type it, without a program: -- mpiexec -n 64",
    ),
]
Sim = Annotated[
    str | None,
    typer.Option("--sim", metavar="NAME|FILE", help="A simulated cluster instead of a launcher."),
]
Placement = Annotated[
    str | None,
    typer.Option("--placement", metavar="block|cyclic|random", help="Placement of the simulated ranks."),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Seed of the simulated cluster's random placement and noise."),
]
Noise = Annotated[
    float | None,
    typer.Option("--noise", min=0.0, help="Noise of simulated messages: 0.1 is ten percent."),
]
SimBaseline = Annotated[
    str,
    typer.Option(
        "--sim-baseline",
        metavar="ompi|mpich|default",
        help="Whose choice of algorithms stands for the library's own in a simulation.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


def make_target(
    launch: Sequence[str] | None,
    sim: str | None = None,
    placement: str | None = None,
    seed: int | None = None,
    noise: float | None = None,
    sim_baseline: str = "ompi",
) -> Target:
    """The place to run that a command line describes: a launcher after ``--``, or ``--sim`` with its
    settings.

    Raises:
        UsageError: when it describes none or both, or what it describes is not there.
        IsochroneError: when the description of the simulated cluster is wrong, or no MPI library is found.
    """
    if launch and sim is not None:
        raise UsageError("--sim and a launcher are both given", todo="leave one away")
    if sim is not None:
        return _simulated(sim, placement, seed, noise, sim_baseline)
    if placement is not None or seed is not None or noise is not None:
        raise UsageError("--placement, --seed and --noise are for simulated clusters", todo="add --sim NAME")
    if not launch:
        raise UsageError(
            "neither a launcher nor a simulated cluster is given",
            todo="end the command with, for example: -- mpiexec -n 4, or try: --sim demo",
        )
    from isochrone.launch.target import LocalTarget

    return LocalTarget(launch)


def _simulated(
    sim: str, placement: str | None, seed: int | None, noise: float | None, baseline: str
) -> Target:
    from isochrone.sim.description import load_system
    from isochrone.sim.target import SimTarget

    return SimTarget(load_system(sim, placement=placement, seed=seed, noise=noise), baseline)


def parse_sizes(text: str) -> list[int]:
    """The message sizes of ``--sizes``. Raises UsageError for what is no list of whole numbers."""
    try:
        return [int(size) for size in text.split(",")]
    except ValueError:
        raise UsageError(
            f"{text!r} is no list of sizes", "--sizes", "write bytes, such as 0,1024,65536"
        ) from None


def print_json(value: Any) -> None:
    """Prints a value as one JSON object on stdout; numbers that JSON does not have are refused."""
    typer.echo(json.dumps(value, allow_nan=False, ensure_ascii=False, indent=2))
