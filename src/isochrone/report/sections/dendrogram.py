# SPDX-License-Identifier: BSD-3-Clause
"""The merge tree and where it was cut into levels."""

from __future__ import annotations

from isochrone.files.measurements import MOST_SQUARE
from isochrone.report.facts import Facts
from isochrone.report.html import Html
from isochrone.report.sections.parts import absent, chart, figure, section
from isochrone.units import format_time
from isochrone.words import join_words, level_noun


def dendrogram(facts: Facts) -> Html:
    """The section on the tree."""
    title = "How the groups merge"
    if facts.tree is None:
        why = (
            "pairs are missing: some hosts have no measured way to the others"
            if facts.measurements.ended
            else "pairs are missing: the probe has not ended"
        )
        many = f"one group has more than {MOST_SQUARE:,} parts, which are not drawn"
        return section("tree", title, absent(f"There is no second rank to merge with, or {why}, or {many}."))
    cuts = [
        f"{level_noun(facts.levels[cut.level].name, 2)} below {format_time(cut.height_s)}"
        for cut in facts.tree.cuts
    ]
    height = "Ranks merge, nearest first. The height of a join is the mean latency between its two branches."
    if not facts.measurements.complete:
        height += (
            " Between two branches of which no pair was measured it is the mean of the pairs that meet at "
            "their level."
        )
    if cuts:
        where = f"It is cut into {join_words(cuts)}."
        caption = f"{height} Dashed lines are the cuts: every branch below one is a group of that level."
    else:
        where = "No cut was supported by the data: one flat level."
        caption = f"{height} {where}"
    return section(
        "tree",
        title,
        figure(chart("dendrogram", f"Dendrogram of the ranks. {where}", "wide"), caption, "dendrogram"),
    )
