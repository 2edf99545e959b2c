# SPDX-License-Identifier: BSD-3-Clause
"""What the plan's recipes make the ranks do, drawn by what ``isochrone show`` draws with: which of them."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib

from isochrone import _core
from isochrone.errors import IsochroneError, UsageError
from isochrone.files import NATIVE, TOLD, Plan, Rule
from isochrone.report.facts import Facts
from isochrone.report.plots.spacetime import spacetime
from isochrone.report.plots.spread import MOST_RANKS, spread_figure
from isochrone.report.plots.style import drawn
from isochrone.show.call import DEFAULT_BYTES, Call
from isochrone.show.spread import spread_of
from isochrone.show.text import summary
from isochrone.show.timeline import timeline_of
from isochrone.tune.collectives import collective, in_order, timed
from isochrone.tune.layout import layout_for, places_of

MOST_PICTURES = 6
MOST_RANKS_IN_TIME = 64
MOST_STEPS_IN_TIME = 600
"""With more a picture has more than a quarter of a megabyte, and nobody follows a message in it."""

_Fitting = tuple[Rule, int | None]
"""A rule, and a root with which it is for all surveyed ranks; None where it is for others."""


@dataclass(frozen=True)
class Schedule:
    """What there is to see of one rule.

    Attributes:
        call: that is drawn, among all surveyed ranks; None where there can be none such.
        is_of_rule: the rule is for all surveyed ranks, with this root.
        svg: the picture; None where there is none.
        width_inches: of the picture.
        is_in_time: it is a space-time diagram, and else the tree alone.
        words: what is to be said of it, or why there is no picture.
    """

    rule: Rule
    call: Call | None
    is_of_rule: bool
    svg: bytes | None
    width_inches: float
    is_in_time: bool
    words: str


def schedules(facts: Facts) -> tuple[Schedule, ...] | None:
    """Of each collective the rule of the largest gain, at most `MOST_PICTURES` of all, in the order of the
    collectives; rules for all surveyed ranks come before others. None where there are more than `MOST_RANKS`
    ranks.
    """
    if facts.rank_count > MOST_RANKS:
        return None
    plan = facts.plan
    if plan is None:
        return ()
    try:
        layout = layout_for(plan, facts.topology, places_of(facts.topology), "plan.json")
    except (IsochroneError, ValueError):  # it names other levels than there are, or has no parameters
        return ()
    # Names from files are no formulae, whatever signs they have.
    with matplotlib.rc_context({"text.parse_math": False}):
        return tuple(_schedule(rule, root, layout) for rule, root in _chosen(plan, layout))


def _chosen(plan: Plan, layout: _core.Layout) -> list[_Fitting]:
    gaining = [rule for rule in plan.rules if _is_drawable(rule)]
    roots = _roots(layout, {rule.shape for rule in gaining})
    best: dict[str, _Fitting] = {}
    for rule in gaining:
        fitting = rule, roots.get(rule.shape)
        best[rule.collective] = max(best.get(rule.collective, fitting), fitting, key=_worth)
    most = sorted(best.values(), key=_worth, reverse=True)[:MOST_PICTURES]
    order = in_order(rule.collective for rule, _ in most)
    return sorted(most, key=lambda fitting: order.index(fitting[0].collective))


def _is_drawable(rule: Rule) -> bool:
    own = rule.recipe == NATIVE or rule.recipe.startswith(TOLD)
    return rule.collective in timed() and not own


def _worth(fitting: _Fitting) -> tuple[bool, float]:
    rule, root = fitting
    return root is not None, rule.evidence.speedup


def _roots(layout: _core.Layout, shapes: set[str]) -> dict[str, int]:
    """For each of the shapes that all ranks have with some root, the first such; 0 for the shape of
    collectives that have none.
    """
    of_shape = {layout.shape(): 0}
    for root, shape in enumerate(layout.shapes()):
        of_shape.setdefault(shape, root)
    return {shape: root for shape, root in of_shape.items() if shape in shapes}


def _schedule(rule: Rule, root: int | None, layout: _core.Layout) -> Schedule:
    try:
        call = Call.checked(rule.collective, rule.recipe, layout, root or 0, _size_bytes(rule))
        timeline = timeline_of(call)
        is_in_time = layout.size <= MOST_RANKS_IN_TIME and len(timeline.steps) <= MOST_STEPS_IN_TIME
        figure = spacetime(timeline) if is_in_time else spread_figure(call, spread_of(timeline))
    except UsageError as error:
        return Schedule(rule, None, False, None, 0.0, False, error.what)
    width_inches = figure.get_figwidth()
    return Schedule(
        rule, call, root is not None, drawn(figure, "svg"), width_inches, is_in_time, summary(timeline)
    )


def _size_bytes(rule: Rule) -> int | None:
    """A round size for which the rule holds, near the one that ``show`` takes; None of what has no data."""
    if not collective(rule.collective)["has_data"]:
        return None
    least = max(rule.min_bytes, min(DEFAULT_BYTES, rule.max_bytes))
    return min(1 << (least - 1).bit_length(), rule.max_bytes) if least else 0
