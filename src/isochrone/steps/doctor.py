# SPDX-License-Identifier: BSD-3-Clause
"""Doctor: from measurements to what is slow in a machine."""

from __future__ import annotations

from pathlib import Path

from isochrone.doctor.findings import Finding, findings
from isochrone.doctor.residuals import against_older, against_their_like
from isochrone.files import Measurements
from isochrone.steps.detect import read


def doctor(
    measurements: Path, older: Path | None = None, unit: str = "ns"
) -> tuple[Measurements, list[Finding]]:
    """What is slower than its like, worst first; or than it was in older measurements of the same machine.

    Raises:
        IsochroneError: a file is damaged, pairs are missing, or the two have nothing in common.
    """
    found = read(measurements, unit)
    if older is None:
        return found, findings(against_their_like(found), found.places)
    return found, findings(against_older(found, read(older, unit)), found.places, with_levels=True)
