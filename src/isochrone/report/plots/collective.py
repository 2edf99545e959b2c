# SPDX-License-Identifier: BSD-3-Clause
"""Time and speedup by size, with 95 % confidence bands."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from isochrone.report.bysize import Line, Panel, by_size
from isochrone.report.comparison import Comparison
from isochrone.report.plots.style import INK, NATIVE, PLAN, RIVAL, dress, new_figure, set_ticks

_STYLES = {"native": (NATIVE, "s--"), "plan": (PLAN, "o-"), "rival": (RIVAL, "D:")}


def collective(comparison: Comparison) -> Figure | None:
    """Times above, speedups below; None where there is nothing to draw."""
    drawn = by_size(comparison)
    if drawn is None:
        return None
    sizes = drawn.sizes_bytes
    figure = new_figure(9, 8)
    times, speedups = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    _draw(times, drawn.times, sizes)
    times.set_ylabel("time of the slowest rank")
    _draw(speedups, drawn.speedups, sizes)
    speedups.axhline(1.0, color=INK, linewidth=1.2)
    speedups.set_ylabel("speedup of the plan")
    speedups.set_xlabel(drawn.size_title.lower())
    speedups.set_xscale("log")
    speedups.set_xlim(min(sizes) / 1.4, max(sizes) * 1.4)
    set_ticks(speedups.xaxis, *drawn.size_ticks)
    for axes in (times, speedups):
        dress(axes)
        # Above the panel: inside, lines may cross any corner.
        axes.legend(
            frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, ncols=3, fontsize=9
        )
    return figure


def _draw(axes: Axes, panel: Panel, sizes: Sequence[int]) -> None:
    for line in panel.lines:
        _draw_line(axes, line, sizes)
    axes.set_yscale("log")
    axes.set_ylim(panel.low, panel.high)
    set_ticks(axes.yaxis, *panel.ticks)


def _draw_line(axes: Axes, line: Line, sizes: Sequence[int]) -> None:
    """It has a gap at sizes that were not measured."""
    colour, style = _STYLES[line.kind]
    axes.fill_between(
        sizes,
        [i.low if i else math.nan for i in line.values],
        [i.high if i else math.nan for i in line.values],
        color=colour,
        alpha=0.2,
        linewidth=0,
    )
    estimates = [i.estimate if i else math.nan for i in line.values]
    axes.plot(sizes, estimates, style, color=colour, label=line.name, markersize=4.5, linewidth=1.8)
