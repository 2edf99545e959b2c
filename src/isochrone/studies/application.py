# SPDX-License-Identifier: BSD-3-Clause
"""Application: what of an application's time faster collectives gain.

The experiment of H. Subramoni et al. (CLUSTER 2011), figure 9: WindJammer, whose main loop has two large
broadcasts, with the library's own broadcast and with theirs. First the calls are timed by themselves, then
the main loops natively and by the fastest of ours: their whole time, with what overlaps from one call to the
next.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from isochrone.files import NATIVE, Case, Loop
from isochrone.statistics import Interval, ratio_ci
from isochrone.studies.applications import APPLICATIONS, Application, application_of
from isochrone.studies.figures import Panel, Series, ratio_by, time_by
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
    AS_FAST,
    EACH_ALONE,
    Asked,
    Figure,
    Findings,
    Part,
    Study,
    Table,
    Timed,
    Wanted,
    best,
    is_own,
    label_of,
    size_words,
    with_interval,
)
from isochrone.tune.collectives import words
from isochrone.units import format_percent, format_ratio, format_time
from isochrone.words import capitalised

_BETWEEN = (("flat", "binary"), ("binary", "binary"), ("pipeline", "pipeline"))
_FEW = 2
"""Of ours, that applications run with: what is fastest by itself need not be so in a loop."""
_LEAST_RANKS = 4


def wanted(machine: Machine, asked: Asked) -> list[Wanted]:
    """The calls of all applications, each by itself."""
    found = []
    for count in asked.ranks or counts_for(machine):
        here = Arrangement(GIVEN, count)
        layout = machine.layout_of(here)
        cases = []
        for collective in dict.fromkeys(each.collective for each in APPLICATIONS):
            recipes = [
                *flat(machine, count, collective),
                *between_and_inside(collective, layout, _BETWEEN),
                *by_levels(collective, layout, "binomial"),
                *told(machine, here, collective),
            ]
            sizes = {size for each in _of(collective) for size in asked.sizes_bytes or each.sizes_bytes}
            cases += [case(machine, here, collective, size, recipes) for size in sorted(sizes)]
        found.append(Wanted(here, tuple(cases)))
    return found


def counts_for(machine: Machine) -> tuple[int, ...]:
    """Half of the ranks, and all; of simulated ones no more than there is time for."""
    most = most_ranks(machine)
    return tuple(count for count in (most // 2, most) if count >= _LEAST_RANKS) or (most,)


def _of(collective: str) -> list[Application]:
    return [each for each in APPLICATIONS if each.collective == collective]


def then(machine: Machine, asked: Asked, timed: Sequence[Timed]) -> list[Wanted]:
    """The main loops: natively, and with the fastest of ours."""
    groups: dict[tuple[Arrangement, str, int], list[Timed]] = defaultdict(list)
    for each in timed:
        groups[each.arrangement, each.collective, each.size_bytes].append(each)
    found = []
    for here in dict.fromkeys(each.arrangement for each in timed):
        cases = []
        for app in APPLICATIONS:
            for size in asked.sizes_bytes or app.sizes_bytes:
                group = groups[here, app.collective, size]
                (own,) = (each for each in group if each.recipe == NATIVE)
                ours = sorted(
                    (each for each in group if not is_own(each.recipe)),
                    key=lambda each: each.median_s.estimate,
                )
                recipes = (NATIVE, *(each.recipe for each in ours[:_FEW]))
                members = machine.members_of(here)
                cases += [
                    Case(size, 0, recipes, app.collective, members, loop=loop)
                    for loop in app.loops(here.ranks, size, own.median_s.estimate)
                ]
        found.append(Wanted(here, tuple(cases)))
    return found


class _Run:
    """A main loop in one arrangement: natively, and with the best of ours."""

    def __init__(self, loop: Loop, group: Sequence[Timed], calls: Sequence[Timed]) -> None:
        (self.own,) = (each for each in group if each.recipe == NATIVE)
        self.ours = best([each for each in group if each.recipe != NATIVE])
        self.loop = loop
        self.gain = ratio_ci(self.own.times_s, self.ours.times_s)
        computing_s = self.loop.iterations * self.loop.compute_s
        self.share = max(0.0, 1 - computing_s / self.own.median_s.estimate)
        time_of = {each.recipe: each.median_s.estimate for each in calls}
        self.call_gain = time_of[NATIVE] / time_of[self.ours.recipe]
        self.saved = 1 - 1 / self.gain.estimate
        self.foreseen = self.share * (1 - 1 / self.call_gain)


def findings(machine: Machine, timed: Sequence[Timed]) -> Findings:
    """What each application gains, beside what its calls gain."""
    calls: dict[tuple[Arrangement, str, int], list[Timed]] = defaultdict(list)
    loops: dict[tuple[Loop, Arrangement, int], list[Timed]] = defaultdict(list)
    for each in timed:
        if each.loop is None:
            calls[each.arrangement, each.collective, each.size_bytes].append(each)
        else:
            loops[each.loop, each.arrangement, each.size_bytes].append(each)
    runs: dict[str, list[_Run]] = defaultdict(list)
    for (loop, here, size), group in loops.items():
        app = application_of(loop)
        runs[app.name].append(_Run(loop, group, calls[here, app.collective, size]))
    parts = [_application(app, runs[app.name]) for app in APPLICATIONS if runs[app.name]]
    every = [(run.saved, app, run) for app in APPLICATIONS for run in runs[app.name]]
    sure = [each for each in every if each[2].gain.low > AS_FAST]
    if sure:
        saved, app, run = max(sure, key=lambda each: each[0])
        headline = (
            f"{app.title} gains most: {format_percent(saved)} of its time at {run.own.arrangement.ranks:,} "
            f"ranks and {size_words(run.own.size_bytes)}, of which calls take {format_percent(run.share)}"
        )
    else:
        headline = "No application is surely faster"
    lost = sum(run.gain.high < 1 / AS_FAST for _, _, run in every)
    lead = (
        f"Of {len(every)} runs {len(sure)} are surely faster with ours by more than 1 %, and {lost} slower.",
        "What is gained is the library's own time less ours, as a share of the library's own.",
    )
    return Findings(headline, lead, tuple(parts), _own_limits(machine))


def _own_limits(machine: Machine) -> tuple[str, ...]:
    found = [
        "Applications stand for what is known of their main loops; nothing is computed, and no rank "
        "computes longer than another. Ranks spin while they compute, or sleep where they outnumber cores.",
        "Ours runs by recipe, as a preloaded program's calls do; the plan that would choose it is not "
        "looked up.",
        "The recipe of a run is chosen by the very times that its gain is of.",
        "More or less is gained than was foreseen where a call begins before the one before has ended "
        "everywhere, and where another root is better or worse off than the first rank, which is that of a "
        "call by itself.",
    ]
    if machine.target.simulated:
        found.append(f"Simulated messages are cut into {MOST_SEGMENTS} segments at most.")
    if not machine.target.exact:
        found.append(EACH_ALONE)
    return tuple(found)


def _application(app: Application, runs: Sequence[_Run]) -> Part:
    variants = len({run.loop.name for run in runs}) > 1
    x_words = "share of the calls, %" if variants else "message size"

    def x_of(run: _Run) -> int:
        return max(1, round(100 * run.share)) if variants else run.own.size_bytes

    lines: dict[str, list[tuple[int, Interval]]] = defaultdict(list)
    panels: dict[str, dict[str, list[tuple[int, Interval]]]] = defaultdict(lambda: defaultdict(list))
    several = len({run.own.size_bytes for run in runs}) > 1
    for run in sorted(runs, key=x_of):
        place = f"{run.own.arrangement.ranks:,} ranks"
        if variants and several:
            place += f", {size_words(run.own.size_bytes)}"
        lines[place].append((x_of(run), run.gain))
        panels[place]["library's own"].append((x_of(run), run.own.median_s))
        panels[place]["ours"].append((x_of(run), run.ours.median_s))
    gains = [Panel("", tuple(Series(place, tuple(points)) for place, points in lines.items()))]
    times = [
        Panel(place, tuple(Series(name, tuple(points), name != "ours") for name, points in of.items()))
        for place, of in panels.items()
    ]
    iterations = runs[0].loop.iterations
    figures = (
        Figure(
            f"{app.name}-gain",
            f"{app.title}: how many times as fast as with the library's own {words(app.collective)} "
            f"{iterations} iterations are, by "
            f"{'the share of the time that calls take' if variants else x_words}.",
            f"Speedup of {app.title} by {x_words}.",
            ratio_by(gains, x_words, not variants, "speedup of the application"),
        ),
        Figure(
            f"{app.name}-times",
            f"{app.title}: time of {iterations} iterations.",
            f"Time of {app.title} by {x_words}.",
            time_by(times, x_words, not variants),
        ),
    )
    rows = [
        (
            f"{run.own.arrangement.ranks:,}",
            size_words(run.own.size_bytes),
            format_time(run.loop.compute_s),
            format_percent(run.share),
            format_time(run.own.median_s.estimate),
            format_time(run.ours.median_s.estimate),
            label_of(run.ours.recipe),
            format_ratio(run.call_gain),
            with_interval(run.gain),
            _signed(run.saved),
            _signed(run.foreseen),
        )
        for run in runs
    ]
    table = Table(
        app.name,
        f"{app.title}: {iterations} iterations with the library's own and with ours. Share: of the time "
        "with the library's own that is not computing. Foreseen: what would be gained if each call gained "
        "what it gains by itself",
        (
            *("Ranks", "Size", "Computing", "Share", "Library's own", "Ours", "Algorithm"),
            *("One call", "Application", "Gained", "Foreseen"),
        ),
        tuple(rows),
        frozenset({6}),
    )
    most = max(runs, key=lambda run: run.saved)
    sentences = (
        app.told,
        f"{capitalised(_signed(most.saved))} of the time is the most that is gained, where calls take "
        f"{format_percent(most.share)} of it; {_signed(most.foreseen)} was to be foreseen from a call by "
        f"itself. Described by {app.source}.",
    )
    return Part(app.name, app.title, sentences, figures, (table,))


def _signed(share: float) -> str:
    return format_percent(share) if share >= 0 else f"−{format_percent(-share)}"


STUDY = Study(
    "application",
    "What applications gain from faster collectives",
    "What share of its time does an application gain whose main loop calls large broadcasts, with ours in "
    "place of the library's own?",
    "H. Subramoni et al., Design and Evaluation of Network Topology-/Speed-Aware Broadcast Algorithms for "
    "InfiniBand Clusters (CLUSTER 2011), figure 9",
    10,
    wanted,
    findings,
    then,
)
