# SPDX-License-Identifier: BSD-3-Clause
"""Which pairs to measure next."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from isochrone.adaptive.check_tree import check_tree
from isochrone.adaptive.split_by_pivots import split_by_pivots
from isochrone.adaptive.table import Pair, Table
from isochrone.adaptive.tasks import Asking, Tasks
from isochrone.detect.distance import Ints
from isochrone.detect.partitions import members

Choosing = Generator[Sequence[Pair], None, Sequence[Ints] | None]
"""Yields pairs to measure; when it is resumed, they are in the table. Returns the levels that they tell,
[rank] each, outermost first, if it was to find any.
"""


def choose_pairs(table: Table, hosts: Sequence[str] | None, seed: int) -> Choosing:
    """Asks for the pairs that tell the tree, then for some that check it.

    Args:
        table: of what was measured.
        hosts: host of each rank, as a hint that is confirmed; None for none.
        seed: of the choice.

    Returns:
        The group of each rank at each level, [rank], outermost first.
    """
    if table.ranks < 2:
        return [np.zeros(table.ranks, dtype=np.int64)]
    random = np.random.default_rng(seed)
    tasks = Tasks(table)
    if hosts is None:
        tasks.add(split_by_pivots(table, tasks, range(table.ranks), random))
    else:
        _add_hosts(table, tasks, hosts, random)
    yield from tasks.run()
    return (yield from check_tree(table, random))


def _add_hosts(table: Table, tasks: Tasks, hosts: Sequence[str], random: np.random.Generator) -> None:
    """Adds the exploration of one rank of each host, and of each host."""
    groups = members(hosts)
    leaders = [group[int(random.integers(len(group)))] for group in groups]
    tasks.add(split_by_pivots(table, tasks, leaders, random))
    for leader, group in zip(leaders, groups, strict=True):
        if len(group) > 1:
            tasks.add(_inside(table, tasks, leader, group, random))


def _inside(
    table: Table, tasks: Tasks, leader: int, group: Sequence[int], random: np.random.Generator
) -> Asking:
    """Explores a host, its leader first: it is the one that is known from outside."""
    yield [(leader, rank) for rank in group]
    tasks.add(split_by_pivots(table, tasks, group, random))
