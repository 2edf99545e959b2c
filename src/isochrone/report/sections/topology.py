# SPDX-License-Identifier: BSD-3-Clause
"""The topology as nested boxes, and its levels as a table."""

from __future__ import annotations

from isochrone.files import Links
from isochrone.report.boxes import Drawing, draw
from isochrone.report.facts import Facts
from isochrone.report.headline import nesting_sentence
from isochrone.report.html import Child, Html, tag
from isochrone.report.html import table as html_table
from isochrone.report.sections.hosts import where_everything_is
from isochrone.report.sections.parts import figure, section, swatch
from isochrone.report.structure import bandwidth, size_words
from isochrone.units import approximate_bytes, format_percent, format_rate, format_time
from isochrone.words import capitalised, level_noun

_LEAST_SCALE = 0.8
"""Smaller than this the drawing's text is hard to read: it scrolls sideways instead."""

_STEP_WORDS = (
    " The eager limit is where the round trip has its steepest step as messages grow, with the height of the "
    "step: the library asks the receiver before it sends larger ones."
)


def topology(facts: Facts) -> Html:
    """The section on the topology."""
    nesting = nesting_sentence(facts)
    caption = (
        "Each box is a group of ranks, each dot a rank. A stack stands for groups of the same form. "
        "A level's latency and bandwidth are those between the parts of its groups."
    )
    return section(
        "topology",
        "Topology",
        tag("p", nesting) if nesting else None,
        figure(
            tag("div", _svg(draw(facts), nesting or "One flat group of ranks."), class_="scroll", tabindex=0),
            caption,
            "topology",
        ),
        _levels_table(facts),
        _reasons_table(facts),
        where_everything_is(facts),
    )


def _levels_table(facts: Facts) -> Html:
    with_capacity = any(level.links and level.links.capacity_bytes_per_s for level in facts.levels)
    rows: list[list[Child]] = [
        [
            [swatch(index), capitalised(level_noun(level.name))],
            f"{len(level.groups):,}",
            size_words(facts, index),
            *_link_cells(level.links, with_capacity),
            *_step_cells(facts, index),
            "–" if level.confidence is None else format_percent(level.confidence),
        ]
        for index, level in enumerate(facts.levels)
    ]
    capacity = ("Capacity of a group",) if with_capacity else ()
    step = ("Eager limit",) if facts.measurements.parameters else ()
    pair = ("Latency", "Alike within", "Bandwidth of a pair")
    head = ("Level", "Groups", "Ranks in each", *pair, *capacity, *step, "Confidence")
    return html_table(
        head,
        rows,
        "Levels, outermost first. Latency is half the round trip of an empty message, "
        f"the median over the {'' if facts.measurements.complete else 'measured '}pairs that meet there; "
        "68 % of them are alike within what is said." + (_STEP_WORDS if step else ""),
    )


def _reasons_table(facts: Facts) -> Html | None:
    """What was looked at, and why it is a level or none."""
    reasons = facts.topology.reasons
    if not reasons:
        return None
    rows: list[list[Child]] = [
        [
            "none" if reason.level is None else capitalised(level_noun(reason.level)),
            reason.what,
            reason.why,
            format_percent(reason.confidence),
        ]
        for reason in reasons
    ]
    caption = "What clustering would divide the ranks into, and whether the ranks bear it out."
    return tag(
        "details",
        tag("summary", "Why these levels"),
        html_table(("Level", "Divides", "What it rests on", "Confidence"), rows, caption),
    )


def _step_cells(facts: Facts, index: int) -> tuple[str, ...]:
    if not facts.measurements.parameters:
        return ()
    step = facts.protocol_steps[index]
    return ("–" if step is None else str(step).removeprefix("eager limit "),)


def _link_cells(links: Links | None, with_capacity: bool) -> tuple[str, ...]:
    if links is None:
        return ("–",) * (4 if with_capacity else 3)
    pair = bandwidth(links)
    rate = "–" if pair is None else f"{format_rate(pair.bytes_per_s)} at {approximate_bytes(pair.size_bytes)}"
    capacity = links.capacity_bytes_per_s
    outward = ("–" if capacity is None else format_rate(capacity),) if with_capacity else ()
    alike = "–" if links.spread is None else f"± {format_percent(links.spread)}"
    return (format_time(links.latency_s), alike, rate, *outward)


def _svg(drawing: Drawing, description: str) -> Html:
    shapes: list[Html] = []
    for box in drawing.boxes:
        for card in range(box.behind, -1, -1):
            offset = card * drawing.stack
            shapes.append(
                tag(
                    "rect",
                    x=_pixels(box.x + offset),
                    y=_pixels(box.y + offset),
                    width=_pixels(box.width),
                    height=_pixels(box.height),
                    rx=8,
                    class_=f"box level-{box.level % 6}",
                )
            )
    for dot in drawing.dots:
        shapes.append(
            tag("circle", cx=_pixels(dot.x), cy=_pixels(dot.y), r=_pixels(dot.radius), class_="rank")
        )
    for label in drawing.labels:
        kind = "box-title" if label.title else "box-detail"
        shapes.append(tag("text", label.text, x=_pixels(label.x), y=_pixels(label.y), class_=kind))
    svg = tag(
        "svg",
        tag("title", description),
        shapes,
        viewbox=f"0 0 {drawing.width:.0f} {drawing.height:.0f}",
        width=f"{drawing.width:.0f}",
        height=f"{drawing.height:.0f}",
        role="img",
        class_="topology",
        style=f"min-width: {_LEAST_SCALE * drawing.width:.0f}px",
    )
    return Html(svg.markup.replace(" viewbox=", " viewBox=", 1))


def _pixels(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
