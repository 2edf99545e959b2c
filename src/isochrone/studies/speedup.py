# SPDX-License-Identifier: BSD-3-Clause
"""Speedup: what collectives gain that go level by level, by nodes, ranks on a node, and size.

The experiment of S. Sinha, "Optimizing MPICH Collective Calls using Topology info" (2021): least, most, mean
and median speedup of ten runs, for broadcast, reduction, gather and all-to-all with vectors of counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from isochrone.errors import UsageError
from isochrone.files import BCAST, NATIVE
from isochrone.statistics import FloatArray, Interval, geometric_mean
from isochrone.studies.figures import Panel, Series, ratio_by, time_by
from isochrone.studies.places import GIVEN, Arrangement, Machine
from isochrone.studies.recipes import MOST_QUADRATIC, by_levels, case, flat
from isochrone.studies.study import (
    Asked,
    Figure,
    Findings,
    Part,
    Study,
    Table,
    Timed,
    Wanted,
    best,
    label_of,
    size_words,
)
from isochrone.tune.collectives import sizes_of, words
from isochrone.units import format_ratio
from isochrone.words import capitalised

SIZES_BYTES = (16384, 262144, 2097152)
"""The experiment's D of 16, 256 and 2048, in KiB."""
_NODES, _PER_NODE = (4, 16), (1, 8)
_COLLECTIVES = {
    BCAST: ("binomial", "scatter_allgather"),
    "reduce": ("binomial", "rabenseifner"),
    "gather": ("binomial", "flat"),
    "alltoallv": ("linear", "pairwise"),
}
"""With the algorithms that run at each level: such as MPICH has for small and for large messages."""
LEVELS, BEST = "going level by level", "the best of ours"


def wanted(machine: Machine, asked: Asked) -> list[Wanted]:
    """The library's own, one algorithm level by level, and all flat ones.

    Raises:
        UsageError: a number of ranks is asked for that no arrangement has.
    """
    found = []
    every_place = arrangements(machine)
    counts = sorted({here.ranks for here in every_place})
    missing = sorted(set(asked.ranks or ()) - set(counts))
    if missing:
        there = ", ".join(map(str, counts))
        raise UsageError(
            f"no arrangement of this study has {missing[0]} ranks here",
            "--ranks",
            f"there are some of {there}",
        )
    for here in every_place:
        if asked.ranks and here.ranks not in asked.ranks:
            continue
        layout = machine.layout_of(here)
        cases = []
        for collective, algorithms in _COLLECTIVES.items():
            every = flat(machine, here.ranks, collective)
            if not every:
                continue
            levels = [
                recipe for algorithm in algorithms for recipe in by_levels(collective, layout, algorithm)
            ]
            recipes = [*levels, *every]
            for size in _sizes(collective, asked.sizes_bytes or SIZES_BYTES, here.ranks):
                cases.append(case(machine, here, collective, size, recipes))
        found.append(Wanted(here, tuple(cases)))
    return found


def arrangements(machine: Machine) -> list[Arrangement]:
    """4 and 16 nodes with 1 and 8 ranks on each, as far as there are so many, in the target's own order; all
    ranks where none can be put anywhere.
    """
    if not machine.seats:
        return [Arrangement(GIVEN, machine.size)]
    nodes = sorted({min(count, machine.nodes) for count in _NODES})
    per_node = sorted({min(count, machine.per_node) for count in _PER_NODE})
    pairs = [(count, each) for count in nodes for each in per_node if count * each > 1]
    return [Arrangement(GIVEN, count * each, each) for count, each in pairs]


