# SPDX-License-Identifier: BSD-3-Clause
"""The report's figures as PNG, SVG and PDF files, drawn with Matplotlib: for print, and for those who turn
scripts off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from isochrone import _core
from isochrone.report.comparison import stem_of
from isochrone.report.facts import Facts
from isochrone.report.plots.collective import collective
from isochrone.report.plots.dendrogram import dendrogram
from isochrone.report.plots.matrix import matrix
from isochrone.report.plots.style import KINDS, save
from isochrone.report.plots.topology import topology
from isochrone.report.plots.traffic import mapping

_FIGURES: dict[str, Callable[[Facts], Figure | None]] = {
    "topology": topology,
    "latency-matrix": matrix,
    "dendrogram": dendrogram,
    "mapping": mapping,
}


def write_figures(facts: Facts, folder: Path) -> list[Path]:
    """Writes each figure that there is data for into `folder`; gives the paths. Figures of an earlier report
    that have no data now are removed. Raises OSError where the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    # Names from files are no formulae, whatever signs they have.
    with matplotlib.rc_context({"text.parse_math": False}):
        for stem, figure in _figures(facts):
            if figure is None:
                for kind in KINDS:
                    (folder / f"{stem}.{kind}").unlink(missing_ok=True)
                continue
            written += save(figure, folder, stem)
    return written


def _figures(facts: Facts) -> Iterator[tuple[str, Figure | None]]:
    for stem, draw in _FIGURES.items():
        yield stem, draw(facts)
    drawn = {comparison.stem: collective(comparison) for comparison in facts.comparisons}
    for stem in {stem_of(row["words"]): None for row in _core.collectives()} | drawn:
        yield stem, drawn.get(stem)
