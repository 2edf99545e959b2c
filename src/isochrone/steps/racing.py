# SPDX-License-Identifier: BSD-3-Clause
"""Races of recipes against each other and the library's own, one round after the other.

Few sizes are raced first: what the model proposes and the library's own, then what is near the best of them,
then sizes between two for which different recipes are chosen. Communicators of other shapes, split from the
same ranks, are raced among fewer recipes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from isochrone import _core
from isochrone.files import NATIVE, BenchCase, MpiLibrary, Topology, format_members
from isochrone.launch.target import Target
from isochrone.progress import part
from isochrone.statistics import FloatArray
from isochrone.steps.bench import Limits
from isochrone.steps.proposals import Proposals
from isochrone.steps.rounds import Rounds
from isochrone.tune.affordable import Grids, Times
from isochrone.tune.candidates import neighbours, of_next_sizes, rough_s
from isochrone.tune.collectives import ELEMENT_BYTES, collective, has_agreed_size, of_one_rule
from isochrone.tune.effort import (
    FAR_SLOWER,
    LEAST_PARTS,
    LEAST_RACING,
    WINDOW,
    effort_for,
    least_of,
    part_of,
    share_left,
)
from isochrone.tune.family import family, family_in_time
from isochrone.tune.race import in_time, left_in, median_s, steady
from isochrone.tune.roots import ShapeRoots, shapes_of
from isochrone.tune.rules import tied
from isochrone.tune.sizes import between, first_of, rounds_of, time_at, winner_at
from isochrone.tune.spots import Row, Spot, work_on

MODEL_BETWEEN = 2
"""Recipes that the model adds where neighbours, or all ranks, say already what is best."""
OF_FAMILY = 4
"""Sizes of a communicator of another shape, at most: the least, the largest, and two between."""
OWN_SHARE = 0.02
"""Of the progress, to time the library's own before the races."""
DIGITS = 4
"""Of the logarithm of a simulated time that do not depend on what was simulated before it."""


