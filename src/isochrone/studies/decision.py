# SPDX-License-Identifier: BSD-3-Clause
"""Decision: which broadcast wins by message size and number of ranks, and how sure a few repetitions are.

The experiment of J. Reinfjell (2023), chapter 6: flat algorithms and those that go between clusters first, as
MagPIe does, against the library's own; a function that decides (tables 6.4 and 6.6, figures 6.4 and 6.12),
what it gains (tables 6.3 and 6.5), and the variance by repetitions (figure 5.2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from isochrone.files import BCAST, NATIVE
from isochrone.statistics import Interval, geometric_mean, ratio_ci
from isochrone.studies.figures import Panel, Series, ratio_by, time_by, winners
from isochrone.studies.places import GIVEN, Arrangement, Machine
from isochrone.studies.recipes import (
    MOST_SEGMENTS,
    between_and_inside,
    by_levels,
    case,
    flat,
    most_ranks,
    told,
)
from isochrone.studies.study import (
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
from isochrone.studies.sureness import Cell, sureness
from isochrone.units import format_ratio, format_ratio_interval, format_time, number_of

SIZES_BYTES = (1, 64, 4096, 65536, 262144, 1048576, 4194304)
"""Around the borders of the thesis's tables."""
_LEAST_RANKS = 8
_BETWEEN = (
    ("flat", "flat"),
    ("flat", "binary"),
    ("flat", "pipeline"),
    ("binary", "binary"),
    ("pipeline", "pipeline"),
    ("scatter_rd_allgather", "binomial"),
)
"""The thesis's MagPIe with its base algorithms, and such as go between clusters otherwise."""
_LINES = 6


def wanted(machine: Machine, asked: Asked) -> list[Wanted]:
    """Every algorithm at every size and number of ranks, in the target's own placement."""
    counts = asked.ranks or counts_for(machine)
    found = []
    for count in counts:
        here = Arrangement(GIVEN, count)
        layout = machine.layout_of(here)
        recipes = [
            *flat(machine, count, BCAST),
            *between_and_inside(BCAST, layout, _BETWEEN),
            *by_levels(BCAST, layout, "binomial"),
            *told(machine, here, BCAST),
        ]
        sizes = asked.sizes_bytes or SIZES_BYTES
        found.append(Wanted(here, tuple(case(machine, here, BCAST, size, recipes) for size in sizes)))
    return found


def counts_for(machine: Machine) -> tuple[int, ...]:
    """Powers of two from eight, and all; of simulated ones no more than there is time for."""
    most = most_ranks(machine)
    powers = {1 << bits for bits in range(31) if _LEAST_RANKS <= 1 << bits <= most}
    return tuple(sorted(powers | {most}))


def findings(machine: Machine, timed: Sequence[Timed]) -> Findings:
    """The winners as a map and as a function, what they gain, and how sure they are."""
    cells: dict[Cell, list[Timed]] = defaultdict(list)
    for each in timed:
        cells[each.arrangement.ranks, each.size_bytes].append(each)
    won = {cell: best(group) for cell, group in cells.items()}
    gains = {cell: _speedup(cells[cell], winner) for cell, winner in won.items()}
    labels = [label_of(each.recipe) for each in won.values()]
    counted = sorted({name: labels.count(name) for name in labels}.items(), key=lambda item: -item[1])
    names = len(counted)
    many = f"{names} different algorithms win" if names > 1 else "one algorithm wins"
    headline = f"In {number_of(len(cells), 'case')} of size and ranks {many}"
    if names == 1:
        headline += f": {counted[0][0]}"
    elif counted[0][1] > 1:
        headline += f": {counted[0][0]} most often, {counted[0][1]} times"
    mean = geometric_mean([gain.estimate for gain in gains.values()])
    most = max(gains, key=lambda cell: gains[cell].estimate)
    lead = (
        f"Whoever always takes the winner is {format_ratio(mean)} as fast as the library's own choice, in "
        "the geometric mean of all cases.",
        f"The most is {format_ratio(gains[most].estimate)}, at {most[0]:,} ranks and {size_words(most[1])}.",
    )
    parts = [_map(cells, won, gains), _function(won), _gain(gains), _times(timed)]
    several = min(len(each.times_s) for each in timed)
    if several > 1:
        parts.append(sureness(cells, won))
    return Findings(headline, lead, tuple(parts), _own_limits(several, machine.target.simulated))


