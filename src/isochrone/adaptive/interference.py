# SPDX-License-Identifier: BSD-3-Clause
"""Whether pairs that were measured at once disturbed each other: some are measured again, alone."""

from __future__ import annotations

import numpy as np

from isochrone.adaptive.table import Pair
from isochrone.detect.evidence import FEW
from isochrone.files import Measurements

# Those that are repeated alone first; then those follow that look slow, which are no fair sample.
SAMPLE_PAIRS = 12


def sample(measurements: Measurements, random: np.random.Generator) -> list[Pair]:
    """Some of the pairs that were measured."""
    chosen = random.permutation(measurements.pairs_measured)[:SAMPLE_PAIRS]
    pairs = measurements.pairs
    return [pairs[k] for k in np.sort(chosen)]


def interference(measurements: Measurements) -> tuple[float, int] | None:
    """How many times longer pairs took together than alone, the median over the `sample`, at the message
    size, in bytes, at which that is most; None where too few were measured both ways to tell.
    """
    if not measurements.alone:
        return None
    i, j = np.array(list(measurements.alone)[:SAMPLE_PAIRS]).T
    alone_s = np.array(list(measurements.alone.values())[:SAMPLE_PAIRS])[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = measurements.rows(measurements.rtt_min_s, i, j) / alone_s
    found = [
        (float(np.median(column[told])), size)
        for column, size in zip(ratios.T, measurements.sizes_bytes, strict=True)
        if np.count_nonzero(told := np.isfinite(column)) >= FEW
    ]
    return max(found, default=None)
