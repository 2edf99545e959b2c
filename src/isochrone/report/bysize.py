# SPDX-License-Identifier: BSD-3-Clause
"""Times and speedups of a collective by size: what the page and the figures' files draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from isochrone.report.comparison import Comparison
from isochrone.report.ticks import Ticks, size_ticks, time_ticks
from isochrone.statistics import Interval
from isochrone.words import capitalised

_RATIOS = (0.1, 0.2, 0.5, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Line:
    """What was measured of one thing, with its intervals.

    Attributes:
        kind: ``native``, ``plan`` or ``rival``: its colour and mark.
        values: [size]; None where nothing was measured, or is too short for a logarithmic axis.
        details: [size], what else is to be said of a value.
    """

    name: str
    kind: str
    values: tuple[Interval | None, ...]
    details: tuple[str | None, ...]


@dataclass(frozen=True)
class Panel:
    """Lines in the order in which they are drawn, on a logarithmic axis from ``low`` to ``high``."""

    lines: tuple[Line, ...]
    low: float
    high: float
    ticks: Ticks


@dataclass(frozen=True)
class BySize:
    """A collective by size.

    Attributes:
        sized_by: what the sizes are of.
        times: in seconds.
        speedups: of the plan.
    """

    sizes_bytes: tuple[int, ...]
    size_ticks: Ticks
    sized_by: str
    times: Panel
    speedups: Panel

    @property
    def size_title(self) -> str:
        """Of the axis of sizes."""
        return f"{capitalised(self.sized_by)} size"


def by_size(comparison: Comparison) -> BySize | None:
    """What there is to draw; None where there is nothing. A size of 0 bytes has no place on a logarithmic
    axis, and stands in the table only.
    """
    if not any(size > 0 for size, _ in comparison.compared):
        return None
    rows = comparison.sized
    names = [row.rival.name if row.rival else None for row in rows]
    # Where the library was told its best, that is its own.
    others = [None if comparison.is_told else row.rival for row in rows]
    rivals = [None if rival is None else rival.time_s for rival in others]
    against_rivals = [None if rival is None else rival.speedup for rival in others]
    times = _lines(
        ("Best selectable", "rival", rivals, names),
        (
            "Library's own",
            "native",
            [row.native_s for row in rows],
            names if comparison.is_told else None,
        ),
        ("With the plan", "plan", [row.plan_s for row in rows], None),
    )
    speedups = _lines(
        ("Against the best selectable", "rival", against_rivals, None),
        ("Against the library's own", "plan", [row.speedup for row in rows], None),
    )
    low_s, high_s = _span(times)
    least, most = _span(speedups)
    least, most = min(0.9, least) / 1.06, max(1.25, most) * 1.06
    marks = [float(value) for value in _RATIOS if least < value < most]
    sizes = tuple(row.size_bytes for row in rows)
    return BySize(
        sizes,
        size_ticks(sizes),
        comparison.sized_by,
        Panel(times, low_s / 1.2, high_s * 1.2, time_ticks(low_s, high_s)),
        Panel(speedups, least, most, (marks, [f"{value:g}×" for value in marks])),
    )


def _lines(
    *wanted: tuple[str, str, Sequence[Interval | None], Sequence[str | None] | None],
) -> tuple[Line, ...]:
    """Those of which anything is known."""
    lines = []
    for name, kind, intervals, details in wanted:
        values = tuple(each if each is not None and each.low > 0 else None for each in intervals)
        if any(values):
            lines.append(Line(name, kind, values, tuple(details or [None] * len(values))))
    return tuple(lines)


def _span(lines: Iterable[Line]) -> tuple[float, float]:
    known = [value for line in lines for value in line.values if value is not None]
    return min((value.low for value in known), default=1.0), max((value.high for value in known), default=1.0)
