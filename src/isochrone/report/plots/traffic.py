# SPDX-License-Identifier: BSD-3-Clause
"""What ranks send one another, in their order and by place, and where it meets before and after mapping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from isochrone.files import LevelTraffic
from isochrone.mapping.graph import TaskGraph
from isochrone.report.facts import Facts
from isochrone.report.plots.style import LINE, MISSING, NATIVE, PLAN, SOFT, dress, new_figure, set_ticks
from isochrone.report.traffic import Groups, Sent, Share, sent, shares

_MOST_CELLS = 1024
"""On a side of a matrix; more ranks than that share cells."""


def mapping(facts: Facts) -> Figure | None:
    """The figure of the mapping in the folder of a survey; None where there is none."""
    found = facts.mapping
    return None if found is None else traffic(found.tasks, facts.place_groups, found.at, found.file.levels)


def traffic(
    graph: TaskGraph | None, groups: Groups, at: Sequence[int], levels: Sequence[LevelTraffic]
) -> Figure | None:
    """Two heat maps of bytes, and bars of the bytes that meet at each of several levels; None where there is
    nothing to draw.

    Args:
        graph: what ranks send; None where only the bars can be drawn.
        groups: of the places.
        at: [rank], its place.
        levels: what meets at each.
    """
    found, met = sent(graph, groups, at, _MOST_CELLS), shares(levels)
    several = len(met) > 1
    if found is None:
        if not several:
            return None
        figure = new_figure(11, 1.2 + 0.4 * len(met))
        _bars(figure.add_subplot(), met)
        return figure
    figure = new_figure(11, 7.6 if several else 5.7)
    grid = figure.add_gridspec(2, 2, height_ratios=(3, 1)) if several else figure.add_gridspec(1, 2)
    _matrices(figure, (figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1])), found)
    if several:
        _bars(figure.add_subplot(grid[1, :]), met)
    return figure


def _matrices(figure: Figure, panels: tuple[Axes, Axes], found: Sent) -> None:
    scale = LogNorm(found.low_bytes, max(found.high_bytes, found.low_bytes * 1.01))
    titles = ("Ranks in their order", "By place, as mapped")
    for axes, matrix, title in zip(panels, (found.found, found.mapped), titles, strict=True):
        image = axes.imshow(
            np.ma.masked_equal(matrix, 0), norm=scale, cmap="viridis_r", interpolation="nearest"
        )
        axes.set_title(title, fontsize=11, loc="left", fontweight="bold")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_facecolor(MISSING)
        axes.set_xlabel("receiver", color=SOFT)
        axes.set_ylabel("sender", color=SOFT)
        for spine in axes.spines.values():
            spine.set_color(LINE)
    for depth, outlines in enumerate(found.outlines):
        for start, end in outlines:
            corner, width = start - 0.5, end - start
            outline = Rectangle((corner, corner), width, width, fill=False, edgecolor=SOFT)
            outline.set_linewidth(max(0.5, 1.7 - 0.5 * (depth - 1)))
            panels[1].add_patch(outline)
    bar = figure.colorbar(image, ax=list(panels), orientation="vertical", aspect=40, pad=0.01)
    bar.set_label("bytes sent", color=SOFT)
    set_ticks(bar.ax.yaxis, *found.ticks)
    bar.ax.tick_params(colors=SOFT, length=0)
    bar.outline.set_visible(False)


def _bars(axes: Axes, levels: Sequence[Share]) -> None:
    at = np.arange(len(levels))
    for offset, name, colour, values in (
        (-0.2, "in their order", NATIVE, [level.before for level in levels]),
        (0.2, "mapped", PLAN, [level.after for level in levels]),
    ):
        axes.barh(at + offset, values, 0.36, color=colour, label=name)
    axes.set_yticks(at, [level.title for level in levels])
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_xlabel("of all bytes meet at this level, outermost on top")
    # Above the bars, any of which may be as long as all.
    axes.legend(
        frameon=False,
        fontsize=9,
        labelcolor=SOFT,
        ncols=2,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderpad=0,
    )
    dress(axes, grid=False)
    axes.grid(True, axis="x", color=LINE, linewidth=0.8)
