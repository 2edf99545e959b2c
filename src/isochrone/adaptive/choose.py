# SPDX-License-Identifier: BSD-3-Clause
"""Which pairs to measure next."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from isochrone.adaptive.explore import explore
from isochrone.adaptive.settle import settle
from isochrone.adaptive.table import Pair, Table
from isochrone.adaptive.tasks import Asking, Tasks
from isochrone.detect.distance import Ints

Choosing = Generator[Sequence[Pair], None, Sequence[Ints] | None]
"""Yields pairs to measure; when it is resumed, they are in the table. Returns the levels that they tell,
[rank] each, outermost first, if it was to find any.
"""


def choose(table: Table, hosts: Sequence[str] | None, seed: int) -> Choosing:
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
    yield from _explored(table, Tasks(table), hosts, random)
    return (yield from _new(table, settle(table, random)))


def _new(
    table: Table, asking: Generator[Sequence[Pair], None, list[Ints]]
) -> Generator[Sequence[Pair], None, list[Ints]]:
    """Yields of what is asked for what was not measured before."""
    while True:
        try:
            pairs = next(asking)
        except StopIteration as end:
            levels: list[Ints] = end.value
            return levels
        missing = table.missing(pairs)
        if missing:
            yield missing


def _explored(table: Table, tasks: Tasks, hosts: Sequence[str] | None, random: np.random.Generator) -> Asking:
    everyone = list(range(table.ranks))
    if hosts is None:
        tasks.add(explore(table, tasks, everyone, random))
        yield from tasks.run()
        return
    members: dict[str, list[int]] = {}
    for rank, host in enumerate(hosts):
        members.setdefault(host, []).append(rank)
    leaders = [group[int(random.integers(len(group)))] for group in members.values()]
    tasks.add(explore(table, tasks, leaders, random))
    for leader, group in zip(leaders, members.values(), strict=True):
        if len(group) > 1:
            tasks.add(_inside(table, tasks, leader, group, random))
    yield from tasks.run()


def _inside(
    table: Table, tasks: Tasks, leader: int, group: Sequence[int], random: np.random.Generator
) -> Asking:
    """Explores a host, its leader first: it is the one that is known from outside."""
    yield [(leader, rank) for rank in group]
    tasks.add(explore(table, tasks, group, random))
