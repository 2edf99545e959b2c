# SPDX-License-Identifier: BSD-3-Clause
"""Labels of groups: which of several things are together; and names in the order that people expect."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable

_DIGITS = re.compile(r"([0-9]+)")


def numbered(labels: Iterable[Hashable]) -> list[int]:
    """Labels of any kind as numbers from 0 in order of first appearance."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def natural(name: str) -> tuple[list[tuple[int, str]], str]:
    """For sorting: numbers in names by their values, ``n9`` before ``n10``. Numbers may have any length."""
    # Words and numbers stand in turn, so that like is compared with like. Of numbers without leading zeros
    # the longer one is larger.
    parts = [
        (len(part.lstrip("0")), part.lstrip("0")) if at % 2 else (0, part)
        for at, part in enumerate(_DIGITS.split(name))
    ]
    return parts, name
