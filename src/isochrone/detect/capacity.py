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
    most: list[dict[int, float]] = [{} for _ in partitions]
    for stream in streams:
        senders, receivers = np.array(stream.pairs).T
        meets = set(meeting_level(partitions, senders, receivers).tolist())
        level = meets.pop()
        if meets or level + 1 >= len(partitions):
            continue
        groups = set(partitions[level + 1][senders].tolist())
        if len(groups) == 1:
            group = groups.pop()
            most[level][group] = max(most[level].get(group, 0.0), stream.rate_bytes_per_s)
    rates = ([rate for rate in of_group.values() if rate > 0] for of_group in most)
    return [float(np.median(found)) if found else None for found in rates]
