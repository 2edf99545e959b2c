# SPDX-License-Identifier: BSD-3-Clause
"""The report's figures as PNG, SVG and PDF files, drawn with Matplotlib: for print, and for those who turn
scripts off.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from isochrone.report.facts import Facts
from isochrone.report.plots.broadcast import broadcast
from isochrone.report.plots.dendrogram import dendrogram
from isochrone.report.plots.matrix import matrix
from isochrone.report.plots.style import KINDS, save
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
    # Names from files are no formulae, whatever signs they have.
    with matplotlib.rc_context({"text.parse_math": False}):
        for stem, draw in _FIGURES.items():
            figure = draw(facts)
            if figure is None:
                for kind in KINDS:
                    (folder / f"{stem}.{kind}").unlink(missing_ok=True)
                continue
            written += save(figure, folder, stem)
    return written
