# SPDX-License-Identifier: BSD-3-Clause
"""Average linkage where most distances are not known: the average is over those that are.

The average of what is known is between the averages of the parts, so that no merge is below one before it
(Bruynooghe's reducibility), and the tree of all pairs is found where all are known. A distance that is not
known is taken to be where its two places meet in the tree: of the three distances among three ranks the two
greatest are nearly equal. The nearest two clusters are always joined, the one with fewer neighbours into the
other: of m pairs among n places each changes its cluster log n times at most (as in Dhulipala et al.,
"Hierarchical Agglomerative Graph Clustering in Nearly-Linear Time", ICML 2021).
"""

from __future__ import annotations

import heapq

import numpy as np
from scipy.cluster.hierarchy import leaves_list

from isochrone.detect.distance import Floats, Ints
from isochrone.errors import IsochroneError


def sparse_linkage(first: Ints, second: Ints, log_s: Floats, items: int) -> tuple[Floats, float]:
    """SciPy's linkage matrix, whose heights are above the least of the logarithms; and that.

    Args:
        first, second: [pair], two different items each; no pair is there twice.
        log_s: [pair], logarithms of distances.
        items: how many there are.

    Raises:
        IsochroneError: some items have no way to each other over known pairs.
    """
    neighbours: list[dict[int, tuple[float, int]]] = [{} for _ in range(items)]
    least = float(log_s.min(initial=np.inf))
    nearest = list(zip((log_s - least).tolist(), first.tolist(), second.tolist(), strict=True))
    for value, one, other in nearest:
        neighbours[one][other] = neighbours[other][one] = (value, 1)
    heapq.heapify(nearest)
    number, size = list(range(items)), [1] * items
    rows: list[tuple[int, int, float, int]] = []
    while nearest:
        height, one, other = heapq.heappop(nearest)
        if other not in neighbours[one]:
            continue  # of a cluster that is part of another by now
        total, count = neighbours[one][other]
        if total / count > height:
            # Averages that rise are put right only where their turn comes.
            heapq.heappush(nearest, (total / count, one, other))
            continue
        big, small = (one, other) if len(neighbours[one]) >= len(neighbours[other]) else (other, one)
        around = neighbours[big]
        del around[small], neighbours[small][big]
        for beside, (total, count) in neighbours[small].items():
            del neighbours[beside][small]
            more, others = around.get(beside, (np.inf, 1))
            before = more / others
            if before < np.inf:
                total, count = total + more, count + others
            around[beside] = neighbours[beside][big] = (total, count)
            if total / count < before:
                heapq.heappush(nearest, (total / count, big, beside))
        neighbours[small] = {}
        size[big] += size[small]
        rows.append((*sorted((number[big], number[small])), height, size[big]))
        number[big] = items + len(rows) - 1
    if len(rows) < items - 1:
        raise IsochroneError(
            "the pairs that were measured do not connect all places", todo="probe again, with more pairs"
        )
    tree = np.array(rows, dtype=np.float64).reshape(-1, 4)
    # Rounding alone can put a merge below the one before.
    tree[:, 2] = np.maximum.accumulate(tree[:, 2])
    return tree, least


def meeting_heights(tree: Floats, items: Ints) -> Floats:
    """[item, item], at which height any two of some items meet in a tree.

    Args:
        tree: SciPy's linkage matrix.
        items: some of the leaves.
    """
    leaves = leaves_list(tree)
    start = np.empty(2 * len(leaves) - 1, dtype=np.int64)
    start[leaves] = np.arange(len(leaves))
    # In the order of the leaves two neighbours meet at the border between them, and any two at the highest.
    border = np.zeros(len(leaves))
    for node, (left, right) in enumerate(tree[:, :2].astype(np.int64).tolist(), len(leaves)):
        start[node] = start[left]
        border[start[right]] = tree[node - len(leaves), 2]
    order = np.argsort(start[items])
    at = start[items][order]
    between = np.maximum.reduceat(border[: at[-1] + 1], at[:-1] + 1) if len(at) > 1 else border[:0]
    found = np.zeros((len(at), len(at)))
    for k, one in enumerate(order[:-1]):
        found[one, order[k + 1 :]] = found[order[k + 1 :], one] = np.maximum.accumulate(between[k:])
    return found
