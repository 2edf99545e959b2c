# SPDX-License-Identifier: BSD-3-Clause
"""Labels of groups: which of several things are together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def numbered(labels: Iterable[Hashable]) -> list[int]:
    """Labels of any kind as numbers from 0 in order of first appearance."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]
