# SPDX-License-Identifier: BSD-3-Clause
"""What ``isochrone map`` prints."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isochrone.cli.options import columns

if TYPE_CHECKING:
    from isochrone.files import Prediction
    from isochrone.steps.map import Mapped


NOTHING_KNOWN = "nothing is known of what they send"


@dataclass(frozen=True)
class More:
    """What is predicted for a larger grid, or why nothing is."""

    grid: list[int]
    prediction: Prediction | None = None
    unpredicted: str | None = None

    def figures(self) -> dict[str, Any]:
        """For programs."""
        prediction = None if self.prediction is None else self.prediction.figures()
        return {
            "grid": self.grid,
            "ranks": prod(self.grid),
            "prediction": prediction,
            "unpredicted": self.unpredicted,
        }

    def lines(self) -> list[str]:
        """For people."""
        from isochrone.mapping.words import predictions

        if self.prediction is None:
            return [f"Nothing is predicted for {prod(self.grid):,} ranks: {self.unpredicted}."]
        return predictions(self.prediction, prod(self.grid))


def figures_of(
    mapped: Mapped, output: Path, ranks: int, launches: list[dict[str, Any]], drawn: list[Path]
) -> dict[str, Any]:
    """A mapping for programs: what it costs, and which files were written."""
    found = mapped.mapping
    return {
        "mapping": str(output),
        "ranks": ranks,
        "method": found.method,
        "objective": found.objective,
        "cost": found.cost,
        "identity_cost": found.identity_cost,
        "seconds": found.seconds,
        "levels": [level.document() for level in mapped.traffic],
        "prediction": None if mapped.prediction is None else mapped.prediction.figures(),
        "unpredicted": mapped.unpredicted,
        "busiest_way": {
            when: None if way is None else asdict(way)
            for when, way in zip(("before", "after"), mapped.busiest, strict=True)
        },
        "advice": mapped.advice,
        "emitted": launches,
        "pictures": [str(path) for path in drawn],
    }


def lines_of(
    mapped: Mapped, output: Path, ranks: int, launches: list[dict[str, Any]], drawn: list[Path]
) -> list[str]:
    """The same for people."""
    from isochrone.mapping.words import gain, no_help, predictions
    from isochrone.units import format_time

    found = mapped.mapping
    before, after = (
        format_time(value) if found.objective in ("time", "load") else f"{value:,.0f}"
        for value in (found.identity_cost, found.cost)
    )
    less = gain(found.identity_cost, found.cost)
    lines = [f"{ranks} ranks, {found.objective}: {before} in their order, {after} mapped{less}"]
    if mapped.unpredicted == NOTHING_KNOWN:
        return [f"{ranks} ranks in their order: {NOTHING_KNOWN}", *_written(output, launches, drawn)]
    total = max(1, sum(level.before_bytes for level in mapped.traffic))
    rows = [("bytes that meet at", "before", "after")]
    rows += [
        (level.name, f"{level.before_bytes / total:.1%}", f"{level.after_bytes / total:.1%}")
        for level in mapped.traffic
        if level.before_bytes or level.after_bytes
    ]
    lines += columns(rows)
    lines += _busiest(mapped)
    if mapped.prediction is None:
        lines.append(f"No time is predicted: {mapped.unpredicted}.")
    else:
        lines += predictions(mapped.prediction)
    if mapped.advice is not None:
        lines.append(f"{no_help(mapped.advice)}.")
    return [*lines, *_written(output, launches, drawn)]


def _written(output: Path, launches: list[dict[str, Any]], drawn: list[Path]) -> list[str]:
    lines = [f"Mapping: {output}"]
    if drawn:
        lines.append(f"Pictures: {drawn[0].parent}")
    return lines + [f"{each['form']}: {shlex.join(each['launch'])}" for each in launches]


def _busiest(mapped: Mapped) -> list[str]:
    from isochrone.units import format_time

    before, after = mapped.busiest
    if before is None or after is None:
        return []
    return [
        f"Busiest way: of {before.level} {before.group}, {format_time(before.seconds)} in their order; "
        f"of {after.level} {after.group}, {format_time(after.seconds)} mapped"
    ]
