# SPDX-License-Identifier: BSD-3-Clause
"""The rule for one call, of a plan or of what a library is told."""

from __future__ import annotations

from collections.abc import Iterable

from isochrone.files.plan import Plan, Rule
from isochrone.files.rules import RangedT, rule_at
from isochrone.tune.collectives import has_agreed_size


def rule_for(plan: Plan, collective: str, shape: str, size_bytes: int, order: str) -> Rule | None:
    """The rule of a plan for messages of this size on this shape; None where there is none.

    Args:
        order: of the ranks, as `_core.Layout.order` names it.
    """
    return rule_of(rules_for(plan, collective, shape, order), collective, size_bytes)


def rule_of(rules: Iterable[RangedT], collective: str, size_bytes: int) -> RangedT | None:
    """Of the rules for one collective the one for messages of this size; None where there is none."""
    # Where ranks do not know the size alike, rules are for all.
    return rule_at(rules, size_bytes if has_agreed_size(collective) else 0)


def rules_for(plan: Plan, collective: str, shape: str, order: str | None) -> list[Rule]:
    """The rules of a plan for ranks of this shape and order; those of any order hold where there is none of
    this one (`for_order` of ``native/core/select/plan.hpp``).
    """
    beside = [rule for rule in plan.rules if (rule.collective, rule.shape) == (collective, shape)]
    return [rule for rule in beside if rule.order == order] or [r for r in beside if r.order is None]
