# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks do in one collective, by one recipe: when, and who hears of it from whom."""

from isochrone.show.call import Call, topology_layout, unsurveyed_layout
from isochrone.show.document import document
from isochrone.show.spread import Spread, spread_of
from isochrone.show.text import headline, summary, time_table, tree_lines
from isochrone.show.timeline import MOST_STEPS, Step, Timeline, timeline_of

__all__ = [
    "MOST_STEPS",
    "Call",
    "Spread",
    "Step",
    "Timeline",
    "document",
    "headline",
    "spread_of",
    "summary",
    "time_table",
    "timeline_of",
    "topology_layout",
    "tree_lines",
    "unsurveyed_layout",
]
