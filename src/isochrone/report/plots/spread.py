# SPDX-License-Identifier: BSD-3-Clause
"""Who hears from whom in a call, as a tree with the root on top."""

from __future__ import annotations

from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path

from isochrone.errors import UsageError
from isochrone.report.plots.spacetime import crossing
from isochrone.report.plots.style import INK, LEVELS, PAPER, SOFT, new_figure
from isochrone.show.call import Call
from isochrone.show.spread import Spread
from isochrone.units import format_time, number_of

MOST_RANKS = 256
_MOST_TIMES = 40
"""Ranks of a tree that says when each has heard."""


def spread_figure(call: Call, spread: Spread) -> Figure:
    """The figure; beside each rank, where there are few, when it has heard or has been heard of.

    Raises:
        UsageError: there are more ranks than anybody could see.
    """
    size = len(spread.branches)
    if size > MOST_RANKS:
        raise UsageError(
            f"{number_of(size, 'rank')} are too many to draw",
            "-o",
            f"draw up to {MOST_RANKS}, or use --json",
        )
    at = _positions(spread)
    leaves = 1 + max(x for x, _ in at.values())
    depth = max(y for _, y in at.values())
    width = min(11.0, max(4.0, 0.62 * leaves))
    step = max(0.26, min(0.8 + leaves / 80, 7.5 / max(1, depth)))
    figure = new_figure(width, 1.1 + step * max(1, depth))
    axes = figure.add_subplot()
    axes.axis("off")
    axes.set_xlim(-0.6, leaves - 0.4)
    axes.set_ylim(depth + 0.45, -0.45)
    room = min((width - 0.4) / (leaves + 0.2), step * 0.8)  # inches
    point = 72 * min(room * 0.86, 0.3)
    thick = 1.5 if leaves <= 40 else 0.8
    lines: dict[int, list[Path]] = {}
    for rank, branch in enumerate(spread.branches):
        if branch is not None:
            lines.setdefault(branch.level, []).append(_bent(at[branch.parent], at[rank]))
    for level, of_level in lines.items():
        axes.add_collection(
            PathCollection(
                of_level,
                edgecolors=LEVELS[level % len(LEVELS)],
                facecolors="none",
                linewidths=thick,
                zorder=1,
            )
        )
    for rank, (x, y) in at.items():
        is_root = rank == spread.root
        axes.plot(
            x,
            y,
            "o",
            markersize=point,
            markerfacecolor=INK if is_root else PAPER,
            markeredgecolor=INK if is_root else SOFT,
            markeredgewidth=min(1.0, point / 14),
            zorder=2,
        )
        colour = PAPER if is_root else INK
        axes.text(
            x, y, str(rank), fontsize=point * 0.46, color=colour, ha="center", va="center_baseline", zorder=3
        )
        branch = spread.branches[rank]
        if branch is not None and size <= _MOST_TIMES:
            axes.annotate(
                format_time(branch.at_s),
                (x, y),
                (0, -point / 2 - 1),
                textcoords="offset points",
                fontsize=6.5,
                color=SOFT,
                ha="center",
                va="top",
                bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.4},
            )
    legend = [
        Line2D([], [], color=LEVELS[level % len(LEVELS)], linewidth=2, label=crossing(call, level))
        for level in sorted(lines)
    ]
    if legend:
        figure.legend(
            handles=legend,
            loc="outside upper left",
            ncols=min(len(legend), int(width / 1.7)),
            frameon=False,
            fontsize=9,
            labelcolor=SOFT,
        )
    return figure


def _bent(parent: tuple[float, int], child: tuple[float, int]) -> Path:
    """From the parent across, and down upon the child: clear of those between them."""
    return Path([parent, (child[0], parent[1] + 0.1), child], [Path.MOVETO, Path.CURVE3, Path.CURVE3])


def _positions(spread: Spread) -> dict[int, tuple[float, int]]:
    """Of each rank across and down: leaves side by side in the order of their times, others above the middle
    of theirs.
    """
    children = spread.children()
    depth = {spread.root: 0}
    order = [spread.root]
    waiting = list(reversed(children[spread.root]))
    while waiting:
        rank = waiting.pop()
        branch = spread.branches[rank]
        depth[rank] = depth[branch.parent] + 1 if branch is not None else 0
        order.append(rank)
        waiting += reversed(children[rank])
    across: dict[int, float] = {}
    leaves = [rank for rank in order if not children[rank]]
    for number, rank in enumerate(leaves):
        across[rank] = float(number)
    for rank in reversed(order):
        if children[rank]:
            across[rank] = (across[children[rank][0]] + across[children[rank][-1]]) / 2
    return {rank: (across[rank], depth[rank]) for rank in order}
