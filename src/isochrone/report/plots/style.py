# SPDX-License-Identifier: BSD-3-Clause
"""One look for all figures. No global state of Matplotlib is touched, and no display is needed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from isochrone.files.whole import write_whole

INK, SOFT, LINE, PAPER = "#1b2025", "#525b64", "#d9dcdf", "#ffffff"
MISSING = "#eceded"
NATIVE, PLAN, RIVAL = "#5d656d", "#0072b2", "#b8500a"
LEVELS = ("#0072b2", "#c77c00", "#008a63", "#c04f9a", "#d55e00", "#2f8fc4")
TINTS = ("#eaf3f9", "#fdf4e3", "#e6f5f0", "#f9ecf4", "#fcefe6", "#ebf5fb")

_METADATA: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
KINDS = tuple(_METADATA)
"""Of files that each figure is written as."""


def new_figure(width_inches: float, height_inches: float) -> Figure:
    """An empty figure on white paper."""
    return Figure(figsize=(width_inches, height_inches), facecolor=PAPER, layout="constrained")


def dress(axes: Axes, grid: bool = True) -> None:
    """Quiet axes: two spines, a light grid behind the data."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(LINE)
    axes.tick_params(colors=SOFT, which="both", length=0)
    axes.xaxis.label.set_color(SOFT)
    axes.yaxis.label.set_color(SOFT)
    axes.set_axisbelow(True)
    if grid:
        axes.grid(True, which="major", color=LINE, linewidth=0.8)


def set_ticks(axis: Axis, values: Sequence[float], names: Sequence[str]) -> None:
    """Just these ticks."""
    axis.set_major_locator(FixedLocator(values))
    axis.set_major_formatter(FixedFormatter(names))
    axis.set_minor_locator(NullLocator())


def save(figure: Figure, folder: Path, stem: str) -> list[Path]:
    """Writes the figure in each of the KINDS; gives the paths."""
    paths = [folder / f"{stem}.{kind}" for kind in KINDS]
    for path in paths:
        save_as(figure, path)
        # Where things are does not depend on the kind, and to find it takes as long as to draw.
        figure.set_layout_engine("none")
    return paths


def save_as(figure: Figure, path: Path) -> None:
    """Writes the figure as a file of the kind, one of KINDS, that its name ends with."""
    content = drawn(figure, path.suffix[1:].lower())
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)


def drawn(figure: Figure, kind: str) -> bytes:
    """The figure as a file of the kind, one of KINDS, holds it."""
    content = io.BytesIO()
    # Text stays text, as TrueType, which publishers ask for. A fixed salt and no date give the same file for
    # the same survey.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "isochrone", "pdf.fonttype": 42}):
        figure.savefig(content, format=kind, dpi=160, facecolor=PAPER, metadata=_METADATA[kind])
    return content.getvalue()
