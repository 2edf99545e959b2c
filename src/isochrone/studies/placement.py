# SPDX-License-Identifier: BSD-3-Clause
"""Placement: what algorithms of broadcast and barrier take, by where the ranks are and how many there are.

The experiment of A. Valentinis, "HPC Final Project" (2024), exercise 1: four algorithms each, ranks put core
by core, socket by socket and node by node, on two nodes of two sockets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby, pairwise

from isochrone.files import BCAST
from isochrone.report.words import capitalised, join_words
from isochrone.statistics import geometric_mean
from isochrone.studies.figures import Panel, Series, time_by
from isochrone.studies.places import GIVEN, Arrangement, Machine
from isochrone.studies.recipes import by_levels, case, flat, most_ranks, told
from isochrone.studies.study import (
    AS_FAST,
    NATIVE,
    TIES,
    Asked,
    Figure,
    Findings,
    Part,
    Study,
    Table,
    Timed,
    Wanted,
    best,
    by_label,
    label_of,
    size_words,
)
from isochrone.units import format_bytes, format_ratio, format_time

BARRIER = "barrier"
SIZES_BYTES = (1, 16, 256, 2048, 65536)
"""The experiment's 1 byte to 2 KiB, and one beyond."""
_SHOWN = {
    BCAST: (NATIVE, "flat", "chain", "binary"),
    BARRIER: (NATIVE, "flat", "double_ring", "dissemination"),
}
"""The experiment's: default, basic linear, chain, binary tree; default, basic linear, double ring, Bruck."""
_NAMES = {BCAST: "Broadcast", BARRIER: "Barrier"}
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
    parts = [_regions(timed)]
    for collective in (BCAST, BARRIER):
        parts += _collective(collective, first, [each for each in timed if each.collective == collective])
    changes = _changes(timed)
    total = len({(e.arrangement, e.collective, e.size_bytes) for e in timed})
    headline = f"No algorithm is the fastest everywhere: {_won(timed)}"
    if len({best(group).recipe for group in _cases(timed).values()}) == 1:
        headline = f"One algorithm is the fastest everywhere: {_won(timed)}"
    lead = (
        f"{total:,} cases were timed, of {len({e.arrangement for e in timed}):,} arrangements of ranks.",
        f"The fastest changes {changes} times as ranks are added, over all placements and sizes.",
    )
    return Findings(headline, lead, tuple(parts), ())


def _won(timed: Sequence[Timed]) -> str:
    wins: dict[str, int] = defaultdict(int)
    cases = _cases([each for each in timed if each.collective == BCAST])
    for group in cases.values():
        wins[label_of(best(group).recipe)] += 1
    few = sorted(wins.items(), key=lambda item: -item[1])[:3]
    return f"of {len(cases):,} broadcasts " + join_words([f"{name} wins {count:,}" for name, count in few])


def _cases(timed: Sequence[Timed]) -> dict[tuple[Arrangement, str, int], list[Timed]]:
    groups: dict[tuple[Arrangement, str, int], list[Timed]] = defaultdict(list)
    for each in timed:
        groups[each.arrangement, each.collective, each.size_bytes].append(each)
    return groups


def _changes(timed: Sequence[Timed]) -> int:
    winners: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for (arrangement, collective, size), group in _cases(timed).items():
        winners[arrangement.placement, collective, size].append(label_of(best(group).recipe))
    return sum(a != b for row in winners.values() for a, b in pairwise(row))


def _regions(timed: Sequence[Timed]) -> Part:
    rows = []
    by_placement: dict[str, dict[int, str]] = defaultdict(dict)
    for each in timed:
        by_placement[each.arrangement.placement][each.arrangement.ranks] = each.region
    for placement, region_of in by_placement.items():
        for region, counts in groupby(sorted(region_of), key=lambda count: region_of[count]):
            few = list(counts)
            rows.append((_by(placement), region, f"{few[0]:,}", f"{few[-1]:,}", f"{len(few)}"))
    table = Table(
        "regions",
        "Where all ranks of a run are, by placement and number of ranks",
        ("Placement", "Region", "From ranks", "To", "Numbers of ranks timed"),
        tuple(rows),
        frozenset({1}),
    )
    words = (
        "A region is the innermost part of the machine that holds all ranks of a run. Core by core ranks "
        "leave a part only when it is full; socket by socket and node by node they leave it at once.",
    )
    return Part("regions", "Regions", words, (), (table,))


