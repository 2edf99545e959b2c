# SPDX-License-Identifier: BSD-3-Clause
"""Calls of any collective by any algorithm, among ranks in random groups."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from isochrone import _core
from isochrone.show import Call

LINKS = [(2e-5, 4e-7, 1e-9), (3e-6, 2e-7, 2e-10), (5e-7, 1e-7, 1e-10)]
"""[level], latency, overhead and seconds for each byte."""


def layout_of(levels: list[list[int]]) -> _core.Layout:
    """Ranks in these groups of the levels machine, node and socket, as many of them as there are."""
    names = ["machine", "node", "socket"][: len(levels)]
    links: list[Any] = [
        (
            latency_s,
            [(0, overhead_s)],
            [(0, overhead_s)],
            [(0, overhead_s), (1 << 20, per_byte * (1 << 20))],
            None,
        )
        for latency_s, overhead_s, per_byte in LINKS[: len(levels)]
    ]
    return _core.layout(names, levels, links)


@st.composite
def layouts(draw: st.DrawFn, in_runs: bool = False) -> _core.Layout:
    """1 to 20 ranks at 1 to 3 levels; `in_runs`: the ranks of every group follow one another."""
    ranks = draw(st.integers(1, 20))
    levels = [[0] * ranks]
    for _ in range(draw(st.integers(0, 2))):
        split = draw(st.lists(st.integers(0, 2), min_size=ranks, max_size=ranks))
        levels.append([3 * outer + part for outer, part in zip(levels[-1], split, strict=True)])
    if in_runs:
        order = sorted(range(ranks), key=lambda rank: [groups[rank] for groups in levels])
        levels = [[groups[rank] for rank in order] for groups in levels]
    return layout_of(levels)


@st.composite
def calls(draw: st.DrawFn, collective: str | None = None, segmented: bool = True) -> Call:
    """A call of a collective, or of any, by a flat recipe or by one along the levels, some of them in
    segments unless there are to be none.
    """
    rows = [row for row in _core.collectives() if collective in (None, row["name"])]
    row = draw(st.sampled_from(rows))
    layout = draw(layouts(in_runs=row["in_order"]))
    rows = [each for each in row["across"] if segmented or not each["default_segment"]]
    recipe = draw(st.sampled_from(rows))["name"]
    if len(layout.levels) > 1 and draw(st.booleans()):
        inside = [table[0]["name"] for table in (row["up"], row["down"]) if table]
        recipe = f"hierarchical(machine={recipe},{layout.levels[-1]}={'+'.join(dict.fromkeys(inside))})"
    if segmented and row["has_data"] and not row["has_blocks"] and draw(st.booleans()):
        recipe += "@4096"
    size_bytes = draw(st.sampled_from([0, 1, 8, 5000, 30000])) if row["has_data"] else 0
    root = draw(st.integers(0, layout.size - 1)) if row["rooted"] else 0
    return Call.checked(row["name"], recipe, layout, root, size_bytes)
