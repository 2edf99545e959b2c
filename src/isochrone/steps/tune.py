# SPDX-License-Identifier: BSD-3-Clause
"""Tune: from a topology and measured collectives to ``plan.json``.

First all candidates of the model are timed a few times, and the neighbours of the best of each size. Then
the best of these are timed against the library's own with as many repetitions as a proof needs, also where
rules would end, then the plan as a whole against the library at its best, on roots that were not tuned on. A
rule that is not proven there once more is taken back.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import (
    BCAST,
    Bench,
    BenchCase,
    BenchKey,
    Case,
    MpiLibrary,
    Plan,
    Topology,
    merged,
    provenance,
    read_topology,
    write_bench,
    write_plan,
)
from isochrone.launch.target import Target
from isochrone.progress import kept_when_stopped, part
from isochrone.statistics import FloatArray
from isochrone.steps.bench import SIZES_BYTES
from isochrone.steps.folder import TUNING
from isochrone.steps.rounds import Rounds
from isochrone.tune.candidates import (
    MOST_SEGMENTS,
    candidates,
    laid_over_hosts,
    neighbours,
    of_next_sizes,
    predicted_s,
)
from isochrone.tune.collectives import collective, grids, has_agreed_size, of_one_rule, sizes_of
from isochrone.tune.effort import effort_for, shares_of
from isochrone.tune.roots import ShapeRoots, shapes_of
from isochrone.tune.rules import (
    NATIVE,
    PLAN_RECIPE,
    Decision,
    borders,
    confirmed,
    decide,
    fastest,
    ranked,
    rules_for,
)
from isochrone.units import format_time

LAID = 2
"""Trees that are tried in each order over the hosts of a fabric, for each size."""
SIMULATED_MESSAGES = 16384
"""Of one broadcast: more of them take longer to simulate than they tell."""
MANY_RANKS, MANY_WITH_NOISE = 128, 16
"""Beyond these, simulating all that a library can be told to use takes longer than all the rest, with noise
because of its repetitions: then every fifth size tells."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Spot:
    """What one rule may be for: a size, or whatever sizes there are of a collective whose ranks know none
    alike. It is measured at some.
    """

    collective: str
    shape: ShapeRoots
    measured_bytes: tuple[int, ...]

    @property
    def row(self) -> _Row:
        return self.collective, self.shape.shape

    @property
    def size_bytes(self) -> int:
        """That the rule is found by."""
        return self.measured_bytes[0] if has_agreed_size(self.collective) else 0

    @property
    def typical_bytes(self) -> int:
        return self.measured_bytes[len(self.measured_bytes) // 2]

    @property
    def tuned(self) -> list[tuple[int, int]]:
        """Sizes and roots to measure."""
        return [(size, root) for size in self.measured_bytes for root in self.shape.tuned]

    @property
    def verified(self) -> list[tuple[int, int]]:
        """Those to measure the plan at."""
        return [(size, self.shape.verified) for size in self.measured_bytes]


_Row = tuple[str, str]
"""A collective and a shape: their rules have sizes that do not overlap."""


def tune(
    target: Target,
    topology_file: Path,
    plan_file: Path,
    bench_file: Path,
    sizes_bytes: Sequence[int] = SIZES_BYTES,
    seed: int = 1,
    collectives: Sequence[str] = (BCAST,),
    fabric: str | None = None,
) -> tuple[Plan, Bench]:
    """Makes a plan for collectives on all ranks of the target, and the benchmark that verifies it.

    The first of the collectives is tuned at all sizes, the others at every third, on one root of each shape:
    so that all the others take about half as long as it. Both files are written at the end, when all is
    measured. What was measured before an interruption is not measured again, until ``rounds.forget_rounds``
    is called. ``fabric`` is the address of a server of routes that the program will run with, too.

    Raises:
        IsochroneError: a benchmark fails, or the topology is not of the target's ranks.
    """
    topology = read_topology(topology_file)
    topology.check_whole(str(topology_file))
    _check_ranks(target, topology, topology_file)
    folder = plan_file.with_name(TUNING)
    rounds = Rounds(target, topology, topology_file, folder, fabric)
    with kept_when_stopped(folder):
        sizes = grids(collectives, sizes_bytes, len(topology.ranks))
        tuning = _Tuning(target, topology, topology_file, rounds, sizes, seed, fabric is not None)
        plan, bench = tuning.run()
    write_bench(bench_file, bench)
    write_plan(plan_file, plan)
    return plan, bench


def layout_of(topology: Topology, topology_file: Path) -> _core.Layout:
    """The layout of the surveyed ranks."""
    places = [topology.places[place] for place in topology.ranks]
    return _core.match(
        topology_file.read_text(encoding="utf-8"),
        [(place.host, place.cpus, place.signature) for place in places],
    )


def _check_ranks(target: Target, topology: Topology, topology_file: Path) -> None:
    surveyed, started = len(topology.ranks), target.rank_count
    if started is not None and started != surveyed:
        raise IsochroneError(
            f"the survey is of {surveyed} ranks, and {target.name} starts {started}",
            str(topology_file),
            f"tune with {surveyed} ranks, or survey with {started} into another folder: isochrone survey -o",
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
        seed: int,
        has_fabric: bool,
    ) -> None:
        """`sizes_bytes`: of each collective that is tuned. `has_fabric`: trees are laid by routes."""
        self._target = target
        self._topology = topology
        self._topology_file = topology_file
        self._rounds = rounds
        self._sizes_bytes = sizes_bytes
        self._seed = seed
        self._has_fabric = has_fabric
        self._effort = effort_for(target.simulated, target.exact)
        self._layout = layout_of(topology, topology_file)
        self._shapes = {
            name: shapes_of(self._layout, 1 if at else self._effort.roots, collective(name)["rooted"])
            for at, name in enumerate(sizes_bytes)
        }
        most = max(16, SIMULATED_MESSAGES // self._layout.size) if target.simulated else MOST_SEGMENTS
        self._most_segments = min(most, MOST_SEGMENTS)
        told = max((len(target.baselines(name)) for name in sizes_bytes), default=0)
        self._shares = shares_of(self._effort, told)

    def run(self) -> tuple[Plan, Bench]:
        """All rounds."""
        recipes = self._priced()
        if self._effort.screen:
            recipes = self._screened(recipes)
        return self._verified(*self._decided(recipes))

    def _spots(self) -> list[_Spot]:
        """All that is tuned."""
        return [
            _Spot(name, shape, sizes)
            for name, shapes in self._shapes.items()
            for shape in shapes
            for sizes in of_one_rule(name, self._sizes_bytes[name])
        ]

    def _say_how_long(self, screening_s: float) -> None:
        """What the rounds after the first take: by the calls that they make, and what those of the first
        took.
        """
        share = self._shares.of("screen")
        _log.info("tuning takes about %s more", format_time(screening_s * (1 - share) / share))

    def _plan(self, decisions: Mapping[_Row, Sequence[Decision]], mpi: MpiLibrary) -> Plan:
        return Plan(
            fingerprint=self._topology.fingerprint,
            topology_file=self._topology_file.name,
            level_names=tuple(level.name for level in self._topology.levels),
            library=mpi.library,
            abi=mpi.abi,
            rules=tuple(
                rule for (name, shape), chosen in decisions.items() for rule in rules_for(shape, chosen, name)
            ),
            provenance=provenance(),
        )

    def _priced(self) -> dict[_Spot, tuple[str, ...]]:
        """The model's candidates for each collective, shape and size."""
        spots = self._spots()
        most = self._effort.candidates
        title = "tuning: pricing candidates"
        with part(title, 0.1) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
            # The simulator leaves Python's lock to others while it works.
            found = pool.map(lambda spot: self._candidates(spot, most), spots)
            recipes = {}
            for spot, few in zip(spots, found, strict=True):
                recipes[spot] = tuple(few)
                advance(len(recipes), len(spots))
        return recipes

    def _candidates(self, spot: _Spot, most: int) -> list[str]:
        """The best of each size first, then the second best of each, and so on."""
        # Where trees are laid over hosts, the best of them are wanted too, however dear the model finds them.
        priced = most * 4 if self._has_fabric else most
        of_sizes = [
            candidates(spot.collective, self._layout, spot.shape.tuned, size, priced, self._most_segments)
            for size in spot.measured_bytes
        ]
        in_turn = [recipe for same in zip_longest(*of_sizes) for recipe in same if recipe is not None]
        found = list(dict.fromkeys(in_turn))
        if not self._has_fabric:
            return found[:most]
        # The model knows no distances inside a level: so each order is tried.
        orders = [few for recipe in found if (few := laid_over_hosts(recipe, spot.collective))]
        return list(dict.fromkeys([*found[:most], *(recipe for few in orders[:LAID] for recipe in few)]))

    def _measure(
        self, title: str, recipes: Mapping[_Spot, Sequence[str]], repetitions: int, seed: int, share: float
    ) -> Bench:
        """Times recipes from the roots to tune on."""
        cases = [
            Case(size, root, tuple(few), spot.collective)
            for spot, few in recipes.items()
            for size, root in spot.tuned
            if few
        ]
        return self._rounds.measure(f"tuning: {title}", cases, repetitions, self._seed + seed, share)

    def _screened(self, recipes: dict[_Spot, tuple[str, ...]]) -> dict[_Spot, tuple[str, ...]]:
        """The best of the candidates and of what is near the best of them."""
        effort = self._effort
        begin = time.monotonic()
        bench = self._measure("screening", recipes, effort.screen, 0, self._shares.of("screen"))
        self._say_how_long(time.monotonic() - begin)
        near = _best_of_next_sizes(recipes, bench, self._most_segments)
        if not effort.neighbours:
            best = self._finalists(recipes, bench)
            return {spot: (*few, *near[spot]) for spot, few in best.items()}
        around = {spot: self._around_best(spot, few, bench) for spot, few in recipes.items()}
        recipes = {spot: tuple(dict.fromkeys((*few, *near[spot]))) for spot, few in around.items()}
        share = self._shares.of("around")
        bench = self._measure("screening what is near the best", recipes, effort.screen, 0, share)
        return self._finalists(recipes, bench)

    def _finalists(
        self, recipes: Mapping[_Spot, Sequence[str]], bench: Bench
    ) -> dict[_Spot, tuple[str, ...]]:
        """The fastest recipes for each collective, shape and size."""
        return {
            spot: tuple(ranked(_times(bench, spot.collective, spot.tuned, few))[: self._effort.finalists])
            for spot, few in recipes.items()
        }

    def _around_best(self, spot: _Spot, measured: Sequence[str], bench: Bench) -> tuple[str, ...]:
        """The best of what was measured, and its neighbours that were not."""
        best = fastest(_times(bench, spot.collective, spot.tuned, measured))
        near = neighbours(
            spot.collective,
            self._layout,
            best,
            spot.shape.tuned,
            spot.typical_bytes,
            self._effort.neighbours,
            self._most_segments,
        )
        return (best, *(recipe for recipe in near if recipe not in measured))

    def _decided(
        self, recipes: dict[_Spot, tuple[str, ...]]
    ) -> tuple[dict[_Row, list[Decision]], MpiLibrary]:
        """What is best for each size of each collective and shape, proven against the library's own; and
        which library that is.
        """
        effort, share = self._effort, self._shares.of("confirm")
        with_native = {spot: (NATIVE, *few) for spot, few in recipes.items()}
        bench = self._measure("proving", with_native, effort.confirm, 1, share)
        near = {} if effort.screen else _best_of_next_sizes(recipes, bench, self._most_segments)
        if any(near.values()):
            more = self._measure("proving what is best beside it", near, effort.confirm, 1, 0.1)
            bench = merged([bench, more])
            recipes = {spot: (*few, *near[spot]) for spot, few in recipes.items()}
        comparisons = sum(map(len, recipes.values()))
        decisions: dict[_Row, list[Decision]] = {spot.row: [] for spot in recipes}
        for spot, few in recipes.items():
            decisions[spot.row].append(self._decision(bench, spot, few, comparisons))
        # One more of each collective and shape for each end of its rules.
        between = {
            replace(spot, measured_bytes=(size,)): (NATIVE, recipe)
            for spot in {spot.row: spot for spot in recipes}.values()
            for size, recipe in self._borders(spot.collective, decisions[spot.row])
        }
        if between:
            share = self._shares.of("borders")
            tested = self._measure("proving where rules end", between, effort.confirm, 1, share)
            for spot, few in between.items():
                found = self._decision(tested, spot, few[1:], len(between))
                decisions[spot.row].append(found)
        return decisions, bench.mpi

    def _borders(self, name: str, decisions: Sequence[Decision]) -> list[tuple[int, str]]:
        """Where one row's rules should be tested further, at sizes that the collective can have."""
        decided = {decision.size_bytes for decision in decisions}
        found = [(sizes_of(name, [size])[0], recipe) for size, recipe in borders(decisions)]
        return [(size, recipe) for size, recipe in found if size not in decided]

    def _decision(self, bench: Bench, spot: _Spot, recipes: Sequence[str], comparisons: int) -> Decision:
        times = _times(bench, spot.collective, spot.tuned, (NATIVE, *recipes))
        decision = decide(spot.size_bytes, times, comparisons, self._target.exact)
        price = predicted_s(
            spot.collective, self._layout, decision.recipe, spot.shape.tuned[0], spot.typical_bytes
        )
        return replace(decision, evidence=replace(decision.evidence, predicted_s=price))

    def _verified(self, decisions: Mapping[_Row, Sequence[Decision]], mpi: MpiLibrary) -> tuple[Plan, Bench]:
        """The plan without what is not proven again, and times of the plan against the library's own and all
        that it can be told to use.
        """
        many = MANY_RANKS if self._target.exact else MANY_WITH_NOISE
        every = 5 if self._target.simulated and self._layout.size > many else 1
        tuned = self._spots()
        cases: dict[_Spot, list[Case]] = {}
        for spot in tuned:
            for size in spot.measured_bytes:
                told = self._sizes_bytes[spot.collective].index(size) % every == 0
                rivals = self._target.baselines(spot.collective) if told else ()
                case = self._case(spot, size, (NATIVE, PLAN_RECIPE, *rivals))
                cases.setdefault(spot, []).append(case)
        for spot in {spot.row: spot for spot in tuned if has_agreed_size(spot.collective)}.values():
            for size in _proven(decisions[spot.row]):
                border = replace(spot, measured_bytes=(size,))
                cases.setdefault(border, [self._case(border, size, (NATIVE, PLAN_RECIPE))])
        plan = self._plan(decisions, mpi)
        bench = self._measure_plan("verifying", plan, _all(cases.values()), 0.9)
        spot_of = {(spot.row, spot.size_bytes): spot for spot in cases}
        kept = {
            row: [
                decision
                if decision.recipe == NATIVE
                else self._confirmed(spot_of[row, decision.size_bytes], decision, bench)
                for decision in chosen
            ]
            for row, chosen in decisions.items()
        }
        corrected = self._plan(kept, mpi)
        changed = _all(
            few for spot, few in cases.items() if _recipe_of(plan, spot) != _recipe_of(corrected, spot)
        )
        if changed:
            again = self._measure_plan("verifying what was taken back", corrected, changed, 1.0)
            bench = merged([bench, again])
        # Rules end where a gain does: those sizes among the others would be too many of one kind.
        return corrected, bench.only(
            {BenchCase(size, root, spot.collective) for spot in tuned for size, root in spot.verified}
        )

    def _confirmed(self, spot: _Spot, decision: Decision, bench: Bench) -> Decision:
        """The decision for a recipe, or for the library's own where it is not proven once more."""
        times = _times(bench, spot.collective, spot.verified, (NATIVE, PLAN_RECIPE))
        return confirmed(decision, times, self._target.exact, spot.collective)

    @staticmethod
    def _case(spot: _Spot, size_bytes: int, recipes: tuple[str, ...]) -> Case:
        return Case(size_bytes, spot.shape.verified, recipes, spot.collective)

    def _measure_plan(self, title: str, plan: Plan, cases: Sequence[Case], share: float) -> Bench:
        return self._rounds.measure(
            f"tuning: {title}", cases, self._effort.verify, self._seed + 2, share, plan
        )


def _proven(decisions: Sequence[Decision]) -> list[int]:
    """The sizes that have a recipe."""
    return [decision.size_bytes for decision in decisions if decision.recipe != NATIVE]


def _recipe_of(plan: Plan, spot: _Spot) -> str | None:
    return plan.recipe(spot.shape.shape, spot.size_bytes, spot.collective)


def _best_of_next_sizes(
    measured: Mapping[_Spot, Sequence[str]], bench: Bench, most_segments: int
) -> dict[_Spot, tuple[str, ...]]:
    """For each size of each collective and shape what was best for the sizes next to it, if it was not
    measured.
    """
    found = {}
    for row in dict.fromkeys(spot.row for spot in measured):
        spots = {spot.size_bytes: spot for spot in measured if spot.row == row}
        best = {
            size: fastest(_times(bench, spot.collective, spot.tuned, measured[spot]))
            for size, spot in spots.items()
        }
        near = of_next_sizes(best, most_segments)
        for size, spot in spots.items():
            found[spot] = tuple(recipe for recipe in near[size] if recipe not in measured[spot])
    return found


def _times(
    bench: Bench, name: str, sizes_and_roots: Iterable[tuple[int, int]], recipes: Sequence[str]
) -> list[Mapping[str, FloatArray]]:
    """For each size and root, recipe to times of a collective."""
    return [
        {recipe: bench.slowest_s[BenchKey(size, root, recipe, name)] for recipe in recipes}
        for size, root in sizes_and_roots
    ]


def _all(few: Iterable[Iterable[Case]]) -> list[Case]:
    return list(chain.from_iterable(few))