def _collective(collective: str, first: str, timed: Sequence[Timed]) -> list[Part]:
    name = _NAMES[collective]
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
                    _by(place), [e for e in small if e.recipe == recipe and e.arrangement.placement == place]
                )
                for place in places
            ),
            borders,
        )
        for recipe in _SHOWN[collective]
        if any(each.recipe == recipe for each in small)
    ]
    here = [each for each in small if each.arrangement.placement == first]
    compared = [
        (label, rows)
        for label, rows in by_label(here).items()
        if _is_shown(collective, rows[0].recipe, label)
    ]
    order = Panel(
        f"{name}{of_size}, {_by(first)}",
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
                "several "
                f"calls. {lines}",
                f"Time of a {name.lower()} by ranks and placement, for {len(panels)} algorithms.",
                time_by(panels, "ranks", False),
            ),
        ),
        (_jumps(collective, of_size, small),),
    )
    figures = [
        Figure(
            f"{collective}-algorithms",
            f"{name}{of_size} by number of ranks, {_by(first)}, the algorithms beside each other. {lines}",
            f"Time of a {name.lower()} by ranks, for {len(compared)} algorithms.",
            time_by([order], "ranks", False),
        )
    ]
    if collective == BCAST and len({each.size_bytes for each in timed}) > 1:
        figures.append(_sizes(timed, first))
    compare = Part(
        f"{collective}-algorithms",
        f"{name}: one placement, all algorithms",
        (_order_sentence(name, here),),
        tuple(figures),
        (_order(collective, timed, first), _winners(collective, timed)),
    )
    return [vary, compare]


def _is_shown(collective: str, recipe: str, label: str) -> bool:
    return recipe in (*_SHOWN[collective], *_ALONGSIDE[collective]) or label.endswith("by levels")


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
        f"Broadcast by message size, {_by(first)}, at the largest number of ranks of each region.",
        f"Time of a broadcast by size in {len(panels)} regions.",
        time_by(panels, "message size", True),
    )


def _jumps(collective: str, of_size: str, small: Sequence[Timed]) -> Table:
    rows = []
    for placement in dict.fromkeys(each.arrangement.placement for each in small):
        here = [each for each in small if each.arrangement.placement == placement]
        for label, times in by_label(here).items():
            for before, after in pairwise(sorted(times, key=lambda each: each.arrangement.ranks)):
                if before.region != after.region and before.recipe in _SHOWN[collective]:
                    a, b = before.median_s.estimate, after.median_s.estimate
                    rows.append(
                        (
                            _by(placement),
                            capitalised(label),
                            f"{before.region} → {after.region}",
                            f"{before.arrangement.ranks:,} → {after.arrangement.ranks:,}",
                            format_time(a),
                            format_time(b),
                            format_ratio(b / a),
                        )
                    )
    return Table(
        f"{collective}-jumps",
        f"{_NAMES[collective]}{of_size}: what it costs to leave a region",
        ("Placement", "Algorithm", "From → to", "Ranks", "Before", "After", "Ratio"),
        tuple(rows),
        frozenset({1, 2}),
    )


def _order(collective: str, timed: Sequence[Timed], first: str) -> Table:
    """The algorithms from the fastest to the slowest, region by region: ratios to the library's own."""
    rows = []
    here = [each for each in timed if each.arrangement.placement == first]
    before: dict[int, list[tuple[str, float]]] = {}
    for region in dict.fromkeys(each.region for each in here):
        for size in dict.fromkeys(each.size_bytes for each in here):
            order = _ranked([each for each in here if each.region == region and each.size_bytes == size])
            moved = "" if size not in before else f"{_swapped(before[size], order)} pairs"
            before[size] = order
            listed = ", ".join(f"{name} {format_ratio(ratio)}" for name, ratio in order[:6])
            rows.append((region, _size(collective, size), listed, moved or "–"))
    return Table(
        f"{collective}-order",
        f"{_NAMES[collective]}, {_by(first)}: the six fastest algorithms of each region, with how many times "
        "as "
        "fast as the library's own they are (geometric mean over the numbers of ranks), and how many pairs "
        "of all "
        "algorithms stand the other way round than in the region before",
        ("Region", "Size", "From the fastest", "Changed"),
        tuple(rows),
        frozenset({1, 2}),
    )


