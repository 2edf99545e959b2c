# SPDX-License-Identifier: BSD-3-Clause
"""Doctor: from measurements to what is slow in a machine."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from isochrone.doctor.asymmetric import Asymmetry, asymmetric, both_directions
from isochrone.doctor.findings import Finding, findings
from isochrone.doctor.residuals import against_older, against_their_like
from isochrone.files import Measurements
from isochrone.steps.detect import read
from isochrone.units import number_of

_log = logging.getLogger(__name__)


def doctor(
    measurements: Path, older: Path | None = None, unit: str = "ns"
) -> tuple[Measurements, list[Finding | Asymmetry]]:
    """What is slower than its like, then which pairs have one slow direction, both worst first; or what is
    slower than it was in older measurements of the same machine.

    Raises:
        IsochroneError: a file is damaged, pairs are missing, or the two have nothing in common.
    """
    found = read(measurements, unit)
    if older is not None:
        residuals = against_older(found, read(older, unit))
        return found, [*findings(residuals, found.places, with_levels=True)]
    return found, examine(found, measurements)


def examine(found: Measurements, where: Path) -> list[Finding | Asymmetry]:
    """What is slower than its like in measurements from the file `where`, and which pairs have one slow
    direction, both worst first.

    Raises:
        IsochroneError: pairs are missing.
    """
    one_way = asymmetric(found)
    if found.ended and both_directions(found) and not _connected(found):
        # Some pairs that were picked for their directions do not tell what is like what.
        return [*one_way]
    slow = findings(against_their_like(found), found.places)
    # A plain matrix, and what another probe measured, has none that were measured alone; where nothing was
    # measured at once, all pairs were.
    sure = [finding for finding in slow if finding.sure or not found.alone or not found.at_once]
    if len(sure) < len(slow):
        _log.warning(
            "%s: not named: %s that looked slow while other messages were on their way; probe again with "
            "--together none",
            where,
            number_of(len(slow) - len(sure), "more part"),
        )
    return [*sure, *one_way]


def _connected(measurements: Measurements) -> bool:
    # Loaded here, because few measurements need it and it takes long to load.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = (measurements.first, measurements.second)
    measured = coo_array((np.ones(measurements.pairs_measured), pairs), shape=(measurements.ranks,) * 2)
    return int(connected_components(measured, directed=False, return_labels=False)) == 1