class Racing:
    """The races of one tuning, and what they know.

    Attributes:
        effort: how much is measured.
        topology, topology_file: of the surveyed ranks.
        rounds: that measure.
        sizes_bytes: of each collective that is tuned; races add some between them.
        budget_s: of all its calls and their proof; None: whatever they take.
        layouts: of each communicator, by its members as a list such as ``0-3,8``; empty: all.
        shapes: of each collective on each communicator.
        times: of each recipe that was raced at a spot: for each of its cases [repetition] in seconds.
        mpi: the library that answered.
    """

    def __init__(
        self,
        target: Target,
        topology: Topology,
        topology_file: Path,
        layout: _core.Layout,
        rounds: Rounds,
        sizes_bytes: Mapping[str, Sequence[int]],
        whole_bytes: Mapping[str, Sequence[int]],
        budget_s: float | None,
        seed: int,
        on_fabric: bool,
    ) -> None:
        """`sizes_bytes`: that are tuned in any case. `whole_bytes`: those that may be, between them.
        `on_fabric`: trees may be laid over the hosts by a fabric's routes. `seed`: of the order.
        """
        self._target = target
        self._seed = seed
        self.topology = topology
        self.topology_file = topology_file
        self.rounds = rounds
        self.sizes_bytes = {name: tuple(sizes) for name, sizes in sizes_bytes.items()}
        self._whole_bytes = whole_bytes
        self.effort = effort_for(target.simulated, target.exact)
        self.budget_s = budget_s
        self.layouts = {"": layout}
        self.shapes = {
            (name, ""): shapes_of(layout, 1 if at else self.effort.roots, collective(name)["rooted"])
            for at, name in enumerate(sizes_bytes)
        }
        self._proposals = Proposals(self.layouts, self.effort.candidates, target.simulated, on_fabric)
        self.times: dict[Spot, dict[str, list[FloatArray]]] = {}
        self.mpi: MpiLibrary | None = None

    def run(self) -> None:
        """All races."""
        self._race("racing", "race", self.proposed)
        if self.mpi is None:
            # Of a single rank there is nothing to race.
            self.mpi = self.rounds.measure("tuning", [], 1, self._seed).mpi
        self._race_what_is_near()
        self._race_between()
        if self.effort.family:
            self._race_family()

    @cached_property
    def proposed(self) -> dict[Spot, list[str]]:
        """What the model proposes to race first."""
        return self._proposals.at(self._first_spots())

    def _first_spots(self) -> list[Spot]:
        return [
            spot for row in self.rows("") for spot in self._spots(*row, first_of(self.sizes_bytes[row[0]]))
        ]

    def rows(self, members: str) -> list[tuple[str, ShapeRoots, str]]:
        """Collective, shape and members of each row of rules for one communicator."""
        return [
            (name, shape, who)
            for (name, who), shapes in self.shapes.items()
            if who == members
            for shape in shapes
        ]

    def _spots(self, name: str, shape: ShapeRoots, members: str, sizes: Sequence[int]) -> list[Spot]:
        """What rules of one row may be for, at these sizes; at all where one rule is for all."""
        chosen = sizes if has_agreed_size(name) else self.sizes_bytes[name]
        return [Spot(name, shape, few, members) for few in of_one_rule(name, chosen)]

    def _race(self, title: str, share: str, recipes: Mapping[Spot, Sequence[str]], rounds: int = 1) -> None:
        """Times the recipes and the library's own, in looks that leave out what is slower; a recipe that was
        raced at a spot before is not raced there again, except the best, beside which the new ones are.
        """
        racing: dict[Spot, list[str]] = {}
        for spot, few in recipes.items():
            beside = self._best(spot) if spot in self.times else NATIVE
            known = {beside, *self.times.get(spot, {})}
            new = [recipe for recipe in few if recipe not in known]
            if new:
                racing[spot] = [*new, beside]
        racing = self._that_can_be_timed(racing, share, rounds * len(self.effort.looks))
        samples: dict[Spot, dict[str, list[FloatArray]]] = {}
        looks = self.effort.looks
        with part(f"tuning: {title}", share_left(share) / rounds):
            for look, repetitions in enumerate(looks):
                cases = [
                    work_on(case, few, known_s)
                    for spot, few in racing.items()
                    if len(few) > 1
                    for known_s in [self._medians_s(spot, samples)]
                    for case in spot.tuned
                ]
                if not cases:
                    break
                bench = self.rounds.measure(
                    f"tuning: {title}",
                    cases,
                    repetitions,
                    self._seed + look,
                    1 / (len(looks) - look),
                    limits=self._limits(share, rounds * len(looks)),
                )
                self.mpi = bench.mpi
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
            self.times[spot] = self.times.get(spot, {}) | times

    def _medians_s(
        self, spot: Spot, samples: Mapping[Spot, Mapping[str, Sequence[FloatArray]]]
    ) -> dict[str, float]:
        """What a call takes there, of what was raced before or in these looks."""
        known = {**self.times.get(spot, {}), **samples.get(spot, {})}
        return {recipe: median_s(times) for recipe, times in known.items()}

    def expected_s(self, spot: Spot, recipe: str) -> float | None:
        """What a call takes there, as far as was raced; between two sizes on a line of logarithms."""
        raced = {
            other.size_bytes: median_s(times[recipe])
            for other, times in self.times.items()
            if (other.row, other.members) == (spot.row, spot.members) and recipe in times
        }
        return time_at(raced, spot.size_bytes)

    def _limits(self, share: str, rounds: int) -> Limits:
        """Of one of so many rounds of a part of the budget."""
        return Limits(part_of(self.budget_s, share, rounds), 1, FAR_SLOWER)

    def _that_can_be_timed(
        self, racing: Mapping[Spot, list[str]], share: str, rounds: int
    ) -> dict[Spot, list[str]]:
        """The first of the recipes of each spot, as many as can be timed in its part of a look, as the model
        foresees it; some at least, and the last, beside which the others run.
        """
        budget_s = part_of(self.budget_s, share, rounds)
        if budget_s is None:
            return dict(racing)
        calls = WINDOW * (1 + self.effort.looks[0])
        times_s = {
            spot: [len(spot.tuned) * calls * self._proposals.predicted_s(spot, recipe) for recipe in few[:-1]]
            for spot, few in racing.items()
        }
        counts = in_time(times_s, budget_s, LEAST_RACING)
        return {spot: [*few[:-1][: counts[spot]], few[-1]] for spot, few in racing.items()}

    def _best(self, spot: Spot) -> str:
        return self._ranked(spot)[0]

    def _ranked(self, spot: Spot) -> list[str]:
        """What was raced at a spot, the fastest first; of equally fast ones what was named first."""
        times = self.times[spot]
        return sorted(times, key=lambda recipe: round(float(np.log(median_s(times[recipe]))), DIGITS))

    def _winners(self, row: Row, members: str = "") -> dict[int, str]:
        """The fastest of each raced size of a row."""
        return {spot.size_bytes: self._best(spot) for spot in self.spots_of(row, members)}

    def chosen(self, row: Row, members: str = "") -> dict[int, str]:
        """What each raced size of a row should have: what is tied with the best, so that it changes seldom
        over the sizes.
        """
        raced = self.spots_of(row, members)
        options = [tied(self.times[spot], self._target.exact) for spot in raced]
        return {spot.size_bytes: recipe for spot, recipe in zip(raced, steady(options), strict=True)}

    def spots_of(self, row: Row, members: str = "") -> list[Spot]:
        """What was raced of a row, by size."""
        of_row = [spot for spot in self.times if (spot.row, spot.members) == (row, members)]
        return sorted(of_row, key=lambda spot: spot.size_bytes)

    def _race_what_is_near(self) -> None:
        """What differs little from the best of each size, and what is best for the sizes next to it."""
        near: dict[Spot, list[str]] = {}
        for row in dict.fromkeys(spot.row for spot in self.times):
            beside = of_next_sizes(self._winners(row), self._proposals.most_segments)
            for spot in self.times:
                if spot.row != row:
                    continue
                few = list(beside[spot.size_bytes])
                # Of the library's own nothing is near: then the model may be wrong about its best.
                best = next((recipe for recipe in self._ranked(spot) if recipe != NATIVE), NATIVE)
                if self.effort.neighbours and best != NATIVE:
                    few += neighbours(
                        spot.collective,
                        self.layouts[spot.members],
                        best,
                        spot.shape.tuned,
                        spot.typical_bytes,
                        self.effort.neighbours,
                        self._proposals.most_segments,
                    )
                near[spot] = list(dict.fromkeys(few))
        self._race("racing what is near the best", "near", near)

    def _race_between(self) -> None:
        """Sizes between two for which different recipes are chosen, until neighbours agree, there is none
        between them, there is no time to race and prove more, or the widest gap was halved to its end.
        """
        rows = [
            (name, shape, self._whole_bytes[name])
            for name, shape, _ in self.rows("")
            if has_agreed_size(name)
        ]
        raced = [
            ([spot.size_bytes for spot in self.spots_of((name, shape.shape))], whole)
            for name, shape, whole in rows
        ]
        times = max((rounds_of(sizes, whole) for sizes, whole in raced), default=0)
        for _ in range(times):
            found = {
                Spot(name, shape, (size,)): beside
                for name, shape, whole in rows
                for size, beside in between(self.chosen((name, shape.shape)), whole).items()
            }
            new = {(spot.collective, spot.size_bytes) for spot in found}
            for name, size in self._in_time({(n, s) for n, s in new if s not in self.sizes_bytes[n]}):
                self.sizes_bytes[name] = tuple(sorted((*self.sizes_bytes[name], size)))
            recipes: dict[Spot, list[str]] = {}
            for spot, beside in found.items():
                if spot.size_bytes in self.sizes_bytes[spot.collective]:
                    own = self._proposals.at([spot], MODEL_BETWEEN)[spot]
                    fitting = self._proposals.that_fit(spot.size_bytes, dict.fromkeys((*beside, *own)))
                    recipes[spot] = list(fitting)
            if not recipes:
                return
            self._race("racing sizes between", "between", recipes, times)

    @cached_property
    def _agreement_s(self) -> float:
        """What all ranks need to agree on a start, by the model."""
        return rough_s("allreduce", self.layouts[""], ELEMENT_BYTES)

    def _in_time(self, wanted: Collection[tuple[str, int]]) -> list[tuple[str, int]]:
        """Sizes of collectives that there is time to race and prove beside those that are tuned, the cheapest
        first.
        """
        if self.budget_s is None or not wanted:
            return list(wanted)
        left_s = sum(part_of(self.budget_s, name) or 0.0 for name in (*LEAST_PARTS, "between"))
        left_s -= sum(self._proof_s(name, size) for name, sizes in self.sizes_bytes.items() for size in sizes)
        kept = []
        for cost_s, each in sorted((self._proof_s(*each), each) for each in wanted):
            left_s -= cost_s
            if left_s < 0:
                break
            kept.append(each)
        return kept

    def _proof_s(self, name: str, size_bytes: int) -> float:
        """What a size takes from its first race to its proof, by what was raced there or beside it."""
        least = least_of(self.effort)
        cost_s = 0.0
        for spot in (Spot(name, shape, (size_bytes,), who) for _, shape, who in self._rows_of(name)):
            took_s = {recipe: self.expected_s(spot, recipe) for recipe in self._raced(spot.row)}
            known_s = {recipe: one_s for recipe, one_s in took_s.items() if one_s is not None}
            if known_s:
                fastest_s = min(known_s.values())
                own_s = known_s.get(NATIVE, fastest_s)
                cost_s += len(spot.verified) * least.time_s(fastest_s, own_s, self._agreement_s)
        return cost_s

    def _rows_of(self, name: str) -> list[tuple[str, ShapeRoots, str]]:
        return [row for row in self.rows("") if row[0] == name]

    def _raced(self, row: Row) -> set[str]:
        """What was raced at any size of a row, on all ranks."""
        return {recipe for spot in self.spots_of(row) for recipe in self.times[spot]}

    def _race_family(self) -> None:
        """The same, in short, for communicators of other shapes: what was best for all ranks, and what the
        model finds best.
        """
        whole = self.layouts[""]
        known = {shape for shapes in self.shapes.values() for shape in (each.shape for each in shapes)}
        places = [self.topology.places[place] for place in self.topology.ranks]
        recipes: dict[Spot, list[str]] = {}
        sizes, room = family_in_time(
            self._native_of_all_s(),
            self.effort,
            self.budget_s,
            2 + MODEL_BETWEEN,
            self._agreement_s,
        )
        for ranks in family(places, whole.group_of[1:]):
            if room < 1:
                break
            layout = whole.restricted_to(ranks)
            members = format_members(ranks)
            new = []
            for name in sizes:
                shape = shapes_of(layout, 1, collective(name)["rooted"])[0]
                if shape.shape not in known:
                    new.append((name, shape))
            if not new:
                continue
            room -= 1
            self.layouts[members] = layout
            for name, shape in new:
                self.shapes[name, members] = [shape]
                known.add(shape.shape)
                winners = self._winners(self.row_of_all(name))
                for spot in self._spots(name, shape, members, sorted(sizes[name])):
                    recipes[spot] = [winner_at(winners, spot.size_bytes)]
        own = self._proposals.at(list(recipes), MODEL_BETWEEN)
        self._race(
            "racing communicators of other shapes",
            "family",
            {
                spot: self._proposals.that_fit(spot.typical_bytes, dict.fromkeys((*few, *own[spot])))
                for spot, few in recipes.items()
            },
        )

    def row_of_all(self, name: str) -> Row:
        """The first shape of a collective on all ranks."""
        return name, self.shapes[name, ""][0].shape

    def _native_of_all_s(self) -> dict[tuple[str, int], float]:
        """What the library's own took on all ranks, of each collective at as many sizes as a communicator of
        another shape may have.
        """
        took: dict[tuple[str, int], float] = {}
        for name in self.sizes_bytes:
            spots = {spot.size_bytes: spot for spot in self.times if spot.row == self.row_of_all(name)}
            for size in first_of(list(spots), OF_FAMILY):
                took[name, size] = median_s(self.times[spots[size]][NATIVE])
        return took


def own_s(rounds: Rounds, layout: _core.Layout, sizes_bytes: Grids) -> Times:
    """What a call by the library's own takes of each collective on all ranks, at these sizes."""
    shapes = {name: shapes_of(layout, 1, collective(name)["rooted"])[0] for name in sizes_bytes}
    cases = {
        (name, size): BenchCase(size, shapes[name].verified, name)
        for name, sizes in sizes_bytes.items()
        for size in sizes
    }
    with part("tuning: timing the library's own", OWN_SHARE):
        bench = rounds.measure("", [work_on(case, (NATIVE,), {}) for case in cases.values()], 1, 0)
    return {key: float(np.median(bench.slowest_s[case.key(NATIVE)])) for key, case in cases.items()}


def _appended(before: Sequence[FloatArray] | None, new: Sequence[FloatArray]) -> list[FloatArray]:
    if before is None:
        return list(new)
    return [np.concatenate(pair) for pair in zip(before, new, strict=True)]
