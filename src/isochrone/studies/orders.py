# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the placement study: regions, what it costs to leave one, and the order of the algorithms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby, pairwise

from isochrone.files import BCAST, NATIVE
from isochrone.statistics import geometric_mean
from isochrone.studies.places import GIVEN, Arrangement
from isochrone.studies.study import AS_FAST, TIES, Part, Table, Timed, best, by_label, label_of, size_words
from isochrone.units import format_ratio, format_time
from isochrone.words import capitalised

BARRIER = "barrier"
SHOWN = {
    BCAST: (NATIVE, "flat", "chain", "binary"),
    BARRIER: (NATIVE, "flat", "double_ring", "dissemination"),
}
"""The experiment's: default, basic linear, chain, binary tree; default, basic linear, double ring, Bruck."""
NAMES = {BCAST: "Broadcast", BARRIER: "Barrier"}


def jumps(collective: str, of_size: str, small: Sequence[Timed]) -> Table:
    rows = []
    for placement in dict.fromkeys(each.arrangement.placement for each in small):
        here = [each for each in small if each.arrangement.placement == placement]
        for label, times in by_label(here).items():
            for before, after in pairwise(sorted(times, key=lambda each: each.arrangement.ranks)):
                if before.region != after.region and before.recipe in SHOWN[collective]:
                    a, b = before.median_s.estimate, after.median_s.estimate
                    rows.append(
                        (
                            by_words(placement),
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
        f"{NAMES[collective]}{of_size}: what it costs to leave a region",
        ("Placement", "Algorithm", "From → to", "Ranks", "Before", "After", "Ratio"),
        tuple(rows),
        frozenset({1, 2}),
    )


def order(collective: str, timed: Sequence[Timed], first: str) -> Table:
    """The algorithms from the fastest to the slowest, region by region: ratios to the library's own."""
    rows = []
    here = [each for each in timed if each.arrangement.placement == first]
    before: dict[int, list[tuple[str, float]]] = {}
    for region in dict.fromkeys(each.region for each in here):
        for size in dict.fromkeys(each.size_bytes for each in here):
            order = ranked([each for each in here if each.region == region and each.size_bytes == size])
            moved = "" if size not in before else f"{_swapped(before[size], order)} pairs"
            before[size] = order
            listed = ", ".join(f"{name} {format_ratio(ratio)}" for name, ratio in order[:6])
            rows.append((region, _size(collective, size), listed, moved or "–"))
    return Table(
        f"{collective}-order",
        f"{NAMES[collective]}, {by_words(first)}: the six fastest algorithms of each region, with how many "
        "times as fast as the library's own they are (geometric mean over the numbers of ranks), and how "
        "many pairs of all algorithms stand the other way round than in the region before",
        ("Region", "Size", "From the fastest", "Changed"),
        tuple(rows),
        frozenset({1, 2}),
    )


def ranked(timed: Sequence[Timed]) -> list[tuple[str, float]]:
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


def winner_runs(collective: str, timed: Sequence[Timed]) -> Table:
    """Runs of numbers of ranks with one fastest algorithm."""
    won: dict[tuple[str, int], list[tuple[int, str, Timed]]] = defaultdict(list)
    for (arrangement, _, size), group in cases_of(timed).items():
        found = best(group)
        won[arrangement.placement, size].append((arrangement.ranks, label_of(found.recipe), found))
    rows = []
    for (placement, size), counts in won.items():
        runs = []
        for label, run in groupby(sorted(counts, key=lambda item: item[0]), key=lambda item: item[1]):
            few = [ranks for ranks, _, _ in run]
            runs.append(f"{_span(few)}: {label}")
        rows.append((by_words(placement), _size(collective, size), "; ".join(runs), str(len(runs) - 1)))
    return Table(
        f"{collective}-winners",
        f"{NAMES[collective]}: the fastest algorithm by number of ranks; {TIES}",
        ("Placement", "Size", "Ranks: the fastest", "Changes"),
        tuple(rows),
        frozenset({1, 2}),
    )


def _span(counts: Sequence[int]) -> str:
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}–{counts[-1]:,}"


def _size(collective: str, size_bytes: int) -> str:
    return "none" if collective == BARRIER else size_words(size_bytes)


def by_words(placement: str) -> str:
    return "as launched" if placement == GIVEN else f"{placement} by {placement}"


def regions(timed: Sequence[Timed]) -> Part:
    rows = []
    by_placement: dict[str, dict[int, str]] = defaultdict(dict)
    for each in timed:
        by_placement[each.arrangement.placement][each.arrangement.ranks] = each.region
    for placement, region_of in by_placement.items():
        for region, counts in groupby(sorted(region_of), key=lambda count: region_of[count]):
            few = list(counts)
            rows.append((by_words(placement), region, f"{few[0]:,}", f"{few[-1]:,}", f"{len(few)}"))
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


def cases_of(timed: Sequence[Timed]) -> dict[tuple[Arrangement, str, int], list[Timed]]:
    groups: dict[tuple[Arrangement, str, int], list[Timed]] = defaultdict(list)
    for each in timed:
        groups[each.arrangement, each.collective, each.size_bytes].append(each)
    return groups
