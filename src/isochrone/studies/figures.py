# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of figures that studies draw, in the look of the report's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from isochrone.report.plots.style import (
    INK,
    LEVELS,
    LINE,
    MISSING,
    NATIVE,
    SOFT,
    dress,
    new_figure,
    set_ticks,
)
from isochrone.report.ticks import size_ticks, time_ticks
from isochrone.statistics import Interval
from isochrone.units import format_bytes

_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
_DASHES = ("-", "--", "-.", ":")
_MORE = ("#7a5195", "#8c6d31", "#17807e", "#a8324a")
_PALETTE = (*LEVELS, *_MORE)
_FEW_VALUES = 7
"""Each has a tick then."""
_RATIOS = (0.1, 0.2, 0.5, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Series:
    """A line: y at each x; of the same name in the same colour in all panels. `own`: of the library."""

    name: str
    points: tuple[tuple[int, Interval], ...]
    own: bool = False


@dataclass(frozen=True)
class Panel:
    """Axes with a title, and vertical lines where something begins."""

    title: str
    series: tuple[Series, ...]
    borders: tuple[int, ...] = ()


def time_by(
    panels: Sequence[Panel], x_words: str, x_is_size: bool, words: str = "time of the slowest rank"
) -> Figure:
    """Times in seconds by ranks or by bytes, panel by panel, on logarithmic axes."""
    figure, all_axes = _grid(panels)
    drawn = [i for panel in panels for one in panel.series for _, i in one.points]
    ticks = time_ticks(min(i.low for i in drawn), max(i.high for i in drawn))
    for axes in all_axes:
        set_ticks(axes.yaxis, *ticks)
        _x_axis(axes, panels, x_words, x_is_size)
    for axes in all_axes[:: _columns(panels)]:
        axes.set_ylabel(words)
    return figure


def ratio_by(panels: Sequence[Panel], x_words: str, x_is_size: bool, words: str) -> Figure:
    """Ratios by ranks or by bytes, with the line of equal times."""
    figure, all_axes = _grid(panels)
    drawn = [i for panel in panels for one in panel.series for _, i in one.points]
    least, most = min(0.9, *(i.low for i in drawn)) / 1.06, max(1.25, *(i.high for i in drawn)) * 1.06
    marks = [float(value) for value in _RATIOS if least < value < most]
    for axes in all_axes:
        axes.axhline(1.0, color=INK, linewidth=1.2)
        axes.set_ylim(least, most)
        set_ticks(axes.yaxis, marks, [f"{value:g}×" for value in marks])
        _x_axis(axes, panels, x_words, x_is_size)
    for axes in all_axes[:: _columns(panels)]:
        axes.set_ylabel(words)
    return figure


def share_by(points: Sequence[tuple[int, Interval]], x_words: str, words: str) -> Figure:
    """Shares of one, in percent, by something that is counted, with the range of each."""
    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    x = [at for at, _ in points]
    low, high = [100 * i.low for _, i in points], [100 * i.high for _, i in points]
    axes.fill_between(x, low, high, color=_PALETTE[0], alpha=0.2, linewidth=0)
    axes.plot(x, [100 * i.estimate for _, i in points], "o-", color=_PALETTE[0])
    dress(axes)
    axes.set_xscale("log")
    set_ticks(axes.xaxis, x, [f"{at}" for at in x])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(x_words)
    axes.set_ylabel(f"{words}, %")
    return figure


def winners(
    rows: Sequence[str],
    columns: Sequence[str],
    names: Sequence[Sequence[str | None]],
    notes: Sequence[Sequence[str]],
) -> Figure:
    """A map with a colour for each name; [row][column], None where nothing was measured. Notes stand in the
    cells.
    """
    kinds = list(dict.fromkeys(name for row in names for name in row if name is not None))
    colour_of = {name: _PALETTE[at % len(_PALETTE)] for at, name in enumerate(kinds)}
    figure = new_figure(
        max(7.0, 1.15 * len(columns) + 1.2), 0.62 * len(rows) + 1.3 + 0.24 * math.ceil(len(kinds) / 2)
    )
    axes = figure.subplots()
    for y, row in enumerate(names):
        for x, name in enumerate(row):
            face = MISSING if name is None else colour_of[name]
            axes.add_patch(_cell(x, y, face))
            axes.text(
                x, y, notes[y][x], ha="center", va="center", fontsize=9, color="white" if name else SOFT
            )
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    set_ticks(axes.xaxis, range(len(columns)), columns)
    set_ticks(axes.yaxis, range(len(rows)), rows)
    dress(axes, grid=False)
    axes.set_ylabel("ranks")
    axes.set_xlabel("message size")
    figure.legend(
        handles=[Patch(facecolor=colour_of[name], label=name) for name in kinds],
        loc="outside upper left",
        ncols=2,
        frameon=False,
        fontsize=9,
    )
    return figure


def _cell(x: int, y: int, face: str) -> Patch:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=face, edgecolor="none")


