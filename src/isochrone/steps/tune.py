# SPDX-License-Identifier: BSD-3-Clause
"""Tune: from a topology and measured collectives to ``plan.json``.

Few sizes are raced first: what the model proposes and the library's own, then what is near the best of them,
then the sizes between two whose winners differ. Communicators of other shapes, split from the same ranks,
are raced among fewer recipes. The plan that comes of it is verified in several launches of its own, at all
sizes, where rules end, and from roots that nothing was chosen on. A rule that is not proven there is taken
back.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

import numpy as np

from isochrone import _core
from isochrone.files import (
    BCAST,
    Bench,
    BenchCase,
    Evidence,
    MpiLibrary,
    Plan,
    Topology,
    format_cpus,
    in_turn,
    merged,
    provenance,
    read_topology,
    write_bench,
    write_plan,
)
from isochrone.launch.target import Target
from isochrone.launch.told import variables_for
from isochrone.progress import kept_when_stopped, part
from isochrone.statistics import FloatArray
from isochrone.steps.bench import SIZES_BYTES, Limits
from isochrone.steps.folder import LIBRARY, LIBRARY_TUNING, TUNING
from isochrone.steps.library import tune_library
from isochrone.steps.rounds import Rounds, check_ranks, forget_rounds
from isochrone.tune.candidates import (
    MOST_SEGMENTS,
    Form,
    candidates,
    laid_over_hosts,
    neighbours,
    of_next_sizes,
    pipelines,
    predicted_s,
)
from isochrone.tune.collectives import collective, grids, has_agreed_size, of_one_rule, sizes_of
from isochrone.tune.effort import FAR_SLOWER, effort_for, part_of, share_left
from isochrone.tune.family import family
from isochrone.tune.race import left_in, median_s, steady
from isochrone.tune.roots import ShapeRoots, shapes_of
from isochrone.tune.rules import (
    NATIVE,
    PLAN_RECIPE,
    Decision,
    Verified,
    borders,
    confirmed,
    evidence_of,
    native_evidence,
    rules_for,
    tied,
)
from isochrone.tune.sizes import between, first_of, rounds_of, winner_at
from isochrone.tune.spots import Row, Spot, work_on
from isochrone.units import format_time

LIBRARY_SHARE = 0.4
"""Of a budget, where what the library can be told to use is timed first: it has about as many algorithms as
the model proposes recipes, and is proven like them."""
LEAST_RACING = 3
"""Recipes that race beside the library's own at each size, however little time there is."""
LAID = 2
"""Trees that are tried in each order over the hosts of a fabric, for each size."""
MODEL_BETWEEN = 2
"""Recipes that the model adds where neighbours, or all ranks, say already what is best."""
OF_FAMILY = 4
"""Sizes of a communicator of another shape, at most: the least, the largest, and two between."""
LEAST_FAMILY = 4
"""Communicators of other shapes that the time is for, at least: half of the nodes, near and spread, and with
fewer ranks on each."""
DIGITS = 4
"""Of the logarithm of a simulated time that do not depend on what was simulated before it."""
NOTHING = native_evidence(0.0, 1)
"""Of a rule that is not measured yet."""
SIMULATED_MESSAGES = 16384
"""Of one broadcast: more of them take longer to simulate than they tell."""
MANY_RANKS, MANY_WITH_NOISE = 128, 16
"""Beyond these, simulating all that a library can be told to use takes longer than all the rest, with noise
because of its repetitions: then every fifth size tells."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TuneOptions:
    """How to tune.

    Attributes:
        sizes_bytes: that collectives are tuned at: the first at all, the others at every third.
        collectives: their names.
        seed: of the order of what is measured.
        fabric: the address of a server of routes that the program will run with, too.
        budget_s: how long measuring may take, more or less; None: whatever it takes. No matter where it is
            simulated.
        rivals: the plan is also verified against all that the library can be told to use.
        at_its_best: what the library can be told to use is timed first, and it is told the best of it, so
            that its own is the best that it can do; this takes a part of the budget. No matter where it is
            simulated.
    """

    sizes_bytes: Sequence[int] = SIZES_BYTES
    collectives: Sequence[str] = (BCAST,)
    seed: int = 1
    fabric: str | None = None
    budget_s: float | None = None
    rivals: bool = False
    at_its_best: bool = False


def tune(
    target: Target,
    topology_file: Path,
    plan_file: Path,
    bench_file: Path,
    options: TuneOptions | None = None,
) -> tuple[Plan, Bench]:
    """Makes a plan for collectives on the ranks of the target, and the benchmark that verifies it.

    Both files are written at the end, when all is measured. What was measured before an interruption is not
    measured again, until `forget` is called. The library is told what a ``library.json`` beside the plan
    says.

    Raises:
        IsochroneError: a benchmark fails, or the topology is not of the target's ranks.
    """
    options = options or TuneOptions()
    topology = read_topology(topology_file)
    topology.check_whole(str(topology_file))
    check_ranks(target, topology, topology_file)
    if options.budget_s is not None and not target.simulated:
        _log.info("tuning takes about %s", format_time(options.budget_s))
    folder = plan_file.with_name(TUNING)
    if options.at_its_best and target.library is not None:
        options = _library_first(target, topology_file, plan_file.with_name(LIBRARY), options)
    variables = variables_for(plan_file.parent, target)
    if variables:
        options = replace(options, rivals=False)
    rounds = Rounds(target, topology, topology_file, folder, options.fabric, variables)
    with kept_when_stopped(folder):
        sizes = grids(options.collectives, options.sizes_bytes, len(topology.ranks))
        plan, bench = _Tuning(target, topology, topology_file, rounds, sizes, options).run()
    write_bench(bench_file, bench)
    write_plan(plan_file, plan)
    return plan, bench


def _library_first(
    target: Target, topology_file: Path, library_file: Path, options: TuneOptions
) -> TuneOptions:
    """Tunes the library; how to go on with what is left of the budget."""
    whole_s = options.budget_s
    own_s = None if whole_s is None else LIBRARY_SHARE * whole_s
    with part("", LIBRARY_SHARE):
        tune_library(
            target, topology_file, library_file, options.collectives, options.sizes_bytes, options.seed, own_s
        )
    return replace(options, budget_s=None if whole_s is None else (1 - LIBRARY_SHARE) * whole_s)


def forget(folder: Path) -> None:
    """Removes what an interrupted tuning in the folder of a survey would go on from."""
    forget_rounds(folder / TUNING)
    forget_rounds(folder / LIBRARY_TUNING)


def layout_of(topology: Topology, topology_file: Path) -> _core.Layout:
    """The layout of the surveyed ranks."""
    places = [topology.places[place] for place in topology.ranks]
    return _core.match(
        topology_file.read_text(encoding="utf-8"),
        [(place.host, place.cpus, place.signature) for place in places],
    )


class _Tuning:
    """One tuning: what all its rounds know."""

    def __init__(
        self,
        target: Target,
        topology: Topology,
        topology_file: Path,
        rounds: Rounds,
        sizes_bytes: Mapping[str, Sequence[int]],
        options: TuneOptions,
    ) -> None:
        """`sizes_bytes`: of each collective that is tuned."""
        self._target = target
        self._topology = topology
        self._topology_file = topology_file
        self._rounds = rounds
        self._sizes_bytes = sizes_bytes
        self._options = options
        self._effort = effort_for(target.simulated, target.exact)
        # A simulated program's clock is not the user's.
        self._budget_s = None if target.simulated else options.budget_s
        whole = layout_of(topology, topology_file)
        self._layouts = {"": whole}
        self._shapes = {
            (name, ""): shapes_of(whole, 1 if at else self._effort.roots, collective(name)["rooted"])
            for at, name in enumerate(sizes_bytes)
        }
        most = max(16, SIMULATED_MESSAGES // whole.size) if target.simulated else MOST_SEGMENTS
        self._most_segments = min(most, MOST_SEGMENTS)
        self._times: dict[Spot, dict[str, list[FloatArray]]] = {}
        self._priced: dict[Spot, list[str]] = {}
        self._mpi: MpiLibrary | None = None

    def run(self) -> tuple[Plan, Bench]:
        """All rounds."""
        self._race("racing", "race", self._priced_at(self._first_spots()))
        if self._mpi is None:
            # Of a single rank there is nothing to race.
            self._mpi = self._rounds.measure("tuning", [], 1, self._options.seed).mpi
        self._race_what_is_near()
        self._race_between()
        if self._effort.family:
            self._race_family()
        return self._verified(self._drafted())

    # Races

    def _first_spots(self) -> list[Spot]:
        return [
            spot for row in self._rows("") for spot in self._spots(*row, first_of(self._sizes_bytes[row[0]]))
        ]

    def _rows(self, members: str) -> list[tuple[str, ShapeRoots, str]]:
        return [
            (name, shape, who)
            for (name, who), shapes in self._shapes.items()
            if who == members
            for shape in shapes
        ]

    def _spots(self, name: str, shape: ShapeRoots, members: str, sizes: Sequence[int]) -> list[Spot]:
        """What rules of one row may be for, at these sizes; at all where one rule is for all."""
        chosen = sizes if has_agreed_size(name) else self._sizes_bytes[name]
        return [Spot(name, shape, few, members) for few in of_one_rule(name, chosen)]

    def _priced_at(self, spots: Sequence[Spot], most: int | None = None) -> dict[Spot, list[str]]:
        """The model's candidates for each spot, fewer where one look at all of them would take too long."""
        with part("tuning: pricing candidates", 0.05) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
            # The simulator leaves Python's lock to others while it works.
            wanted = most or self._effort.candidates
            found = pool.map(lambda spot: self._candidates(spot, wanted), spots)
            for done, (spot, few) in enumerate(zip(spots, found, strict=True)):
                self._priced[spot] = few
                advance(done + 1, len(spots))
        return {spot: self._priced[spot] for spot in spots}

    def _candidates(self, spot: Spot, most: int) -> list[str]:
        """The best of each size first, then the second best of each, and so on."""
        # Where trees are laid over hosts, the best of them are wanted too, however dear the model finds them.
        has_fabric = self._options.fabric is not None
        priced = most * 4 if has_fabric else most
        layout = self._layouts[spot.members]
        of_sizes = [
            candidates(spot.collective, layout, spot.shape.tuned, size, priced, self._most_segments)
            for size in spot.measured_bytes
        ]
        in_turn = [recipe for same in zip_longest(*of_sizes) for recipe in same if recipe is not None]
        found = list(dict.fromkeys(in_turn))
        if not self._target.simulated:
            wanted = pipelines(spot.collective, layout, max(spot.measured_bytes), self._most_segments)
            found = list(dict.fromkeys([*found[:1], *wanted, *found[1:]]))
        if not has_fabric:
            return found[:most]
        # The model knows no distances inside a level: so each order is tried.
        orders = [few for recipe in found if (few := laid_over_hosts(recipe, spot.collective))]
        return list(dict.fromkeys([*found[:most], *(recipe for few in orders[:LAID] for recipe in few)]))

    def _race(self, title: str, share: str, recipes: Mapping[Spot, Sequence[str]], rounds: int = 1) -> None:
        """Times the recipes and the library's own, in looks that leave out what is slower; a recipe that was
        raced at a spot before is not raced there again, except the best, beside which the new ones are.
        """
        racing: dict[Spot, list[str]] = {}
        for spot, few in recipes.items():
            beside = self._best(spot) if spot in self._times else NATIVE
            known = {beside, *self._times.get(spot, {})}
            new = [recipe for recipe in few if recipe not in known]
            if new:
                racing[spot] = [*new, beside]
        racing = self._that_can_be_timed(racing, share, rounds * len(self._effort.looks))
        samples: dict[Spot, dict[str, list[FloatArray]]] = {}
        looks = self._effort.looks
        with part(f"tuning: {title}", share_left(share) / rounds):
            for look, repetitions in enumerate(looks):
                cases = [
                    work_on(case, few) for spot, few in racing.items() for case in spot.tuned if len(few) > 1
                ]
                if not cases:
                    break
                bench = self._rounds.measure(
                    f"tuning: {title}",
                    cases,
                    repetitions,
                    self._options.seed + look,
                    1 / (len(looks) - look),
                    limits=self._limits(share, rounds * len(looks)),
                )
                self._mpi = bench.mpi
                for spot, few in racing.items():
                    if len(few) > 1:
                        times = samples.setdefault(spot, {})
                        keys = {recipe: [case.key(recipe) for case in spot.tuned] for recipe in few}
                        # What is far slower was dropped after one call.
                        timed = [
                            recipe for recipe in few if all(key in bench.slowest_s for key in keys[recipe])
                        ]
                        for recipe in timed:
                            new_times = [bench.slowest_s[key] for key in keys[recipe]]
                            times[recipe] = _appended(times.get(recipe), new_times)
                        racing[spot] = timed
                racing = left_in(
                    {spot: {recipe: samples[spot][recipe] for recipe in few} for spot, few in racing.items()},
                    look,
                    len(looks),
                )
        for spot, times in samples.items():
            # What was best before runs again beside new ones: its old times are of other turns.
            self._times[spot] = self._times.get(spot, {}) | times

    def _limits(self, share: str, rounds: int) -> Limits:
        """Of one of so many rounds of a part of the budget."""
        return Limits(part_of(self._budget_s, share, rounds), 1, FAR_SLOWER)

    def _that_can_be_timed(
        self, racing: Mapping[Spot, list[str]], share: str, rounds: int
    ) -> dict[Spot, list[str]]:
        """The first of the recipes of each spot, as many as can be timed in its part of a look, as the model
        foresees it; some at least, and the last, beside which the others run.
        """
        cases = sum(len(spot.tuned) for spot in racing)
        patience_s = self._limits(share, rounds).patience_s(cases)
        if patience_s is None:
            return dict(racing)
        found = {}
        for spot, few in racing.items():
            *new, beside = few
            kept: list[str] = []
            spent_s = 0.0
            for recipe in new:
                price = predicted_s(
                    spot.collective,
                    self._layouts[spot.members],
                    recipe,
                    spot.shape.tuned[0],
                    max(spot.measured_bytes),
                )
                spent_s += (1 + self._effort.looks[0]) * (price or 0.0)
                if len(kept) >= LEAST_RACING and spent_s > patience_s:
                    break
                kept.append(recipe)
            found[spot] = [*kept, beside]
        return found

    def _best(self, spot: Spot) -> str:
        return self._ranked(spot)[0]

    def _ranked(self, spot: Spot) -> list[str]:
        """What was raced at a spot, the fastest first; of equally fast ones what was named first."""
        times = self._times[spot]
        return sorted(times, key=lambda recipe: round(float(np.log(median_s(times[recipe]))), DIGITS))

    def _winners(self, row: Row, members: str = "") -> dict[int, str]:
        """The fastest of each raced size of a row."""
        return {
            spot.size_bytes: self._best(spot)
            for spot in self._times
            if spot.row == row and spot.members == members
        }

    def _race_what_is_near(self) -> None:
        """What differs little from the best of each size, and what is best for the sizes next to it."""
        near: dict[Spot, list[str]] = {}
        for row in dict.fromkeys(spot.row for spot in self._times):
            beside = of_next_sizes(self._winners(row), self._most_segments)
            for spot in self._times:
                if spot.row != row:
                    continue
                few = list(beside[spot.size_bytes])
                # Of the library's own nothing is near: then the model may be wrong about its best.
                best = next((recipe for recipe in self._ranked(spot) if recipe != NATIVE), NATIVE)
                if self._effort.neighbours and best != NATIVE:
                    few += neighbours(
                        spot.collective,
                        self._layouts[spot.members],
                        best,
                        spot.shape.tuned,
                        spot.typical_bytes,
                        self._effort.neighbours,
                        self._most_segments,
                    )
                near[spot] = list(dict.fromkeys(few))
        self._race("racing what is near the best", "near", near)

    def _race_between(self) -> None:
        """Sizes between two whose winners differ, until neighbours agree or there is none between them."""
        times = max(rounds_of(sizes) for sizes in self._sizes_bytes.values())
        for _ in range(times):
            recipes: dict[Spot, list[str]] = {}
            for name, shape, members in self._rows(""):
                winners = self._winners((name, shape.shape))
                if not has_agreed_size(name):
                    continue
                for size, beside in between(winners, self._sizes_bytes[name]).items():
                    spot = Spot(name, shape, (size,), members)
                    own = self._priced_at([spot], MODEL_BETWEEN)[spot]
                    recipes[spot] = self._that_fit(size, dict.fromkeys((*beside, *own)))
            if not recipes:
                return
            self._race("racing sizes between", "between", recipes, times)

    def _that_fit(self, size: int, recipes: Iterable[str]) -> list[str]:
        """Recipes whose segments are not too many for a size."""
        return [
            recipe
            for recipe in recipes
            if recipe == NATIVE or size <= (Form.of(recipe).segment_bytes or size) * self._most_segments
        ]

    def _race_family(self) -> None:
        """The same, in short, for communicators of other shapes: what was best for all ranks, and what the
        model finds best.
        """
        whole = self._layouts[""]
        known = {shape for shapes in self._shapes.values() for shape in (each.shape for each in shapes)}
        places = [self._topology.places[place] for place in self._topology.ranks]
        recipes: dict[Spot, list[str]] = {}
        sizes, room = self._family_sizes()
        for ranks in family(places, whole.group_of[1:]):
            if room < 1:
                break
            layout = whole.restricted_to(ranks)
            members = format_cpus(ranks)
            new = []
            for name in sizes:
                shape = shapes_of(layout, 1, collective(name)["rooted"])[0]
                if shape.shape not in known:
                    new.append((name, shape))
            if not new:
                continue
            room -= 1
            self._layouts[members] = layout
            for name, shape in new:
                self._shapes[name, members] = [shape]
                known.add(shape.shape)
                winners = self._winners(self._row_of_all(name))
                for spot in self._spots(name, shape, members, sorted(sizes[name])):
                    recipes[spot] = [winner_at(winners, spot.size_bytes)]
        own = self._priced_at(list(recipes), MODEL_BETWEEN)
        self._race(
            "racing communicators of other shapes",
            "family",
            {
                spot: self._that_fit(spot.typical_bytes, dict.fromkeys((*few, *own[spot])))
                for spot, few in recipes.items()
            },
        )

    def _row_of_all(self, name: str) -> Row:
        """The first shape of a collective on all ranks."""
        return name, self._shapes[name, ""][0].shape

    def _family_sizes(self) -> tuple[dict[str, set[int]], int]:
        """At which sizes communicators of other shapes are tuned, and how many of them: some in any case, at
        as many sizes as there is time for, by what the library's own took on all ranks. Large messages go
        first: what is not tuned is tried in a program's own calls.
        """
        effort, budget_s = self._effort, self._budget_s
        took: dict[tuple[str, int], float] = {}
        for name in self._sizes_bytes:
            spots = {spot.size_bytes: spot for spot in self._times if spot.row == self._row_of_all(name)}
            for size in first_of(list(spots), OF_FAMILY):
                took[name, size] = median_s(self._times[spots[size]][NATIVE])
        kept = dict.fromkeys(took, 0.0)
        room = effort.family
        if budget_s is not None:
            calls = (2 + MODEL_BETWEEN) * (len(effort.looks) + sum(effort.looks))
            calls += 2 * 2 * effort.launches * (1 + effort.least_verify)
            time_s = (part_of(budget_s, "family") or 0) + (part_of(budget_s, "verify") or 0) / 2
            kept = {}
            for key, once_s in sorted(took.items(), key=lambda item: item[1]):
                if sum(kept.values()) + calls * once_s <= time_s / LEAST_FAMILY:
                    kept[key] = calls * once_s
            room = min(room, int(time_s / sum(kept.values()))) if kept else 0
        sizes: dict[str, set[int]] = {}
        for name, size in kept:
            sizes.setdefault(name, set()).add(size)
        return sizes, room

    # Rules

    def _drafted(self) -> dict[Spot, str]:
        """The recipe that each rule should have: what is tied with the best, so that it changes seldom over
        the sizes; and at the sizes between, what is beside them.
        """
        drafted: dict[Spot, str] = {}
        for name, shape, members in [row for who in self._layouts for row in self._rows(who)]:
            raced = sorted(
                (spot for spot in self._times if spot.row == (name, shape.shape)), key=lambda s: s.size_bytes
            )
            options = [tied(self._times[spot], self._target.exact) for spot in raced]
            chosen = {spot.size_bytes: recipe for spot, recipe in zip(raced, steady(options), strict=True)}
            if not chosen:
                continue
            sizes = self._sizes_bytes[name] if not members else [spot.size_bytes for spot in raced]
            spots = raced if not has_agreed_size(name) else [Spot(name, shape, (s,), members) for s in sizes]
            here = {spot: winner_at(chosen, spot.size_bytes) for spot in spots}
            for size, recipe in self._borders(name, {s.size_bytes: r for s, r in here.items()}):
                here[Spot(name, shape, (size,), members)] = recipe
            drafted |= here
        return drafted

    def _borders(self, name: str, recipes: Mapping[int, str]) -> list[tuple[int, str]]:
        """Where one row's rules are tested further, at sizes that the collective can have."""
        if not has_agreed_size(name):
            return []
        found = [(sizes_of(name, [size])[0], recipe) for size, recipe in borders(recipes)]
        return [(size, recipe) for size, recipe in found if size not in recipes]

    def _verified(self, drafted: Mapping[Spot, str]) -> tuple[Plan, Bench]:
        """The plan with the rules that are proven, and the benchmark that it was verified by: in several
        launches, and also from roots that nothing was chosen on.
        """
        drafted = dict(drafted)
        launches = self._verifying(drafted)
        proven = self._proven(drafted, launches)
        beside = self._beside_lone(drafted, proven)
        if beside:
            # What was taken back beside them was no border when borders were chosen.
            more = self._verifying(beside, "tuning: verifying borders")
            launches = [merged(pair) for pair in zip(launches, more, strict=True)]
            drafted |= beside
            proven = self._proven(drafted, launches)
        self._say_what_is_taken_back(drafted, proven)
        bench = in_turn(launches)
        rules: dict[Spot, tuple[str, Evidence]] = {}
        for spot, recipe in drafted.items():
            if spot in proven:
                price = predicted_s(
                    spot.collective,
                    self._layouts[spot.members],
                    recipe,
                    spot.shape.tuned[0],
                    spot.typical_bytes,
                )
                evidence = evidence_of(_verified_cases(spot, launches))
                rules[spot] = recipe, replace(evidence, predicted_s=price)
            else:
                of_native = [
                    times
                    for case in spot.verified
                    if (times := bench.slowest_s.get(case.key(NATIVE))) is not None
                ] or self._times[spot][NATIVE]
                rules[spot] = NATIVE, native_evidence(median_s(of_native), len(of_native[0]))
        plan = self._plan(rules)
        # A gain at one size of several alone has no rule, although it is proven.
        ruled = {
            spot
            for spot in proven
            if plan.recipe(spot.shape.shape, spot.size_bytes, spot.collective) not in (None, NATIVE)
        }
        return plan, self._bench_of(plan, bench, ruled)

    def _verifying(self, drafted: Mapping[Spot, str], title: str = "tuning: verifying") -> list[Bench]:
        """Times of what is drafted, beside the library's own, in each launch."""
        draft = self._plan({spot: (recipe, NOTHING) for spot, recipe in drafted.items()})
        told = self._told(drafted)
        cases = [
            work_on(case, (NATIVE, *((PLAN_RECIPE,) if recipe != NATIVE else ()), *told.get(spot, ())))
            for spot, recipe in drafted.items()
            for case in spot.verified
            if recipe != NATIVE or not spot.members
        ]
        count = self._effort.launches
        limits = Limits(part_of(self._budget_s, "verify", count), self._effort.least_verify)
        return [
            self._rounds.measure(
                title,
                cases,
                self._effort.verify,
                self._options.seed + 100 + launch,
                1 / (count - launch),
                draft,
                limits,
                launch,
            )
            for launch in range(count)
        ]

    def _proven(self, drafted: Mapping[Spot, str], launches: Sequence[Bench]) -> set[Spot]:
        found = {
            spot: _verified_cases(spot, launches) for spot, recipe in drafted.items() if recipe != NATIVE
        }
        return confirmed(found, self._target.exact)

    def _beside_lone(self, drafted: Mapping[Spot, str], proven: Collection[Spot]) -> dict[Spot, str]:
        """Sizes between a recipe that was proven at one size alone and what was taken back beside it, and the
        recipe: a rule needs a second size, and there none was measured.
        """
        rows: dict[tuple[Row, str], list[Spot]] = {}
        for spot in drafted:
            rows.setdefault((spot.row, spot.members), []).append(spot)
        found: dict[Spot, str] = {}
        for ((name, _), _), spots in rows.items():
            ordered = sorted(spots, key=lambda spot: spot.size_bytes)
            for at, spot in enumerate(ordered):
                beside = [*ordered[max(at - 1, 0) : at], *ordered[at + 1 : at + 2]]
                if spot not in proven or not proven.isdisjoint(beside):
                    continue
                taken_back = [each.size_bytes for each in beside if drafted[each] != NATIVE]
                recipes = {spot.size_bytes: drafted[spot]} | dict.fromkeys(taken_back, NATIVE)
                for size, recipe in self._borders(name, recipes):
                    found[replace(spot, measured_bytes=(size,))] = recipe
        return found

    def _told(self, drafted: Mapping[Spot, str]) -> dict[Spot, tuple[str, ...]]:
        """What the library can be told to use, where that was asked for."""
        if not self._options.rivals:
            return {}
        many = MANY_RANKS if self._target.exact else MANY_WITH_NOISE
        every = 5 if self._target.simulated and self._layouts[""].size > many else 1
        return {
            spot: tuple(self._target.baselines(spot.collective))
            for spot in drafted
            if not spot.members
            and spot.size_bytes in self._sizes_bytes[spot.collective]
            and self._sizes_bytes[spot.collective].index(spot.size_bytes) % every == 0
        }

    def _bench_of(self, plan: Plan, bench: Bench, ruled: Collection[Spot]) -> Bench:
        """What the plan was verified by. Where it leaves the library's own, that is what it runs: its times
        are those of the library's own.
        """
        kept = {case for spot in ruled for case in spot.verified}
        # Rules end where a gain does: those sizes among the others would be too many of one kind.
        shown = {case for case in bench.cases if case.members or self._is_shown(case)}
        times = {}
        for key, values in bench.slowest_s.items():
            if key.case not in shown or (key.recipe == PLAN_RECIPE and key.case not in kept):
                continue
            times[key] = values
            if key.recipe == NATIVE and key.case not in kept:
                times[key.case.key(PLAN_RECIPE)] = values
        return replace(bench, slowest_s=times)

    def _is_shown(self, case: BenchCase) -> bool:
        shapes = self._shapes[case.collective, ""]
        sizes = self._sizes_bytes[case.collective]
        return case.size_bytes in sizes and any(shape.verified == case.root for shape in shapes)

    def _say_what_is_taken_back(self, drafted: Mapping[Spot, str], proven: Collection[Spot]) -> None:
        for spot, recipe in drafted.items():
            if recipe != NATIVE and spot not in proven:
                _log.info(
                    "taking back a rule for %s%s%s: %s was not proven faster once more",
                    spot.collective,
                    f" of {spot.size_bytes} bytes" if has_agreed_size(spot.collective) else "",
                    f" among {self._layouts[spot.members].size} ranks" if spot.members else "",
                    recipe,
                )

    def _plan(self, chosen: Mapping[Spot, tuple[str, Evidence]]) -> Plan:
        if self._mpi is None:
            raise TypeError("a plan is of an MPI library")
        rows: dict[Row, list[Decision]] = {}
        orders: dict[Row, str] = {}
        for spot, (recipe, evidence) in chosen.items():
            rows.setdefault(spot.row, []).append(Decision(spot.size_bytes, recipe, evidence))
            # The library's own depends on it, and so does what is faster than that.
            orders[spot.row] = self._layouts[spot.members].order()
        return Plan(
            fingerprint=self._topology.fingerprint,
            topology_file=self._topology_file.name,
            level_names=tuple(level.name for level in self._topology.levels),
            library=self._mpi.library,
            abi=self._mpi.abi,
            rules=tuple(
                rule
                for (name, shape), few in rows.items()
                for rule in rules_for(shape, few, name, orders[name, shape])
            ),
            provenance=provenance(),
        )


def _verified_cases(spot: Spot, launches: Sequence[Bench]) -> list[Verified]:
    """What the launches measured of the rule for a spot, at each of its sizes and roots."""
    return [
        Verified(
            [launch.slowest_s[case.key(NATIVE)] for launch in launches],
            [launch.slowest_s[case.key(PLAN_RECIPE)] for launch in launches],
        )
        for case in spot.verified
    ]


def _appended(before: Sequence[FloatArray] | None, new: Sequence[FloatArray]) -> list[FloatArray]:
    if before is None:
        return list(new)
    return [np.concatenate(pair) for pair in zip(before, new, strict=True)]
