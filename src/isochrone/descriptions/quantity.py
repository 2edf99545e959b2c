# SPDX-License-Identifier: BSD-3-Clause
"""Times, rates and sizes as people write them: ``0.5us``, ``10GB/s``, ``100Gbit/s``, ``16KiB``, or a plain
number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)((?:[eE][+-]?[0-9]{1,3})?)\s*(\S*)\s*", re.ASCII)

_BITS = {"bit": 1 / 8, "kbit": 125.0, "Mbit": 125e3, "Gbit": 125e6, "Tbit": 125e9}
_BYTES = {
    "B": 1.0,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
}


@dataclass(frozen=True)
class Kind:
    """A kind of quantity: its units as multiples of the first, and the largest value that makes sense, in the
    first.
    """

    units: Mapping[str, float]
    largest: float


TIME = Kind({"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}, largest=3600.0)
DURATION = Kind({"s": 1.0, "ms": 1e-3, "m": 60.0, "min": 60.0, "h": 3600.0}, largest=1e6)
RATE = Kind({f"{unit}/s": factor for unit, factor in (_BYTES | _BITS).items()}, largest=1e18)
SIZE = Kind(_BYTES, largest=2.0**30)


def parse_quantity(value: float | str, kind: Kind) -> float:
    """The value in seconds, bytes per second or bytes, whichever ``kind`` is.

    Args:
        value: a number that is in that unit already, or a text of a number and one of the units.
        kind: ``TIME``, ``DURATION``, ``RATE`` or ``SIZE``.

    Raises:
        ValueError: it is no number from 0 to the kind's largest, or the unit is unknown; the message names
            the units.
    """
    try:
        number = float(value) if not isinstance(value, str) else _parse_text(value, kind)
    except OverflowError:
        number = math.inf  # a whole number with more digits than a float has room for
    if not (math.isfinite(number) and 0 <= number <= kind.largest):
        unit = next(iter(kind.units))
        raise ValueError(f"{str(value)[:40]!r} is not a number from 0 to {kind.largest:g} {unit}")
    return number


def _parse_text(text: str, kind: Kind) -> float:
    match = _NUMBER.fullmatch(text)
    unit = match[3] if match else ""
    if match is None or (unit and unit not in kind.units):
        raise ValueError(f"{text[:40]!r} is not a number with one of the units {', '.join(kind.units)}")
    number = float(match[1] + match[2])
    factor = kind.units[unit] if unit else 1.0
    # Dividing by 1e6 rounds once where multiplying by 1e-6 rounds twice: "0.3us" is then exactly 0.3e-6.
    return number * factor if factor >= 1 else number / round(1 / factor)
