# SPDX-License-Identifier: BSD-3-Clause
"""Writes the page and the figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files.whole import write_whole
from isochrone.report.facts import Facts
from isochrone.report.page import page
from isochrone.report.plots import write_figures
from isochrone.report.sections.parts import FIGURES_FOLDER

FILE_NAME = "report.html"


@contextmanager
def writing_report(path: Path) -> Iterator[None]:
    """Raises IsochroneError where what is inside cannot write a report; `path` is its page."""
    try:
        yield
    except OSError as error:
        where = str(error.filename or path)
        raise IsochroneError(
            f"cannot write the report: {error.strerror}", where, "check space and permissions"
        ) from error


def write_page(facts: Facts) -> Path:
    """Writes `report.html` and `figures/` into the folder that the facts were read from; gives the page's
    path.

    The page is put in place whole, once all else is written. Raises IsochroneError where the folder cannot be
    written to.
    """
    path = facts.folder / FILE_NAME
    with writing_report(path):
        write_figures(facts, facts.folder / FIGURES_FOLDER)
        write_whole(path, page(facts).encode("utf-8", "replace"))
    return path
