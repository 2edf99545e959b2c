# SPDX-License-Identifier: BSD-3-Clause
"""Tune: from a topology and measured broadcasts to ``plan.json``.

First all candidates of the model are timed a few times, and the neighbours of the best of each size. Then
the best of these are timed against the library's own with as many repetitions as a proof needs, also where
rules would end, then the plan as a whole against the library at its best, on roots that were not tuned on. A
rule that is not proven there once more is taken back.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import (
    Bench,
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
from isochrone.tune.candidates import MOST_SEGMENTS, candidates, neighbours, of_next_sizes, predicted_s
from isochrone.tune.effort import effort_for, shares_of
from isochrone.tune.roots import ShapeRoots, shapes_of
from isochrone.tune.rules import (
    NATIVE,
    PLAN_RECIPE,
    Decision,
    borders,
    decide,
    fastest,
    ranked,
    rules_for,
    without_unconfirmed,
)

SIMULATED_MESSAGES = 16384
"""Of one broadcast: more of them take longer to simulate than they tell."""
MANY_RANKS, MANY_WITH_NOISE = 128, 16
"""Beyond these, simulating all that a library can be told to use takes longer than all the rest, with noise
because of its repetitions: then every fifth size tells."""
_log = logging.getLogger(__name__)

_Pair = tuple[ShapeRoots, int]
"""A shape, and a size in bytes."""


def tune(
    target: Target,
    topology_file: Path,
    plan_file: Path,
    bench_file: Path,
    sizes_bytes: Sequence[int] = SIZES_BYTES,
    seed: int = 1,
) -> tuple[Plan, Bench]:
    """Makes a plan for broadcasts on all ranks of the target, and the benchmark that verifies it.

    Both files are written at the end, when all is measured. What was measured before an interruption is not
    measured again, until ``rounds.forget_rounds`` is called.

    Raises:
        IsochroneError: a benchmark fails, or the topology is not of the target's ranks.
    """
    topology = read_topology(topology_file)
    topology.check_whole(str(topology_file))
    _check_ranks(target, topology, topology_file)
    folder = plan_file.with_name(TUNING)
    rounds = Rounds(target, topology, topology_file, folder)
    with kept_when_stopped(folder):
        tuning = _Tuning(target, topology, topology_file, rounds, tuple(sizes_bytes), seed)
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
        sizes_bytes: tuple[int, ...],
        seed: int,
    ) -> None:
        self._target = target
        self._topology = topology
        self._topology_file = topology_file
        self._rounds = rounds
        self._sizes_bytes = sizes_bytes
        self._seed = seed
        self._effort = effort_for(target.simulated, target.exact)
        self._layout = layout_of(topology, topology_file)
        self._shapes = shapes_of(self._layout, self._effort.roots)
        most = max(16, SIMULATED_MESSAGES // self._layout.size) if target.simulated else MOST_SEGMENTS
        self._most_segments = min(most, MOST_SEGMENTS)
        self._shares = shares_of(self._effort, len(target.baselines))

    def run(self) -> tuple[Plan, Bench]:
        """All rounds."""
        recipes = self._priced()
        if self._effort.screen:
            recipes = self._screened(recipes)
        return self._verified(*self._decided(recipes))

    def _plan(self, decisions: Mapping[str, Sequence[Decision]], mpi: MpiLibrary) -> Plan:
        return Plan(
            fingerprint=self._topology.fingerprint,
            topology_file=self._topology_file.name,
            level_names=tuple(level.name for level in self._topology.levels),
            library=mpi.library,
            abi=mpi.abi,
            rules=tuple(rule for shape, chosen in decisions.items() for rule in rules_for(shape, chosen)),
            provenance=provenance(),
        )

    def _priced(self) -> dict[_Pair, tuple[str, ...]]:
        """The model's candidates for each shape and size."""
        pairs = [(shape, size) for shape in self._shapes for size in self._sizes_bytes]
        most = self._effort.candidates
        title = "tuning: pricing candidates"
        with part(title, 0.1) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
            # The simulator leaves Python's lock to others while it works.
            found = pool.map(
                lambda pair: candidates(self._layout, pair[0].tuned, pair[1], most, self._most_segments),
                pairs,
            )
            recipes = {}
            for pair, few in zip(pairs, found, strict=True):
                recipes[pair] = tuple(few)
                advance(len(recipes), len(pairs))
        return recipes

    def _measure(
        self, title: str, recipes: Mapping[_Pair, Sequence[str]], repetitions: int, seed: int, share: float
    ) -> Bench:
        """Times recipes from the roots to tune on."""
        cases = [
            Case(size, root, tuple(few))
            for (shape, size), few in recipes.items()
            for root in shape.tuned
            if few
        ]
        return self._rounds.measure(f"tuning: {title}", cases, repetitions, self._seed + seed, share)

    def _screened(self, recipes: dict[_Pair, tuple[str, ...]]) -> dict[_Pair, tuple[str, ...]]:
        """The best of the candidates and of what is near the best of them."""
        effort = self._effort
        bench = self._measure("screening", recipes, effort.screen, 0, self._shares.of("screen"))
        near = _best_of_next_sizes(recipes, bench, self._most_segments)
        if not effort.neighbours:
            best = self._finalists(recipes, bench)
            return {pair: (*few, *near[pair]) for pair, few in best.items()}
        around = {pair: self._around_best(pair, few, bench) for pair, few in recipes.items()}
        recipes = {pair: tuple(dict.fromkeys((*few, *near[pair]))) for pair, few in around.items()}
        share = self._shares.of("around")
        bench = self._measure("screening what is near the best", recipes, effort.screen, 0, share)
        return self._finalists(recipes, bench)

    def _finalists(
        self, recipes: Mapping[_Pair, Sequence[str]], bench: Bench
    ) -> dict[_Pair, tuple[str, ...]]:
        """The fastest recipes for each shape and size."""
        return {
            (shape, size): tuple(ranked(_times(bench, shape, size, few))[: self._effort.finalists])
            for (shape, size), few in recipes.items()
        }

    def _around_best(self, pair: _Pair, measured: Sequence[str], bench: Bench) -> tuple[str, ...]:
        """The best of what was measured, and its neighbours that were not."""
        shape, size = pair
        best = fastest(_times(bench, shape, size, measured))
        near = neighbours(self._layout, best, shape.tuned, size, self._effort.neighbours, self._most_segments)
        return (best, *(recipe for recipe in near if recipe not in measured))

    def _decided(self, recipes: dict[_Pair, tuple[str, ...]]) -> tuple[dict[str, list[Decision]], MpiLibrary]:
        """What is best for each size of each shape, proven against the library's own; and which library that
        is.
        """
        effort, share = self._effort, self._shares.of("confirm")
        with_native = {pair: (NATIVE, *few) for pair, few in recipes.items()}
        bench = self._measure("proving", with_native, effort.confirm, 1, share)
        near = {} if effort.screen else _best_of_next_sizes(recipes, bench, self._most_segments)
        if any(near.values()):
            more = self._measure("proving what is best beside it", near, effort.confirm, 1, 0.1)
            bench = merged([bench, more])
            recipes = {pair: (*few, *near[pair]) for pair, few in recipes.items()}
        comparisons = sum(map(len, recipes.values())) if effort.screen else len(recipes)
        decisions: dict[str, list[Decision]] = {shape.shape: [] for shape in self._shapes}
        for (shape, size), few in recipes.items():
            decisions[shape.shape].append(self._decision(bench, shape, size, few, comparisons))
        between: dict[_Pair, tuple[str, ...]] = {
            (shape, size): (NATIVE, recipe)
            for shape in self._shapes
            for size, recipe in borders(decisions[shape.shape])
        }
        if between:
            share = self._shares.of("borders")
            tested = self._measure("proving where rules end", between, effort.confirm, 1, share)
            for (shape, size), few in between.items():
                found = self._decision(tested, shape, size, few[1:], len(between))
                decisions[shape.shape].append(found)
        return decisions, bench.mpi

    def _decision(
        self, bench: Bench, shape: ShapeRoots, size: int, recipes: Sequence[str], comparisons: int
    ) -> Decision:
        times = _times(bench, shape, size, (NATIVE, *recipes))
        decision = decide(size, times, comparisons, self._target.exact)
        price = predicted_s(self._layout, decision.recipe, shape.tuned[0], size)
        return replace(decision, evidence=replace(decision.evidence, predicted_s=price))

    def _verified(self, decisions: Mapping[str, Sequence[Decision]], mpi: MpiLibrary) -> tuple[Plan, Bench]:
        """The plan without what is not proven again, and times of the plan against the library's own and all
        that it can be told to use.
        """
        many = MANY_RANKS if self._target.exact else MANY_WITH_NOISE
        every = 5 if self._target.simulated and self._layout.size > many else 1
        told = {
            size: self._target.baselines if position % every == 0 else ()
            for position, size in enumerate(self._sizes_bytes)
        }
        cases = {
            (shape.shape, size): Case(size, shape.verified, (NATIVE, PLAN_RECIPE, *told.get(size, ())))
            for shape in self._shapes
            for size in sorted({*told, *_proven(decisions[shape.shape])})
        }
        plan = self._plan(decisions, mpi)
        bench = self._measure_plan("verifying", plan, list(cases.values()), 0.9)
        kept = {
            shape.shape: without_unconfirmed(
                decisions[shape.shape], bench, shape.verified, self._target.exact
            )
            for shape in self._shapes
        }
        corrected = self._plan(kept, mpi)
        changed = [case for key, case in cases.items() if plan.recipe(*key) != corrected.recipe(*key)]
        if changed:
            again = self._measure_plan("verifying what was taken back", corrected, changed, 1.0)
            bench = merged([bench, again])
        # Rules end where a gain does: those sizes among the others would be too many of one kind.
        return corrected, bench.only({(size, shape.verified) for size in told for shape in self._shapes})

    def _measure_plan(self, title: str, plan: Plan, cases: Sequence[Case], share: float) -> Bench:
        return self._rounds.measure(
            f"tuning: {title}", cases, self._effort.verify, self._seed + 2, share, plan
        )


def _proven(decisions: Sequence[Decision]) -> list[int]:
    """The sizes that have a recipe."""
    return [decision.size_bytes for decision in decisions if decision.recipe != NATIVE]


def _best_of_next_sizes(
    measured: Mapping[_Pair, Sequence[str]], bench: Bench, most_segments: int
) -> dict[_Pair, tuple[str, ...]]:
    """For each size of each shape what was best for the sizes next to it, if it was not measured."""
    found = {}
    for shape in dict.fromkeys(shape for shape, _ in measured):
        recipes = {size: few for (of, size), few in measured.items() if of == shape}
        best = {size: fastest(_times(bench, shape, size, few)) for size, few in recipes.items()}
        near = of_next_sizes(best, most_segments)
        for size, few in recipes.items():
            found[shape, size] = tuple(recipe for recipe in near[size] if recipe not in few)
    return found


def _times(
    bench: Bench, shape: ShapeRoots, size_bytes: int, recipes: Sequence[str]
) -> list[Mapping[str, FloatArray]]:
    """For each root, recipe to times."""
    return [
        {recipe: bench.slowest_s[BenchKey(size_bytes, root, recipe)] for recipe in recipes}
        for root in shape.tuned
    ]
