# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the models: residuals, how much too long or too short each predicts what it was not fitted to,
and coefficients.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from isochrone.detect.distance import Floats
from isochrone.models.coefficients import coefficients
from isochrone.models.holdout import Judged, Left
from isochrone.models.observation import MESSAGE, Observation
from isochrone.models.subjects import Subject
from isochrone.report.plots.style import INK, LEVELS, SOFT, TINTS, dress, new_figure, save, set_ticks
from isochrone.report.ticks import size_ticks

_RATIOS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_FINE_RATIOS = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6)
_NEAREST, _FURTHEST = math.log(1.25), math.log(12.0)
_CHARACTER_INCHES, _HANDLE_INCHES = 0.085, 0.5
_WORDS: dict[Left, str] = {"size": "message size, left out", "ranks": "number of ranks, left out"}


def write_figures(subjects: Sequence[Subject], folder: Path, within: float) -> list[Path]:
    """Writes the figures of each subject that was judged, in each kind of file; gives their paths."""
    paths = []
    with matplotlib.rc_context({"text.parse_math": False}):
        for subject in subjects:
            stem = re.sub(r"[^a-z0-9]+", "-", subject.name.lower()).strip("-")
            drawn = {"residuals": residuals(subject, within), "coefficients": coefficients(subject)}
            for name, figure in drawn.items():
                if figure is not None:
                    paths += save(figure, folder, f"{name}-{stem}")
    return paths


def residuals(subject: Subject, within: float) -> Figure | None:
    """A row of panels for each model, one for each way of leaving out; None where none was."""
    ways = [left for left in _WORDS if any(left in each.held_out for each in subject.judged)]
    shown = [each for each in subject.judged if set(ways) & set(each.held_out)]
    if not shown:
        return None
    figure = new_figure(5.4 * len(ways) + 0.6, 1.7 * len(shown) + 1.1)
    panels = figure.subplots(len(shown), len(ways), squeeze=False, sharey=True, sharex="col")
    colours = _colours(subject.observations)
    furthest = _furthest(shown)
    for row, judged in zip(panels, shown, strict=True):
        for axes, left in zip(row, ways, strict=True):
            _panel(axes, judged, subject.observations, left, colours, within, furthest)
        trusted = subject.trust.chosen is judged
        row[0].set_title(
            f"{judged.candidate.name}{', trusted' if trusted else ''}",
            fontsize=10,
            loc="left",
            fontweight="bold" if trusted else "normal",
        )
    for axes, left in zip(panels[-1], ways, strict=True):
        axes.set_xlabel(_WORDS[left])
    figure.supylabel("predicted / measured", fontsize=10, color=SOFT)
    if colours:
        _add_legend(figure, colours)
    return figure


def _colours(observations: Sequence[Observation]) -> dict[str, str]:
    """Of algorithms, where there are colours enough for all; else none."""
    names = sorted({each.algorithm for each in observations if each.operation != MESSAGE})
    return dict(zip(names, LEVELS, strict=False)) if 1 < len(names) <= len(LEVELS) else {}


def _furthest(shown: Sequence[Judged]) -> float:
    """The end of the scale: what is further is drawn there."""
    sizes = np.concatenate([errors.sizes for each in shown for errors in each.held_out.values()])
    return float(np.clip(1.1 * sizes.max(initial=0.0), _NEAREST, _FURTHEST))


def _add_legend(figure: Figure, colours: dict[str, str]) -> None:
    """In as many columns as there is room for."""
    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=5, color=colour) for colour in colours.values()
    ]
    room = figure.get_figwidth() / (_CHARACTER_INCHES * max(map(len, colours)) + _HANDLE_INCHES)
    columns = min(len(colours), max(1, int(room)))
    figure.legend(handles, list(colours), loc="outside upper right", ncols=columns, frameon=False, fontsize=9)


def _panel(
    axes: Axes,
    judged: Judged,
    observations: Sequence[Observation],
    left: Left,
    colours: dict[str, str],
    within: float,
    furthest: float,
) -> None:
    dress(axes)
    axes.axhspan(-math.log1p(within), math.log1p(within), color=TINTS[0], zorder=0)
    axes.axhline(0.0, color=INK, linewidth=1.0)
    ratios = [
        each
        for each in (_RATIOS if furthest > math.log(2.5) else _FINE_RATIOS)
        if abs(math.log(each)) < furthest
    ]
    set_ticks(axes.yaxis, [math.log(ratio) for ratio in ratios], [f"{ratio:g}×" for ratio in ratios])
    axes.set_ylim(-furthest, furthest)
    axes.tick_params(labelsize=8)
    sizes = [each.size_bytes for each in observations]
    places = np.array([max(each, 1) for each in sizes] if left == "size" else [e.ranks for e in observations])
    axes.set_xscale("log", base=2)
    if left == "size":
        set_ticks(axes.xaxis, *size_ticks([int(each) for each in places]))
    else:
        marks = _few(sorted(set(places.tolist())))
        set_ticks(axes.xaxis, marks, [f"{mark:g}" for mark in marks])
    axes.set_xlim(places.min() / 1.3, places.max() * 1.3)
    if left not in judged.held_out:
        return
    logs: Floats = np.clip(judged.held_out[left].logs, -0.97 * furthest, 0.97 * furthest)
    spread = 1 + 0.05 * (np.arange(len(logs)) % 5 - 2)
    colour = [colours.get(each.algorithm, LEVELS[0]) for each in observations]
    axes.scatter(places * spread, logs, s=11, c=colour, alpha=0.65, linewidths=0, zorder=2)


def _few(values: Sequence[int]) -> list[float]:
    """At most eight of them, with the ends."""
    if len(values) <= 8:
        return [float(value) for value in values]
    return [float(values[round(k)]) for k in np.linspace(0, len(values) - 1, 8)]
