# SPDX-License-Identifier: BSD-3-Clause
"""Places of ranks and the identity of an MPI library, as several files hold them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

from isochrone.errors import IsochroneError
from isochrone.files.fields import NUMBERS
from isochrone.files.form import Form

PlaceKey = tuple[str, tuple[tuple[int, int], ...] | None]
"""A host and the first and last CPU of each range; None where the place is not bound."""

UNKNOWN_HOST = "unknown"
"""Of ranks in a plain matrix, which names no hosts: they may be on one, or each on another."""

_MAX_CPU = 1 << 16
_MAX_RANK = 1 << 24


class Place(Form, frozen=True):
    """A host and the CPUs that a rank is bound to.

    Attributes:
        host: name of the host.
        cpus: a list like ``0-3,8``; None for a rank that is not bound to fewer than all of the host's.
        signature: names the hardware of the host.
    """

    host: Annotated[str, Meta(min_length=1, max_length=255)]
    cpus: Annotated[str, Meta(max_length=1 << 16, pattern=NUMBERS)] | None
    signature: Annotated[str, Meta(max_length=1024)]

    @property
    def key(self) -> PlaceKey:
        """Equal for places that are one, however their CPUs are written."""
        return self.host, None if self.cpus is None else _cpu_ranges(self.cpus)


class MpiLibrary(Form, frozen=True):
    """An MPI library: its own version text, the standard's version, and the soname that its programs need."""

    library: Annotated[str, Meta(max_length=1 << 14)]
    version: Annotated[str, Meta(max_length=64)]
    abi: Annotated[str, Meta(max_length=255)]


def check_places(places: Iterable[Place], where: str) -> None:
    """Raises IsochroneError for a bad list of CPUs."""
    for index, place in enumerate(places):
        if place.cpus is not None:
            _cpu_ranges(place.cpus, f"{where}: places[{index}]")


def parse_cpus(text: str, where: str | None = None) -> frozenset[int]:
    """The CPUs of a list like ``0-3,8``. Raises IsochroneError for a list that is none."""
    ranges = _cpu_ranges(text, where)
    return frozenset(cpu for low, high in ranges for cpu in range(low, high + 1))


def parse_members(text: str) -> frozenset[int]:
    """The ranks of a list like ``0-3,8``. Raises IsochroneError for a list that is none."""
    return frozenset(rank for low, high in _ranges(text, _MAX_RANK) for rank in range(low, high + 1))


def format_members(ranks: Iterable[int]) -> str:
    """The list of ranks, such as ``0-3,8``: the shortest, ascending."""
    ranges = _ranges(",".join(map(str, ranks)), _MAX_RANK)
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


def _cpu_ranges(text: str, where: str | None = None) -> tuple[tuple[int, int], ...]:
    return _ranges(text, _MAX_CPU, "CPUs", where)


def _ranges(
    text: str, most: int, what: str = "ranks", where: str | None = None
) -> tuple[tuple[int, int], ...]:
    """The first and last number of each range, ascending and as few as can be: the same for the same numbers.

    A few bytes may stand for all of them many times over, so that they themselves are not listed here.
    """
    found: list[tuple[int, int]] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not _is_number(first) or (dash and not _is_number(last)):
            raise IsochroneError(f"'{text[:40]}' is not a list of {what} like 0-3,8", where)
        low, high = int(first), int(last) if dash else int(first)
        if low > high or high >= most:
            raise IsochroneError(f"'{part}' is not a range of {what}", where)
        found.append((low, high))
    ranges: list[tuple[int, int]] = []
    for low, high in sorted(found):
        if ranges and low <= ranges[-1][1] + 1:
            low, high = ranges[-1][0], max(ranges.pop()[1], high)
        ranges.append((low, high))
    return tuple(ranges)


def distinct_places(places: Iterable[Place]) -> tuple[tuple[Place, ...], tuple[int, ...]]:
    """The distinct places in order of first appearance, and for each given place its index among them."""
    numbers: dict[PlaceKey, int] = {}
    distinct: list[Place] = []
    index: list[int] = []
    for place in places:
        key = place.key
        if key not in numbers:
            numbers[key] = len(distinct)
            distinct.append(place)
        index.append(numbers[key])
    return tuple(distinct), tuple(index)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 6
