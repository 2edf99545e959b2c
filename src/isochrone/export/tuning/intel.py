# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI's variables ``I_MPI_ADJUST_*``: numbers of algorithms, for sizes of messages.

Intel MPI Library Developer Reference, "I_MPI_ADJUST Family Environment Variables":
``<algorithm>:<l>-<m>;...`` for messages of l to m bytes. A library that has such a variable has left its own
choice for all sizes: to those that are not named it gives one that is. So all are named, or none. Numbers of
ranks, which may follow a range, make versions of 2021 take the wrong one of several ranges: they are left
away.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isqrt

from isochrone.export.tuning.material import Exported, Material, counted, described
from isochrone.files.library import DEFAULT, LibraryRule, LibraryTuning
from isochrone.units import number_of

_MOST_BYTES = (1 << 31) - 1
# Of these the reference's table of message sizes has the blocks of all ranks ("total_recv_count"), of others
# one of them.
_OF_ALL_RANKS = frozenset({"allgatherv", "reduce_scatter"})


def says(_collective: str, name: str) -> bool:
    """Whether a variable can have an algorithm."""
    return name.isdecimal()


def without_equal(tuning: LibraryTuning, collective: str) -> list[LibraryRule]:
    """The rules of a collective that no variable can have: where there are some it has none.

    Between two sizes the library's own choice may change. What stands for it there was not measured, and is
    taken to be as fast only where it was at both. So it may be another one only at a size that was measured,
    whose evidence both rules have; and where no rule is, both beside it have the same.
    """
    rules = _by_size(tuning, collective)
    found = [rule for rule in rules if not _number(rule).isdecimal()]
    for low, high in pairwise(rules):
        are_measured = low.algorithm == high.algorithm == DEFAULT and low.evidence != high.evidence
        is_gap = high.min_bytes > low.max_bytes + 1
        if _number(low) != _number(high) and (are_measured or is_gap):
            found.append(low if high.algorithm != DEFAULT else high)
    return found


def write_variables(material: Material) -> Exported:
    """A shell's lines that set them."""
    tuning = material.needed_tuning
    left_out = material.recipes_left_out()
    settings: dict[str, str] = {}
    for name in dict.fromkeys(rule.collective for rule in tuning.told()):
        rules = _by_size(tuning, name)
        unequal = without_equal(tuning, name)
        if unequal:
            left_out += [
                f"{described(rule)}: Intel MPI cannot be left to itself at the other sizes, and nothing that "
                f"is as fast is known for {number_of(len(set(unequal)), 'range')} of them"
                for rule in tuning.told(name)
            ]
            continue
        numbers = [(rule.min_bytes, rule.max_bytes, _number(rule)) for rule in rules]
        settings |= variable(name, numbers, tuning.ranks)
    text = "".join(f"export {name}='{value}'\n" for name, value in settings.items())
    return Exported(f"# Made by Isochrone for {tuning.ranks} ranks.\n{text}", settings, left_out)


def _by_size(tuning: LibraryTuning, collective: str) -> list[LibraryRule]:
    rules = [rule for rule in tuning.rules if rule.collective == collective]
    return sorted(rules, key=lambda rule: rule.min_bytes)


def variable(collective: str, numbers: Sequence[tuple[int, int, str]], ranks: int) -> dict[str, str]:
    """The variable that has algorithms of a collective: for each the first and last size in bytes, in
    ascending order, and its number. All sizes are named: what lies between two goes half and half, as factors
    are halved.
    """
    totals = collective in _OF_ALL_RANKS
    sizes = [counted(collective, first, last, ranks, totals) for first, last, _ in numbers]
    ends = [max(last, min(isqrt(last * first), first - 1)) for (_, last), (first, _) in pairwise(sizes)]
    parts: list[tuple[int, int, str]] = []
    for low, high, (_, _, number) in zip([-1, *ends], [*ends, _MOST_BYTES], numbers, strict=True):
        first, last = low + 1, min(high, _MOST_BYTES)
        if first > _MOST_BYTES:
            break
        if parts and parts[-1][2] == number:
            first = parts.pop()[0]
        parts.append((first, last, number))
    parts[-1] = (parts[-1][0], _MOST_BYTES, parts[-1][2])
    ranges = ";".join(f"{number}:{first}-{last}" for first, last, number in parts)
    return {f"I_MPI_ADJUST_{collective.upper()}": ranges}


def _number(rule: LibraryRule) -> str:
    """What the library is told for a rule; empty where it can be told nothing."""
    return rule.algorithm if rule.algorithm != DEFAULT else rule.equal or ""
