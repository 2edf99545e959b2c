# SPDX-License-Identifier: BSD-3-Clause
"""The collectives that can be tuned, as the table of the core says: which there are, and at which sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from isochrone import _core
from isochrone.errors import UsageError
from isochrone.tune.sizes import SIZES_BYTES, few_of

WANTED = ("bcast", "reduce", "allreduce", "barrier", "allgather", "alltoall")
"""What programs use most: tuned unless something else is asked for."""
ELEMENT_BYTES = 8
"""Reductions are of whole elements."""


@cache
def collective(name: str) -> _core.Collective:
    """The row of that name. Raises KeyError if there is none."""
    return {row["name"]: row for row in _core.collectives()}[name]


@cache
def timed() -> tuple[str, ...]:
    """Those that can be timed and tuned."""
    return tuple(row["name"] for row in _core.collectives())


def has_agreed_size(name: str) -> bool:
    """Whether all ranks know a call's size alike, so that rules can depend on it."""
    return collective(name)["agreed"] != "nothing"


def parse_collectives(text: str, option: str = "--collectives") -> tuple[str, ...]:
    """Names with commas between them, each once.

    Raises:
        UsageError: a name is none of the table's.
    """
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in timed():
            raise UsageError(
                f"{name!r} is no collective that can be timed", option, f"use some of {', '.join(timed())}"
            )
    return names


def parse_collective(text: str, option: str) -> str:
    """One name. Raises UsageError for several, and for none of the table's."""
    names = parse_collectives(text, option)
    if len(names) > 1:
        raise UsageError(f"{text[:40]!r} is more than one collective", option, "name one")
    return names[0]


def words(name: str) -> str:
    """What a sentence calls a collective; of one that this version does not know, its name."""
    return collective(name)["words"] if name in timed() else name


def is_rooted(name: str) -> bool:
    """Whether a collective has a root; one that this version does not know may have."""
    return name not in timed() or collective(name)["rooted"]


def has_blocks(name: str) -> bool:
    """Whether a collective's size is that of a block for each rank; one that this version does not know has
    a message.
    """
    return name in timed() and collective(name)["has_blocks"]


def in_order(names: Iterable[str]) -> list[str]:
    """Collectives in the order of the table, and those that this version does not know after them."""
    table = timed()
    return sorted(names, key=lambda name: (table.index(name) if name in table else len(table), name))


def sizes_of(name: str, sizes_bytes: Sequence[int]) -> tuple[int, ...]:
    """Such sizes as a collective can have: of whole elements where it reduces, 0 where it has no data."""
    row = collective(name)
    if not row["has_data"]:
        return (0,)
    if not row["reduces"]:
        return tuple(sizes_bytes)
    return tuple(dict.fromkeys(max(1, -(-size // ELEMENT_BYTES)) * ELEMENT_BYTES for size in sizes_bytes))


def of_one_rule(name: str, sizes_bytes: Sequence[int]) -> list[tuple[int, ...]]:
    """The sizes in parts that have a rule each: one by one, or all together where ranks know none alike."""
    return [(size,) for size in sizes_bytes] if has_agreed_size(name) else [tuple(sizes_bytes)]


def grids(
    names: Sequence[str], sizes_bytes: Sequence[int] | None, ranks: int, thinned: Sequence[str] | None = None
) -> dict[str, tuple[int, ...]]:
    """At which sizes in bytes each collective is tuned: those `thinned` at `few_of` them, the others at all.
    Where ranks have blocks, all blocks of one rank are no longer than the largest message.

    Args:
        sizes_bytes: ascending; None: the usual ones.
        thinned: None: of the usual sizes all after the first collective, of others none.
    """
    if thinned is None:
        thinned = names[1:] if sizes_bytes is None else ()
    usual = SIZES_BYTES if sizes_bytes is None else tuple(sizes_bytes)

    def of(name: str) -> tuple[int, ...]:
        sizes = usual
        if collective(name)["has_blocks"]:
            most = max(1, max(usual) // ranks)
            sizes = tuple(size for size in usual if size <= most) or (most,)
        return sizes_of(name, few_of(sizes) if name in thinned else sizes)

    return {name: of(name) for name in names}
