# SPDX-License-Identifier: BSD-3-Clause
"""What looks slow is looked at again before anyone is told.

Few pairs tell the tree, but a slow cable may then show in one of them only, and so may a message that was
held up. More pairs between the same two hosts tell whether it is the way between them or the pair; measured
once more alone, a pair that was only disturbed is as fast as its like.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.adaptive.table import Pair
from isochrone.doctor.findings import Finding, findings
from isochrone.doctor.residuals import Residuals, against_their_like
from isochrone.files import Measurements

# The worst findings only, and of each no more pairs than so many.
_FINDINGS = 16
_PAIRS = 5

# Few beside those that are measured alone to see whether pairs disturb each other.
_ALONE = 4


def more_pairs(measurements: Measurements, random: np.random.Generator) -> list[Pair]:
    """Pairs that were not measured, between the hosts of pairs that look slow and are few. It is the smallest
    message that tells: what a large one takes hangs on what else was measured at once, which a probe that was
    killed and goes on does in other company.

    Args:
        measurements: of the pairs that tell the tree.
        random: chooses them.
    """
    smallest = slice(measurements.smallest, measurements.smallest + 1)
    residuals, found = _findings(measurements.only_sizes(smallest))
    hosts = np.unique([place.host for place in measurements.places], return_inverse=True)[1]
    missing = np.triu(np.isnan(measurements.rtt_min_s[:, :, 0]), 1)
    missing |= missing.T
    chosen: dict[Pair, None] = {}
    for finding in found[:_FINDINGS]:
        pairs = finding.suspect.pairs
        wanted = _PAIRS - len(pairs)
        if wanted <= 0:
            continue
        near, far = (hosts == hosts[of[pairs[0]]] for of in (residuals.first, residuals.second))
        i, j = np.nonzero(missing & near[:, None] & far[None, :])
        for k in random.permutation(len(i))[:wanted].tolist():
            chosen[min(int(i[k]), int(j[k])), max(int(i[k]), int(j[k]))] = None
    return list(chosen)


def to_repeat(measurements: Measurements) -> list[Pair]:
    """Pairs that look slow while nothing else about them does, the worst first."""
    residuals, found = _findings(measurements)
    single = [int(finding.suspect.pairs[0]) for finding in found if len(finding.suspect.pairs) == 1]
    return [(int(residuals.first[k]), int(residuals.second[k])) for k in single[:_ALONE]]


def _findings(measurements: Measurements) -> tuple[Residuals, Sequence[Finding]]:
    residuals = against_their_like(measurements)
    return residuals, findings(residuals, measurements.places)
