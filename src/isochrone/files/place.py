# SPDX-License-Identifier: BSD-3-Clause
"""Places of ranks and the identity of an MPI library, as several files hold them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from isochrone.errors import IsochroneError
from isochrone.files.text import Json

_MAX_CPU = 1 << 16


@dataclass(frozen=True)
class Place:
    """A host and the CPUs that a rank is bound to.

    Attributes:
        host: name of the host.
        cpus: a list like ``0-3,8``; None for a rank that is not bound to fewer than all of the host's.
        signature: names the hardware of the host.
    """

    host: str
    cpus: str | None
    signature: str

    def document(self) -> Json:
        """The place as JSON."""
        return {"host": self.host, "cpus": self.cpus, "signature": self.signature}


@dataclass(frozen=True)
class MpiLibrary:
    """An MPI library: its own version text, the standard's version, and the soname that its programs need."""

    library: str
    version: str
    abi: str

    def document(self) -> Json:
        """The library as JSON."""
        return {"library": self.library, "version": self.version, "abi": self.abi}


def read_places(documents: Iterable[Json], where: str) -> tuple[Place, ...]:
    """Places from JSON that was checked against the schema. Raises IsochroneError for a bad list of CPUs."""
    places = []
    for index, document in enumerate(documents):
        place = Place(document["host"], document["cpus"], document["signature"])
        if place.cpus is not None:
            parse_cpus(place.cpus, f"{where}: places[{index}]")
        places.append(place)
    return tuple(places)


def parse_cpus(text: str, where: str | None = None) -> frozenset[int]:
    """The CPUs of a list like ``0-3,8``. Raises IsochroneError for a list that is none."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not _is_number(first) or (dash and not _is_number(last)):
            raise IsochroneError(f"'{text[:40]}' is not a list of CPUs like 0-3,8", where)
        low, high = int(first), int(last) if dash else int(first)
        if low > high or high >= _MAX_CPU:
            raise IsochroneError(f"'{part}' is not a range of CPUs", where)
        cpus.update(range(low, high + 1))
    return frozenset(cpus)


def distinct_places(places: Iterable[Place]) -> tuple[tuple[Place, ...], tuple[int, ...]]:
    """The distinct places in order of first appearance, and for each given place its index among them."""
    numbers: dict[tuple[str, frozenset[int] | None], int] = {}
    distinct: list[Place] = []
    index: list[int] = []
    for place in places:
        key = (place.host, None if place.cpus is None else parse_cpus(place.cpus))
        if key not in numbers:
            numbers[key] = len(distinct)
            distinct.append(place)
        index.append(numbers[key])
    return tuple(distinct), tuple(index)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 6
