# SPDX-License-Identifier: BSD-3-Clause
"""The algorithms that studies compare: every row of a collective's table over all ranks, some of them level
by level, and the library's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from isochrone import _core
from isochrone.files import Case
from isochrone.studies.places import Arrangement, Machine
from isochrone.studies.study import NATIVE
from isochrone.tune.collectives import collective as table_row
from isochrone.tune.forms import nameable_levels

MOST_QUADRATIC = 256
"""Among more ranks algorithms whose messages grow with their square are left out."""


def flat(collective: str, ranks: int) -> tuple[str, ...]:
    """Every row of the table, with its default parameter and segment."""
    return tuple(
        row["name"]
        for row in table_row(collective)["across"]
        if ranks <= MOST_QUADRATIC or not row["quadratic_messages"]
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
    """For each pair of algorithms: one between the outermost groups that ranks are in, the other inside."""
    levels = nameable_levels(collective, layout)[:2]
    if len(levels) < 2:
        return ()
    return tuple(f"hierarchical({levels[0]}={outer},{levels[1]}={inner})" for outer, inner in pairs)


def told(machine: Machine, arrangement: Arrangement, collective: str) -> tuple[str, ...]:
    """What the library can be told to use; nothing among some of the ranks, whom the benchmark cannot ask."""
    if machine.members_of(arrangement):
        return ()
    return tuple(machine.target_for(arrangement).baselines(collective))


def case(
    machine: Machine, arrangement: Arrangement, collective: str, size_bytes: int, recipes: Sequence[str]
) -> Case:
    """The library's own and some recipes, from the first rank where there is a root."""
    members = machine.members_of(arrangement)
    return Case(size_bytes, 0, tuple(dict.fromkeys([NATIVE, *recipes])), collective, members)