def _sizes(collective: str, sizes_bytes: Sequence[int], ranks: int) -> tuple[int, ...]:
    """What all send is the same whatever the collective: one of all to all has a part for each rank."""
    if collective == "alltoallv":
        return tuple(dict.fromkeys(max(1, size // ranks) for size in sizes_bytes))
    return sizes_of(collective, sizes_bytes)


def findings(machine: Machine, timed: Sequence[Timed]) -> Findings:
    """A table and two figures for each collective."""
    parts, medians = [], []
    kind = LEVELS if any(_goes_by_levels(each) for each in timed) else BEST
    for collective in dict.fromkeys(each.collective for each in timed):
        here = [each for each in timed if each.collective == collective]
        part, of_all = _collective(collective, here, kind)
        parts.append(part)
        # Of few ranks on each node some have no recipe that goes by levels.
        if of_all:
            medians.append((geometric_mean(of_all), collective))
    gain, most = max(medians)
    loss, least = min(medians)
    headline = (
        f"{capitalised(words(most))} gains most by {kind}: {format_ratio(gain)} in the geometric mean of the "
        "medians"
    )
    lead = (
        f"{capitalised(words(least))} gains least: {format_ratio(loss)}.",
        "Above 1 the library's own takes longer.",
    )
    return Findings(headline, lead, tuple(parts), _OWN_LIMITS)


_OWN_LIMITS = (
    "What is fastest, level by level or of all of ours, is chosen by the very times that its speedup is of; "
    "where times have noise, a part of its gain is luck.",
    f"In a simulation there is no all-to-all among more than {MOST_QUADRATIC} ranks: it takes too long.",
    "All-to-all: a rank's blocks for all have the stated bytes together, so that one block is that share.",
)


def _goes_by_levels(each: Timed) -> bool:
    return label_of(each.recipe).endswith("by levels")


def _collective(collective: str, timed: Sequence[Timed], counted: str) -> tuple[Part, list[float]]:
    """The part on one collective, and the medians of the speedups of what is `counted`."""
    name = capitalised(words(collective))
    groups: dict[tuple[Arrangement, int], list[Timed]] = defaultdict(list)
    for each in timed:
        groups[each.arrangement, each.size_bytes].append(each)
    rows, medians = [], []
    lines: dict[tuple[str, Arrangement], list[tuple[int, Interval]]] = defaultdict(list)
    times: dict[tuple[Arrangement, str], list[tuple[int, Interval]]] = defaultdict(list)
    for (arrangement, size), group in groups.items():
        (own,) = (each for each in group if each.recipe == NATIVE)
        ours = [each for each in group if each.recipe != NATIVE]
        by_level = [each for each in ours if _goes_by_levels(each)]
        times[arrangement, "library's own"].append((size, own.median_s))
        for kind, chosen in ((LEVELS, by_level), (BEST, ours)):
            if chosen:
                each = best(chosen)
                ratios = _ratios(own.times_s, each.times_s)
                median = float(np.median(ratios))
                if kind == counted:
                    medians.append(median)
                spread = Interval(median, float(ratios.min()), float(ratios.max()), 0.0)
                lines[kind, arrangement].append((size, spread))
                times[arrangement, kind].append((size, each.median_s))
                rows.append(_row(arrangement, size, kind, each, ratios))
    table = Table(
        f"{collective}-speedup",
        f"{name}: speedup over the library's own, of each pair of calls that followed each other",
        ("Nodes", "Ranks on each", "Size", "What", "Algorithm", "Least", "Most", "Mean", "Median"),
        tuple(rows),
        frozenset({3, 4}),
    )
    panels = [
        Panel(
            capitalised(kind),
            tuple(
                Series(_place(arrangement), tuple(points))
                for (k, arrangement), points in lines.items()
                if k == kind
            ),
        )
        for kind in (LEVELS, BEST)
        if any(k == kind for k, _ in lines)
    ]
    time_panels = [
        Panel(
            _place(arrangement),
            tuple(
                Series(kind, tuple(points), kind == "library's own")
                for (a, kind), points in times.items()
                if a == arrangement
            ),
        )
        for arrangement in dict.fromkeys(arrangement for arrangement, _ in times)
    ]
    figures = (
        Figure(
            f"{collective}-speedup",
            f"{name}: median speedup over the library's own by size, and the least and the most of all "
            "calls.",
            f"Speedup of {words(collective)} by size.",
            ratio_by(panels, "size", True, "speedup"),
        ),
        Figure(
            f"{collective}-times",
            f"{name}: medians of the times, with their intervals.",
            f"Time of {words(collective)} by size.",
            time_by(time_panels, "size", True),
        ),
    )
    faster = sum(value > 1 for value in medians)
    sentence = f"{capitalised(counted)} is faster than the library's own in {faster} of {len(medians)} cases."
    return Part(collective, name, (sentence,), figures, (table,)), medians


def _ratios(own_s: FloatArray, other_s: FloatArray) -> FloatArray:
    """Of calls that took turns, as many as both have."""
    few = min(len(own_s), len(other_s))
    return own_s[:few] / other_s[:few]


def _row(arrangement: Arrangement, size: int, kind: str, each: Timed, ratios: FloatArray) -> tuple[str, ...]:
    return (
        f"{_nodes(arrangement):,}" if arrangement.per_node else "as launched",
        f"{arrangement.per_node}" if arrangement.per_node else f"{arrangement.ranks} in all",
        size_words(size),
        kind,
        label_of(each.recipe),
        format_ratio(float(ratios.min())),
        format_ratio(float(ratios.max())),
        format_ratio(float(ratios.mean())),
        format_ratio(float(np.median(ratios))),
    )


def _nodes(arrangement: Arrangement) -> int:
    return arrangement.ranks // (arrangement.per_node or 1)


def _place(arrangement: Arrangement) -> str:
    if arrangement.per_node is None:
        return f"{arrangement.ranks} ranks"
    return f"{_nodes(arrangement)} nodes × {arrangement.per_node}"


STUDY = Study(
    "speedup",
    "What collectives gain level by level",
    "How much faster than the library's own are broadcast, reduction, gather and all-to-all that go level "
    "by level through the machine, by nodes, ranks on a node and size?",
    "S. Sinha, Optimizing MPICH Collective Calls using Topology info (2021), tables 1 to 3 and figures 3 to "
    "5",
    10,
    wanted,
    findings,
)
