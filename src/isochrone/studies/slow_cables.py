# SPDX-License-Identifier: BSD-3-Clause
"""How far laying a tree makes up for slow cables: the same beside cables that are all alike."""

from __future__ import annotations

import numpy as np

from isochrone.studies.laid import ALL_ALIKE, BY_RANK, TREES, Key, Times, medians
from isochrone.studies.study import Part, Table, size_words
from isochrone.tune.forms import MAPPED
from isochrone.units import format_ratio, format_time


def slow_cables(times: Times) -> Part:
    """How near laid trees come to what rank order takes where no cable is slow."""
    rows = []
    counts = sorted({key.ranks for key in times})
    sizes = sorted({key.size_bytes for key in times})
    for ranks in counts:
        for tree in TREES:
            for name in (BY_RANK, "best laid"):
                cells = []
                for size in sizes:
                    alike = medians(times[Key(tree, ALL_ALIKE, ranks, size)])
                    orders = (BY_RANK,) if name == BY_RANK else MAPPED
                    here = np.min([medians(times[Key(tree, order, ranks, size)]) for order in orders], axis=0)
                    ratio = float(np.median(np.divide(here, alike)))
                    cells.append(f"{format_ratio(ratio)} ({format_time(float(np.median(here)))})")
                rows.append((f"{ranks:,}", tree, name, *cells))
    table = Table(
        "made-up",
        "Time with slow cables over the time of the same tree in rank order where all cables are alike "
        "(and the time with slow ones)",
        ("Ranks", "Tree", "Order", *(size_words(size) for size in sizes)),
        tuple(rows),
        frozenset({1, 2}),
    )
    sentence = "A ratio of 1 says that laying makes up for the slow cables."
    return Part("made-up", "Slow cables, and none", (sentence,), (), (table,))
