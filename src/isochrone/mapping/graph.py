# SPDX-License-Identifier: BSD-3-Clause
"""The task graph: what the ranks of a program send one another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class TaskGraph:
    """What ranks send one another, a row for each pair and class of sizes.

    Attributes:
        ranks: how many there are.
        sources, targets: [row], the rank that sends and the rank that gets it; never the same.
        messages: [row], how many; 0 where a file tells only weights.
        volume_bytes: [row], of all these messages together; the weight where a file tells only weights.

    A class of sizes holds messages whose sizes have the same number of binary digits. It is not kept: it is
    that of the row's mean size.
    """

    ranks: int
    sources: Whole
    targets: Whole
    messages: Whole
    volume_bytes: Whole

    def merged(self) -> TaskGraph:
        """The same with one row for each source, target and class of sizes, in that order."""
        size_bytes = self.volume_bytes // np.maximum(self.messages, 1)
        digits = np.where(self.messages > 0, np.frexp(size_bytes.astype(np.float64))[1], 0)
        key = (self.sources * self.ranks + self.targets) * 65 + digits
        keys, row = np.unique(key, return_inverse=True)
        messages, volume_bytes = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
        np.add.at(messages, row, self.messages)
        np.add.at(volume_bytes, row, self.volume_bytes)
        pair = keys // 65
        return TaskGraph(self.ranks, pair // self.ranks, pair % self.ranks, messages, volume_bytes)


def task_graph(ranks: int, rows: object) -> TaskGraph:
    """The graph of rows (source, target, messages, bytes), merged; messages of a rank to itself are left out.

    Args:
        ranks: how many there are.
        rows: array-like, [row][4].
    """
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 4)
    table = table[table[:, 0] != table[:, 1]]
    return TaskGraph(ranks, *(np.ascontiguousarray(column) for column in table.T)).merged()
