# SPDX-License-Identifier: BSD-3-Clause
"""What the recipes of the plan make the ranks do, in pictures that are folded away at first."""

from __future__ import annotations

import shlex

from isochrone.report.facts import Facts
from isochrone.report.html import Html, tag
from isochrone.report.plots.spread import MOST_RANKS
from isochrone.report.schedules import (
    MOST_PICTURES,
    MOST_RANKS_IN_TIME,
    MOST_STEPS_IN_TIME,
    Schedule,
    schedules,
)
from isochrone.report.sections.parts import picture
from isochrone.show.call import Call
from isochrone.tune.collectives import words
from isochrone.units import format_bytes
from isochrone.words import capitalised, describe_recipe, describe_shape


def schedules_part(facts: Facts) -> Html | None:
    """Of each collective the recipe that gains most; None where there is nothing to draw."""
    found = schedules(facts)
    if found is None:
        return tag("p", f"What more than {MOST_RANKS} ranks do is not drawn.")
    if not found:
        return None
    caption = (
        "Drawn as by ",
        tag("code", "isochrone show"),
        ", by the model and with the parameters of this topology: nothing was run for it. So that the page "
        f"stays small there are {MOST_PICTURES} pictures at most, of the recipe that gains most in each "
        f"collective; and of more than {MOST_RANKS_IN_TIME} ranks or {MOST_STEPS_IN_TIME} operations there "
        "is the tree alone.",
    )
    return tag(
        "details",
        tag("summary", "What the ranks do, in pictures"),
        tag("p", caption),
        [_one(facts, each) for each in found],
        id="schedules",
    )


def _one(facts: Facts, one: Schedule) -> Html:
    name = capitalised(words(one.rule.collective))
    does = capitalised(describe_recipe(one.rule.recipe))
    if one.call is None or one.svg is None:
        return tag("div", tag("h3", name), tag("p", f"{does}. Not drawn: {one.words}."))
    size = f" of {format_bytes(one.call.size_bytes)}" if one.call.size_bytes else ""
    root = "" if one.call.root is None else f", root {one.call.root}"
    title = f"{name}{size}{root}"
    others = (
        ""
        if one.is_of_rule
        else f" The rule is for {describe_shape(one.rule.shape)}; drawn is what all surveyed ranks would do."
    )
    kind = "each rank's sends and receives in time" if one.is_in_time else "who hears from whom"
    command = _command(facts, one.call)
    return tag(
        "div",
        tag("h3", title),
        tag("p", f"{does}.{others}"),
        tag(
            "figure",
            picture(one.svg, f"{title}, by {one.call.recipe}: {kind}. {one.words}.", one.width_inches),
            tag("figcaption", f"{capitalised(kind)}: {one.words}. ", command and tag("code", command)),
        ),
    )


def _command(facts: Facts, call: Call) -> str | None:
    """That shows the same; None where the topology calls its levels otherwise than the plan."""
    if call.layout.levels != [level.name for level in facts.levels]:
        return None
    line = ["isochrone", "show", call.recipe, "--topology", facts.folder.name or "."]
    line += ["--collective", call.collective]
    line += ["--bytes", str(call.size_bytes)] if call.size_bytes else []
    line += ["--root", str(call.root)] if call.root else []
    return shlex.join(line)
