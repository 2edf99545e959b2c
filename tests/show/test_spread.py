# SPDX-License-Identifier: BSD-3-Clause
"""The tree of a call: who hears from whom."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from shown import calls

from isochrone.show import Call, Spread, spread_of, timeline_of, tree_lines, unsurveyed_layout

EVERY = settings(max_examples=150)


def spread(collective: str, recipe: str, ranks: int, root: int = 0) -> Spread:
    return spread_of(timeline_of(Call.checked(collective, recipe, unsurveyed_layout(ranks), root, None)))


def parents(of: Spread) -> list[int | None]:
    return [branch.parent if branch else None for branch in of.branches]


@given(calls())
@EVERY
def test_every_rank_is_in_the_tree_once_with_the_root_on_top(call: Call) -> None:
    found = spread_of(timeline_of(call))
    seen, waiting = [], [found.root]
    children = found.children()
    while waiting:
        seen.append(waiting.pop())
        waiting += children[seen[-1]]
    assert found.root == (call.root or 0)
    assert found.branches[found.root] is None
    assert sorted(seen) == list(range(call.layout.size))


@given(calls("bcast"))
@EVERY
def test_a_rank_of_a_broadcast_hears_after_its_parent(call: Call) -> None:
    found = spread_of(timeline_of(call))
    assert not found.to_root
    heard_s = [branch.at_s if branch else 0.0 for branch in found.branches]
    for rank, branch in enumerate(found.branches):
        assert branch is None or heard_s[branch.parent] <= heard_s[rank]


@pytest.mark.parametrize("collective", ["bcast", "reduce", "gather", "scatter"])
def test_known_trees_are_what_their_names_say(collective: str) -> None:
    assert parents(spread(collective, "flat", 5)) == [None, 0, 0, 0, 0]
    assert parents(spread(collective, "chain", 5, root=2)) == [4, 0, None, 2, 3]
    assert parents(spread(collective, "binomial", 8)) == [None, 0, 0, 2, 0, 4, 4, 6]


@pytest.mark.parametrize(
    ("collective", "to_root"), [("reduce", True), ("gatherv", True), ("scatter", False), ("barrier", False)]
)
def test_what_is_the_roots_alone_in_the_end_goes_to_the_root(collective: str, to_root: bool) -> None:
    assert spread(collective, "flat", 4).to_root is to_root


def test_the_tree_in_letters_has_a_line_for_each_rank_below_its_parent() -> None:
    call = Call.checked("bcast", "binomial", unsurveyed_layout(4), 0, 0)
    lines = tree_lines(call, spread_of(timeline_of(call)))
    beginnings = ["0", "├─ 2  ", "│  └─ 3  ", "└─ 1  "]
    assert [line[: len(wanted)] for line, wanted in zip(lines, beginnings, strict=True)] == beginnings
    assert all(line.endswith(", node") for line in lines[1:])


def test_the_tree_of_a_very_long_chain_is_cut_and_says_so() -> None:
    ranks = 3000
    call = Call.checked("bcast", "chain", unsurveyed_layout(ranks), 0, 0)
    lines = tree_lines(call, spread_of(timeline_of(call)))
    assert sum(map(len, lines)) < 2 << 20
    assert lines[-1] == f"and {ranks - len(lines) + 1:,} ranks more: --json has all"
