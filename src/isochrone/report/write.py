# SPDX-License-Identifier: BSD-3-Clause
"""Writes the page and the figures."""

from __future__ import annotations

from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.report.facts import Facts, Survey
from isochrone.report.inputs import read_facts
from isochrone.report.page import page
from isochrone.report.plots import write_figures
from isochrone.report.sections.parts import FIGURES_FOLDER

FILE_NAME = "report.html"


def write_report(folder: Path | str, survey: Survey | None = None) -> Path:
    """Writes `report.html` and `figures/` for the survey in `folder`; gives the page's path.

    The page is put in place whole, once all else is written. Raises IsochroneError for damaged or missing
    files, and where the folder cannot be written to.
    """
    return write_page(read_facts(Path(folder), survey))


def write_page(facts: Facts) -> Path:
    """Likewise from facts that were read already, into the folder that they were read from."""
    path = facts.folder / FILE_NAME
    try:
        write_figures(facts, facts.folder / FIGURES_FOLDER)
        unfinished = path.with_suffix(".html.part")
        unfinished.write_text(page(facts), encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        where = str(error.filename or path)
        raise IsochroneError(
            f"cannot write the report: {error.strerror}", where, "check space and permissions"
        ) from error
    return path
