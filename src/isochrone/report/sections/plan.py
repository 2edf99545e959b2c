# SPDX-License-Identifier: BSD-3-Clause
"""The plan in words."""

from __future__ import annotations

from itertools import groupby

from isochrone.files import Rule
from isochrone.report.facts import Facts
from isochrone.report.html import Html, tag
from isochrone.report.sections.parts import absent, section
from isochrone.report.words import (
    capitalised,
    describe_range,
    describe_recipe,
    describe_shape,
)
from isochrone.units import format_ratio, format_time, number_of


def plan(facts: Facts) -> Html:
    """The section on the plan."""
    title = "The plan"
    if facts.plan is None:
        return section(
            "plan",
            title,
            absent("No plan is in this folder (plan.json): every call uses the library's own algorithm."),
        )
    if not facts.plan.rules:
        return section(
            "plan",
            title,
            absent(
                "The plan has no rule: nothing tried was proven faster, so every call uses the library's own."
            ),
        )
    groups = []
    ordered = sorted(facts.plan.rules, key=lambda rule: (rule.collective, rule.shape, rule.min_bytes))
    for (collective, shape), rules in groupby(ordered, key=lambda rule: (rule.collective, rule.shape)):
        groups.append(tag("h3", f"{_collective(collective)}, {describe_shape(shape)}"))
        groups.append(tag("p", tag("code", shape), class_="shape"))
        groups.append(tag("ol", [_rule(rule) for rule in list(rules)], class_="rules"))
    closing = "What no line covers uses the library's own, and so does every communicator of another shape."
    return section("plan", title, groups, tag("p", closing))


def rule_sentence(rule: Rule) -> str:
    """One rule without its sizes: what runs and what it gains."""
    return f"{capitalised(describe_recipe(rule.recipe))}.{_evidence(rule)}"


def _rule(rule: Rule) -> Html:
    sizes = tag("strong", capitalised(describe_range(rule.min_bytes, rule.max_bytes)))
    return tag("li", sizes, tag("span", rule_sentence(rule)), tag("code", rule.recipe))


def _evidence(rule: Rule) -> str:
    if rule.recipe == "native":
        return " Nothing tried was proven faster."
    evidence = rule.evidence
    low, high = evidence.speedup_ci
    predicted = (
        "" if evidence.predicted_s is None else f"; the model predicted {format_time(evidence.predicted_s)}"
    )
    return (
        f" {format_ratio(evidence.speedup)} [{low:.2f}–{high:.2f}] faster than the library's own: "
        f"{format_time(evidence.recipe_s)} in place of {format_time(evidence.native_s)}, "
        f"{number_of(evidence.repetitions, 'repetition')}{predicted}."
    )


def _collective(name: str) -> str:
    return {"bcast": "Broadcast"}.get(name, capitalised(name))
