# SPDX-License-Identifier: BSD-3-Clause
"""The merge tree with its cuts."""

from __future__ import annotations

from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from isochrone.report.facts import Facts
from isochrone.report.plots.style import INK, LEVELS, PAPER, SOFT, dress, new_figure, set_ticks
from isochrone.report.ticks import time_ticks
from isochrone.report.units import format_time
from isochrone.report.words import level_noun


def dendrogram(facts: Facts) -> Figure | None:
    """Brackets in the colours of their levels; None without a tree."""
    tree = facts.tree
    if tree is None:
        return None
    figure = new_figure(11, 4.4)
    axes = figure.subplots()
    for index in range(len(facts.levels)):
        lines = [
            [(m.left_x, m.left_s), (m.left_x, m.height_s), (m.right_x, m.height_s), (m.right_x, m.right_s)]
            for m in tree.merges
            if m.level == index
        ]
        width = 0.6 if len(lines) > 200 else 1.4
        axes.add_collection(LineCollection(lines, colors=LEVELS[index % len(LEVELS)], linewidths=width))
    axes.set_yscale("log")
    axes.set_xlim(-1, tree.leaves)
    axes.set_ylim(tree.floor_s, tree.top_s)
    dress(axes)
    axes.grid(False, axis="x")
    axes.set_xticks([])
    axes.set_xlabel(f"{tree.leaves} ranks")
    axes.set_ylabel("latency")
    set_ticks(axes.yaxis, *time_ticks(tree.floor_s, tree.top_s))
    for cut in tree.cuts:
        axes.axhline(cut.height_s, color=SOFT, linewidth=1, linestyle=(0, (5, 3)))
        text = f"{level_noun(facts.levels[cut.level].name, 2)} · {format_time(cut.height_s)}"
        axes.annotate(
            text,
            (1, cut.height_s),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            color=INK,
            fontsize=9,
            bbox={"facecolor": PAPER, "alpha": 0.85, "edgecolor": "none", "pad": 1.5},
        )
    return figure
