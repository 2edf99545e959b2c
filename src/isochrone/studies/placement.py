# SPDX-License-Identifier: BSD-3-Clause
"""Placement: what algorithms of broadcast and barrier take, by where the ranks are and how many there are.

The experiment of A. Valentinis, "HPC Final Project" (2024), exercise 1: four algorithms each, ranks put core
by core, socket by socket and node by node, on two nodes of two sockets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from isochrone.files import BCAST, NATIVE
from isochrone.studies.figures import Panel, Series, time_by
from isochrone.studies.orders import (
    BARRIER,
    NAMES,
    SHOWN,
    by_words,
    cases_of,
    jumps,
    order,
    ranked,
    regions,
    winner_runs,
)
from isochrone.studies.places import Arrangement, Machine
from isochrone.studies.recipes import by_levels, case, flat, most_ranks, told
from isochrone.studies.study import (
    Asked,
    Figure,
    Findings,
    Part,
    Study,
    Timed,
    Wanted,
    best,
    by_label,
    label_of,
)
from isochrone.units import format_bytes, format_ratio
from isochrone.words import capitalised, join_words

SIZES_BYTES = (1, 16, 256, 2048, 65536)
"""The experiment's 1 byte to 2 KiB, and one beyond."""
_ALONGSIDE = {BCAST: ("binomial", "knomial"), BARRIER: ("recursive_doubling", "binomial")}
_BY_LEVELS = "binomial"


def wanted(machine: Machine, asked: Asked) -> list[Wanted]:
    """Every algorithm at every size, in each placement and at each number of ranks."""
    counts = asked.ranks or counts_for(machine)
    sizes = asked.sizes_bytes or SIZES_BYTES
    found = []
    for placement in machine.placements():
        for count in counts:
            here = Arrangement(placement, count)
            layout = machine.layout_of(here)
            cases = []
            for collective, its_sizes in ((BCAST, sizes), (BARRIER, (0,))):
                recipes = [
                    *flat(machine, count, collective),
                    *by_levels(collective, layout, _BY_LEVELS),
                    *told(machine, here, collective),
                ]
                cases += [case(machine, here, collective, size, recipes) for size in its_sizes]
            found.append(Wanted(here, tuple(cases)))
    return found


