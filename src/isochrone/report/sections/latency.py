# SPDX-License-Identifier: BSD-3-Clause
"""The latency matrix as it was found and as the tree orders it."""

from __future__ import annotations

import numpy as np

from isochrone.report.facts import MOST_IN_MATRIX, Facts
from isochrone.report.headline import unmeasured_words
from isochrone.report.html import Html, tag
from isochrone.report.sections.parts import absent, chart, figure, section
from isochrone.units import format_time


def latency(facts: Facts) -> Html:
    """The section on the matrix."""
    known = facts.one_way_s[np.isfinite(facts.one_way_s)]
    if facts.rank_count < 2 or known.size == 0:
        return section("latency", "Latency of every pair", absent("There is no pair of ranks to measure."))
    measured = facts.measurements
    unmeasured = unmeasured_words(facts)
    title = "Latency of every pair" if unmeasured is None else "Latency of the measured pairs"
    which = (
        "between every two ranks"
        if unmeasured is None
        else f"for the {measured.pairs_measured:,} of {measured.pairs_total:,} pairs that were measured"
    )
    key = (
        None
        if unmeasured is None
        else tag(
            "p",
            tag("span", "", class_="missing", aria_hidden="true"),
            f"not measured: {unmeasured}",
            class_="key",
        )
    )
    without = "" if unmeasured is None else f" {unmeasured} were not measured."
    span = f"from {format_time(float(known.min()))} to {format_time(float(known.max()))}"
    if facts.matrix_s is None:
        text = (
            f"One-way times of an empty message {which} are {span}. "
            f"A matrix of more than {MOST_IN_MATRIX:,} ranks is not drawn."
        )
        return section("latency", title, absent(text))
    found = chart(
        "matrix-found",
        f"Matrix of the latency of {facts.rank_count} ranks in rank order, {span}.{without}",
        "square",
    )
    ordered = chart(
        "matrix-ordered",
        f"The same matrix with the ranks in the order of the tree: blocks of {len(facts.levels)} levels.",
        "square",
    )
    panels = tag(
        "div",
        tag("div", tag("h3", "As found"), found),
        tag("div", tag("h3", "In the order of the tree"), ordered),
        class_="pair",
    )
    caption = (
        f"One-way time of an empty message {which}, half of the least round trip. "
        "First in the order of the program, then so that ranks that are near each other stand together, and "
        "each square outlines a group of a level."
    )
    return section(
        "latency",
        title,
        figure(
            [panels, key, tag("p", class_="readout", id="matrix-readout", aria_live="polite")],
            caption,
            "latency-matrix",
        ),
    )
