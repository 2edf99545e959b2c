# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone compare``: what changed from one benchmark to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isochrone.cli.options import AsJson, columns, parse_percent, print_json
from isochrone.errors import IsochroneError, UsageError

if TYPE_CHECKING:
    from isochrone.compare.changes import Change, Changes, Pair
    from isochrone.files import Bench
    from isochrone.statistics import Interval

_HEAD = ("", "bytes", "root", "members", "A", "B", "B/A", "95 %", "", "recipe")
_NUMBERS = (1, 2, 4, 5, 6)
_FEW = 3


def compare(
    first: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="bench.jsonl, or the folder of a survey that has one; several launches with commas between "
            "them.",
        ),
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="Another, of the same cases.")],
    recipe: Annotated[
        str | None, typer.Option("--recipe", "-r", help="Compare this recipe of A only (default: all).")
    ] = None,
    other: Annotated[
        str | None,
        typer.Option("--with", metavar="RECIPE", help="... with this one of B (default: the same one)."),
    ] = None,
    fail_above: Annotated[
        str | None,
        typer.Option(
            "--fail-above",
            metavar="PERCENT",
            help="Exit with 3 if anything is proven to take longer in B by more than that, such as 5%.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what changed from one benchmark to another beyond noise.

    Ratios are times of B over times of A, so above 1 B is slower. A change is told of where it is proven,
    with an error of 5 % for all of them together. Times also differ from launch to launch: name several of
    each, and only what is beyond all of that is a change.
    """
    from isochrone.compare.changes import changes_between
    from isochrone.compare.conditions import differing_conditions

    if other is not None and recipe is None:
        raise UsageError("says what a recipe of A is compared with", "--with", "name that with --recipe")
    allowed = parse_percent(fail_above, "--fail-above") if fail_above is not None else None
    before, after = (_launches(first, "A"), _launches(second, "B"))
    found = changes_between(before, after, recipe, other, allowed or 0.0)
    if not found.changes:
        which = f"recipe {recipe!r}" if recipe is not None else "case and recipe"
        raise IsochroneError(
            f"has no {which} that is in {first} too", second, "compare benchmarks of the same cases"
        )
    conditions = differing_conditions([*before, *after])
    if as_json:
        print_json(
            {
                "first": first.split(","),
                "second": second.split(","),
                "conditions": conditions,
                "changes": [change.document() for change in found.changes],
                "means": {
                    name: {"ratio": mean.estimate, "ratio_ci": [mean.low, mean.high]}
                    for name, mean in found.means.items()
                },
                "only_first": [_pair_document(pair) for pair in found.only_first],
                "only_second": [_pair_document(pair) for pair in found.only_second],
                "allowed": allowed,
                "over": None if allowed is None else len(found.over),
            }
        )
    else:
        for condition in conditions:
            typer.echo(f"note: {condition}", err=True)
        _print(found)
    if allowed is not None and found.over:
        if not as_json:
            worst = max(found.over, key=lambda change: change.ratio.low)
            what = f"{worst.case.collective} of {worst.case.size_bytes} bytes, {_recipes(worst)}"
            typer.echo(f"{len(found.over)} slower by more than {fail_above}; most of all {what}")
        raise typer.Exit(3)


def _launches(paths: str, which: str) -> list[Bench]:
    """What a list of files or folders names. Raises UsageError where a name is missing."""
    from isochrone.files import read_bench
    from isochrone.steps.folder import BENCH, in_folder

    names = paths.split(",")
    if not all(names):
        raise UsageError(f"'{paths}' lacks a name beside a comma", which, "separate files by single commas")
    return [read_bench(in_folder(Path(name), BENCH)) for name in names]


def _pair_document(pair: Pair) -> dict[str, Any]:
    case, recipe = pair
    return {
        "collective": case.collective,
        "size_bytes": case.size_bytes,
        "root": case.root,
        "members": case.members or None,
        "recipe": recipe,
    }


def _print(found: Changes) -> None:
    from isochrone.units import number_of

    rows = [_row(change) for change in found.changes]
    # Most benchmarks have one root, and all ranks.
    bare = {at for at, empty in ((2, "0"), (3, "")) if all(row[at] == empty for row in rows)}
    shown = [at for at in range(len(_HEAD)) if at not in bare]
    numbers = [shown.index(at) for at in _NUMBERS if at in shown]
    for line in columns([[row[at] for at in shown] for row in (_HEAD, *rows)], numbers):
        typer.echo(line)
    for name, mean in found.means.items():
        count = sum(change.case.collective == name for change in found.changes)
        typer.echo(
            f"{name}: {mean.estimate:.3f} {_ends(mean)}, geometric mean of {number_of(count, 'ratio')}"
        )
    for which, pairs in (("A", found.only_first), ("B", found.only_second)):
        if pairs:
            few = ", ".join(f"{case.collective} {case.size_bytes} {recipe}" for case, recipe in pairs[:_FEW])
            more = f" and {len(pairs) - _FEW} more" if len(pairs) > _FEW else ""
            typer.echo(f"only in {which}: {few}{more}")
    slower = sum(change.verdict == "slower" for change in found.changes)
    faster = sum(change.verdict == "faster" for change in found.changes)
    typer.echo(f"{slower} slower, {faster} faster, {len(rows) - slower - faster} not proven to differ")


def _row(change: Change) -> tuple[str, ...]:
    from isochrone.units import format_time

    return (
        change.case.collective,
        str(change.case.size_bytes),
        str(change.case.root),
        change.case.members,
        format_time(change.median_s),
        format_time(change.other_median_s),
        f"{change.ratio.estimate:.3f}",
        _ends(change.ratio),
        change.verdict,
        _recipes(change),
    )


def _recipes(change: Change) -> str:
    same = change.recipe == change.other_recipe
    return change.recipe if same else f"{change.recipe} → {change.other_recipe}"


def _ends(interval: Interval) -> str:
    return f"[{interval.low:.3f}, {interval.high:.3f}]"
