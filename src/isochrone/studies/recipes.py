# SPDX-License-Identifier: BSD-3-Clause
"""The algorithms that studies compare: every row of a collective's table over all ranks, some of them level
by level, and the library's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from isochrone import _core
from isochrone.files import NATIVE, Case
from isochrone.sim.target import RINGS
from isochrone.studies.places import NODE, Arrangement, Machine
from isochrone.studies.study import is_own
from isochrone.tune.collectives import collective as table_row
from isochrone.tune.forms import algorithms_in, nameable_levels

MOST_QUADRATIC = 64
"""Among more simulated ranks algorithms whose messages grow with their square are left out: SimGrid takes
minutes for a few calls.
"""
MOST_SIMULATED = 256
"""Ranks of a simulation, unless the user asks for more."""
MOST_SEGMENTS = 16
"""Of a simulated message. SimGrid's time for one grows with those that are under way."""


def most_ranks(machine: Machine) -> int:
    """How many ranks take part unless the user asks for more: all, or as many as there is time for."""
    return min(machine.size, MOST_SIMULATED) if machine.target.simulated else machine.size


def flat(machine: Machine, ranks: int, collective: str) -> tuple[str, ...]:
    """Every row of the table, with its default parameter and segment."""
    return tuple(
        row["name"]
        for row in table_row(collective)["across"]
        if _is_quick(machine, ranks) or not row["quadratic_messages"]
    )


def by_levels(collective: str, layout: _core.Layout, algorithm: str) -> tuple[str, ...]:
    """One algorithm at each level where parts meet; nothing where there is one such level only."""
    levels = nameable_levels(collective, layout)
    if len(levels) < 2:
        return ()
    return (f"hierarchical({','.join(f'{level}={algorithm}' for level in levels)})",)


def between_and_inside(
    collective: str, layout: _core.Layout, pairs: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    """For each pair of algorithms: one between nodes and the other inside; where ranks are on one node, or
    one on each, between the outermost groups that they are in.
    """
    whole, *inside = nameable_levels(collective, layout)
    if not inside:
        return ()
    clusters = NODE if NODE in inside else inside[0]
    return tuple(f"hierarchical({whole}={outer},{clusters}={inner})" for outer, inner in pairs)


def told(machine: Machine, arrangement: Arrangement, collective: str) -> tuple[str, ...]:
    """What the library can be told to use; nothing among some of the ranks: the benchmark cannot ask them."""
    if machine.members_of(arrangement):
        return ()
    names = machine.target_for(arrangement).baselines(collective)
    quick = _is_quick(machine, arrangement.ranks)
    return tuple(name for name in names if quick or name.partition(":")[2] not in RINGS)


def _is_quick(machine: Machine, ranks: int) -> bool:
    return ranks <= MOST_QUADRATIC or not machine.target.simulated


def default_segment(collective: str, recipe: str) -> int:
    """In which segments a recipe cuts a message unless it is told otherwise, in bytes; 0: it doesn't."""
    row = table_row(collective)
    of = {each["name"]: each["default_segment"] for key in ("up", "across", "down") for each in row[key]}
    segment_bytes = _core.recipe_parts(recipe)["segment_bytes"]
    return segment_bytes or max((of.get(name, 0) for name in algorithms_in(recipe)), default=0)


def in_few_segments(recipe: str, collective: str, size_bytes: int) -> str:
    """The recipe, told to cut a message into so many segments at most as a simulation has time for."""
    if is_own(recipe):
        return recipe
    segment = default_segment(collective, recipe)
    if not segment or size_bytes <= MOST_SEGMENTS * segment:
        return recipe
    return f"{recipe}@{-(-size_bytes // MOST_SEGMENTS)}"


def case(
    machine: Machine, arrangement: Arrangement, collective: str, size_bytes: int, recipes: Sequence[str]
) -> Case:
    """The library's own and some recipes, from the first rank where there is a root."""
    members = machine.members_of(arrangement)
    if machine.target.simulated:
        recipes = [in_few_segments(recipe, collective, size_bytes) for recipe in recipes]
    return Case(size_bytes, 0, tuple(dict.fromkeys([NATIVE, *recipes])), collective, members)
