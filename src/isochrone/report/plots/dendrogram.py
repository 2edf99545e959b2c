# SPDX-License-Identifier: BSD-3-Clause
"""The merge tree with its cuts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from isochrone.report.facts import Facts
from isochrone.report.fold import Folded, fold
from isochrone.report.mergetree import Cut, Merge, MergeTree
from isochrone.report.plots.style import INK, LEVELS, SOFT, TINTS, dress, new_figure, set_ticks
from isochrone.report.structure import size_words
from isochrone.units import format_time
from isochrone.words import counted, level_noun

_MOST_BRANCHES = 128
"""Side by side; with more they are put together."""

_MOST_NAMES = 64
"""Below the axis."""

_LONGEST_NAME = 16
_CUT_NAME_HEIGHT = 0.12
"""Of the axis."""

_THICK, _THIN = 1.4, 0.1
"""Points."""

_LEGS_POINTS = 130.0
"""What the upright lines of a level may take together, so that paper is seen between them."""


def dendrogram(facts: Facts) -> Figure | None:
    """Brackets in the colours of their levels, the cuts named beside them; None without a tree."""
    tree = facts.tree
    if tree is None:
        return None
    folded = fold(tree, _MOST_BRANCHES)
    figure = new_figure(8, 4.2)
    axes = figure.subplots()
    axes.set_yscale("log")
    axes.set_xlim(-1, tree.leaves)
    axes.set_ylim(tree.floor_s, tree.top_s)
    dress(axes)
    axes.grid(False, axis="x")
    set_ticks(axes.yaxis, *tree.ticks)
    axes.set_ylabel("mean latency between two branches")
    _draw_cuts(axes, facts, tree, folded.cuts)
    _draw_boxes(axes, tree, folded.branches)
    _draw_brackets(axes, folded.merges)
    _name_leaves(axes, facts, tree, folded)
    present = sorted({merge.level for merge in (*folded.merges, *folded.branches)})
    figure.legend(
        handles=[Line2D([], [], color=_colour(level), linewidth=2) for level in present],
        labels=[_joins(facts, level) for level in present],
        loc="outside upper center",
        ncols=min(len(present), 4),
        frameon=False,
        fontsize=9,
        labelcolor=INK,
    )
    return figure


def _colour(level: int) -> str:
    return LEVELS[level % len(LEVELS)]


def _joins(facts: Facts, level: int) -> str:
    """What a colour says: "within one node"."""
    return f"within {'one' if level else 'the'} {level_noun(facts.levels[level].name)}"


def _draw_brackets(axes: Axes, merges: Sequence[Merge]) -> None:
    for level in sorted({merge.level for merge in merges}):
        here = [merge for merge in merges if merge.level == level]
        lines = [
            [(m.left_x, m.left_s), (m.left_x, m.height_s), (m.right_x, m.height_s), (m.right_x, m.right_s)]
            for m in here
        ]
        width = _width(len(_legs(here)))
        axes.add_collection(LineCollection(lines, colors=_colour(level), linewidths=width))


def _legs(merges: Sequence[Merge]) -> set[tuple[float, float]]:
    """Where the brackets stand on something else than on one another."""
    heads = {((m.left_x + m.right_x) / 2, m.height_s) for m in merges}
    return {leg for m in merges for leg in ((m.left_x, m.left_s), (m.right_x, m.right_s))} - heads


def _draw_boxes(axes: Axes, tree: MergeTree, folded: Sequence[Merge]) -> None:
    """A box for each branch that is not drawn in full, as high as its highest bracket."""
    for level in sorted({branch.level for branch in folded}):
        boxes = [
            [
                (branch.first - 0.35, tree.floor_s),
                (branch.first - 0.35, branch.height_s),
                (branch.last + 0.35, branch.height_s),
                (branch.last + 0.35, tree.floor_s),
            ]
            for branch in folded
            if branch.level == level
        ]
        axes.add_collection(
            PolyCollection(
                boxes,
                facecolors=TINTS[level % len(TINTS)],
                edgecolors=_colour(level),
                linewidths=_width(2 * len(boxes)),
            )
        )


def _width(legs: int) -> float:
    """Of so many upright lines, in points."""
    return min(_THICK, max(_THIN, _LEGS_POINTS / legs))


def _draw_cuts(axes: Axes, facts: Facts, tree: MergeTree, cuts: Sequence[Cut]) -> None:
    """Dashed lines, with their names to the right of the axes."""
    span = math.log(tree.top_s / tree.floor_s)
    places = _apart([math.log(cut.height_s / tree.floor_s) / span for cut in cuts])
    for cut, place in zip(cuts, places, strict=True):
        axes.axhline(cut.height_s, color=SOFT, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
        level = facts.levels[cut.level]
        axes.annotate(
            f"{counted(len(level.groups), level.name)}\nbelow {format_time(cut.height_s)}",
            (1, cut.height_s),
            xycoords=("axes fraction", "data"),
            xytext=(1.02, place),
            textcoords="axes fraction",
            arrowprops={"arrowstyle": "-", "color": SOFT, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 0},
            va="center",
            color=INK,
            fontsize=9,
        )


def _apart(places: Sequence[float]) -> list[float]:
    """Places along the axis, highest first, with room for a name at each: as little lower as that takes, and
    those that would be below the axis higher instead.
    """
    moved: list[float] = []
    for place in places:
        moved.append(min(place, moved[-1] - _CUT_NAME_HEIGHT) if moved else place)
    for index in range(len(moved) - 1, -1, -1):
        least = moved[index + 1] + _CUT_NAME_HEIGHT if index + 1 < len(moved) else 0.0
        moved[index] = max(moved[index], least)
    return moved


def _name_leaves(axes: Axes, facts: Facts, tree: MergeTree, folded: Folded) -> None:
    """Ranks below the axis, or the hosts where there are too many ranks, or nothing."""
    stands_for = _stands_for(facts, folded)
    hosts = _host_spans(facts, tree)
    if tree.leaves <= _MOST_NAMES:
        _name(axes, range(tree.leaves), [str(rank) for rank in tree.ranks])
        axes.set_xlabel(f"rank{stands_for}")
    elif hosts is not None and 1 < len(hosts) <= _MOST_NAMES:
        axes.add_collection(
            LineCollection(
                [_bar(first, last) for _, first, last in hosts],
                colors=SOFT,
                linewidths=1.2,
                transform=axes.get_xaxis_transform(),
                clip_on=False,
            ),
            autolim=False,
        )
        _name(axes, [(first + last) / 2 for _, first, last in hosts], [_short(host) for host, _, _ in hosts])
        axes.set_xlabel(f"{tree.leaves:,} ranks by host{stands_for}")
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{tree.leaves:,} ranks{stands_for}")


def _stands_for(facts: Facts, folded: Folded) -> str:
    if folded.level is None:
        return ""
    ranks = size_words(facts, folded.level)
    return f"; a box is the {ranks} ranks of one {level_noun(facts.levels[folded.level].name)}"


def _host_spans(facts: Facts, tree: MergeTree) -> list[tuple[str, int, int]] | None:
    """Each host with its first and last leaf; None where a host's ranks do not stand together."""
    spans: list[tuple[str, int, int]] = []
    for leaf, rank in enumerate(tree.ranks):
        host = facts.places[facts.topology.ranks[rank]].host
        if spans and spans[-1][0] == host:
            spans[-1] = (host, spans[-1][1], leaf)
        else:
            spans.append((host, leaf, leaf))
    return spans if len({host for host, _, _ in spans}) == len(spans) else None


def _bar(first: int, last: int) -> list[tuple[float, float]]:
    """A line below the axis, with a gap to the next one."""
    gap = 0.04 * (last - first + 1) - 0.3
    return [(first + gap, -0.018), (last - gap, -0.018)]


def _short(host: str) -> str:
    name = host.split(".")[0]
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _name(axes: Axes, places: Sequence[float], names: Sequence[str]) -> None:
    """Names that stand upright where they would not fit beside each other."""
    crowded = sum(len(name) + 2 for name in names) > 100
    set_ticks(axes.xaxis, places, names)
    axes.tick_params(
        axis="x",
        labelsize=9 if len(names) <= 32 else 6,
        rotation=90 if crowded else 0,
        pad=8,
        labelcolor=SOFT,
    )
