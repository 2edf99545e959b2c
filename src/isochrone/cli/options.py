# SPDX-License-Identifier: BSD-3-Clause
"""What several commands share beside the place to run."""

from __future__ import annotations

import json
import signal
from collections.abc import Collection, Sequence
from pathlib import Path
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from isochrone.errors import UsageError

if TYPE_CHECKING:
    from isochrone import _core
    from isochrone.steps.tune import TuneOptions

LabName = Annotated[
    str | None, typer.Argument(metavar="[LAB]", help="Its name; not needed where one lab is up.")
]
MatrixUnit = Annotated[
    str | None,
    typer.Option("--unit", metavar="s|ms|us|ns", help="Of a plain matrix's numbers (default: ns)."),
]
Fabric = Annotated[
    Path | None,
    typer.Option(
        "--fabric",
        metavar="FILE",
        help="The switches of the hosts, a topology.conf of Slurm or a folder of dumps of an InfiniBand "
        "fabric: names levels, and is compared with them.",
    ),
]


def _checked_address(address: str | None) -> str | None:
    """Raises UsageError for what is no address of a fabric's server."""
    from isochrone import _core

    if address is not None:
        try:
            _core.check_fabric_address(address)
        except ValueError as error:
            raise UsageError(str(error), "--fabric") from None
    return address


FabricServer = Annotated[
    str | None,
    typer.Option(
        "--fabric",
        metavar="[hops@|speed@|time@]HOST:PORT",
        callback=_checked_address,
        help="A server of `isochrone fabric serve`: recipes that lay a tree over the hosts go by its "
        "distances.",
    ),
]
Collectives = Annotated[
    str | None,
    typer.Option(
        "--collectives",
        metavar="NAME,...",
        help="Which, such as bcast,reduce,allreduce,barrier; `isochrone info` lists them.",
    ),
]
Patterns = Annotated[
    str | None,
    typer.Option(
        "--patterns",
        metavar="NAME,...",
        help="Of point-to-point messages, such as pingpong,bandwidth,halo; `isochrone info` lists them.",
    ),
]

Sizes = Annotated[
    str | None,
    typer.Option(
        "--sizes",
        metavar="SIZE,...",
        help="Message sizes to tune at, such as 8,64KiB (default: of 14 up to 4 MiB, as time allows).",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="How long tuning may take, more or less, such as 120s or 10m (default: 2m; no matter in a "
        "simulation).",
    ),
]
Rivals = Annotated[
    bool,
    typer.Option(
        "--rivals",
        help="Time all that the MPI library can be told to use first, tell it the best of that, and hold the "
        "plan against it.",
    ),
]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]

_LARGEST = 1 << 30
"""Of the numbers that options list, most of them bytes."""


class WithProgram(typer.core.TyperCommand):
    """A command whose `program` is what follows `--`, whatever arguments before that are left away."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses what is before the first `--`."""
        if "--" not in args:
            return super().parse_args(ctx, args)
        own, program = args[: args.index("--")], args[args.index("--") + 1 :]
        rest = super().parse_args(ctx, own)
        ctx.params["program"] = [*(ctx.params["program"] or ()), *program]
        return rest


def unit_of(unit: str | None, *files: Path) -> str:
    """The unit of ``--unit``, or the usual one. Raises UsageError for what is none, or is of none of the
    files: measurements say themselves what they are in.
    """
    from isochrone.files.matrix import UNITS_S, is_matrix

    if unit is None:
        return "ns"
    if unit not in UNITS_S:
        raise UsageError(f"{unit!r} is no unit", "--unit", f"use one of {', '.join(UNITS_S)}")
    if not any(map(is_matrix, files)):
        raise UsageError("is of a plain matrix, and there is none", "--unit", "leave it away")
    return unit


def parse_patterns(text: str) -> list[_core.Pattern]:
    """The patterns of ``--patterns``, each once. Raises UsageError for what is none."""
    from isochrone import _core

    rows = {row["name"]: row for row in _core.patterns()}
    names = dict.fromkeys(part.strip() for part in text.split(","))
    for name in names:
        if name not in rows:
            raise UsageError(f"{name[:40]!r} is no pattern", "--patterns", f"use some of {', '.join(rows)}")
    return [rows[name] for name in names]


