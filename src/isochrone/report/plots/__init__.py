# SPDX-License-Identifier: BSD-3-Clause
"""The report's figures as PNG and SVG files, drawn with Matplotlib: for print, and for those who turn scripts
off.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from isochrone.report.facts import Facts
from isochrone.report.plots.broadcast import broadcast
from isochrone.report.plots.dendrogram import dendrogram
from isochrone.report.plots.matrix import matrix
from isochrone.report.plots.style import save
from isochrone.report.plots.topology import topology

_FIGURES: dict[str, Callable[[Facts], Figure | None]] = {
    "topology": topology,
    "latency-matrix": matrix,
    "dendrogram": dendrogram,
    "broadcast": broadcast,
}


def write_figures(facts: Facts, folder: Path) -> list[Path]:
    """Writes each figure that there is data for into `folder`; gives the paths. Figures of an earlier report
    that have no data now are removed. Raises OSError where the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for stem, draw in _FIGURES.items():
        paths = [folder / f"{stem}.png", folder / f"{stem}.svg"]
        figure = draw(facts)
        if figure is None:
            for path in paths:
                path.unlink(missing_ok=True)
            continue
        save(figure, paths)
        written += paths
    return written