def _columns(panels: Sequence[Panel]) -> int:
    return 1 if len(panels) == 1 else 2


def _grid(panels: Sequence[Panel]) -> tuple[Figure, list[Axes]]:
    columns = _columns(panels)
    rows = math.ceil(len(panels) / columns)
    names = list(dict.fromkeys(one.name for panel in panels for one in panel.series))
    figure = new_figure(9.5, (4.6 if columns == 1 else 3.0 * rows) + 0.5 + 0.22 * math.ceil(len(names) / 4))
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    axes_of = [axes for row in grid for axes in row]
    for axes in axes_of[len(panels) :]:
        axes.remove()
    own = {one.name for panel in panels for one in panel.series if one.own}
    styles = _styles(names, own)
    for axes, panel in zip(axes_of, panels, strict=False):
        axes.set_xscale("log")
        axes.set_yscale("log")
        dress(axes)
        axes.set_title(panel.title, fontsize=10, loc="left", fontweight="bold", color=INK)
        for border in panel.borders:
            axes.axvline(border + 0.5, color=SOFT, linewidth=1.0, linestyle=(0, (2, 3)))
        for one in panel.series:
            colour, mark, dash = styles[one.name]
            x = [at for at, _ in one.points]
            axes.fill_between(
                x,
                [i.low for _, i in one.points],
                [i.high for _, i in one.points],
                color=colour,
                alpha=0.2,
                linewidth=0,
            )
            axes.plot(
                x,
                [i.estimate for _, i in one.points],
                color=colour,
                marker=mark,
                linestyle=dash,
                label=one.name,
                markersize=4,
                linewidth=1.6,
            )
    handles = {
        label: handle
        for axes in axes_of[: len(panels)]
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(), handles.keys(), loc="outside upper left", ncols=4, frameon=False, fontsize=9
    )
    return figure, axes_of[: len(panels)]


def _styles(names: Sequence[str], own: set[str]) -> dict[str, tuple[str, str, str]]:
    styles = {}
    others = [name for name in names if name not in own]
    for at, name in enumerate(others):
        styles[name] = (_PALETTE[at % len(_PALETTE)], _MARKS[at % len(_MARKS)], "-")
    for at, name in enumerate(name for name in names if name in own):
        colour = NATIVE if at == 0 else LINE
        styles[name] = (colour, "s", _DASHES[1 + at % 3])
    return styles


def _x_axis(axes: Axes, panels: Sequence[Panel], words: str, is_size: bool) -> None:
    values = sorted({x for panel in panels for one in panel.series for x, _ in one.points})
    if is_size and len(values) <= _FEW_VALUES:
        set_ticks(axes.xaxis, values, [format_bytes(value) for value in values])
    elif is_size:
        set_ticks(axes.xaxis, *size_ticks([value for value in values if value > 0]))
    else:
        powers = [value for value in values if value & (value - 1) == 0]
        shown = powers if powers and len(values) > _FEW_VALUES else values
        set_ticks(axes.xaxis, shown, [f"{value:,}" for value in shown])
    axes.set_xlim(values[0] / 1.2, values[-1] * 1.2)
    axes.set_xlabel(words)
