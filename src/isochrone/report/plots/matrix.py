# SPDX-License-Identifier: BSD-3-Clause
"""The latency matrix, as found and in the order of the tree."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from isochrone.report.chartdata import blocks, colour_range_s
from isochrone.report.facts import Facts
from isochrone.report.headline import unmeasured_words
from isochrone.report.plots.style import LINE, MISSING, SOFT, new_figure, set_ticks
from isochrone.report.ticks import time_ticks


def matrix(facts: Facts) -> Figure | None:
    """Two heat maps beside each other; None where no pair was measured."""
    scale = colour_range_s(facts.one_way_s)
    if scale is None:
        return None
    figure = new_figure(11, 6.1)
    left, right = figure.subplots(1, 2)
    order = facts.tree_order
    natural = np.arange(facts.rank_count)
    for axes, ranks, title in ((left, natural, "As found"), (right, order, "In the order of the tree")):
        values = np.ma.masked_invalid(
            np.where(np.eye(len(ranks), dtype=bool), np.nan, facts.one_way_s[np.ix_(ranks, ranks)])
        )
        image = axes.imshow(values, norm=LogNorm(*scale), cmap="viridis", interpolation="nearest")
        axes.set_title(title, fontsize=11, loc="left", fontweight="bold")
        step = max(1, 2 ** int(np.ceil(np.log2(len(ranks) / 8))))
        shown = list(range(0, len(ranks), step))
        axes.set_xticks(shown, [str(ranks[i]) for i in shown])
        axes.set_yticks(shown, [str(ranks[i]) for i in shown])
        axes.tick_params(length=0, colors=SOFT, labelsize=9)
        axes.set_xlabel("rank", color=SOFT)
        axes.set_facecolor(MISSING)
        for spine in axes.spines.values():
            spine.set_color(LINE)
    unmeasured = unmeasured_words(facts)
    # White on the paper of pairs that were not measured would not be seen.
    outline = "white" if unmeasured is None else SOFT
    for index in range(len(facts.levels)):
        for start, end in blocks(facts, index):
            if 1 < end - start < facts.rank_count:
                corner = (start - 0.5, start - 0.5)
                width = max(0.5, 1.7 - 0.5 * (index - 1))
                right.add_patch(
                    Rectangle(
                        corner, end - start, end - start, fill=False, edgecolor=outline, linewidth=width
                    )
                )
    bar = figure.colorbar(
        image, ax=[left, right], orientation="horizontal", aspect=60, pad=0.02, extend="both"
    )
    bar.set_label("one-way latency of an empty message", color=SOFT)
    set_ticks(bar.ax.xaxis, *time_ticks(*scale))
    bar.ax.tick_params(colors=SOFT, length=0)
    bar.outline.set_visible(False)
    if unmeasured is not None:
        figure.legend(
            handles=[Patch(facecolor=MISSING, edgecolor=LINE, label=f"not measured: {unmeasured}")],
            loc="outside lower right",
            frameon=False,
            fontsize=9,
            labelcolor=SOFT,
        )
    return figure