def _own_limits(repetitions: int, is_simulated: bool) -> tuple[str, ...]:
    few = f"Simulated messages are cut into {MOST_SEGMENTS} segments at most, which is few for long "
    "pipelines."
    shown = (
        "A winner is the one with the least median: where others are within the interval of its speedup, "
        "another run may name one of these. Its speedup is of the very times that it was chosen by, so that "
        "a part of a small gain is luck.",
        "The root is the first rank.",
    )
    alone = ("The variance by repetitions is not shown: with one call of each there is none.",)
    told_of = shown if repetitions > 1 else (*shown[1:], *alone)
    return (*told_of, few) if is_simulated else told_of


def _speedup(group: Sequence[Timed], winner: Timed) -> Interval:
    (own,) = (each for each in group if each.recipe == NATIVE)
    return ratio_ci(own.times_s, winner.times_s)


def _map(cells: dict[Cell, list[Timed]], won: dict[Cell, Timed], gains: dict[Cell, Interval]) -> Part:
    ranks, sizes = sorted({r for r, _ in cells}), sorted({s for _, s in cells})
    names = [[label_of(won[r, s].recipe) if (r, s) in won else None for s in sizes] for r in ranks]
    notes = [[format_ratio(gains[r, s].estimate) if (r, s) in gains else "" for s in sizes] for r in ranks]
    figure = Figure(
        "winners",
        "The fastest broadcast by number of ranks and message size. The number in a field is how many times "
        "as fast as the library's own choice it is.",
        f"Map of the fastest broadcast for {len(ranks)} numbers of ranks and {len(sizes)} sizes.",
        winners([f"{r:,}" for r in ranks], [size_words(s) for s in sizes], names, notes),
    )
    table = Table(
        "winners",
        f"The fastest broadcast for each number of ranks and size; {TIES}",
        ("Ranks", *(size_words(size) for size in sizes)),
        tuple((f"{r:,}", *(name or "–" for name in row)) for r, row in zip(ranks, names, strict=True)),
        frozenset(range(1, len(sizes) + 1)),
    )
    seconds = []
    for cell, group in cells.items():
        others = [each for each in group if label_of(each.recipe) != label_of(won[cell].recipe)]
        if others:
            seconds.append(best(others).median_s.estimate / won[cell].median_s.estimate)
    near = sum(ratio < 1.05 for ratio in seconds)
    sentence = f"In {near} of {len(cells)} cases the second is less than 5 % slower than the winner."
    return Part("winners", "Which algorithm wins", (sentence,), (figure,), (table,))


def _function(won: dict[Cell, Timed]) -> Part:
    rows = []
    for ranks in sorted({r for r, _ in won}):
        sizes = sorted(size for r, size in won if r == ranks)
        runs = []
        for label, run in groupby(sizes, key=lambda size: label_of(won[ranks, size].recipe)):
            runs.append((label, list(run)))
        for number, (label, few) in enumerate(runs):
            border = "any\u00a0larger" if number == len(runs) - 1 else f"≤\u00a0{size_words(few[-1])}"
            region = won[ranks, few[-1]].region
            rows.append(
                (f"{ranks:,}", region.replace(" ", "\u00a0"), border, label, won[ranks, few[-1]].recipe)
            )
    table = Table(
        "function",
        "The decision as a function: of the sizes that were timed, the largest that an algorithm wins ends "
        "its range",
        ("Ranks", "Region", "Size", "Use", "Recipe"),
        tuple(rows),
        frozenset({1, 2, 3, 4}),
    )
    sentence = (
        "Between two sizes that were timed it is not known where the order changes; the function goes on "
        "with the smaller one's winner until the larger one is reached."
    )
    return Part("function", "The decision as a function", (sentence,), (), (table,))


