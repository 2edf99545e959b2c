# SPDX-License-Identifier: BSD-3-Clause
"""The plan in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from isochrone.files import NATIVE, Rule
from isochrone.report.facts import Facts
from isochrone.report.html import Html, tag
from isochrone.report.sections.parts import absent, section
from isochrone.report.sections.schedules import schedules_part
from isochrone.tune.collectives import in_order, words
from isochrone.units import format_ratio, format_time, number_of
from isochrone.words import (
    capitalised,
    describe_range,
    describe_recipe,
    describe_shapes,
)


def plan(facts: Facts) -> Html:
    """The section on the plan."""
    title = "The plan"
    if "plan.json" in facts.not_shown:
        return section("plan", title, absent(facts.not_shown["plan.json"]))
    if facts.plan is None:
        return section(
            "plan",
            title,
            absent("No plan is in this folder (plan.json): every call uses the library's own algorithm."),
        )
    rules = facts.plan.rules
    if all(rule.recipe == NATIVE for rule in rules):
        return section("plan", title, absent(_nothing_proven(rules)))
    unverified = facts.not_shown.get("bench.jsonl")
    groups = []
    shapes = list(dict.fromkeys(rule.shape for rule in rules))
    described = dict(zip(shapes, describe_shapes(shapes), strict=True))
    collectives = in_order({rule.collective for rule in rules})
    ordered = sorted(
        rules, key=lambda rule: (collectives.index(rule.collective), shapes.index(rule.shape), rule.min_bytes)
    )
    for (collective, shape), of_shape in groupby(ordered, key=lambda rule: (rule.collective, rule.shape)):
        groups.append(tag("h3", f"{capitalised(words(collective))}, {described[shape]}"))
        groups.append(tag("p", tag("code", shape), class_="shape"))
        groups.append(tag("ol", _lines(of_shape), class_="rules"))
    closing = "Sizes and shapes in no line were not measured, and use the library's own."
    return section(
        "plan",
        title,
        absent(unverified) if unverified else None,
        groups,
        tag("p", closing),
        schedules_part(facts),
    )


def _nothing_proven(rules: Sequence[Rule]) -> str:
    if not rules:
        return "The plan has no rule: nothing was measured, and every call uses the library's own algorithm."
    sizes = describe_range(min(rule.min_bytes for rule in rules), max(rule.max_bytes for rule in rules))
    return (
        f"{capitalised(sizes)}, nothing tried was proven faster than the library's own: every call uses that."
    )


def _lines(rules: Iterable[Rule]) -> Iterator[Html]:
    """A line for each rule of one shape, by size, and one for neighbours that keep to the library's own."""
    for own, run in groupby(rules, key=lambda rule: rule.recipe == NATIVE):
        if not own:
            yield from map(_rule, run)
            continue
        together = list(run)
        sizes = describe_range(together[0].min_bytes, together[-1].max_bytes)
        kept = "Nothing tried was proven faster than the library's own."
        yield tag("li", tag("strong", capitalised(sizes)), tag("span", kept))


def rule_sentence(rule: Rule) -> str:
    """One rule without its sizes: what runs and what it gains."""
    return f"{capitalised(describe_recipe(rule.recipe))}.{_evidence(rule)}"


def _rule(rule: Rule) -> Html:
    sizes = tag("strong", capitalised(describe_range(rule.min_bytes, rule.max_bytes)))
    return tag("li", sizes, tag("span", rule_sentence(rule)), tag("code", rule.recipe))


def _evidence(rule: Rule) -> str:
    evidence = rule.evidence
    low, high = evidence.speedup_ci
    predicted = (
        "" if evidence.predicted_s is None else f"; the model predicted {format_time(evidence.predicted_s)}"
    )
    # Where times have no noise there is no interval.
    interval = f" ({rule.interval} {low:.2f}–{high:.2f})" if low < high else ""
    return (
        f" {format_ratio(evidence.speedup)} faster than the library's own{interval}: "
        f"{format_time(evidence.recipe_s)} in place of {format_time(evidence.native_s)}, "
        f"{number_of(evidence.repetitions, 'repetition')}{predicted}."
    )