def _ranked(timed: Sequence[Timed]) -> list[tuple[str, float]]:
    """Of the algorithms that were timed at every number of ranks but those where they are others."""
    own = {each.arrangement: each.median_s.estimate for each in timed if each.recipe == NATIVE}
    ratios = {
        label: [own[each.arrangement] / each.median_s.estimate for each in rows]
        for label, rows in by_label(timed).items()
    }
    most = max(map(len, ratios.values()))
    whole = {label: geometric_mean(values) for label, values in ratios.items() if len(values) == most}
    return sorted(whole.items(), key=lambda item: -item[1])


def _swapped(before: Sequence[tuple[str, float]], after: Sequence[tuple[str, float]]) -> int:
    """How many pairs differ both times, and the other way round."""
    now = dict(after)
    both = [(name, speed) for name, speed in before if name in now]
    return sum(
        speed > AS_FAST * slower and now[other] > AS_FAST * now[name]
        for at, (name, speed) in enumerate(both)
        for other, slower in both[at + 1 :]
    )


def _winners(collective: str, timed: Sequence[Timed]) -> Table:
    """Runs of numbers of ranks with one fastest algorithm."""
    won: dict[tuple[str, int], list[tuple[int, str, Timed]]] = defaultdict(list)
    for (arrangement, _, size), group in _cases(timed).items():
        found = best(group)
        won[arrangement.placement, size].append((arrangement.ranks, label_of(found.recipe), found))
    rows = []
    for (placement, size), counts in won.items():
        runs = []
        for label, run in groupby(sorted(counts, key=lambda item: item[0]), key=lambda item: item[1]):
            few = [ranks for ranks, _, _ in run]
            runs.append(f"{_span(few)}: {label}")
        rows.append((_by(placement), _size(collective, size), "; ".join(runs), str(len(runs) - 1)))
    return Table(
        f"{collective}-winners",
        f"{_NAMES[collective]}: the fastest algorithm by number of ranks; {TIES}",
        ("Placement", "Size", "Ranks: the fastest", "Changes"),
        tuple(rows),
        frozenset({1, 2}),
    )


def _span(counts: Sequence[int]) -> str:
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}–{counts[-1]:,}"


def _size(collective: str, size_bytes: int) -> str:
    return "none" if collective == BARRIER else size_words(size_bytes)


def _by(placement: str) -> str:
    return "as launched" if placement == GIVEN else f"{placement} by {placement}"


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
        return f"Ranks are {_by(first)} only, for they cannot be put elsewhere here."
    ratio, label, worst, least = max(ratios)
    calm = min(ratios)
    if ratio < 1.05:
        return f"At {most:,} ranks no placement makes a difference of 5 % to any algorithm."
    return (
        f"At {most:,} ranks the placement matters most to {label}: "
        f"{_by(worst)} it takes {format_ratio(ratio)} as long as {_by(least)}. It matters least to "
        f"{calm[1]}: "
        f"{format_ratio(calm[0])}."
    )


def _order_sentence(name: str, here: Sequence[Timed]) -> str:
    sentences = []
    for region in dict.fromkeys(each.region for each in here):
        order = _ranked([each for each in here if each.region == region])
        (fast, gain), (slow, loss) = order[0], order[-1]
        sentences.append(
            f"{region} {fast} is the fastest ({format_ratio(gain)} of the library's own speed) and {slow} "
            f"the slowest ({format_ratio(loss)})"
        )
    return f"{name}, the smallest size: {'; '.join(sentences)}."


STUDY = Study(
    "placement",
    "Broadcast and barrier by placement of the ranks",
    "How do the algorithms of broadcast and barrier behave as ranks fill a socket, a node and several nodes, "
    "put core by core, socket by socket or node by node; and where does their order change?",
    "A. Valentinis, HPC Final Project (2024), exercise 1",
    20,
    wanted,
    findings,
)