def counts_for(machine: Machine) -> tuple[int, ...]:
    """Powers of two and what is half-way between them, and both sides of where ranks leave a group."""
    most = most_ranks(machine)
    counts = {most}
    power = 2
    while power <= most:
        counts |= {power, power * 3 // 2}
        power *= 2
    for boundary in machine.boundaries():
        counts |= {boundary, boundary + max(1, boundary // 16)}
    return tuple(sorted(count for count in counts if 2 <= count <= most))


def findings(machine: Machine, timed: Sequence[Timed]) -> Findings:
    """Regions, jumps between them, and where the order of the algorithms changes."""
    first = timed[0].arrangement.placement
    parts = [regions(timed)]
    for collective in (BCAST, BARRIER):
        parts += _collective(collective, first, [each for each in timed if each.collective == collective])
    changes = _changes(timed)
    total = len({(e.arrangement, e.collective, e.size_bytes) for e in timed})
    headline = f"No algorithm is the fastest everywhere: {_won(timed)}"
    if len({best(group).recipe for group in cases_of(timed).values()}) == 1:
        headline = f"One algorithm is the fastest everywhere: {_won(timed)}"
    lead = (
        f"{total:,} cases were timed, of {len({e.arrangement for e in timed}):,} arrangements of ranks.",
        f"The fastest changes {changes} times as ranks are added, over all placements and sizes.",
    )
    return Findings(headline, lead, tuple(parts), ())


def _won(timed: Sequence[Timed]) -> str:
    wins: dict[str, int] = defaultdict(int)
    cases = cases_of([each for each in timed if each.collective == BCAST])
    for group in cases.values():
        wins[label_of(best(group).recipe)] += 1
    few = sorted(wins.items(), key=lambda item: -item[1])[:3]
    return f"of {len(cases):,} broadcasts " + join_words([f"{name} wins {count:,}" for name, count in few])


def _changes(timed: Sequence[Timed]) -> int:
    winners: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for (arrangement, collective, size), group in cases_of(timed).items():
        winners[arrangement.placement, collective, size].append(label_of(best(group).recipe))
    return sum(a != b for row in winners.values() for a, b in pairwise(row))


def _collective(collective: str, first: str, timed: Sequence[Timed]) -> list[Part]:
    name = NAMES[collective]
    least = min(each.size_bytes for each in timed)
    small = [each for each in timed if each.size_bytes == least]
    of_size = "" if collective == BARRIER else f" of {format_bytes(least)}"
    places = list(dict.fromkeys(each.arrangement.placement for each in small))
    borders = _borders([each for each in small if each.arrangement.placement == first])
    panels = [
        Panel(
            capitalised(label_of(recipe)),
            tuple(
                _series(
                    by_words(place),
                    [e for e in small if e.recipe == recipe and e.arrangement.placement == place],
                )
                for place in places
            ),
            borders,
        )
        for recipe in SHOWN[collective]
        if any(each.recipe == recipe for each in small)
    ]
    here = [each for each in small if each.arrangement.placement == first]
    compared = [
        (label, rows)
        for label, rows in by_label(here).items()
        if _is_shown(collective, rows[0].recipe, label)
    ]
    beside = Panel(
        f"{name}{of_size}, {by_words(first)}",
        tuple(_series(label, rows, rows[0].recipe == NATIVE) for label, rows in compared),
        borders,
    )
    lines = "Dotted lines: where ranks that are put core by core leave a socket, or a node."
    vary = Part(
        f"{collective}-placements",
        f"{name}: one algorithm, all placements",
        (_jump_sentence(small, first),),
        (
            Figure(
                f"{collective}-placements",
                f"{name}{of_size} by number of ranks, one panel for each algorithm of the original "
                "experiment, one line for each placement. Medians, with 95 % intervals where there are "
                f"several calls. {lines}",
                f"Time of a {name.lower()} by ranks and placement, for {len(panels)} algorithms.",
                time_by(panels, "ranks", False),
            ),
        ),
        (jumps(collective, of_size, small),),
    )
    figures = [
        Figure(
            f"{collective}-algorithms",
            f"{name}{of_size} by number of ranks, {by_words(first)}, the algorithms beside each other. "
            f"{lines}",
            f"Time of a {name.lower()} by ranks, for {len(compared)} algorithms.",
            time_by([beside], "ranks", False),
        )
    ]
    if collective == BCAST and len({each.size_bytes for each in timed}) > 1:
        figures.append(_sizes(timed, first))
    compare = Part(
        f"{collective}-algorithms",
        f"{name}: one placement, all algorithms",
        (_order_sentence(name, here),),
        tuple(figures),
        (order(collective, timed, first), winner_runs(collective, timed)),
    )
    return [vary, compare]


def _is_shown(collective: str, recipe: str, label: str) -> bool:
    return recipe in (*SHOWN[collective], *_ALONGSIDE[collective]) or label.endswith("by levels")


def _sizes(timed: Sequence[Timed], first: str) -> Figure:
    """By size, at the largest number of ranks in each region."""
    here = [each for each in timed if each.arrangement.placement == first]
    largest: dict[str, int] = {}
    for each in here:
        largest[each.region] = max(largest.get(each.region, 0), each.arrangement.ranks)
    panels = []
    for region, ranks in largest.items():
        rows = [each for each in here if each.arrangement.ranks == ranks and each.size_bytes > 0]
        lines = tuple(
            Series(label, tuple((e.size_bytes, e.median_s) for e in few), few[0].recipe == NATIVE)
            for label, few in by_label(rows).items()
            if _is_shown(BCAST, few[0].recipe, label)
        )
        panels.append(Panel(f"{capitalised(region)}: {ranks:,} ranks", lines))
    return Figure(
        "bcast-sizes",
        f"Broadcast by message size, {by_words(first)}, at the largest number of ranks of each region.",
        f"Time of a broadcast by size in {len(panels)} regions.",
        time_by(panels, "message size", True),
    )


def _series(name: str, timed: Sequence[Timed], own: bool = False) -> Series:
    ordered = sorted(timed, key=lambda each: each.arrangement.ranks)
    return Series(name, tuple((each.arrangement.ranks, each.median_s) for each in ordered), own)


def _borders(timed: Sequence[Timed]) -> tuple[int, ...]:
    region_of = {each.arrangement.ranks: each.region for each in timed}
    return tuple(a for a, b in pairwise(sorted(region_of)) if region_of[a] != region_of[b])


def _jump_sentence(small: Sequence[Timed], first: str) -> str:
    most = max(each.arrangement.ranks for each in small)
    ratios = []
    for recipe, rows in by_label([each for each in small if each.arrangement.ranks == most]).items():
        times = {each.arrangement.placement: each.median_s.estimate for each in rows}
        if len(times) > 1:
            least, worst = min(times, key=times.__getitem__), max(times, key=times.__getitem__)
            ratios.append((times[worst] / times[least], recipe, worst, least))
    if not ratios:
        return f"Ranks are {by_words(first)} only, for they cannot be put elsewhere here."
    ratio, label, worst, least = max(ratios)
    calm = min(ratios)
    if ratio < 1.05:
        return f"At {most:,} ranks no placement makes a difference of 5 % to any algorithm."
    return (
        f"At {most:,} ranks the placement matters most to {label}: {by_words(worst)} it takes "
        f"{format_ratio(ratio)} as long as {by_words(least)}. It matters least to {calm[1]}: "
        f"{format_ratio(calm[0])}."
    )


def _order_sentence(name: str, here: Sequence[Timed]) -> str:
    sentences = []
    for region in dict.fromkeys(each.region for each in here):
        speeds = ranked([each for each in here if each.region == region])
        (fast, gain), (slow, loss) = speeds[0], speeds[-1]
        sentences.append(
            f"{region} {fast} is the fastest ({format_ratio(gain)} of the library's own speed) and {slow} "
            f"the slowest ({format_ratio(loss)})"
        )
    return f"{name}, the smallest size: {'; '.join(sentences)}."


STUDY = Study(
    "placement",
    "Broadcast and barrier by placement of the ranks",
    "How do the algorithms of broadcast and barrier behave as ranks fill a socket, a node and several "
    "nodes, put core by core, socket by socket or node by node; and where does their order change?",
    "A. Valentinis, HPC Final Project (2024), exercise 1",
    20,
    wanted,
    findings,
)