def parse_sizes(text: str, least: int = 0) -> tuple[int, ...]:
    """The message sizes of ``--sizes`` in bytes, each once, the least first.

    Raises UsageError for what is no list of sizes, or below the least.
    """
    sizes = sorted({parse_size(size, "--sizes") for size in text.split(",")})
    if sizes[0] < least:
        raise UsageError(f"{sizes[0]} is too few", "--sizes", f"the least is {least}")
    return tuple(sizes)


def parse_numbers(text: str, option: str, what: str, example: str) -> list[int]:
    """The whole numbers that an option lists. Raises UsageError for what is no list of these, and for one
    that is below 0 or beyond a GiB.
    """
    try:
        numbers = [int(number) for number in text.split(",")]
    except ValueError:
        raise UsageError(f"{text[:40]!r} is no list of {what}", option, f"write {example}") from None
    for number in numbers:
        if not 0 <= number <= _LARGEST:
            raise UsageError(f"{str(number)[:40]} is not from 0 to {_LARGEST:,}", option, f"write {example}")
    return numbers


def parse_size(text: str, option: str) -> int:
    """Bytes of a size such as 1000 or 64KiB. Raises UsageError for what is none."""
    from isochrone.descriptions.quantity import SIZE, parse_quantity

    example = "write for example 1000, 64KiB or 1MiB"
    try:
        size_bytes = parse_quantity(text, SIZE)
    except ValueError as error:
        raise UsageError(str(error), option, example) from None
    if not size_bytes.is_integer():
        raise UsageError(f"{text[:40]!r} is no whole number of bytes", option, example)
    return int(size_bytes)


def parse_duration(text: str, option: str) -> float:
    """Seconds of a time such as 90, 60s, 5m or 1h. Raises UsageError for what is none."""
    from isochrone.descriptions.quantity import DURATION, parse_quantity

    try:
        seconds = parse_quantity(text, DURATION)
    except ValueError:
        seconds = 0.0
    if seconds <= 0:
        raise UsageError(f"{text[:40]!r} is no time", option, "write for example 90, 60s, 5m or 1h")
    return seconds


def parse_percent(text: str, option: str) -> float:
    """The share that is written as percent, such as 5%. Raises UsageError for what is none."""
    try:
        share = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share < float("inf"):
        raise UsageError(f"{text[:40]!r} is no number of percent", option, "write for example 5%")
    return share


def tune_options(
    collectives: str | None,
    sizes: str | None,
    budget: str | None,
    rivals: bool,
    fabric: str | None = None,
    seed: int = 1,
) -> TuneOptions:
    """How to tune, as a command line says it.

    Raises:
        UsageError: for what is no collective, size or time.
    """
    from isochrone.steps.tune import TuneOptions
    from isochrone.tune.collectives import WANTED, parse_collectives
    from isochrone.tune.effort import BUDGET_S

    return TuneOptions(
        sizes_bytes=None if sizes is None else parse_sizes(sizes, 1),
        collectives=WANTED if collectives is None else parse_collectives(collectives),
        seed=seed,
        fabric=fabric,
        budget_s=BUDGET_S if budget is None else parse_duration(budget, "--budget"),
        rivals=rivals,
        at_its_best=rivals,
    )


def columns(rows: Sequence[Sequence[str]], numbers: Collection[int] = ()) -> list[str]:
    """A line for each row, in which each entry but the last is as wide as the longest of its column. Entries
    of the columns of `numbers` end below each other.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    pads = [str.rjust if at in numbers else str.ljust for at in range(len(widths))]
    padded = [[pads[at](entry, widths[at]) for at, entry in enumerate(row)] for row in rows]
    return ["  ".join(row).rstrip() for row in padded]


def print_json(value: Any) -> None:
    """Prints a value as one JSON object on stdout; numbers that JSON does not have are refused. Of names of
    files that are no text what is none is a question mark.
    """
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, indent=2)
    typer.echo(text.encode("utf-8", "replace").decode())


def stopped_by_signal() -> Event:
    """For commands that stay until they are stopped: set by the first SIGINT or SIGTERM, so that what is
    under way ends well. The next one ends the command at once.
    """
    stopped = Event()
    at_once = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        for each, handler in at_once.items():
            signal.signal(each, handler)

    for number in at_once:
        signal.signal(number, stop)
    return stopped
