# SPDX-License-Identifier: BSD-3-Clause
"""The latency matrix, as found and in the order of the tree."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from isochrone.report.facts import Facts
from isochrone.report.latencies import latencies
from isochrone.report.plots.style import LINE, MISSING, SOFT, new_figure, set_ticks


def matrix(facts: Facts) -> Figure | None:
    """Two heat maps beside each other; None where no pair was measured, or there are too many ranks."""
    found = latencies(facts)
    if found is None:
        return None
    figure = new_figure(11, 6.1)
    left, right = figure.subplots(1, 2)
    natural = np.arange(facts.rank_count)
    orders = ((left, natural, "As found"), (right, found.order, "In the order of the tree"))
    for axes, ranks, title in orders:
        values = np.ma.masked_invalid(found.one_way_s[np.ix_(ranks, ranks)])
        image = axes.imshow(
            values, norm=LogNorm(found.low_s, found.high_s), cmap="viridis", interpolation="nearest"
        )
        axes.set_title(title, fontsize=11, loc="left", fontweight="bold")
        axes.set_xticks(found.marks, [str(ranks[i]) for i in found.marks])
        axes.set_yticks(found.marks, [str(ranks[i]) for i in found.marks])
        axes.tick_params(length=0, colors=SOFT, labelsize=9)
        axes.set_xlabel("rank", color=SOFT)
        axes.set_facecolor(MISSING)
        for spine in axes.spines.values():
            spine.set_color(LINE)
    # White on the paper of pairs that were not measured would not be seen.
    outline = "white" if found.unmeasured is None else SOFT
    for index, squares in enumerate(found.outlines):
        width = max(0.5, 1.7 - 0.5 * (index - 1))
        for start, end in squares:
            corner, side = (start - 0.5, start - 0.5), end - start
            right.add_patch(Rectangle(corner, side, side, fill=False, edgecolor=outline, linewidth=width))
    bar = figure.colorbar(
        image, ax=[left, right], orientation="horizontal", aspect=60, pad=0.02, extend="both"
    )
    bar.set_label("one-way latency of an empty message", color=SOFT)
    set_ticks(bar.ax.xaxis, *found.ticks)
    bar.ax.tick_params(colors=SOFT, length=0)
    bar.outline.set_visible(False)
    if found.unmeasured is not None:
        figure.legend(
            handles=[Patch(facecolor=MISSING, edgecolor=LINE, label=f"not measured: {found.unmeasured}")],
            loc="outside lower right",
            frameon=False,
            fontsize=9,
            labelcolor=SOFT,
        )
    return figure
