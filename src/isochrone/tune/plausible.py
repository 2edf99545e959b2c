# SPDX-License-Identifier: BSD-3-Clause
"""Times that cannot be: a call that takes much longer than one with more data and the same root."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from isochrone.files import Bench, BenchCase
from isochrone.statistics import Interval, median_ci

JUMP = 1.5
"""Some libraries do change to a faster algorithm too late. What is beyond this is measured again, and then
believed."""


def implausible(bench: Bench) -> set[BenchCase]:
    """The cases in which some recipe took `JUMP` times as long as for a larger message, beyond what
    both scatter.
    """
    series: dict[tuple[str, int, str], dict[int, Interval]] = defaultdict(dict)
    for key, times in bench.slowest_s.items():
        series[key.collective, key.root, key.recipe][key.size_bytes] = median_ci(times)
    found = set()
    for (collective, root, _), by_size in series.items():
        least_above = np.inf
        for size in sorted(by_size, reverse=True):
            if by_size[size].low > JUMP * least_above:
                found.add(BenchCase(size, root, collective))
            least_above = min(least_above, by_size[size].high)
    return found
