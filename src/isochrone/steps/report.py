# SPDX-License-Identifier: BSD-3-Clause
"""Report: from the files of a survey to the page, its figures, and a summary."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isochrone.errors import IsochroneError
from isochrone.files import Measurements
from isochrone.report import read_facts, summary_lines, survey_document, write_page
from isochrone.report.facts import Findings
from isochrone.steps.doctor import examine
from isochrone.steps.folder import MEASUREMENTS

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Report:
    """What a survey came to: the summary for people, the figures for programs."""

    lines: list[str]
    document: dict[str, Any]


def report(folder: Path) -> Report:
    """Writes the page and the figures of the survey in the folder.

    Raises:
        IsochroneError: a file is missing or damaged, or the folder cannot be written to.
    """
    facts = read_facts(folder, lambda measurements: _findings(measurements, folder / MEASUREMENTS))
    path = write_page(facts)
    return Report([*summary_lines(facts), f"Report: {path}"], survey_document(facts, path))


def _findings(measurements: Measurements, where: Path) -> Findings | None:
    """What is slower than its like; None where the measurements do not tell what is like what, or which rank
    waited for a core.
    """
    if measurements.ranks < 2 or measurements.oversubscribed:
        return None
    try:
        return tuple(examine(measurements, where))
    except IsochroneError as error:
        _log.debug("nothing is said of what is slow: %s", error)
        return None
