# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as people read them: three significant digits and the unit that fits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isochrone.statistics import Interval

_BINARY_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_RATE_UNITS = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"))


def significant(value: float, digits: int = 3) -> str:
    """`value` with `digits` significant digits and no exponent: 1.80, 12.5, 1830."""
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    magnitude = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - magnitude)
    if rounded != 0 and math.floor(math.log10(abs(rounded))) > magnitude:
        magnitude += 1
    return f"{rounded:.{max(0, digits - 1 - magnitude)}f}"


def format_bytes(size_bytes: int) -> str:
    """A size exactly: "64 KiB" or "1.5 MiB" where that is the whole truth, else with all digits, "65,537
    B".
    """
    for unit_bytes, name in _BINARY_UNITS:
        if size_bytes >= unit_bytes:
            quotient = size_bytes / unit_bytes
            if size_bytes % unit_bytes == 0 or (quotient * 4).is_integer():
                return f"{quotient:g} {name}"
            break
    return f"{size_bytes:,} B"


def approximate_bytes(size_bytes: int) -> str:
    """A size to three digits, for where exactness would crowd: "64.0 KiB"."""
    for unit_bytes, name in _BINARY_UNITS:
        if size_bytes >= unit_bytes:
            return f"{significant(size_bytes / unit_bytes)} {name}"
    return f"{size_bytes} B"


def format_time(seconds: float) -> str:
    """Seconds in the unit that fits: "1.83 µs"."""
    if not math.isfinite(seconds):
        return "not known"
    for unit_s, name in _TIME_UNITS:
        if abs(seconds) >= unit_s * 0.9995:
            return f"{significant(seconds / unit_s)} {name}"
    return "0 s" if seconds == 0 else f"{significant(seconds / 1e-9)} ns"


def format_duration(seconds: float) -> str:
    """What somebody waits for, roughly: "14 min"."""
    for unit_s, name in ((3600, "h"), (60, "min")):
        if seconds >= 2 * unit_s:
            return f"{float(significant(seconds / unit_s, 2)):g} {name}"
    return f"{math.ceil(seconds)} s"


def format_rate(bytes_per_s: float) -> str:
    """Bytes a second in the unit that fits: "12.5 GB/s"."""
    for unit, name in _RATE_UNITS:
        if bytes_per_s >= unit * 0.9995:
            return f"{significant(bytes_per_s / unit)} {name}"
    return f"{significant(bytes_per_s)} B/s"


def format_ratio(ratio: float) -> str:
    """A speedup: "1.83×"."""
    return f"{ratio:.2f}×" if ratio < 10 else f"{significant(ratio)}×"


def format_ratio_interval(interval: Interval) -> str:
    """The ends of a speedup's interval: "1.78–1.90"."""
    return f"{format_ratio(interval.low)[:-1]}–{format_ratio(interval.high)[:-1]}"


def number_of(count: int, noun: str) -> str:
    """A number of things whose plural has an s: "25 repetitions", "1 repetition"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def format_share(fraction: float) -> str:
    """A share, rounded: "96.4 %"."""
    return f"{100 * fraction:.1f} %"


def format_percent(fraction: float) -> str:
    """A share, rounded down so that only the whole is "100 %"."""
    floored = math.floor(fraction * 1000 + 1e-9) / 10
    return f"{floored:g} %"
