# SPDX-License-Identifier: BSD-3-Clause
"""What looks slow is looked at again before anyone is told.

Few pairs tell the tree, but a slow cable may then show in one of them only, and so may a message that was
held up. More pairs between the same two hosts tell whether it is the way between them or the pair. And all
that looks slow is measured once more alone: pairs that had disturbed each other, on a link that they share,
are then as fast as their like.
"""

from __future__ import annotations

import numpy as np

from isochrone.adaptive.table import Pair
from isochrone.detect.distance import Ints
from isochrone.detect.evidence import FEW
from isochrone.doctor.findings import findings
from isochrone.doctor.residuals import against_their_like
from isochrone.files import Measurements

_MOST_FINDINGS = 64
"""The worst at a time: where much is slow, all that is found hangs together."""


def more_pairs(measurements: Measurements, levels: Ints, random: np.random.Generator) -> list[Pair]:
    """Pairs that were not measured, between the hosts of pairs that look slow and are few. It is the smallest
    message that tells: what a large one takes hangs on what else was measured at once, which a probe that was
    killed and goes on does in other company.

    Args:
        measurements: of the pairs that tell the tree.
        levels: `doctor.residuals.usual_levels` of them, [level, rank].
        random: chooses them.
    """
    smallest = slice(measurements.smallest, measurements.smallest + 1)
    residuals = against_their_like(measurements.only_sizes(smallest), levels)
    hosts = np.unique([place.host for place in measurements.places], return_inverse=True)[1]
    chosen: dict[Pair, None] = {}
    for finding in findings(residuals, measurements.places)[:_MOST_FINDINGS]:
        pairs = finding.suspect.pairs
        wanted = FEW - len(pairs)
        if wanted <= 0:
            continue
        near, far = (
            np.flatnonzero(hosts == hosts[of[pairs[0]]]) for of in (residuals.first, residuals.second)
        )
        i, j = np.repeat(near, len(far)), np.tile(far, len(near))
        missing = np.flatnonzero((measurements.find(i, j) < 0) & (i != j))
        for k in random.permutation(missing)[:wanted].tolist():
            chosen[min(int(i[k]), int(j[k])), max(int(i[k]), int(j[k]))] = None
    return list(chosen)


def to_repeat(measurements: Measurements, levels: Ints, random: np.random.Generator) -> list[Pair]:
    """Some pairs of what looks slow and had none measured alone yet, the worst first.

    Args:
        measurements: of the pairs that tell the tree, and of those that were repeated alone so far.
        levels: `doctor.residuals.usual_levels` of them, [level, rank].
        random: chooses the pairs.
    """
    residuals = against_their_like(measurements, levels)
    unsure = [finding for finding in findings(residuals, measurements.places) if not finding.sure]
    chosen: dict[Pair, None] = {}
    for finding in unsure[:_MOST_FINDINGS]:
        for k in random.permutation(finding.suspect.pairs)[:FEW].tolist():
            chosen[int(residuals.first[k]), int(residuals.second[k])] = None
    return list(chosen)
