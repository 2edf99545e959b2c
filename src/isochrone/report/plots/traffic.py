# SPDX-License-Identifier: BSD-3-Clause
"""What ranks send one another, in their order and by place, and where it meets before and after mapping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from isochrone.mapping.graph import TaskGraph
from isochrone.mapping.system import System
from isochrone.report.plots.style import LINE, MISSING, NATIVE, PLAN, SOFT, dress, new_figure
from isochrone.steps.map import Mapped
from isochrone.units import approximate_bytes

_MOST_CELLS = 1024
"""On a side of a matrix; more ranks than that share cells."""


def traffic(graph: TaskGraph, system: System, mapped: Mapped) -> Figure | None:
    """Two heat maps of bytes, and bars of the bytes that meet at each level; None where nothing is sent."""
    if len(graph.sources) == 0 or not graph.volume_bytes.any():
        return None
    figure = new_figure(11, 7.6)
    grid = figure.add_gridspec(2, 2, height_ratios=(3, 1))
    left, right, below = (figure.add_subplot(part) for part in (grid[0, 0], grid[0, 1], grid[1, :]))
    order = np.argsort(mapped.mapping.at, kind="stable")
    matrices = [byte_matrix(graph, ranks, _MOST_CELLS) for ranks in (np.arange(graph.ranks), order)]
    sent = np.concatenate([matrix[matrix > 0] for matrix in matrices])
    scale = LogNorm(sent.min(), max(sent.max(), sent.min() * 1.01))
    titles = ("Ranks in their order", "By place, as mapped")
    for axes, matrix, title in zip((left, right), matrices, titles, strict=True):
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
    cells = matrices[0].shape[0] / graph.ranks
    for start, end in _runs([system.groups[-1][mapped.mapping.at[rank]] for rank in order]):
        corner, side = start * cells - 0.5, (end - start) * cells
        if 1 < side < matrices[0].shape[0]:
            right.add_patch(
                Rectangle((corner, corner), side, side, fill=False, edgecolor=SOFT, linewidth=0.8)
            )
    bar = figure.colorbar(image, ax=[left, right], orientation="vertical", aspect=40, pad=0.01)
    bar.set_label("bytes sent", color=SOFT)
    low, high = np.log10(sent.min()), np.log10(scale.vmax or sent.max())
    ticks = 10 ** np.linspace(low, high, 4)
    bar.set_ticks(ticks.tolist(), labels=[approximate_bytes(round(tick)) for tick in ticks])
    bar.minorticks_off()
    bar.ax.tick_params(colors=SOFT, length=0)
    bar.outline.set_visible(False)
    levels = [level for level in mapped.traffic if level.before_bytes or level.after_bytes]
    total = sum(level.before_bytes for level in levels)
    at = np.arange(len(levels))
    for offset, name, colour, values in (
        (-0.2, "in their order", NATIVE, [level.before_bytes for level in levels]),
        (0.2, "mapped", PLAN, [level.after_bytes for level in levels]),
    ):
        below.barh(at + offset, [value / total for value in values], 0.36, color=colour, label=name)
    below.set_yticks(at, [level.name for level in levels])
    below.invert_yaxis()
    below.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    below.set_xlabel("of all bytes meet at this level, slowest on top")
    below.legend(frameon=False, fontsize=9, labelcolor=SOFT)
    dress(below)
    return figure


def byte_matrix(graph: TaskGraph, order: NDArray[np.int64], most_cells: int) -> NDArray[np.float64]:
    """[sender, receiver], bytes, with ranks in this order; with more ranks than cells, several share one."""
    side = min(graph.ranks, most_cells)
    cell = np.empty(graph.ranks, np.int64)
    cell[order] = np.arange(graph.ranks) * side // graph.ranks
    found = np.bincount(
        cell[graph.sources] * side + cell[graph.targets], graph.volume_bytes.astype(np.float64), side * side
    )
    return np.asarray(found, dtype=np.float64).reshape(side, side)


def _runs(labels: Sequence[int]) -> list[tuple[int, int]]:
    """First and end of each run of equal labels."""
    starts = [i for i in range(len(labels)) if i == 0 or labels[i] != labels[i - 1]]
    return list(zip(starts, [*starts[1:], len(labels)], strict=True))
