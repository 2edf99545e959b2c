# SPDX-License-Identifier: BSD-3-Clause
"""Times of collectives from ``study.json``: medians, with the placement and the region of the ranks."""

from __future__ import annotations

from collections.abc import Mapping

from isochrone import _core
from isochrone.files import StudyFile
from isochrone.files.study import Result
from isochrone.models.observation import Found, Observation
from isochrone.tune.collectives import timed

Arranged = tuple[str, int, int | None]
"""Placement, ranks, and ranks on a node at most, as ``study.json`` has them."""


def arrangements(study: StudyFile) -> list[Arranged]:
    """Those that were timed, each once."""
    return list(dict.fromkeys(_arranged(row) for row in study.results))


def of_study(study: StudyFile, layouts: Mapping[Arranged, _core.Layout | None], where: str) -> Found:
    """What was timed, but for the main loops of applications: they are no collectives.

    Args:
        study: the medians.
        layouts: of the ranks of each arrangement; None: not known.
        where: the file, for messages.
    """
    return Found(
        tuple(
            Observation(
                operation=row.collective,
                size_bytes=row.size_bytes,
                ranks=row.ranks,
                time_s=row.median_s,
                algorithm=row.recipe,
                mapping=row.placement,
                region=row.region,
                layout=layouts[_arranged(row)],
                source=f"{where}: {row.repetitions} repetitions",
            )
            for row in study.results
            if row.median_s > 0 and row.ranks > 1 and row.collective in timed()
        )
    )


def _arranged(row: Result) -> Arranged:
    return row.placement, row.ranks, row.per_node
