# SPDX-License-Identifier: BSD-3-Clause
"""A call in space and time: a row for each rank, what its processor does, and the messages between rows."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axes._secondary_axes import SecondaryAxis
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from isochrone.errors import UsageError
from isochrone.report.plots.style import (
    INK,
    LEVELS,
    LINE,
    NATIVE,
    RIVAL,
    SOFT,
    TINTS,
    dress,
    new_figure,
    set_ticks,
)
from isochrone.report.ticks import linear_time_ticks
from isochrone.report.traffic import blocks_by_place, by_place
from isochrone.show.call import Call
from isochrone.show.timeline import Step, Timeline
from isochrone.units import number_of
from isochrone.words import level_noun

MOST_RANKS = 256
MOST_STEPS = 20_000
_ROW_INCHES = (0.3, 0.105)
"""Of a rank where there are few, and at least."""
_MOST_INCHES = 9.0
_BESIDE = 3
"""Levels whose groups are named on the right."""
_CROWD = 1500
"""Messages that are too many for heads of arrows."""
_KINDS = (
    ("send", "sends", INK),
    ("recv", "receives", NATIVE),
    ("reduce", "reduces", RIVAL),
    ("copy", "copies", "#b9a26a"),
    ("collective", "the library's own", "#9b8bb4"),
)


def spacetime(timeline: Timeline) -> Figure:
    """The figure. A message's line begins when its first byte leaves, and ends when its receiver takes it; a
    bar in its colour is as long as it takes to leave.

    Raises:
        UsageError: there is more than anybody could see.
    """
    call = timeline.call
    size = call.layout.size
    if size > MOST_RANKS or len(timeline.steps) > MOST_STEPS:
        operations = number_of(len(timeline.steps), "operation")
        raise UsageError(
            f"{operations} of {number_of(size, 'rank')} are too many to draw",
            "-o",
            f"draw up to {MOST_STEPS:,} of up to {MOST_RANKS} ranks, or use --json",
        )
    order = by_place(call.groups, range(size))
    row = np.empty(size, np.int64)
    row[order] = np.arange(size)
    row_inches = max(_ROW_INCHES[1], min(_ROW_INCHES[0], _MOST_INCHES / size))
    figure = new_figure(11, 1.4 + row_inches * max(size, 3))
    axes = figure.add_subplot()
    end_s = timeline.end_s or 1e-6
    _shade(axes, call, row_inches)
    axes.hlines(range(size), 0, end_s, color=LINE, linewidth=0.6, zorder=1)
    levels = _messages(axes, timeline, row, row_inches)
    kinds = _work(axes, timeline, row, end_s)
    axes.set_xlim(-0.005 * end_s, 1.01 * end_s)
    axes.set_ylim(size - 0.5, -0.5)
    dress(axes, grid=False)
    axes.grid(True, axis="x", color=LINE, linewidth=0.8)
    set_ticks(axes.xaxis, *linear_time_ticks(end_s))
    every = max(1, round(0.11 / row_inches))
    set_ticks(axes.yaxis, range(0, size, every), [str(rank) for rank in order[::every]])
    axes.tick_params(axis="y", labelsize=min(9.0, 58 * row_inches * every))
    axes.set_xlabel("time, by the model")
    axes.set_ylabel("rank")
    entries = [*levels, *kinds]
    figure.legend(
        handles=entries,
        loc="outside upper left",
        ncols=len(entries) if len(entries) <= 5 else -(-len(entries) // 2),
        frameon=False,
        fontsize=9,
        labelcolor=SOFT,
        handlelength=1.6,
        columnspacing=1.6,
    )
    return figure


def _shade(axes: Axes, call: Call, row_inches: float) -> None:
    """Every other group of the innermost level that divides the ranks, borders of those outside it, and the
    names of groups on the right.
    """
    size = call.layout.size
    blocks = blocks_by_place(call.groups, range(size))
    dividing = [level for level, runs in enumerate(blocks) if 1 < len(runs) < size]
    for at, level in enumerate(reversed(dividing[-_BESIDE:])):
        runs = blocks[level]
        names = _names(axes, at)
        shown = [run for run in runs if (run[1] - run[0]) * row_inches > 0.11]
        labels = [f"{level_noun(call.level_name(level))} {runs.index(run)}" for run in shown]
        set_ticks(names.yaxis, [(first + end - 1) / 2 for first, end in shown], labels)
        for number, (first, end) in enumerate(runs):
            if at == 0 and number % 2 == 0:
                axes.axhspan(first - 0.5, end - 0.5, color=TINTS[level % len(TINTS)], zorder=0)
            if at > 0 and first > 0:
                axes.axhline(first - 0.5, color=SOFT, linewidth=0.5 + 0.4 * at, zorder=1)


def _names(axes: Axes, at: int) -> SecondaryAxis:
    names = axes.secondary_yaxis(1.005 + 0.075 * at)
    names.spines["right"].set_visible(False)
    names.tick_params(colors=SOFT, length=0, labelsize=8)
    return names


def _messages(axes: Axes, timeline: Timeline, row: NDArray[np.int64], row_inches: float) -> list[Line2D]:
    """Draws them; gives what the legend says of them, outermost level first."""
    of_level: dict[int, list[tuple[tuple[float, int], tuple[float, int]]]] = {}
    for send, receive in timeline.messages():
        line = ((send.leave_s, int(row[send.rank])), (receive.begin_s, int(row[receive.rank])))
        of_level.setdefault(send.level or 0, []).append(line)
    many = sum(map(len, of_level.values()))
    width, alpha = (1.3, 0.9) if many < 200 else (0.8, 0.9) if many < _CROWD else (0.4, 0.4)
    legend = []
    for level in sorted(of_level):
        colour = LEVELS[level % len(LEVELS)]
        lines = of_level[level]
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=width, alpha=alpha, zorder=3))
        leaving = [
            Rectangle((step.leave_s, row[step.rank] - 0.16), step.end_s - step.leave_s, 0.32)
            for step in timeline.steps
            if step.kind == "send" and step.level == level
        ]
        axes.add_collection(PatchCollection(leaving, facecolor=colour, alpha=0.35, linewidth=0, zorder=2))
        for marker, down in (("v", True), ("^", False)):
            ends = [end for start, end in lines if (end[1] > start[1]) == down]
            if ends and many < _CROWD:
                axes.scatter(
                    [time_s for time_s, _ in ends],
                    [at for _, at in ends],
                    s=min(18, 60 * row_inches),
                    marker=marker,
                    color=colour,
                    zorder=4,
                )
        words = f"{number_of(len(lines), 'message')}, {crossing(timeline.call, level)}"
        legend.append(Line2D([], [], color=colour, linewidth=2, label=words))
    return legend


def crossing(call: Call, level: int) -> str:
    """Where the messages of a level go."""
    inside = call.layout.levels[level + 1 :]
    if inside:
        return f"between {level_noun(inside[0], 2)}"
    return f"within a {level_noun(call.level_name(level))}"


def _work(axes: Axes, timeline: Timeline, row: NDArray[np.int64], end_s: float) -> list[Patch]:
    """Draws what keeps processors busy; gives what the legend says of it."""
    of_kind: dict[str, list[Step]] = {}
    for step in (*(each for each in timeline.steps if each.level is not None), *timeline.local_work):
        of_kind.setdefault(step.kind, []).append(step)
    legend = []
    for kind, words, colour in _KINDS:
        busy = of_kind.get(kind, [])
        if not busy:
            continue
        # What takes no time is to be seen too.
        boxes = [
            Rectangle((step.begin_s, row[step.rank] - 0.3), max(step.free_s - step.begin_s, end_s / 800), 0.6)
            for step in busy
        ]
        axes.add_collection(PatchCollection(boxes, facecolor=colour, linewidth=0, zorder=5))
        legend.append(Patch(facecolor=colour, label=words))
    return legend
