# SPDX-License-Identifier: BSD-3-Clause
"""What message times show of ranks that share a place, as those of a host do that are not bound.

Such ranks are at one place in the tree: they may run elsewhere in the next launch, or in the next second. But
where most of them stayed, their times show it. Pairs that were timed before a rank moved and after it do not
agree, so of ranks that went about nothing shows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isochrone.detect.distance import Distances, distances_between
from isochrone.detect.judge import Verdict
from isochrone.detect.levels import judged
from isochrone.detect.partitions import refines, same

NOT_BOUND = "its ranks are not bound to cores: they ran so this time, and may run elsewhere the next"


def levels_inside_places(pairs: Distances) -> list[Verdict]:
    """Of the ranks of which more than two share a place: partitions of these, [such rank], that would be
    levels inside their places, outermost first.
    """
    shared = np.bincount(pairs.place_of)[pairs.place_of] > 2
    ranks = np.flatnonzero(shared)
    if not len(ranks):
        return []
    places = pairs.place_of[ranks]
    number = np.cumsum(shared) - 1
    known = shared[pairs.first] & shared[pairs.second]
    among = distances_between(
        number[pairs.first[known]],
        number[pairs.second[known]],
        pairs.log_s[known],
        pairs.noise,
        len(ranks),
        pairs.host_of[places],
        (pairs.usual_log_s - pairs.log_s)[known],
    )
    if among.unconnected():
        return []  # what places have inside is known of pairs that go from one to another
    inside = (
        verdict
        for verdict in judged(among)[0]
        if refines(verdict.labels, places) and not same(verdict.labels, places)
    )
    return [replace(verdict, why_not=NOT_BOUND) for verdict in inside]
