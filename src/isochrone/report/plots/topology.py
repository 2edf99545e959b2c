# SPDX-License-Identifier: BSD-3-Clause
"""The drawing of the topology as a file."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch

from isochrone.report.boxes import DETAIL_SIZE, TITLE_SIZE, draw
from isochrone.report.facts import Facts
from isochrone.report.plots.style import INK, LEVELS, PAPER, SOFT, TINTS

_PIXELS_PER_INCH = 96.0
_POINTS_PER_PIXEL = 72.0 / _PIXELS_PER_INCH


def topology(facts: Facts) -> Figure:
    """The shapes of `boxes.draw`, one canvas pixel to a 96th of an inch."""
    drawing = draw(facts)
    figure = Figure(
        figsize=(drawing.width / _PIXELS_PER_INCH, drawing.height / _PIXELS_PER_INCH), facecolor=PAPER
    )
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, drawing.width)
    axes.set_ylim(drawing.height, 0)
    axes.axis("off")
    for box in drawing.boxes:
        for card in range(box.behind, -1, -1):
            offset = card * drawing.stack
            box_patch = FancyBboxPatch(
                (box.x + offset, box.y + offset),
                box.width,
                box.height,
                boxstyle="round,pad=0,rounding_size=8",
                facecolor=TINTS[box.level % len(TINTS)],
                edgecolor=LEVELS[box.level % len(LEVELS)],
                linewidth=1.2,
            )
            axes.add_patch(box_patch)
    for dot in drawing.dots:
        axes.add_patch(Circle((dot.x, dot.y), dot.radius, facecolor=INK, alpha=0.62, linewidth=0))
    for label in drawing.labels:
        size = (TITLE_SIZE if label.title else DETAIL_SIZE) * _POINTS_PER_PIXEL
        # DejaVu, Matplotlib's own font, is wider than the fonts of the page that the layout reckons with.
        axes.text(
            label.x,
            label.y,
            label.text,
            fontsize=size * 0.93,
            color=INK if label.title else SOFT,
            fontweight="bold" if label.title else "normal",
            parse_math=False,
        )
    return figure