def _gain(gains: dict[Cell, Interval]) -> Part:
    rows = []
    lines = []
    for ranks in sorted({r for r, _ in gains}):
        of = {size: gain for (r, size), gain in sorted(gains.items()) if r == ranks}
        values = [gain.estimate for gain in of.values()]
        few = min(of.values(), key=lambda gain: gain.estimate)
        many = max(of.values(), key=lambda gain: gain.estimate)
        rows.append(
            (
                f"{ranks:,}",
                f"{format_ratio(few.estimate)} ({format_ratio_interval(few)})",
                format_ratio(float(np.median(values))),
                format_ratio(geometric_mean(values)),
                f"{format_ratio(many.estimate)} ({format_ratio_interval(many)})",
            )
        )
        lines.append(Series(f"{ranks:,} ranks", tuple(of.items())))
    table = Table(
        "gain",
        "Speedup of the winner over the library's own by number of ranks: over all sizes, with the 95 % "
        "intervals of the least and the most",
        ("Ranks", "Least", "Median", "Geometric mean", "Most"),
        tuple(rows),
    )
    figure = Figure(
        "gain",
        "Speedup of the winner over the library's own by message size. As the library's own is one of the "
        "candidates, no winner is slower.",
        f"Speedup by size for {len(lines)} numbers of ranks.",
        ratio_by([Panel("", tuple(lines))], "message size", True, "speedup of the winner"),
    )
    return Part("gain", "What the decision gains", (), (figure,), (table,))


def _times(timed: Sequence[Timed]) -> Part:
    """At the most ranks: the library's own, and those that win or come near."""
    most = max(each.arrangement.ranks for each in timed)
    here = [each for each in timed if each.arrangement.ranks == most]
    own = {each.size_bytes: each.median_s.estimate for each in here if each.recipe == NATIVE}
    speed = {
        label: geometric_mean([own[each.size_bytes] / each.median_s.estimate for each in rows])
        for label, rows in by_label(here).items()
    }
    wins = {label_of(best([e for e in here if e.size_bytes == size]).recipe) for size in own}
    order = sorted(speed, key=lambda label: (label not in wins, -speed[label]))
    chosen = dict.fromkeys([label_of(NATIVE), *order[:_LINES]])
    lines = tuple(
        Series(label, tuple((e.size_bytes, e.median_s) for e in rows), label == label_of(NATIVE))
        for label, rows in by_label(here).items()
        if label in chosen
    )
    figure = Figure(
        "times",
        f"Broadcast among {most:,} ranks by message size: the library's own, all that win at some size, and "
        "the fastest of the others in the geometric mean.",
        f"Time of a broadcast among {most:,} ranks by size, for {len(lines)} algorithms.",
        time_by([Panel("", lines)], "message size", True),
    )
    rows = [
        (label, *(_time_at(few, size) for size in sorted(own)), format_ratio(speed[label]))
        for label, few in sorted(by_label(here).items(), key=lambda item: -speed[item[0]])
    ]
    table = Table(
        "times",
        f"All algorithms among {most:,} ranks: medians by size, and the geometric mean of the speedups over "
        "the library's own",
        ("Algorithm", *(size_words(size) for size in sorted(own)), "Speedup"),
        tuple(rows),
    )
    return Part("times", "All algorithms at the most ranks", (), (figure,), (table,))


def _time_at(timed: Sequence[Timed], size_bytes: int) -> str:
    found = [each for each in timed if each.size_bytes == size_bytes]
    return format_time(found[0].median_s.estimate) if found else "–"


STUDY = Study(
    "decision",
    "Which broadcast wins by size and ranks",
    "Which broadcast is the fastest for each message size and number of ranks, what does a function gain "
    "that always takes it, and how many repetitions does it need to be right?",
    "J. Reinfjell (2023), tables 6.3 to 6.6, figures 5.2, 6.4 and 6.12",
    20,
    wanted,
    findings,
)
