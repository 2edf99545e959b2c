# SPDX-License-Identifier: BSD-3-Clause
"""The options that describe a place to run: a launcher after ``--``, a simulated cluster, or a lab."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
import typer.models

from isochrone.errors import UsageError

if TYPE_CHECKING:
    from isochrone.lab.target import LabTarget
    from isochrone.launch.target import Target


_BELONGS = {
    "placement": ("sim", "lab"),
    "seed": ("sim", "lab"),
    "noise": ("sim",),
    "sim_baseline": ("sim",),
    "mpi": ("lab",),
    "ranks": ("lab",),
    "per_host": ("lab",),
    "idle_wait": ("lab",),
}
"""What places to run an option is for, if not for all."""


@dataclass(frozen=True)
class TargetOptions:
    """The place to run as the command line has it; the fields are options of every command that runs
    somewhere.
    """

    launch: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- LAUNCHER ...",
            show_default=False,
            help="The launcher as you would type it, without a program: -- mpiexec -n 64",
        ),
    ] = None
    sim: Annotated[
        str | None,
        typer.Option("--sim", metavar="NAME|FILE", help="A simulated cluster instead of a launcher."),
    ] = None
    lab: Annotated[
        str | None,
        typer.Option(
            "--lab", metavar="NAME|FILE", help="A lab that is up, or one to start: see isochrone lab."
        ),
    ] = None
    placement: Annotated[
        str | None,
        typer.Option("--placement", metavar="block|cyclic|random", help="Of the ranks, on cores or hosts."),
    ] = None
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Of random placement, and of simulated noise.")
    ] = None
    noise: Annotated[
        float | None,
        typer.Option("--noise", min=0.0, help="Noise of simulated messages: 0.1 is ten percent."),
    ] = None
    sim_baseline: Annotated[
        str | None,
        typer.Option(
            "--sim-baseline",
            metavar="ompi|mpich|default",
            help="Whose choice of algorithms stands for the library's own in a simulation (default: ompi).",
        ),
    ] = None
    mpi: Annotated[
        str | None,
        typer.Option("--mpi", metavar="NAME", help="The lab's MPI library: a name of: isochrone mpi list"),
    ] = None
    ranks: Annotated[
        int | None, typer.Option("-n", min=1, help="Ranks in the lab (default: all hosts full).")
    ] = None
    per_host: Annotated[
        int | None, typer.Option("--ppn", min=1, help="Ranks on each host of the lab (default: 2).")
    ] = None
    idle_wait: Annotated[
        bool | None,
        typer.Option(
            "--idle-wait/--no-idle-wait",
            help="Whether waiting ranks in the lab leave their core to others "
            "(default: where ranks outnumber cores).",
        ),
    ] = None

    def check(self, offered: Sequence[str] = ("launch", "sim", "lab")) -> None:
        """Raises UsageError if they describe no place, several, or one with another one's settings.

        Args:
            offered: the places that the command has options for.
        """
        given = [name for name in ("launch", "sim", "lab") if getattr(self, name)]
        if len(given) > 1:
            names = " and ".join("a launcher" if name == "launch" else f"--{name}" for name in given)
            raise UsageError(f"{names} are both given", todo="leave one away")
        if not given:
            raise UsageError(
                "neither a launcher nor a simulated cluster nor a lab is given",
                todo="end the command with, for example: -- mpiexec -n 4, or try: --sim demo",
            )
        here = given[0]
        spelled = {
            "ranks": "-n",
            "per_host": "--ppn",
            "idle_wait": "--idle-wait",
            "sim_baseline": "--sim-baseline",
        }
        for name, places in _BELONGS.items():
            if getattr(self, name) is not None and here not in places:
                option = spelled.get(name, f"--{name}")
                where = " or ".join(f"--{place} NAME" for place in places if place in offered)
                raise UsageError(f"{option} is for another place to run", todo=f"add {where}")


@contextlib.contextmanager
def open_target(options: TargetOptions) -> Iterator[Target]:
    """The place to run that a command line describes; a lab that was started for it ends with it.

    Raises:
        UsageError: when it describes none or several, or what it describes is not there.
        IsochroneError: when a description is wrong, or no MPI library is found.
    """
    options.check()
    if options.sim is not None:
        from isochrone.sim.description import load_system
        from isochrone.sim.target import SimTarget

        system = load_system(options.sim, options.placement, options.seed, options.noise)
        yield SimTarget(system, options.sim_baseline or "ompi")
    elif options.lab is not None:
        with open_lab_target(options, options.lab) as target:
            yield target
    else:
        from isochrone.launch.target import LocalTarget

        yield LocalTarget(options.launch or [])


@contextlib.contextmanager
def open_lab_target(options: TargetOptions, name_or_file: str) -> Iterator[LabTarget]:
    """The ranks that a command line asks for in a lab, which ends with the command if it was started for it.

    Raises:
        UsageError: when the ranks do not fit, or there is no such library.
        IsochroneError: when there is no such description, or the lab cannot be started.
    """
    from isochrone.lab.target import LabTarget, Ranks, open_lab
    from isochrone.launch.registry import find_library

    library = find_library(options.mpi)
    with open_lab(name_or_file) as lab:
        ranks = Ranks.on(lab.network, options.ranks, options.per_host, options.placement, options.seed)
        yield LabTarget(lab, library, ranks, options.idle_wait)


def on_target(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of ``TargetOptions``, and calls it with the place that they describe as
    `target`.
    """

    def opened(options: TargetOptions, **given: Any) -> None:
        with open_target(options) as target:
            command(target=target, **given)

    return _with_options(command, "target", opened)


def with_target_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of ``TargetOptions``, and calls it with them as `options`."""
    return _with_options(command, "options", command)


def with_lab_options(command: Callable[..., None]) -> Callable[..., None]:
    """Like ``with_target_options``, with those for labs only."""
    return _with_options(command, "options", command, lambda name: "lab" in (name, *_BELONGS.get(name, ())))


def _with_options(
    command: Callable[..., None],
    replaced: str,
    call: Callable[..., None],
    wanted: Callable[[str], bool] = lambda _: True,
) -> Callable[..., None]:
    """The command as Typer is to see it: with the wanted options in the place of the parameter `replaced`."""
    hints = get_type_hints(TargetOptions, include_extras=True)
    offered = {
        field.name: inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(TargetOptions)
        if wanted(field.name)
    }
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(command, eval_str=True).parameters.values()
        if parameter.name != replaced
    ]

    # What follows `--` takes all words that are left, so that what the command names itself comes before it.
    first = [parameter for parameter in own if _is_argument(parameter)]
    rest = [parameter for parameter in own if not _is_argument(parameter)]
    parameters = [*first, *offered.values(), *rest]

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        call(options=TargetOptions(**{name: given.pop(name) for name in offered}), **given)

    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapped


def _is_argument(parameter: inspect.Parameter) -> bool:
    """Whether it is a word of the command line without a name."""
    return any(isinstance(each, typer.models.ArgumentInfo) for each in get_args(parameter.annotation))
