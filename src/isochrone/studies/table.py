# SPDX-License-Identifier: BSD-3-Clause
"""All studies, one row each."""

from __future__ import annotations

from isochrone.errors import UsageError
from isochrone.studies import application, decision, order, placement, speedup
from isochrone.studies.study import Study

STUDIES: tuple[Study, ...] = (
    placement.STUDY,
    decision.STUDY,
    speedup.STUDY,
    order.STUDY,
    application.STUDY,
)


def study_named(name: str) -> Study:
    """The study of that name.

    Raises:
        UsageError: there is none.
    """
    for study in STUDIES:
        if study.name == name:
            return study
    raise UsageError(f"{name[:40]!r} is no study", todo=f"use one of {', '.join(s.name for s in STUDIES)}")
