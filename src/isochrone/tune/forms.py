# SPDX-License-Identifier: BSD-3-Clause
"""Recipes in parts, and which parts a collective's recipes may have: what the tables of the core say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from isochrone import _core
from isochrone.files import BCAST, NATIVE
from isochrone.tune.collectives import collective as table_row

OWN = (NATIVE,)
"""The library's own, as what runs at a level."""
SHORTEST_SEGMENT_BYTES, LONGEST_SEGMENT_BYTES = 4096, 262144
SMALLEST_SEGMENTED_BYTES = 8192
MOST_SEGMENTS = 128
MAPPED = ("depth_first", "breadth_first", "longest_first")
"""How a tree is laid over the network, among all ranks or among those that lead at the outermost level."""


def _ways(collective: str, outermost: bool) -> tuple[tuple[_core.Algorithm, ...], ...]:
    """The tables of algorithms that a level of a recipe chooses from: across at the outermost and in flat
    recipes, else up and down as far as the collective has them.
    """
    row = table_row(collective)
    tables = (row["across"],) if outermost else (row["up"], row["down"])
    return tuple(tuple(table) for table in tables if table)


@cache
def level_algorithms(collective: str, outermost: bool = True) -> tuple[tuple[str, ...], ...]:
    """What may run at a level, for each of its ways: every row of the table, with each parameter to tune
    with.
    """
    return tuple(
        tuple(
            f"{row['name']}/{parameter}" if parameter else row["name"]
            for row in table
            for parameter in row["tuned_parameters"] or (0,)
        )
        for table in _ways(collective, outermost)
    )


@cache
def quadratic(collective: str, outermost: bool) -> tuple[frozenset[str], ...]:
    """Algorithms whose messages grow with the square of the ranks, for each way."""
    return tuple(
        frozenset(row["name"] for row in table if row["quadratic_messages"])
        for table in _ways(collective, outermost)
    )


@cache
def segmented(collective: str, outermost: bool) -> tuple[frozenset[str], ...]:
    """Algorithms that cut messages unless they are told not to, for each way: they are tried in segments that
    are named.
    """
    return tuple(
        frozenset(row["name"] for row in table if row["default_segment"])
        for table in _ways(collective, outermost)
    )


@cache
def _mappable(collective: str) -> tuple[frozenset[str], ...]:
    """Algorithms across whose trees can be laid over the network."""
    return tuple(
        frozenset(row["name"] for row in table if row["mappable"]) for table in _ways(collective, True)
    )


@cache
def dividing_algorithms(collective: str) -> tuple[str, ...]:
    """Algorithms that divide the message among the ranks, as far as the table tells."""
    (table,) = _ways(collective, True)
    return tuple(sorted(row["name"] for row in table if row["quadratic_messages"] or row["commutative_only"]))


def algorithms_in(recipe: str) -> frozenset[str]:
    """The names of all algorithms in a recipe, without parameters. Raises ValueError for what is none."""
    ways = _core.recipe_parts(recipe)["algorithms"]
    return frozenset(name.partition("/")[0] for few in ways for name in few)


def uses(form: Form, collective: str, names: Callable[[str, bool], tuple[frozenset[str], ...]]) -> bool:
    return any(
        algorithm.partition("/")[0] in few
        for at, ways in enumerate(form.algorithms)
        if ways != OWN
        for algorithm, few in zip(ways, names(collective, at == 0), strict=True)
    )


@dataclass(frozen=True)
class Form:
    """A recipe in parts. `levels` is empty for a flat one. `algorithms` has for each level, the outermost
    first, one for each of its ways: two inside, where a collective goes up and down. `order` is that of ranks
    at the outermost: "ordered", one of `MAPPED`, or empty.
    """

    levels: tuple[str, ...]
    algorithms: tuple[tuple[str, ...], ...]
    segment_bytes: int = 0
    order: str = ""

    def text(self) -> str:
        """The recipe as plans write it."""
        ways = ["+".join(dict.fromkeys(way)) for way in self.algorithms]
        if self.order:
            ways[0] = f"{self.order}({ways[0]})"
        if self.levels:
            parts = ",".join(f"{level}={way}" for level, way in zip(self.levels, ways, strict=True))
            recipe = f"hierarchical({parts})"
        else:
            recipe = ways[0]
        return f"{recipe}@{self.segment_bytes}" if self.segment_bytes else recipe

    @staticmethod
    def of(text: str, collective: str = BCAST) -> Form:
        """The parts of a recipe for a collective. Raises ValueError for what is none."""
        parts = _core.recipe_parts(text)
        algorithms = []
        for at, way in enumerate(map(tuple, parts["algorithms"])):
            wanted = len(_ways(collective, at == 0))
            algorithms.append(way * wanted if len(way) == 1 and way != OWN else way)
        return Form(
            tuple(parts["levels"]), tuple(algorithms) or (OWN,), parts["segment_bytes"], parts["order"]
        )


def dividing_levels(layout: _core.Layout) -> tuple[str, ...]:
    """The levels at which parts of the communicator meet: from the innermost that holds all ranks inwards,
    without those
    that divide no further than the one before and without those of single ranks.
    """
    whole = max((i for i, groups in enumerate(layout.group_of) if len(set(groups)) == 1), default=0)
    names = [layout.levels[whole]]
    before = len(set(layout.group_of[whole]))
    for name, groups in list(zip(layout.levels, layout.group_of, strict=True))[whole + 1 :]:
        count = len(set(groups))
        if count > before and count < layout.size:
            names.append(name)
            before = count
    return tuple(names)


def nameable_levels(collective: str, layout: _core.Layout) -> tuple[str, ...]:
    """The levels that a recipe may name. Operands that keep the order of ranks go through runs of them."""
    return tuple(
        name
        for name in dividing_levels(layout)
        if not table_row(collective)["in_order"] or layout.has_runs(name)
    )


def segments_for(collective: str, size_bytes: int, most: int = MOST_SEGMENTS) -> tuple[int, ...]:
    """Segment sizes worth a look for a message: none for small ones and for blocks, and never more than
    `most` segments. Messages that are too long for that have longer segments than all others.
    """
    if size_bytes < SMALLEST_SEGMENTED_BYTES or table_row(collective)["has_blocks"]:
        return (0,)
    longest = LONGEST_SEGMENT_BYTES
    if size_bytes > longest * most:
        longest = 4 * size_bytes // most
    lengths = (1 << bits for bits in range(SHORTEST_SEGMENT_BYTES.bit_length() - 1, longest.bit_length()))
    return (0, *(length for length in lengths if length < size_bytes <= length * most))


def may_be_native_inside(collective: str) -> bool:
    """Whether the library's own can stand at the innermost level: it only passes on."""
    return not table_row(collective)["up"] and not table_row(collective)["has_blocks"]


def meant(collective: str, forms: Iterable[Form]) -> list[Form]:
    """Without those that say no segment and would be cut all the same, and those that have no tree to lay
    over the network.
    """
    return [
        form
        for form in forms
        if (form.segment_bytes or not uses(form, collective, segmented))
        and (form.order not in MAPPED or _has_tree(form, collective))
    ]


def _has_tree(form: Form, collective: str) -> bool:
    """Whether what runs at the outermost level can be laid over the network."""
    (mappable,) = _mappable(collective)
    return form.algorithms[0][0].partition("/")[0] in mappable
