# SPDX-License-Identifier: BSD-3-Clause
"""How well partitions that were found fit partitions that are known.

Accuracy is the ratio of ranks that are mapped to the correct machine, node or socket (Reinfjell, "Automatic
Detection of Interconnect Topologies and Optimization of the Broadcast Operation for MPI-based systems",
NTNU 2023, section 3.2). Which group found stands for which group known is settled by optimal assignment.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from isochrone.detect.distance import Ints


def matched(found: npt.ArrayLike, known: npt.ArrayLike) -> float:
    """Ratio of ranks in the right group, 0 to 1, each group found standing for at most one group known.

    1.0 if and only if both are the same partition.

    Args:
        found: label of the group of each rank.
        known: likewise.
    """
    # Loaded here, because it takes long and most detections know no truth.
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    row = np.unique(np.asarray(found), return_inverse=True)[1]
    column = np.unique(np.asarray(known), return_inverse=True)[1]
    ranks, groups, rows = len(row), int(row.max() + column.max()) + 2, int(row.max()) + 1
    (row, column), shared = np.unique(np.stack([row, column]), axis=1, return_counts=True)
    # Groups that have no ranks in common, whatever others are between them, are settled by themselves.
    ends = (np.ones(len(row)), (row, rows + column))
    part = connected_components(coo_array(ends, shape=(groups, groups)), directed=False)[1][row]
    order = np.argsort(part, kind="stable")
    right = 0
    for here in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        if len(here) == 1:
            right += int(shared[here[0]])
            continue
        i, j = (np.unique(each[here], return_inverse=True)[1] for each in (row, column))
        table = np.zeros((int(i.max()) + 1, int(j.max()) + 1))
        table[i, j] = shared[here]
        right += int(table[linear_sum_assignment(table, maximize=True)].sum())
    return right / ranks


def accuracy(partitions: Iterable[Ints], known: npt.ArrayLike) -> float:
    """Accuracy, 0 to 1, of the partition that fits best.

    Args:
        partitions: of the ranks: the levels found, and the single places.
        known: label of the true group of each rank.
    """
    return max(matched(partition, known) for partition in partitions)
