# SPDX-License-Identifier: BSD-3-Clause
"""Branches of a merge tree put together, where there are too many to be told apart on paper."""

from __future__ import annotations

from dataclasses import dataclass

from isochrone.report.mergetree import Cut, Merge, MergeTree


@dataclass(frozen=True)
class Folded:
    """What is left to draw: brackets, branches that are drawn as one box each, and cuts.

    `level` is the index of the level whose groups the boxes are; None where nothing was put together. A group
    whose ranks are no single branch of the tree has several boxes.
    """

    level: int | None
    merges: tuple[Merge, ...]
    branches: tuple[Merge, ...]
    cuts: tuple[Cut, ...]


def fold(tree: MergeTree, most: int) -> Folded:
    """The tree as it is, or folded so that at most `most` boxes and leaves stand side by side: at the
    innermost level where that is so, else at the outermost that has several groups.
    """
    levels = sorted({merge.level for merge in tree.merges if merge.level > 0}, reverse=True)
    if tree.leaves <= most or not levels:
        return Folded(None, tree.merges, (), tree.cuts)
    for level in levels:
        branches = _tops(tree, level)
        if tree.leaves - sum(each.last - each.first for each in branches) <= most:
            break
    return Folded(
        level,
        tuple(merge for merge in tree.merges if merge.level < level),
        branches,
        tuple(cut for cut in tree.cuts if cut.level <= level),
    )


def _tops(tree: MergeTree, level: int) -> tuple[Merge, ...]:
    """The largest branches that lie within one group of the level, from left to right."""
    tops: list[Merge] = []
    for merge in sorted(tree.merges, key=lambda merge: (merge.first, -merge.last)):
        if merge.level >= level and (not tops or merge.first > tops[-1].last):
            tops.append(merge)
    return tuple(tops)
