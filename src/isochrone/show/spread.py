# SPDX-License-Identifier: BSD-3-Clause
"""Who hears of what the root has from whom, or what every rank has on its way to the root: a tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from isochrone.show.timeline import Timeline
from isochrone.tune.collectives import collective as table_row


@dataclass(frozen=True)
class Branch:
    """How a rank hangs on the tree.

    Attributes:
        parent: the rank that it first hears from; or, on the way to the root, that it last sends to.
        level: where the two meet.
        at_s: when it has heard; or when its parent has.
        by_library: in the library's own collective, of which only the root and the members are known.
    """

    parent: int
    level: int
    at_s: float
    by_library: bool = False


@dataclass(frozen=True)
class Spread:
    """The tree of a call.

    Attributes:
        root: that of the call, or rank 0 where it has none.
        to_root: what every rank has comes to the root; else what the root has comes to every rank.
        branches: [rank], None for the root, and for a rank that nothing of this comes to.
    """

    root: int
    to_root: bool
    branches: tuple[Branch | None, ...]

    def children(self) -> list[list[int]]:
        """[rank], those that hang on it, in the order of their times."""
        found: list[list[int]] = [[] for _ in self.branches]
        hanging = [(branch.at_s, rank, branch.parent) for rank, branch in enumerate(self.branches) if branch]
        for _, rank, parent in sorted(hanging):
            found[parent].append(rank)
        return found

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "root": self.root,
            "direction": "to root" if self.to_root else "from root",
            "ranks": [
                {"rank": rank, "parent": None, "level": None, "at_s": None}
                if branch is None
                else {"rank": rank, "parent": branch.parent, "level": branch.level, "at_s": branch.at_s}
                for rank, branch in enumerate(self.branches)
            ],
        }


def spread_of(timeline: Timeline) -> Spread:
    """The tree of the messages that bring first news of the root's to each rank; in collectives whose result
    is the root's alone, of those that bring the last of each rank's to it.

    A rank passes on what it has only in what it begins to send after it has it. In collectives that have no
    tree, such as an alltoall, this is the tree of rank 0 among all that are in it.
    """
    row = table_row(timeline.call.collective)
    to_root = row["rooted"] and not row["down"]
    return (_to_root if to_root else _from_root)(timeline, timeline.call.root or 0)


def _from_root(timeline: Timeline, root: int) -> Spread:
    branches: list[Branch | None] = [None] * timeline.call.layout.size
    has_s = [math.inf] * len(branches)
    has_s[root] = 0.0
    tells = set()  # sends with the news in them
    for index, step in enumerate(timeline.steps):
        if step.kind == "send" and step.begin_s >= has_s[step.rank]:
            tells.add(index)
        library = step.kind == "collective" and has_s[step.peer] <= step.begin_s
        if (step.sent_by in tells or library) and has_s[step.rank] == math.inf and step.level is not None:
            has_s[step.rank] = step.end_s
            branches[step.rank] = Branch(step.peer, step.level, step.end_s, library)
    return Spread(root, False, tuple(branches))


def _to_root(timeline: Timeline, root: int) -> Spread:
    branches: list[Branch | None] = [None] * timeline.call.layout.size
    sends_s = [-math.inf] * len(branches)  # the last that gets to the root from there
    sends_s[root] = math.inf
    for step in reversed(timeline.steps):
        if step.sent_by is None or step.level is None or step.end_s > sends_s[step.rank]:
            continue
        if sends_s[step.peer] == -math.inf:
            sends_s[step.peer] = timeline.steps[step.sent_by].begin_s
            branches[step.peer] = Branch(step.rank, step.level, step.end_s)
    return Spread(root, True, tuple(branches))
