# SPDX-License-Identifier: BSD-3-Clause
"""Time and speedup by size, with 95 % confidence bands."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from isochrone.report.chartdata import is_drawn
from isochrone.report.comparison import Comparison
from isochrone.report.plots.style import INK, NATIVE, PLAN, RIVAL, dress, new_figure, set_ticks
from isochrone.report.ticks import size_ticks, time_ticks
from isochrone.statistics import Interval

_RATIOS = (0.1, 0.2, 0.5, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100)


def collective(comparison: Comparison) -> Figure | None:
    """Times above, speedups below; None where there is nothing to draw."""
    if not is_drawn(comparison):
        return None
    rows = comparison.sized
    sizes = [row.size_bytes for row in rows]
    figure = new_figure(9, 8)
    times, speedups = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    rivals = [row.rival.time_s if row.rival else None for row in rows]
    drawn = _series(times, sizes, rivals, "Best selectable", RIVAL, "D:")
    drawn += _series(times, sizes, [row.native_s for row in rows], "Library's own", NATIVE, "s--")
    drawn += _series(times, sizes, [row.plan_s for row in rows], "With the plan", PLAN, "o-")
    times.set_yscale("log")
    times.set_ylabel("time of the slowest rank")
    set_ticks(times.yaxis, *time_ticks(min(i.low for i in drawn), max(i.high for i in drawn)))

    rival_ratios = [row.rival.speedup if row.rival else None for row in rows]
    ratios = _series(speedups, sizes, rival_ratios, "Against the best selectable", RIVAL, "D:")
    ratios += _series(speedups, sizes, [row.speedup for row in rows], "Against the library's own", PLAN, "o-")
    speedups.axhline(1.0, color=INK, linewidth=1.2)
    speedups.set_yscale("log")
    least, most = min(0.9, *(i.low for i in ratios)) / 1.06, max(1.25, *(i.high for i in ratios)) * 1.06
    speedups.set_ylim(least, most)
    marks = [float(value) for value in _RATIOS if least < value < most]
    set_ticks(speedups.yaxis, marks, [f"{value:g}×" for value in marks])
    speedups.set_ylabel("speedup of the plan")
    speedups.set_xlabel(f"{comparison.sized_by} size")
    speedups.set_xscale("log")
    speedups.set_xlim(min(sizes) / 1.4, max(sizes) * 1.4)
    set_ticks(speedups.xaxis, *size_ticks(sizes))
    for axes in (times, speedups):
        dress(axes)
        # Above the panel: inside, lines may cross any corner.
        axes.legend(
            frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, ncols=3, fontsize=9
        )
    return figure


def _series(
    axes: Axes, sizes: Sequence[int], intervals: Sequence[Interval | None], name: str, colour: str, style: str
) -> list[Interval]:
    """Draws what is known and is above 0, for the axes are logarithmic; gives it. A line has a gap at sizes
    that were not measured.
    """
    known = [interval if interval and interval.low > 0 else None for interval in intervals]
    drawn = [interval for interval in known if interval]
    if not drawn:
        return []
    axes.fill_between(
        sizes,
        [i.low if i else math.nan for i in known],
        [i.high if i else math.nan for i in known],
        color=colour,
        alpha=0.2,
        linewidth=0,
    )
    estimates = [i.estimate if i else math.nan for i in known]
    axes.plot(sizes, estimates, style, color=colour, label=name, markersize=4.5, linewidth=1.8)
    return drawn
