# SPDX-License-Identifier: BSD-3-Clause
"""What all pairs that leave one group get together, from streams of several pairs at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from isochrone.detect.distance import Ints
from isochrone.detect.partitions import meeting_level
from isochrone.files.stream import Stream


def capacities_bytes_per_s(streams: Iterable[Stream], partitions: Sequence[Ints]) -> list[float | None]:
    """What leaves one group of the level below at each level, the median over the groups that were tried;
    None where nothing was measured.

    Args:
        streams: that were measured.
        partitions: group of each rank at each level, [rank], outermost first.
    """
    most: dict[tuple[int, int], float] = {}
    for stream in streams:
        senders, receivers = np.array(stream.pairs).T
        meets = set(meeting_level(partitions, senders, receivers).tolist())
        level = meets.pop()
        if meets or level + 1 >= len(partitions):
            continue
        groups = set(partitions[level + 1][senders].tolist())
        if len(groups) == 1:
            key = (level, groups.pop())
            most[key] = max(most.get(key, 0.0), stream.rate_bytes_per_s)
    found: list[float | None] = []
    for level in range(len(partitions)):
        rates = [rate for (k, _), rate in most.items() if k == level and rate > 0]
        found.append(float(np.median(rates)) if rates else None)
    return found
