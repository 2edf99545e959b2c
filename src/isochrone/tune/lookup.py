# SPDX-License-Identifier: BSD-3-Clause
"""The rule of a plan for one call."""

from __future__ import annotations

from isochrone.files import Plan, Rule
from isochrone.tune.collectives import has_agreed_size


def rule_for(plan: Plan, collective: str, shape: str, size_bytes: int) -> Rule | None:
    """The rule of a plan for messages of this size on this shape; None where there is none."""
    # Where ranks do not know the size alike, rules are for all.
    size = size_bytes if has_agreed_size(collective) else 0
    for rule in plan.rules:
        here = rule.collective == collective and rule.shape == shape
        if here and rule.min_bytes <= size <= rule.max_bytes:
            return rule
    return None
