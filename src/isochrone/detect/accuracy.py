# SPDX-License-Identifier: BSD-3-Clause
"""How well partitions that were found fit partitions that are known.

Accuracy is the ratio of ranks that are mapped to the correct machine, node or socket (Reinfjell, "Automatic
Detection of Interconnect Topologies and Optimization of the Broadcast Operation for MPI-based systems",
NTNU 2023, section 3.2). Which group found stands for which group known is settled by optimal assignment.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


def matched(found: npt.ArrayLike, known: npt.ArrayLike) -> float:
    """Ratio of ranks in the right group, 0 to 1, each group found standing for at most one group known.

    1.0 if and only if both are the same partition.

    Args:
        found: label of the group of each rank.
        known: likewise.
    """
    row, column = (np.unique(np.asarray(each), return_inverse=True)[1] for each in (found, known))
    ranks, rows, columns = len(row), int(row.max()) + 1, int(column.max()) + 1
    cell, shared = np.unique(row * columns + column, return_counts=True)
    row, column = np.divmod(cell, columns)
    # Groups that no ranks connect are settled by themselves: a table of all may be of as many as there are
    # ranks, twice. Of nested groups one on one side stands against several, and the largest part counts.
    ends = coo_array((shared, (row, rows + column)), shape=(rows + columns,) * 2)
    count, part = connected_components(ends, directed=False)
    largest = np.zeros(count, dtype=np.int64)
    np.maximum.at(largest, part[row], shared)
    nested = (np.bincount(part[:rows]) == 1) | (np.bincount(part[rows:]) == 1)
    right = int(largest[nested].sum())
    for number in np.flatnonzero(~nested):
        # Loaded here, because it takes long and most partitions are nested.
        from scipy.optimize import linear_sum_assignment

        here = part[row] == number
        i, j = (np.unique(each[here], return_inverse=True)[1] for each in (row, column))
        table = np.zeros((int(i.max()) + 1, int(j.max()) + 1))
        table[i, j] = shared[here]
        right += int(table[linear_sum_assignment(table, maximize=True)].sum())
    return right / ranks
