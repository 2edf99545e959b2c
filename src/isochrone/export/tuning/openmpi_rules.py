# SPDX-License-Identifier: BSD-3-Clause
"""The file of dynamic rules of Open MPI's component ``tuned``, for versions 4 and 5.

For a collective it has sizes of communicators, and for each of these sizes of messages from which an
algorithm is used: by its number, with a fan-out, and a segment size. Number 0 is the library's own choice.
Version 5 reads this first version of the form as well as its second, which only adds a number of requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isochrone.errors import IsochroneError
from isochrone.export.tuning.material import FILE, Exported, Material, bounds, described, with_sizes
from isochrone.files.library import LibraryRule, LibraryTuning
from isochrone.launch.tellable import HAN, TUNED, is_for_any_operation, parted
from isochrone.tune.collectives import collective as table_row

FANOUT = 4
"""What the library takes when it is told an algorithm at run time, and what was measured with."""
_OWN_CHOICE = (0, 0)
"""The library's own, by number and bytes of segments."""
_Step = tuple[int, int, int]
"""A size in bytes from which on an algorithm is used, its number, and the bytes of its segments (0: none)."""


@dataclass(frozen=True)
class _Row:
    """A collective.

    Attributes:
        number: that the file knows it by.
        algorithms: names, as MPI_T and ompi_info have them, by their numbers from 1 on.
        sizes: whether all ranks find the size of a message in the file. Some know it only at the root, or
            leave the number of elements out of it: then one rule is for all sizes.
        totals: whether the size is that of the blocks of all ranks.
    """

    number: int
    algorithms: str
    sizes: bool = True
    totals: bool = True


COLLECTIVES: Mapping[str, _Row] = {
    "allgather": _Row(0, "linear bruck recursive_doubling ring neighbor two_proc sparbit"),
    "allgatherv": _Row(1, "default bruck ring neighbor two_proc sparbit", sizes=False),
    "allreduce": _Row(
        2,
        "basic_linear nonoverlapping recursive_doubling ring segmented_ring rabenseifner",
    ),
    "alltoall": _Row(3, "linear pairwise modified_bruck linear_sync two_proc"),
    "alltoallv": _Row(4, "basic_linear pairwise", sizes=False),
    "barrier": _Row(6, "linear double_ring recursive_doubling bruck two_proc tree"),
    "bcast": _Row(
        7,
        "basic_linear chain pipeline split_binary_tree binary_tree binomial knomial scatter_allgather "
        "scatter_allgather_ring",
    ),
    "exscan": _Row(8, "linear recursive_doubling", sizes=False),
    "gather": _Row(9, "basic_linear binomial linear_sync", sizes=False),
    "reduce": _Row(11, "linear chain pipeline binary binomial in-order_binary rabenseifner"),
    "reduce_scatter": _Row(12, "non-overlapping recursive_halving ring butterfly"),
    "reduce_scatter_block": _Row(13, "basic_linear recursive_doubling recursive_halving butterfly"),
    "scan": _Row(14, "linear recursive_doubling", sizes=False),
    "scatter": _Row(15, "basic_linear binomial linear_nb", sizes=False),
}


def number_of_algorithm(collective: str, name: str) -> int | None:
    """That the library knows an algorithm by; None where it has none of that name."""
    names = COLLECTIVES[collective].algorithms.split() if collective in COLLECTIVES else []
    algorithm, _ = parted(name)
    return names.index(algorithm) + 1 if algorithm in names else None


def says(collective: str, name: str) -> bool:
    """Whether the file can have an algorithm."""
    known = number_of_algorithm(collective, name) is not None
    return known and is_for_any_operation(collective, name)


def without_sizes(tuning: LibraryTuning, collective: str) -> list[LibraryRule]:
    """The rules of a collective whose sizes the library does not tell apart."""
    row = COLLECTIVES.get(collective)
    return with_sizes(tuning, collective) if row is not None and not row.sizes else []


def write_rules(material: Material) -> Exported:
    """Rules for communicators of as many ranks as were measured, and of no other size."""
    tuning = material.needed_tuning
    left_out = material.recipes_left_out()
    tables: dict[str, list[_Step]] = {}
    for name in dict.fromkeys(rule.collective for rule in tuning.told()):
        rules = [rule for rule in tuning.told(name) if rule.algorithm not in (HAN, TUNED)]
        steps, not_said = _steps(rules, tuning)
        left_out += not_said
        if steps:
            tables[name] = steps
    own = [rule for rule in tuning.told() if rule.algorithm in (HAN, TUNED)]
    left_out += [f"{described(rule)}, which openmpi-han has" for rule in own]
    settings = {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": FILE,
    }
    return Exported(_text(tables, tuning), settings, left_out)


def _steps(rules: Sequence[LibraryRule], tuning: LibraryTuning) -> tuple[list[_Step], list[str]]:
    """From which size on what is used; and what cannot be said."""
    steps: list[_Step] = []
    left_out = []
    for rule in rules:
        row = COLLECTIVES.get(rule.collective)
        number = number_of_algorithm(rule.collective, rule.algorithm)
        _, segment_bytes = parted(rule.algorithm)
        if row is None or number is None:
            left_out.append(f"{described(rule)}: the form has no number for it")
        elif not is_for_any_operation(rule.collective, rule.algorithm):
            left_out.append(f"{described(rule)}: it is wrong for operations that do not commute")
        elif not row.sizes:
            if without_sizes(tuning, rule.collective):
                left_out.append(f"{described(rule)}: the library does not tell sizes of it apart")
            else:
                steps = [(0, number, segment_bytes)]
        else:
            low, high = bounds(rule, tuning.ranks, row.totals)
            if steps and steps[-1][0] == low:
                steps.pop()
            if table_row(rule.collective)["has_data"]:
                steps += [(low, number, segment_bytes), (high + 1, *_OWN_CHOICE)]
            else:
                steps.append((0, number, 0))
    return _merged(steps), left_out


def _merged(steps: Sequence[_Step]) -> list[_Step]:
    """From 0 on, each with something else than the one before."""
    found: list[_Step] = []
    for step in steps if steps and steps[0][0] == 0 else [(0, *_OWN_CHOICE), *steps]:
        if not found or found[-1][1:] != step[1:]:
            found.append(step)
    return found if steps else []


def _text(tables: Mapping[str, Sequence[_Step]], tuning: LibraryTuning) -> str:
    if any(size >= 1 << 63 for steps in tables.values() for size, _, _ in steps):
        raise IsochroneError("a size is too large for Open MPI")
    lines = [f"{len(tables)} # collectives; made by Isochrone for {tuning.ranks} ranks"]
    for name, steps in tables.items():
        lines += [f"{COLLECTIVES[name].number} # {name}", "3 # sizes of communicators"]
        lines += ["0 # ranks and more", "1 # size of messages", "0 0 0 0"]
        lines += [f"{tuning.ranks} # ranks", f"{len(steps)} # sizes of messages"]
        lines += [
            f"{size} {number} {FANOUT if number else 0} {segment_bytes}"
            for size, number, segment_bytes in steps
        ]
        lines += [f"{tuning.ranks + 1} # ranks and more", "1 # size of messages", "0 0 0 0"]
    return "".join(f"{line}\n" for line in lines)
