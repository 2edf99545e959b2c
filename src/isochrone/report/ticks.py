# SPDX-License-Identifier: BSD-3-Clause
"""Ticks that read as times and sizes on logarithmic axes, the same on the page and in the figures' files."""

from __future__ import annotations

import math
from collections.abc import Sequence

from isochrone.units import approximate_bytes, format_bytes, format_time

Ticks = tuple[list[float], list[str]]

_DIGITS = ((1.0,), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
_FEWEST, _MOST = 3, 8


def time_ticks(low_s: float, high_s: float) -> Ticks:
    """Round times in [`low_s`, `high_s`] (seconds, both positive) and their names: three to eight of them.

    Powers of ten where they suffice, else steps within each decade, else even steps. Where such steps would
    have one name, the two ends; one alone where even these have.
    """
    ends = [low_s] if format_time(low_s) == format_time(high_s) else [low_s, high_s]
    if len(ends) == 1:
        return ends, _names(ends)
    chosen: list[float] = []
    for digits in _DIGITS:
        found = _decade_ticks(low_s, high_s, digits)
        if not chosen or len(found) <= _MOST:
            chosen = found
    if len(chosen) < _FEWEST:
        chosen = _even_ticks(low_s, high_s, _FEWEST)
    names = _names(chosen)
    return (chosen, names) if len(set(names)) == len(names) else (ends, _names(ends))


def linear_time_ticks(high_s: float) -> Ticks:
    """Even steps from 0 to `high_s` (seconds, positive), and their names."""
    values = _even_ticks(0.0, high_s, _MOST - 2)
    return values, _names(values)


def size_ticks(sizes_bytes: Sequence[int]) -> Ticks:
    """Powers of 16 that span the sizes, with their names."""
    values = [16**power for power in range(12) if min(sizes_bytes) <= 16**power <= max(sizes_bytes)]
    values = values or [min(sizes_bytes)]
    return [float(value) for value in values], [format_bytes(value) for value in values]


def byte_ticks(low_bytes: int, high_bytes: int) -> Ticks:
    """Powers of two in [`low_bytes`, `high_bytes`] (both positive) and their names: as few as tell enough, or
    the two ends.
    """
    chosen: list[int] = []
    for power in (20, 10, 4, 2, 1):
        found = [1 << bits for bits in range(0, 64, power) if low_bytes <= 1 << bits <= high_bytes]
        if len(found) <= _MOST:
            chosen = found
        if len(chosen) >= _FEWEST:
            break
    if len(chosen) < 2:
        chosen = sorted({low_bytes, high_bytes})
        return [float(value) for value in chosen], [approximate_bytes(value) for value in chosen]
    return [float(value) for value in chosen], [format_bytes(value) for value in chosen]


def _decade_ticks(low_s: float, high_s: float, digits: Sequence[float]) -> list[float]:
    decades = range(math.floor(math.log10(low_s)), math.ceil(math.log10(high_s)) + 1)
    return [
        digit * 10.0**power for power in decades for digit in digits if low_s <= digit * 10.0**power <= high_s
    ]


def _even_ticks(low_s: float, high_s: float, fewest: int) -> list[float]:
    raw = (high_s - low_s) / (fewest + 1)
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(digit * unit for digit in (1, 2, 2.5, 5, 10) if digit * unit >= raw * 0.999)
    first, last = math.ceil(low_s / step - 1e-9), math.floor(high_s / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def _names(values_s: Sequence[float]) -> list[str]:
    return [_short(format_time(value_s)) for value_s in values_s]


def _short(text: str) -> str:
    """Without idle zeros: "2 µs" for "2.00 µs"."""
    number, unit = text.split(" ")
    return f"{float(number):g} {unit}"
